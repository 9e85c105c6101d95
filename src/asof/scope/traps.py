"""Traps that a URL alone gives away: paths and parameters that repeat, far dates, session ids.

And the pattern of a URL, by which `patterns` judges the rest by what the pages bring.

Spaniol 2010, "Pitfalls": crawlers are easily trapped, and like time travelling in calendars. What
is said here is said without having seen a page, so it is said only of URLs that no real site has.

The limits were set beside those of other crawlers (Heritrix: 3 equal segments in a row, 20
segments; Zeno: one segment or one parameter 4 times, two segments 3 times in a deep path;
grab-site: `%25252525`) and are looser where a list of real URLs in the tests would be hit.
"""

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from asof.clock import DAY, Instant

# Longer than anything that servers commonly accept (8 KB of request head, with cookies).
MAX_LENGTH = 4_096
MAX_SEGMENTS = 25
# Hotel searches carry 30 parameters and more; what counts pixels, up to 40.
MAX_PARAMETERS = 40
# `f[]=a&f[]=b`: filters and font families are lists, but of a dozen at most.
MAX_SAME_NAME = 12
_SAME_WORD = 4
# Sharded folders and map tiles repeat numbers and letters: /00/00/00/00/12.jpg, /0/0/0.png.
_SAME_NUMBER = 6
# From here on two words that come back three times each are a loop, in whatever order.
_DEEP = 10

# What grows when a page quotes its own address, and quotes the quotation.
_ENCODED_AGAIN = ("%25252525", "amp;amp;amp;")

REPEATED_PATH = "trap: repeated path"
REPEATED_PARAMETER = "trap: repeated parameter"
TOO_LONG = "trap: too long"
FAR_DATE = "trap: calendar far away"
SESSION = "trap: the same page under another session id"


def shape_trap(url: str) -> str | None:
    """Why a URL is a trap by its shape alone, or None. A stable text, for reports by reason."""
    length = len(url)
    if length > MAX_LENGTH:
        return TOO_LONG
    # Four equal segments or parameters are the least that can be wrong: nearly all URLs end here.
    slashes, parameters = url.count("/"), url.count("&")
    if slashes >= 6 or parameters >= 3:
        place, _, query = url.partition("?")
        reason = _path_trap(place) if slashes >= 6 else None
        if reason is None and parameters >= 3:
            reason = _query_trap(query)
        if reason is not None:
            return reason
    if length > 60 and (_ENCODED_AGAIN[0] in url or _ENCODED_AGAIN[1] in url):
        return "trap: encoded over and over"
    return None


def _path_trap(place: str) -> str | None:
    segments = place.split("/")[3:]
    if len(segments) > MAX_SEGMENTS:
        return "trap: too deep"
    if len(segments) - len(set(segments)) < 3:  # no segment four times, no two of them thrice
        return None
    counts = Counter(segments)
    if any(n >= (_SAME_WORD if _is_word(s) else _SAME_NUMBER) for s, n in counts.items()):
        return REPEATED_PATH
    if len(segments) >= _DEEP and sum(n >= 3 and _is_word(s) for s, n in counts.items()) >= 2:
        return REPEATED_PATH
    return REPEATED_PATH if _goes_round(segments) else None


def _is_word(segment: str) -> bool:
    return len(segment) > 2 and not segment.isdigit()


def _goes_round(segments: list[str]) -> bool:
    """Whether two or more segments, not all of them numbers, come three times in a row."""
    for size in range(2, len(segments) // 3 + 1):
        for start in range(len(segments) - 3 * size + 1):
            middle, last = start + size, start + 2 * size
            round_ = segments[start:middle]
            if round_ == segments[middle:last] == segments[last : last + size] and not all(
                segment.isdigit() for segment in round_
            ):
                return True
    return False


def _query_trap(query: str) -> str | None:
    pairs = [pair for pair in query.split("&") if pair]
    if len(pairs) > MAX_PARAMETERS:
        return "trap: too many parameters"
    if len(set(pairs)) < len(pairs) and max(Counter(pairs).values()) >= _SAME_WORD:
        return REPEATED_PARAMETER
    if len(pairs) > MAX_SAME_NAME:
        names = Counter(pair.partition("=")[0] for pair in pairs)
        if max(names.values()) > MAX_SAME_NAME:
            return REPEATED_PARAMETER
    return None


# --- calendars ---------------------------------------------------------------------------------

# A whole date, or a year beside a month by name: `/4821/12` alone is page 12 of a thread.
_DATE = re.compile(
    r"[/=]([0-9]{4})([-/]?)(?:0[1-9]|1[0-2])\2(?:0[1-9]|[12][0-9]|3[01])(?=[/?&T]|\Z)"
)
_YEAR = re.compile(r"=([0-9]{4})(?=&|\Z)")
_YEAR_NAME = re.compile(r"[?&_-](?:year|yr|jahr|annee|anno|ano)\Z", re.I)
_MONTH = re.compile(r"[?&_-](?:month|mon|monat|mois|mese|mes)=[0-9]", re.I)
_YEARS_AHEAD = 20
# A calendar that counts on comes through these years; other numbers are no dates at all.
_YEARS_BEHIND_THAT = 100
_FIRST_YEAR = 1_000


def calendar_trap(url: str, now: Instant) -> str | None:
    """Why a URL belongs to a calendar that nobody has filled in, or None.

    More than 20 years ahead, or in the first millennium. The past since then is left to the
    evidence of the pages: newspapers put their archives under such dates.
    """
    found = _DATE.search(url)
    if found is None and "?" in url and _MONTH.search(url) is not None:
        years = (y for y in _YEAR.finditer(url) if _YEAR_NAME.search(url, 0, y.start()))
        found = next(years, None)
    if found is None:
        return None
    year = int(found[1])
    horizon = 1970 + int(now // (DAY * 365.2425)) + _YEARS_AHEAD
    far = horizon < year <= horizon + _YEARS_BEHIND_THAT or 0 < year < _FIRST_YEAR
    return FAR_DATE if far else None


# --- session ids -------------------------------------------------------------------------------

# The names say it, whatever the value: Java, PHP, ASP, osCommerce, xt:Commerce, Zen Cart.
_SESSION_NAME = re.compile(
    r"jsessionid(?:sso)?|jsession|phpsessid|php_?session_?id|aspsessionid[a-z]{6,10}|"
    r"asp\.net_sessionid|oscsid|xtcsid|modsid|zenid",
    re.I,
)
# These may be sessions of a conference or the number of a story: the value must look drawn by lot.
_MAYBE_NAME = re.compile(r"[a-z]{0,4}sid|sess(?:ion)?(?:[_-]?(?:id|key|hash))?|s", re.I)
_DRAWN = re.compile(r"[0-9a-f]{32,64}|(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[0-9a-z,_-]{22,128}", re.I)
_HEX = re.compile(r"[0-9a-f]{32,64}", re.I)
# `;jsessionid=...` behind a segment; ASP.NET without cookies: /(S(24 characters))/page.aspx.
_IN_PATH = re.compile(r";jsessionid(?:sso)?=[^/;?]*|/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=/)", re.I)


def session_key(url: str) -> str | None:
    """The URL without its session id, or None when it has none.

    URLs with the same key, and the key itself, are one page: a site without cookies writes a new
    id into all links of every answer.
    """
    place, mark, query = url.partition("?")
    kept = _IN_PATH.sub("", place) if ";" in place or "(" in place else place
    if mark:
        low = f"&{query}".lower()
        if "sid" in low or "sess" in low or "zenid" in low or "cftoken" in low or "&s=" in low:
            query = _without_session(query)
    key = f"{kept}?{query}" if query else kept + mark if url == place + mark else kept
    return key if key != url else None


def _without_session(query: str) -> str:
    pairs = query.split("&")
    names = {pair.partition("=")[0].lower() for pair in pairs}
    fusion = {"cfid", "cftoken"} if {"cfid", "cftoken"} <= names else set()
    return "&".join(pair for pair in pairs if not _is_session(pair, fusion))


def _is_session(pair: str, names: set[str]) -> bool:
    name, _, value = pair.removeprefix("amp;").partition("=")
    if _SESSION_NAME.fullmatch(name) is not None or name.lower() in names:
        return True
    if _MAYBE_NAME.fullmatch(name) is None:
        return False
    return (_HEX if len(name) == 1 else _DRAWN).fullmatch(value) is not None


# --- patterns ----------------------------------------------------------------------------------

_NUMBER = re.compile(r"[0-9]+")
_ID = re.compile(r"[0-9a-f]{8,}|[0-9A-F]{8,}")
_ANY = ("#", "*", "")
_LONG_WORD = 24
_MOST_NAMES = 8


class TrapPlace(NamedTuple):
    """Where a URL belongs. `pattern` is `path` where there is no query.

    >>> place_of("http://a.example/calendar/2025/03/?view=list&day=7").pattern
    'a.example/calendar/#/#/?day&view'
    """

    host: str
    path: str
    pattern: str
    parameters: int

    @property
    def general(self) -> bool:
        return self.parameters > 0 or "#" in self.path or "*" in self.path or "+" in self.path

    @property
    def queries(self) -> str:
        return self.path + "?..."


# A page is asked about when it is found, before and after it is fetched, and as the origin of
# others: measured, three of four questions are answered from here.
@lru_cache(maxsize=4096)
def place_of(url: str) -> TrapPlace:
    """The pattern and the path of a canonical URL.

    Words that came before are left out: all of /a/b/, /a/b/a/b/, ... are `/a/b/+`.
    """
    place, _, query = url.partition("?")
    _, _, host, *parts = place.split("/")
    parts = [p if p.isalpha() and len(p) <= _LONG_WORD else _kind(p) for p in parts]
    if len(set(parts)) < len(parts):
        once = [part for k, part in enumerate(parts) if part in _ANY or part not in parts[:k]]
        parts = once if len(once) == len(parts) else [*once, "+"]
    path = f"{host}/{'/'.join(parts)}"
    if not query:
        return TrapPlace(host, path, path, 0)
    names = {_kind(pair.partition("=")[0]) for pair in query.split("&")}
    pattern = f"{path}?{'&'.join(sorted(names)[:_MOST_NAMES])}"
    return TrapPlace(host, path, pattern, len(names))


def _kind(text: str) -> str:
    if not text:
        return text
    if "%" in text or text.count("-") + text.count("_") + text.count("+") >= 2:
        return "#" if text.replace("-", "").isdigit() else "*"
    stem = _NUMBER.sub("#", text)
    if stem is text:
        return text if len(text) <= _LONG_WORD else "*"
    if stem.count("#") >= 2 or _ID.fullmatch(text) is not None:
        return "#"
    return stem if len(stem) <= _LONG_WORD else "*"
