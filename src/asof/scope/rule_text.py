"""The text of a scope rule, `in KIND:VALUE` or `out KIND:VALUE`, read with precise complaints.

    surt:PREFIX    a SURT prefix, a key, or a URL and all below it (Spaniol 2010, "SURT Prefix")
    host:NAME      one host; a leading www. does not count
    domain:NAME    a host and its subdomains
    path:/PREFIX   what begins with this on a seed's host; path:http://host/prefix on that one
    page:URL       exactly this URL
    regex:RE       a regular expression, searched in the URL
    seeds:         the seeds themselves
    depth:N        out only: more than N links away from a seed
    count:N        out only: more than N pages of one host
    media:TYPE     out only: answers of a media type; * stands for anything, as in video/*
    size:N         out only: answers of more than N bytes; kB, MB and GB are understood

Names of hosts carry their port where it is not the default one, as URLs do.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from asof.caret import error_at
from asof.config import parse_size
from asof.errors import ConfigError
from asof.url import canonical, host_of

# A regular expression of 64 K compiles in 0.1 s here, one of 1 MB in 1.6 s; nobody writes either.
MAX_TEXT = 1 << 16
# How much of a rule is shown to people; reasons are grouped by, so they must stay short.
_SHOWN = 60


class RuleKind(StrEnum):
    """What a rule looks at."""

    SURT = "surt"
    HOST = "host"
    DOMAIN = "domain"
    PATH = "path"
    PAGE = "page"
    REGEX = "regex"
    SEEDS = "seeds"
    DEPTH = "depth"
    COUNT = "count"
    MEDIA = "media"
    SIZE = "size"


# These are limits: they can leave something out, but being within them is no reason to go there.
LIMITS = (RuleKind.DEPTH, RuleKind.COUNT, RuleKind.MEDIA, RuleKind.SIZE)

_WORDS = re.compile(r"\s*(\S*)\s*(.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,18}")
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+*-]+/[a-z0-9!#$&^_.+*-]+")


@dataclass(frozen=True, slots=True)
class RuleText:
    """One rule, checked. `value` is in the form of canonical URLs, and a number in digits."""

    text: str
    inside: bool
    kind: RuleKind
    value: str


@dataclass(eq=False)
class _Wrong(Exception):
    """A value that cannot be: what is wrong, what to write, and where in the value it shows."""

    problem: str
    hint: str
    at: int = 0


def parse_rule(text: str) -> RuleText:
    """Read a rule. ConfigError says at which character it is wrong and what was expected there."""
    try:
        return _parsed(text)
    except _Wrong as wrong:
        raise _complaint("rule", text, wrong) from None


def compiled(pattern: str, setting: str) -> re.Pattern[str]:
    """The regular expression of a setting such as `exclude`; a ConfigError when it is none."""
    try:
        return _compiled(pattern)
    except _Wrong as wrong:
        raise _complaint(f"{setting} pattern", pattern, wrong) from None


def expression(text: str) -> re.Pattern[str]:
    """A regular expression that somebody typed by itself: the error points at where it is none."""
    try:
        return _compiled(text)
    except _Wrong as wrong:
        raise error_at(text, (wrong.at, wrong.at + 1), wrong.problem, wrong.hint) from None


def _complaint(what: str, text: str, wrong: _Wrong) -> ConfigError:
    where = f"{what} {shown(text)!r}, character {wrong.at + 1}"
    return ConfigError(f"{where}: {wrong.problem}.", hint=wrong.hint)


def _parsed(text: str) -> RuleText:
    _require_text(text)
    words = _WORDS.fullmatch(text)
    assert words is not None  # it matches every text
    verb, rest = words.groups()
    if verb not in ("in", "out"):
        found = f"starts with {shown(verb)!r}" if verb else "is empty"
        meant = shown(verb) if ":" in verb else "domain:ads.example"
        hint = f"Write in KIND:VALUE or out KIND:VALUE, such as out {meant}."
        raise _Wrong(f"a rule begins with in or out, this {found}", hint, words.start(1))
    name, colon, value = rest.partition(":")
    at = words.start(2)
    if not colon:
        hint = f"Write it as {verb} KIND:VALUE, such as {verb} host:example.org."
        raise _Wrong("the colon after the kind is missing", hint, at + len(name))
    kind = _kind(name, rest, at)
    if verb == "in" and kind in LIMITS:
        hint = f"Write out {kind}:{shown(value)}, and say with another rule what is in."
        raise _Wrong(f"{kind} is a limit and takes nothing in", hint, words.start(1))
    at += len(name) + 1 + len(value) - len(value.lstrip())
    value = value.strip()
    settle, example = _VALUES[kind]
    if example and not value:
        raise _Wrong("a value is missing after the colon", f"Write it as {kind}:{example}.", at)
    try:
        return RuleText(f"{verb} {kind}:{value}", verb == "in", kind, settle(value))
    except _Wrong as wrong:
        wrong.at += at
        raise


def shown(text: str, most: int = _SHOWN) -> str:
    """A text as people can read it: on one line, and a long one is cut."""
    text = text if len(text) <= most else f"{text[: most - 3]}..."
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _require_text(text: str) -> None:
    if len(text) > MAX_TEXT:
        problem = f"it has {len(text):,} characters, at most {MAX_TEXT:,} are read"
        raise _Wrong(problem, "Split it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        # An argument that is not in the terminal's encoding arrives as lone surrogates.
        raise _Wrong("a byte here is no text", "Write it in UTF-8.", error.start) from None


def _kind(name: str, rest: str, at: int) -> RuleKind:
    try:
        return RuleKind(name)
    except ValueError:
        if "://" in rest:
            hint = f"For one page write page:{shown(rest)}, for all below it path:{shown(rest)}."
        else:
            near = get_close_matches(name.strip().lower(), list(RuleKind), 1)
            hint = f"Did you mean {near[0]}:?" if near else f"Kinds are {', '.join(RuleKind)}."
        raise _Wrong(f"{shown(name)!r} is no kind of rule", hint, at) from None


# -- Values ---------------------------------------------------------------------------------------


def _name(value: str, kind: str = "domain") -> str:
    """A host name, with its port where it has one, in the form that canonical URLs have.

    A www. stays: `out domain:www.example.org` must not mean all of it.
    """
    example = f"{kind}:example.org"
    if value.startswith("*."):
        raise _Wrong(
            "a name has no *", f"Write domain:{shown(value[2:])}; subdomains belong to it."
        )
    _without_spaces(value, f"Write it as {example}.")
    hint = f"Write only the name, as in {example}; for a part of a host use path: or surt:."
    _without(r"[/?#@\\]", value, "is not part of a host's name", hint)
    # The ports that URLs do not show: both, for http and https of a host are one site.
    url = canonical(f"http://{re.sub(':(?:80|443)$', '', value)}/")
    return host_of(_required(url, value, "the name of a host", f"Write it as {example}."))


def _path(value: str) -> str:
    """`/prefix`, or `host/prefix` when the rule names a host: http and https are one site."""
    hint = "Use page: for exactly this URL, or regex: to look at queries."
    _without(r"[?#]", value, "is not part of a path", hint)
    if value.startswith("/"):
        url = canonical(f"http://host{value}")
        if url is not None and url.startswith("http://host/"):
            return url.removeprefix("http://host")
    else:
        url = canonical(value) if "://" in value else None
        if url is not None:
            return host_of(url).removeprefix("www.") + url[url.index("/", 8) :]
    hint = "Write path:/news/ for seeds' hosts, or path:https://example.org/news/."
    raise _Wrong(f"{shown(value)!r} is neither a path nor a URL", hint)


def _page(value: str) -> str:
    hint = "Write the whole URL, as in page:https://example.org/contact."
    return _required(canonical(value), value, "a URL", hint)


def _compiled(pattern: str) -> re.Pattern[str]:
    _require_text(pattern)
    try:
        with warnings.catch_warnings():
            # "Possible nested set": a hint to programmers about some later Python.
            warnings.simplefilter("ignore")
            return re.compile(pattern)
    except re.error as error:
        hint = "Escape special characters such as ? and + with a backslash."
        raise _Wrong(f"not a regular expression: {error.msg}", hint, error.pos or 0) from None
    except (OverflowError, RecursionError):
        hint = "Nest less deeply and count less far."
        raise _Wrong("a regular expression that is too large to use", hint) from None


def _seeds(value: str) -> str:
    if value:
        raise _Wrong("seeds: takes no value", "Write in seeds: or name a URL with page:.")
    return ""


def _required(found: str | None, value: str, what: str, hint: str) -> str:
    if found is None:
        raise _Wrong(f"{shown(value)!r} is not {what}", hint)
    return found


def _number(value: str) -> str:
    found = str(int(value)) if _NUMBER.fullmatch(value) else None
    return _required(found, value, "a whole number", "Write it in digits, as in 5.")


def _count(value: str) -> str:
    number = _number(value)
    if number == "0":
        raise _Wrong("no page at all would be taken", "Write at least count:1.")
    return number


def _media(value: str) -> str:
    hint = "Write type/subtype, as in media:video/* or media:application/pdf."
    folded = value.lower()
    return _required(folded if _MEDIA.fullmatch(folded) else None, value, "a media type", hint)


def _size(value: str) -> str:
    size = parse_size(value)
    hint = "Write bytes in digits or with a unit, as in size:500kB or size:10MB."
    return _required(None if size is None else str(size), value, "a number of bytes", hint)


def _without(odd: str, value: str, problem: str, hint: str) -> None:
    found = re.search(odd, value)
    if found is not None:
        raise _Wrong(f"{found[0]!r} {problem}", hint, found.start())


def _without_spaces(value: str, hint: str = "A SURT prefix has no spaces.") -> str:
    space = re.search(r"\s", value)
    if space is not None:
        raise _Wrong("a space stands here", hint, space.start())
    return value


# How a value is settled, and one to show where it is missing.
_VALUES: dict[RuleKind, tuple[Callable[[str], str], str]] = {
    RuleKind.SURT: (_without_spaces, "http://(org,example, or surt:org,example)/news"),
    RuleKind.HOST: (lambda value: _name(value, "host").removeprefix("www."), "example.org"),
    RuleKind.DOMAIN: (_name, "example.org"),
    RuleKind.PATH: (_path, "/news/ or path:https://example.org/news/"),
    RuleKind.PAGE: (_page, "https://example.org/contact"),
    RuleKind.REGEX: (lambda value: _compiled(value).pattern, r"\.pdf$"),
    RuleKind.SEEDS: (_seeds, ""),
    RuleKind.DEPTH: (_number, "5"),
    RuleKind.COUNT: (_count, "500"),
    RuleKind.MEDIA: (_media, "video/*"),
    RuleKind.SIZE: (_size, "10000000 or size:10MB"),
}
