"""Where the links of a document lead, as addresses that can be compared with those of captures."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from asof.url import canonical

# Of one document: a farm of links has millions.
MOST_TARGETS = 2_000


@lru_cache(maxsize=1 << 16)  # a site has the same links on every page
def address(written: str) -> str:
    """The one spelling of a URL; what is none stays as it is."""
    return canonical(written) or written


def targets(url: str, links: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The other addresses to which a document at a URL leads, each with the place of its link: the
    first of them, if there are very many.
    """
    own = address(url)
    for place, link in enumerate(islice(links, MOST_TARGETS)):
        target = address(link)
        if target != own:
            yield place, target
