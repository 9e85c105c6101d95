"""What one page says in one version: a pure function of (layout, page, version).

Edition n differs from edition n-1 in three sentences; every second edition also trades one link
for another, and every third carries a new headline. The edition number and the hour of the
change are printed on the page, so no two editions are equal.
"""

from dataclasses import dataclass

from asof.clock import Instant
from asof.testing.chance import Purpose, mix, pick, uniform
from asof.testing.layout import Layout, Page
from asof.testing.spec import SiteSpec
from asof.testing.words import headline, sentence

_EDITS = 3
_WORDS_IN_SENTENCE = 16.9  # measured over 20,000 sentences
_FRONT_STORIES = 9


@dataclass(frozen=True, slots=True)
class Edition:
    """A page as it stood after its latest change at `at`; `number` counts from 1."""

    layout: Layout
    page: Page
    number: int
    at: Instant
    headline: str
    sentences: tuple[str, ...]
    children: tuple[Page, ...]
    related: tuple[Page, ...]

    @property
    def stories(self) -> tuple[Page, ...]:
        """The articles this page leads to."""
        sections = self.layout.sections
        return (*(page for page in self.children if page.index not in sections), *self.related)


def compose(spec: SiteSpec, layout: Layout, page: Page, version: int, at: Instant) -> Edition:
    """The edition that a page's change number `version`, at the instant `at`, brought about."""
    edits = version - (page.born is not None)
    article = page.index > len(layout.sections)
    key = spec.seed, layout.host, page.index
    children = tuple(
        child for k in page.children if (child := layout.pages[k]).exists(max(at, spec.start))
    )
    return Edition(
        layout=layout,
        page=page,
        number=edits + 1,
        at=at,
        headline=headline(page.title, edits // 3 if article else 0, *key),
        sentences=_sentences(spec, key, edits),
        children=children,
        related=_related(spec, layout, page, children, edits // 2),
    )


def standfirst(spec: SiteSpec, layout: Layout, page: Page) -> str:
    """The one line that introduces a page wherever it is linked; the same for all its life."""
    return sentence(mix(spec.seed, layout.host, page.index, Purpose.NOTICE))


def _revision(place: int, of: int, edits: int) -> int:
    """How often the thing at `place` was rewritten when edits go round all `of` places in turn."""
    return max(0, (edits - place + of - 1) // of)


def _sentences(spec: SiteSpec, key: tuple[int, ...], edits: int) -> tuple[str, ...]:
    # From half to one and a half times the mean.
    words = spec.words * (0.5 + uniform(*key, Purpose.LENGTH))
    count = max(_EDITS, round(words / _WORDS_IN_SENTENCE)) if spec.words else 0
    # Edits go round in a stride that shares no factor with the count, so they are spread out.
    stride = next(step for step in (7, 11, 13, 17, 19, 1) if step == 1 or count % step)
    start = mix(*key, Purpose.SENTENCE)
    return tuple(
        sentence(mix(k, _revision(k * stride % count, count, _EDITS * edits), after=start))
        for k in range(count)
    )


def _related(
    spec: SiteSpec, layout: Layout, page: Page, children: tuple[Page, ...], trades: int
) -> tuple[Page, ...]:
    """Links to permanent articles anywhere on the host, as many as the children leave room for."""
    pool = layout.permanent[len(layout.sections) + 1 :]
    wanted = max(_FRONT_STORIES, spec.links) if page.index == 0 else spec.links
    # The front page's sections stand in its navigation; they take no room from its stories.
    wanted -= sum(child.index not in layout.sections for child in children)
    wanted = min(wanted, len(pool))
    taken = {page.index, *(child.index for child in children)}
    found: list[Page] = []
    for place in range(max(0, wanted)):
        revision = _revision(place, wanted, trades)
        key = spec.seed, layout.host, page.index
        target = pick(pool, *key, Purpose.LINK, place, revision)
        if target not in taken:
            taken.add(target)
            found.append(layout.pages[target])
    return tuple(found)
