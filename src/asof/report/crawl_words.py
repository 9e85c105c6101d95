"""A crawl in words: how it stands, what it did, what it captured, and why a page did not come."""

from asof.crawl.control import Act
from asof.crawl.summary import Snapshot, Summary
from asof.crawl.watch import PATIENCE, GivenOrder
from asof.report.words import duration

_WHY = {
    "dns": "its name is not known (DNS)",
    "refused": "no server accepts connections there",
    "unreachable": "the machine cannot be reached",
    "timeout": "no answer came in time",
    "tls": "its certificate is not valid, or TLS failed (--insecure accepts any)",
    "reset": "the connection was cut",
    "empty": "the server answered with nothing",
    "proxy": "the proxy did not let it through",
    "refused-address": "it lies in a private network (--allow-private lets it)",
    "robots.txt": "its robots.txt forbids it (--robots ignore, for a site of your own)",
}
# Statuses that are told one by one.
_MOST = 4
STATES = {
    "running": ("●", "crawling"),
    "revisiting": ("●", "looking again"),
    "paused": ("‖", "paused"),
    "stopping": ("■", "stopping"),
}
_AT_WORK = ("running", "revisiting")
ENDINGS = {
    "done": "Finished",
    "interrupted": "Interrupted",
    "max-pages": "Finished at the limit of pages",
    "max-bytes": "Finished at the limit of bytes",
    "time-limit": "Finished at the limit of time",
    "unanswered": "Stopped, for nobody answered (is the network up?)",
    "disk-reserve": "Stopped, for the disk is nearly full",
}
_OBEYED = {
    Act.PAUSE: "is paused",
    Act.RESUME: "goes on",
    Act.EXCLUDE: "leaves out what matches {pattern}: {did}",
    Act.STOP: "is stopping",
}


def to_go(snapshot: Snapshot, before: str = "") -> str:
    """When the queue would be empty: nothing while that is no question or nobody can tell."""
    remaining = snapshot.remaining
    if remaining is None or snapshot.state not in _AT_WORK or not snapshot.queued:
        return ""
    return f"{before}about {duration(remaining)} to go"


def obeyed(given: GivenOrder) -> str:
    """What a crawl does about an order, without a full stop."""
    if given.did is not None:
        told = _OBEYED[given.order.act].format(pattern=given.order.pattern, did=given.did)
    elif given.state is None:
        told = "has ended meanwhile"
    else:
        told = f"has not obeyed within {PATIENCE:.0f} seconds, but it has the order"
    return f"Crawl {given.crawl} {told}"


def captured(summary: Summary) -> str:
    """How many answers were stored, and how many of them are errors."""
    told = f"{summary.captured:,} captured"
    if not summary.errors:
        return told
    kinds = [f"{count:,} x {why.removeprefix('status ')}" for why, count in summary.errors.items()]
    kinds = [*kinds[:_MOST], *(["..."] if len(kinds) > _MOST else [])]
    count = sum(summary.errors.values())
    return (
        f"{told} ({count:,} of them {'an error' if count == 1 else 'errors'}: {', '.join(kinds)})"
    )


def why_not(reason: str) -> str:
    """Why a target brought no page, from the reason that it keeps."""
    if reason.startswith("status "):
        return f"the server answered with {reason}"
    return _WHY.get(reason, reason)
