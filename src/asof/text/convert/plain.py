"""Text without markup: plain text as it stands, and the words in JSON."""

from __future__ import annotations

import json

from asof.text.convert.found import MAX_TEXT, Found, Refused

_MAX_JSON = 16 << 20


def fill_plain(text: str, found: Found) -> None:
    """The characters themselves; tables of values between commas are text as well."""
    if len(text) > MAX_TEXT:
        found.add(text[:MAX_TEXT])
        raise Refused(f"has more than {MAX_TEXT:,} characters, the rest is left out")
    found.add(text)


def fill_json(text: str, found: Found) -> None:
    """The strings among the values, one a line; keys and numbers are for programs.

    What is no JSON after all, or too much of it, is read as plain text: a line of JSON for each
    record, and JSON with comments, are both common.
    """
    if len(text) > _MAX_JSON:
        fill_plain(text, found)
        return
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except RecursionError as error:
        raise Refused("is nested too deeply") from error
    except ValueError:
        fill_plain(text, found)
        return
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            found.line(item)
        elif isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list):
            waiting.extend(reversed(item))
