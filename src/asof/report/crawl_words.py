"""What became of a crawl, in words: what it captured, and why a page did not come."""

from asof.crawl.summary import Summary

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
