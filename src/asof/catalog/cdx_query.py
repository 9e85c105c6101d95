"""Questions to a CDX server, in the two dialects that are spoken: pywb's and the Wayback Machine's.

They share most words (url, matchType, from, to, filter, collapse, limit, sort, fl, page ...) and
differ in how fields are called, what a filter without a sign means, and what JSON is. OutbackCDX
answers in either. What a question is about is a stretch of SURT keys.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from asof.catalog.captures import Key
from asof.clock import Instant, parse_moment, parse_stamp
from asof.errors import UsageError
from asof.url import LAST, surt

# Rows of an answer, and of one that has to be sorted in memory. pywb's own limit is 100,000.
MOST = 100_000
MOST_SORTED = 10_000
# Lines in a block, and blocks in a page, as in the indexes that paging comes from (ZipNum).
BLOCK = 3000
PAGE_BLOCKS = 10

FIELDS = (
    "urlkey", "timestamp", "url", "mime", "status", "digest", "redirect", "robotflags", "length",
    "offset", "filename",
)  # fmt: skip
# What revisits are told to stand for, to those who ask: where the payload lies.
ORIGINALS = ("orig.length", "orig.offset", "orig.filename")
_ALIASES = {
    "original": "url", "mimetype": "mime", "statuscode": "status", "redirecturl": "redirect",
    "k": "urlkey", "t": "timestamp", "u": "url", "m": "mime", "d": "digest", "l": "length",
    "o": "offset", "f": "filename",
    "originalLength": "orig.length", "originalOffset": "orig.offset",
    "originalFilename": "orig.filename",
}  # fmt: skip
_MATCHES = ("exact", "prefix", "host", "domain", "range")
_SORTS = ("", "default", "closest", "reverse")
_FILTER = re.compile(r"([!=~]*)(?:([\w.]+):)?(.*)", re.DOTALL)
_COLLAPSE = re.compile(r"(\w+)(?::(\d{1,4}))?", re.ASCII)
# A pattern comes from anybody: how long it is, and how often its counted repeats repeat in all.
_LONGEST_PATTERN = 500
_MOST_REPEATS = 1000
_REPEATS = re.compile(r"\{\s*(\d*)\s*,?\s*(\d*)\s*\}")
_MATCH_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where servers differ: names of fields in lines and in JSON, and what is JSON."""

    output: str
    text: tuple[str, ...]
    json: tuple[str, ...]
    has_arrays: bool


PYWB = Dialect("cdxj", FIELDS, tuple(name for name in FIELDS if name[0] != "r"), has_arrays=False)
_PUBLIC = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
WAYBACK = Dialect("text", _PUBLIC, _PUBLIC, has_arrays=True)

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a field, or on the whole line; `how` is one of =, ~ (pattern), * (part)."""

    field: str
    how: str
    value: str
    is_inverted: bool
    pattern: regex.Pattern[str] | None = None
    is_whole: bool = False

    def accepts(self, row: Row) -> bool:
        value = row.get(self.field, "") if self.field else " ".join(row.values())
        return self._is_met(value) != self.is_inverted

    def _is_met(self, value: str) -> bool:
        if self.pattern is None:
            return value == self.value if self.how == "=" else self.value in value
        match = self.pattern.fullmatch if self.is_whole else self.pattern.match
        try:
            return match(value, timeout=_MATCH_SECONDS) is not None
        except TimeoutError:
            raise UsageError(
                f"The pattern {self.value!r} takes too long.", hint="Ask for something simpler."
            ) from None


@dataclass(frozen=True, slots=True)
class Collapse:
    """Of rows in a line with the same beginning of each field, only the first is wanted."""

    fields: tuple[tuple[str, int | None], ...]

    def of(self, row: Row) -> str:
        return " ".join(row.get(field, "")[:length] for field, length in self.fields)


@dataclass(frozen=True, slots=True)
class Resume:
    """Where an answer goes on: beyond a row, and what its collapsed fields were."""

    key: Key
    collapsed: tuple[str | None, ...]

    def token(self) -> str:
        """As it is told: signs that mean nothing in an address, so that nobody has to escape it."""
        text = json.dumps([*self.key, *self.collapsed])
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")


@dataclass(frozen=True)
class CdxQuery:
    """A question, understood."""

    dialect: Dialect
    url: str
    key: str
    match: str
    since: str
    until: str
    filters: tuple[Filter, ...]
    collapses: tuple[Collapse, ...]
    limit: int
    offset: int
    sort: str
    closest: Instant
    output: str
    named: tuple[str, ...]
    page: int | None
    page_blocks: int
    wants_count: bool
    wants_key: bool
    resume: Resume | None
    resolves: bool

    @cached_property
    def range(self) -> tuple[str, str]:
        """The stretch of keys that is meant, half-open: the one that pywb would look through."""
        key = self.key
        host = key.partition(")/")[0]
        if self.match == "exact":
            return key, key + "\0"
        if self.match == "range":  # from there on, to the end of the index (OutbackCDX)
            return key, LAST
        if self.match == "host":
            return host + ")", host + ")" + LAST
        if self.match == "domain":  # the host, and what is below it behind a comma
            return host + ")", host + "-"
        for end in "/?":
            if self.url.endswith(end) and not key.endswith(end):
                key += end
        return key, key + LAST


def cdx_query(params: Mapping[str, Sequence[str]], dialect: Dialect) -> CdxQuery:
    """What parameters ask for; a UsageError says which cannot be understood."""

    def one(*names: str) -> str:
        return next((params[name][0].strip() for name in names if params.get(name)), "")

    url, match = _scope(one("url") or one("urlkey"), one("matchType"))
    closest = one("closest")
    sort = _order(one("sort") or ("reverse" if _flag(one("reverse")) else ""), closest)
    collapses = _collapses(params)
    limit = _number("limit", one("limit"), least=None) or MOST
    if limit < 0:
        sort, limit = "last", -limit
    most = MOST if sort == "" else MOST_SORTED
    outputs = ("text", "cdx", "cdxj", "json", "")
    output = _choice("output", one("output"), outputs) or dialect.output
    output = "text" if output == "cdx" else output
    page = one("page")
    query = CdxQuery(
        dialect, url, surt(url) if one("url") else url, match,
        _stamp("from", one("from", "from_ts")).ljust(14, "0"),
        _stamp("to", one("to")).ljust(14, "9"),
        tuple(_filter(each, dialect) for each in params.get("filter", ())), collapses,
        min(limit, most), _number("offset", one("offset")), sort,
        _moment("closest", closest) if sort == "closest" else 0, output,
        _names(one("fields", "fl")), _number("page", page) if page else None,
        min(max(_number("pageSize", one("pageSize")) or PAGE_BLOCKS, 1), PAGE_BLOCKS),
        _flag(one("showNumPages")), not sort and _flag(one("showResumeKey")),
        _resume(one("resumeKey"), len(collapses)), _flag(one("resolveRevisits")),
    )  # fmt: skip
    if query.sort and query.resume:
        hint = "Ask without sort and without a negative limit."
        raise UsageError("Only what is sorted by key and time goes on by a resume key.", hint=hint)
    return query


def _scope(url: str, match: str) -> tuple[str, str]:
    """The URL and what of it is meant, which wildcards say as well."""
    if not match and url.startswith("*."):
        url, match = url[2:], "domain"
    elif not match and url.endswith("*"):
        url, match = url[:-1], "prefix"
    if not url:
        raise UsageError("A question to the index names a URL.", hint="Add url=example.org.")
    return url, _choice("matchType", match, ("", *_MATCHES)) or "exact"


def _order(sort: str, closest: str) -> str:
    """pywb sorts by a moment without being told to, and asks for it when it means none."""
    sort = _choice("sort", sort, _SORTS).replace("default", "")
    if not closest:
        return sort.replace("closest", "")
    return sort or "closest"


def _choice(name: str, value: str, allowed: Sequence[str]) -> str:
    if value in allowed:
        return value
    hint = f"Write one of {', '.join(filter(None, allowed))}."
    raise UsageError(f"{name}={value[:80]} is not known.", hint=hint)


def _number(name: str, text: str, *, least: int | None = 0) -> int:
    digits = text[1:] if least is None and text.startswith("-") else text
    if not text:
        return 0
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise UsageError(f"{name}={text[:80]} is not a number.", hint="Write it in digits.")
    return int(text)


def _stamp(name: str, text: str) -> str:
    if text and not (text.isascii() and text.isdigit()):
        raise UsageError(f"{name}={text[:80]} is not a moment.", hint="Write 1 to 14 digits: 2026.")
    return text[:14]


def _moment(name: str, text: str) -> Instant:
    """The end of what the digits name, as everywhere and as pywb understands them."""
    digits = _stamp(name, text)
    if parse_stamp(digits) is None:
        hint = "Write 4 to 14 digits: 20261115."
        raise UsageError(f"{name}={digits} is not a moment.", hint=hint)
    return parse_moment(digits, now=0)


def _flag(text: str) -> bool:
    return text.lower() not in ("", "0", "false", "no")


def field_of(name: str) -> str:
    found = _ALIASES.get(name, name)
    if found in (known := (*FIELDS, *ORIGINALS)):
        return found
    raise UsageError(f"There is no field {name[:80]!r}.", hint=f"There are {', '.join(known)}.")


def _names(text: str) -> tuple[str, ...]:
    """Fields as they were asked for: what comes back has the same names."""
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    for name in names:
        field_of(name)
    return names


def _collapses(params: Mapping[str, Sequence[str]]) -> tuple[Collapse, ...]:
    """Also pywb's collapseTime: by so many digits of the moment, and the status."""
    if params.get("collapseToLast"):
        hint = "Ask for the first ones (collapse)."
        raise UsageError("Rows are not collapsed to the last one here.", hint=hint)
    said = [*params.get("collapse", ()), *params.get("collapseToFirst", ())]
    times = (_collapse(f"timestamp:{text}") for text in params.get("collapseTime", ()))
    return (*map(_collapse, said), *(Collapse((*t.fields, ("status", None))) for t in times))


def _collapse(text: str) -> Collapse:
    found = _COLLAPSE.fullmatch(text.strip())
    if found is None:
        hint = "Write collapse=digest or collapse=timestamp:8."
        raise UsageError(f"collapse={text[:80]} is not understood.", hint=hint)
    return Collapse(((field_of(found[1]), int(found[2]) if found[2] else None),))


def _filter(text: str, dialect: Dialect) -> Filter:
    """pywb: `=` exactly, `~` a pattern of its start, else a part. Others: `~` a part, else a
    pattern of the whole. `!` is the opposite.
    """
    match = _FILTER.fullmatch(text)
    signs, name, value = match.groups() if match else ("", "", text)
    how = "=" if "=" in signs else "~" if ("~" in signs) != dialect.has_arrays else "*"
    field = field_of(name) if name else ""
    pattern = _pattern(value) if how == "~" else None
    return Filter(field, how, value, "!" in signs, pattern, dialect.has_arrays)


def _pattern(text: str) -> regex.Pattern[str]:
    repeats = 1
    for least, most in _REPEATS.findall(text):
        repeats *= int((most or least or "1")[:9]) or 1
    if len(text) > _LONGEST_PATTERN or repeats > _MOST_REPEATS:
        raise UsageError("That pattern is too large.", hint="Ask for something simpler.")
    try:
        return regex.compile(text)
    except (regex.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{text!r} is not a pattern: {error}.", hint="Mend it.") from None


def _resume(text: str, collapses: int) -> Resume | None:
    if not text:
        return None
    try:
        told = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        key, at, record_id, *collapsed = told
        if not (isinstance(key, str) and isinstance(at, int) and isinstance(record_id, str)):
            raise ValueError("not a key")
        if len(collapsed) != collapses or abs(at) >= 1 << 63:
            raise ValueError("not a key of this question")
        (key + record_id).encode()
    except (ValueError, TypeError, RecursionError):
        hint = "Give it as it came, with the other parameters unchanged."
        raise UsageError("That resume key is not one of this question.", hint=hint) from None
    return Resume((key, at, record_id), tuple(collapsed))
