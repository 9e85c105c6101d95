"""Text without markup: plain text as it stands, and the words in JSON."""

import json

from asof.text.convert.found import Found

_MAX_JSON = 16 << 20


def fill_plain(text: str, found: Found) -> None:
    """The characters themselves; tables of values between commas are text as well."""
    found.add(text)


def fill_json(text: str, found: Found) -> None:
    """The strings among the values, one a line; keys and numbers are for programs.

    What is no JSON after all, or too much of it, is read as plain text: a line of JSON for each
    record, and JSON with comments, are both common.
    """
    try:
        waiting = [json.loads(text.lstrip("\ufeff")) if len(text) <= _MAX_JSON else text]
    except ValueError:
        found.add(text)
        return
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            found.line(item)
        elif isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list):
            waiting.extend(reversed(item))
