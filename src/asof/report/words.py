"""Numbers, sizes, times and strangers' words as people read them, on every page and terminal."""

import re
from urllib.parse import unquote_to_bytes

from asof.catalog.listing import MANY
from asof.clock import DAY, SECOND, Instant, to_datetime
from asof.report.terminal import harmless

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
_UNITS = (
    (365 * DAY, "year"), (30 * DAY, "month"), (DAY, "day"),
    (HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second"),
)  # fmt: skip
_ENCODED = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")


# -- numbers ---------------------------------------------------------------------------------------


def number(count: int, noun: str = "", verbs: tuple[str, str] | None = None) -> str:
    """`1,204`, `1,204 pages`, `1 page`, `2 addresses`; with verbs, `1 page is`, `2 pages are`."""
    ending = "es" if noun.endswith(("s", "ch")) else "s"
    named = f" {noun}{'' if count == 1 else ending}" if noun else ""
    does = f" {verbs[count != 1]}" if verbs else ""
    return f"{count:,}{named}{does}"


ARE, WERE = ("is", "are"), ("was", "were")


def taken_of(taken: int, found: int, noun: str) -> str:
    """`3 taken of 7 hosts found`: what a share of completeness is of."""
    if not found:
        return "nothing is known of what was found"
    return f"{taken:,} taken of {number(found, noun)} found"


def likely_traps(count: int, example: str | None) -> str:
    """What was left out as a trap, and how to have it all the same."""
    such = shortened(example or "", 120)
    return (
        f"{number(count, 'address', WERE)} left out as a likely trap, such as {such} "
        f"(`asof crawl URL --no-traps` takes {'it' if count == 1 else 'them'} in)"
    )


def missing_audits(drawn: int, missing: int) -> str:
    """That not everything was checked that the lot fell on, and why that may be."""
    return (
        f"{missing:,} of {number(drawn, 'answer')} drawn for an audit had none (`audits`): "
        "the crawl was stopped, its requests failed, or records are missing."
    )


def bounded(count: int) -> str:
    """A count that was not carried on beyond MANY."""
    return f"{MANY:,}+" if count > MANY else f"{count:,}"


def percent(share: float | None) -> str:
    """`99.9 %`: rounded down, so that 100 % is said of nothing that misses a part."""
    if share is None or share != share:
        return "-"
    # The tiny addend keeps 0.29 from becoming 28.9: its nearest float lies below it.
    return f"{int(share * 1000 + 1e-9) / 10:.1f} %"


def human_bytes(count: float) -> str:
    """`41.3 kB`: decimal units."""
    if count < 999.5:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:,.1f} TB"


# -- times -----------------------------------------------------------------------------------------


def day(at: Instant) -> str:
    """`15 Nov 2026`, whatever the locale."""
    when = to_datetime(at)
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}"


def month(number: int) -> str:
    """`Nov 2026` of the months since the year 0."""
    return f"{MONTHS[number % 12]} {number // 12}"


def clock(at: Instant) -> str:
    """`19:05:12`, UTC."""
    return f"{to_datetime(at):%H:%M:%S}"


def moment(at: Instant, beside: Instant | None = None) -> str:
    """`15 Nov 2026, 19:05:12`, UTC; without the day beside another moment of it."""
    same = beside is not None and day(at) == day(beside)
    return clock(at) if same else f"{day(at)}, {clock(at)}"


def stretch(since: Instant, until: Instant) -> str:
    """From when to when, the day only once."""
    told = moment(since)
    return told if told == moment(until) else f"{told} to {moment(until, since)}"


def span(length: int) -> str:
    """`3 days`, or `90 minutes` while that says more; what has not passed in full is left out."""
    for unit, name in _UNITS:
        if length >= (unit if unit == SECOND else 2 * unit):
            return number(length // unit, name)
    return "less than a second"


def duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = f"{hours}:{minutes:02d}:{rest:02d}" if hours or days else f"{minutes}:{rest:02d}"
    return f"{days} d {clock}" if days else clock


def length(seconds: float) -> str:
    """A short time with its tenths, a longer one as `duration` has it."""
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)


# -- words of strangers ----------------------------------------------------------------------------


def plain(text: str) -> str:
    """A stranger's text on one line, of which nothing acts."""
    return harmless(text.replace("\n", " "))


def printable(text: str) -> str:
    """A text that cannot steer the terminal: what is no letter or sign of it is shown as such."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)


def shortened(text: str, room: int) -> str:
    """A text that fits: its middle left out, for the ends of a URL tell the most."""
    text = printable(text)
    if len(text) <= room:
        return text
    tail = max(0, room // 3)
    return f"{text[: max(0, room - tail - 1)]}…{text[len(text) - tail :]}" if room > 0 else ""


def clipped(text: str) -> str:
    """A name that is too long without its middle: names differ at their ends."""
    return text if len(text) <= 300 else f"{text[:200]} … {text[-100:]}"


def readable(url: str) -> str:
    """A URL for the eye: percent-encoded letters as letters. What has a meaning stays encoded."""
    return _ENCODED.sub(_letters, url)


def _letters(match: re.Match[str]) -> str:
    try:
        text = unquote_to_bytes(match[0]).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]
    # Not printable are the marks that turn the direction of writing, for one.
    return text if text.isprintable() else match[0]
