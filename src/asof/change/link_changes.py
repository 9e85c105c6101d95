"""Links that came and went: the structural changes of Spaniol 2010.

"Links to new contents added, links to removed contents deleted": whether contents are new or gone
is known to whoever can look into the archive, and is asked there.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

# Parameters that are drawn for each visit or tell where a visitor came from. No content hangs on
# them; anything else might be the name of one.
_NOISE = re.compile(
    r"utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|_ga|_hs\w+|phpsessid|jsessionid|sessionid|session_id|sid"
    r"|cfid|cftoken|aspsessionid\w*|csrf\w*|xsrf\w*|nonce|_|cb|cachebuster|timestamp|ts|rand(?:om)?",
    re.IGNORECASE,
)
# Servers of advertisements: another one at every visit, and none of them content.
_ADVERTS = re.compile(
    r"(?:.+\.)?(?:doubleclick\.net|googlesyndication\.com|googleadservices\.com|adnxs(?:-simple)?\.com"
    r"|adform\.net|taboola\.com|outbrain\.com|criteo\.(?:com|net)|adition\.com|smartadserver\.com"
    r"|amazon-adsystem\.com|awin1\.com|zanox\.com|plista\.com)(?::\d+)?",
    re.IGNORECASE,
)
_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnownTargets:
    """What an archive knows about a URL that links lead to; None where it does not."""

    known_before: Callable[[str], bool | None]  # there was content at the time of the old version
    gone_now: Callable[[str], bool | None]  # there was none any more at the time of the new one


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """Links that only one of two versions has, in the order of the page."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    to_new: tuple[str, ...] = ()
    to_removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def link_changes(
    old: Iterable[str], new: Iterable[str], targets: KnownTargets | None = None
) -> LinkChanges:
    before, after = _by_target(old), _by_target(new)
    added = tuple(url for target, url in after.items() if target not in before)
    removed = tuple(url for target, url in before.items() if target not in after)
    if targets is None:
        return LinkChanges(added, removed)
    return LinkChanges(
        added,
        removed,
        tuple(url for url in added if targets.known_before(url) is False),
        tuple(url for url in removed if targets.gone_now(url) is True),
    )


def _by_target(links: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for link in links:
        target = link_target(link)
        if target is not None:
            found.setdefault(target, link)
    return found


def link_target(link: str) -> str | None:
    """Where a link leads, as far as content goes; None for mail, scripts and adverts.

    The place within a page does not count, nor does whether it is asked for with or without TLS: a
    site that goes over to https has the same structure as before.
    """
    try:
        parts = urlsplit(link)
    except ValueError:
        return link
    if parts.scheme not in ("", "http", "https") or _ADVERTS.fullmatch(parts.netloc):
        return None
    if not (parts.netloc or parts.path or parts.query):
        return None  # a place in the page itself
    path = _SESSION.sub("", parts.path)
    kept = [pair for pair in parse_qsl(parts.query, True) if not _NOISE.fullmatch(pair[0])]
    query = urlencode(kept)
    return f"{parts.netloc}{path or '/'}" + (f"?{query}" if query else "")
