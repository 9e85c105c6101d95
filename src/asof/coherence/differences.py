"""Where one document says otherwise than another, each difference by its place. Pure."""

import json
from collections.abc import Iterator
from typing import cast

from asof.coherence.certificate import Json


def differences(given: object, found: object, where: str = "") -> Iterator[str]:
    if isinstance(given, dict) and isinstance(found, dict):
        for name in dict.fromkeys((*given, *found)):
            place = f"{where}.{name}" if where else name
            if name not in found:
                yield f"{_short(place)}: is not part of a certificate"
            elif name not in given:
                yield f"{_short(place)}: is missing; it should be {_said(found[name])}"
            else:
                yield from differences(given[name], found[name], place)
    elif isinstance(given, list) and isinstance(found, list):
        yield from _list_differences(given, found, where)
    elif type(given) is not type(found) or given != found:
        yield f"{_short(where)}: says {_said(given)}, but the files say {_said(found)}"


def _list_differences(given: list[object], found: list[object], where: str) -> Iterator[str]:
    """By place; lists of pages and the like by their names, so that one more shifts nothing."""
    key = _KEYS.get(where)
    if key is None or not all(_is_named(item, key) for item in (*given, *found)):
        if len(given) != len(found):
            yield f"{where}: has {len(given):,} entries, but the files give {len(found):,}"
            return
        for place, (one, other) in enumerate(zip(given, found, strict=True)):
            yield from differences(one, other, f"{where}[{place}]")
        return
    by_name = {cast(Json, item)[key]: item for item in found}
    seen = set()
    for item in given:
        name = cast(Json, item)[key]
        if name in seen:
            yield f"{where}[{_short(str(name))}]: stands there twice"
        elif name not in by_name:
            yield f"{where}[{_short(str(name))}]: nothing in the files says so"
        else:
            yield from differences(item, by_name[name], f"{where}[{name}]")
        seen.add(name)
    for name in by_name.keys() - seen:
        yield f"{where}[{_short(str(name))}]: is missing"
    order = [cast(Json, item)[key] for item in given]
    if seen == by_name.keys() and len(given) == len(found) and order != list(by_name):
        yield f"{where}: in another order"


_KEYS = {"pages": "url", "standings": "host", "files": "file", "crawls": "id"}


def _is_named(item: object, key: str) -> bool:
    return isinstance(item, dict) and isinstance(item.get(key), str)


def _said(value: object) -> str:
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value):,}"
    return _short(json.dumps(value), 120)


def _short(text: str, most: int = 300) -> str:
    """Of a hostile text as much as fits a line, and nothing that a terminal would act upon."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[: most + 1])
    return plain if len(plain) <= most else f"{plain[: most - 3]}..."
