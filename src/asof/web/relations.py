"""The Link relations of Memento (RFC 7089, section 2.2), as a header and as values of a TimeMap."""

from collections.abc import Callable, Iterator

from asof.clock import Instant, http_date
from asof.model import Capture
from asof.replay.choose import Policy
from asof.web import address
from asof.web.pages import Neighbours

LINK_FORMAT = "application/link-format"
# As long as a header may be for readers; Python's own give up at 64 KB.
_LONGEST = 48 << 10


def link_header(
    origin: str,
    url: str,
    capture: Capture,
    around: Neighbours,
    form: str = "",
    policy: str = Policy.COHERENT,
) -> str:
    """What a memento and a TimeGate say of the other resources around the same original."""

    def place(at: Instant) -> str:
        return f"{origin}{address.exact(at, url, form=form, policy=policy)}"

    links: list[str] = []
    room = _LONGEST
    mementos = _mementos(place, capture, around)
    for link in (original(url), *_services(origin, url), *mementos):
        room -= len(link) + 2
        if room > 0:
            links.append(link)
    return ", ".join(links)


def original(url: str) -> str:
    return f'<{address.written(url)}>; rel="original"'


def timegate(origin: str, url: str) -> str:
    return f"{origin}{address.timegate(url)}"


def timemap(origin: str, url: str, kind: str = "link", at: Instant | None = None) -> str:
    return f"{origin}{address.timemap(kind, url, at)}"


def memento(where: str, at: Instant, relation: str) -> str:
    return f'<{where}>; rel="{relation}"; datetime="{http_date(at)}"'


def _services(origin: str, url: str) -> Iterator[str]:
    yield f'<{timegate(origin, url)}>; rel="timegate"'
    yield f'<{timemap(origin, url)}>; rel="timemap"; type="{LINK_FORMAT}"'


def _mementos(
    place: Callable[[Instant], str], capture: Capture, around: Neighbours
) -> Iterator[str]:
    relations: dict[int, list[str]] = {capture.at: []}
    for relation, other in (
        ("first", around.first),
        ("prev", around.previous),
        ("next", around.next),
        ("last", around.last),
    ):
        if other is not None:
            relations.setdefault(other.at, []).append(relation)
    for at, names in sorted(relations.items()):
        yield memento(place(at), at, " ".join([*names, "memento"]))
