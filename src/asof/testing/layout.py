"""Which resources one host of the synthetic web has, and how its pages hang together.

Pages form a tree (front page, sections, articles), and every page links to its children, so all
are reachable from `/`. Only leaves appear or vanish, and their parent's links change at that very
instant: at every moment the site is complete and has no dead link that was not asked for.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from asof.clock import DAY, Instant
from asof.errors import UsageError
from asof.testing.chance import Purpose, mix, pick, uniform
from asof.testing.spec import SiteSpec
from asof.testing.words import PAPERS, SECTIONS, Paper, slug, title

_REDIRECT_STATUSES = (301, 302, 307, 308)
_SITEMAP_PART = 500  # addresses in one part of a sitemap index
CSS_PICTURE = "/img/paper.svg"
FAVICON = "/favicon.svg"
STILL = (CSS_PICTURE, FAVICON)  # pictures that never change


class Kind(StrEnum):
    """What a path of the synthetic web is."""

    PAGE = "page"
    CSS = "css"
    IMAGE = "image"
    SCRIPT = "script"
    REDIRECT = "redirect"
    ERROR = "error"
    DRAFT = "draft"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    TRAP = "trap"


@dataclass(frozen=True, slots=True)
class Resource:
    """One path: its kind, its number among its kind, and what is fixed about its answer."""

    kind: Kind
    path: str
    index: int
    status: int = 200
    target: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page's place in the site; its content is a matter of its version."""

    index: int
    path: str
    title: str
    section: int
    rate: float
    children: tuple[int, ...] = ()
    born: Instant | None = None
    dies: Instant | None = None

    def exists(self, t: Instant) -> bool:
        return (self.born is None or self.born <= t) and (self.dies is None or t < self.dies)


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything about one host that never changes. `section` -1 means the front page."""

    host: int
    paper: Paper
    pages: tuple[Page, ...]
    permanent: tuple[int, ...]
    sections: tuple[int, ...]
    css: tuple[str, ...]
    images: tuple[str, ...]
    scripts: tuple[str, ...]
    redirects: tuple[Resource, ...]
    errors: tuple[Resource, ...]
    drafts: tuple[str, ...]
    sitemaps: tuple[str, ...]
    resources: dict[str, Resource]
    initial: int

    def listed(self, sitemap: Resource) -> tuple[Page, ...]:
        """The pages of a sitemap; of an index those of all its parts."""
        if sitemap.index == 0:
            return self.pages
        return self.pages[(sitemap.index - 1) * _SITEMAP_PART : sitemap.index * _SITEMAP_PART]

    def images_of(self, page: Page) -> tuple[str, ...]:
        """The pictures a page shows: its own, and its share of those that outnumber the pages."""
        if not self.images:
            return ()
        spare = self.images[page.index :: self.initial] if page.index < self.initial else ()
        return spare or (self.images[page.index % len(self.images)],)


def paper_of(host: int) -> Paper:
    """The newspaper of a host; after the first few they are numbered."""
    paper, round_ = PAPERS[host % len(PAPERS)], host // len(PAPERS)
    if not round_:
        return paper
    name, part = f"{paper.name} No. {round_ + 1}", f"{paper.slug}-{round_ + 1}"
    return replace(paper, name=name, slug=part, founded=paper.founded + round_)


def plan(spec: SiteSpec, host: int, rates: tuple[float, ...]) -> Layout:
    """The layout of one host. `rates` are those of the whole web, by running number."""
    count = _share(spec.pages, host, spec.hosts)
    sections = min(len(SECTIONS), (count - 1) // 4)
    pages = [
        Page(k, *_name(spec, host, k, sections), rate=rates[k * spec.hosts + host])
        for k in range(count)
    ]
    _grow_tree(pages, sections, max(2, spec.links // 2))
    permanent = _end_some(pages, spec, host, sections)
    _start_some(pages, spec, host, sections, permanent, rates)
    redirects = _redirects(spec, host, [pages[k].path for k in permanent])
    errors = tuple(
        Resource(Kind.ERROR, f"/lost/{status}", k, status) for k, status in enumerate(spec.errors)
    )
    css = tuple("/css/gazette.css" if k == 0 else f"/css/layer-{k}.css" for k in range(spec.css))
    scripts = tuple("/js/gazette.js" if k == 0 else f"/js/part-{k}.js" for k in range(spec.scripts))
    images = tuple(f"/img/plate-{k + 1}.{('svg', 'png')[k % 2]}" for k in range(spec.images))
    drafts = tuple(f"/desk/draft-{k + 1}" for k in range(spec.disallowed if spec.robots else 0))
    sitemaps = _sitemaps(spec, len(pages))
    resources = [
        *(Resource(Kind.PAGE, page.path, page.index) for page in pages),
        *(Resource(Kind.CSS, path, k) for k, path in enumerate(css)),
        *(Resource(Kind.SCRIPT, path, k) for k, path in enumerate(scripts)),
        *(Resource(Kind.IMAGE, path, k) for k, path in enumerate((*images, CSS_PICTURE, FAVICON))),
        *redirects,
        *errors,
        *(Resource(Kind.DRAFT, path, k) for k, path in enumerate(drafts)),
        *(Resource(Kind.SITEMAP, path, k) for k, path in enumerate(sitemaps)),
        *((Resource(Kind.ROBOTS, "/robots.txt", 0),) if spec.robots else ()),
    ]
    return Layout(
        host, paper_of(host), tuple(pages), tuple(permanent), tuple(range(1, sections + 1)),
        css, images, scripts, redirects, errors, drafts, sitemaps,
        {resource.path: resource for resource in resources}, count,
    )  # fmt: skip


def _share(total: int, host: int, hosts: int) -> int:
    return total // hosts + (host < total % hosts)


def _name(spec: SiteSpec, host: int, k: int, sections: int) -> tuple[str, str, int]:
    """Path, title and section of page number k."""
    if k == 0:
        return "/", paper_of(host).name, -1
    if k <= sections:
        return f"/{slug(SECTIONS[k - 1])}/", SECTIONS[k - 1], k - 1
    section = (k - sections - 1) % sections if sections else -1
    folder = slug(SECTIONS[section]) if sections else "news"
    subject = title(spec.seed, host, k)
    return f"/{folder}/{k}-{slug(subject)}", subject, section


def _grow_tree(pages: list[Page], sections: int, branches: int) -> None:
    """Give every article a parent: its section (or the front page), or an earlier article."""
    children: list[list[int]] = [[] for _ in pages]
    children[0] = list(range(1, sections + 1))
    stride = sections or 1
    for k in range(sections + 1, len(pages)):
        lane, place = (k - sections - 1) % stride, (k - sections - 1) // stride
        if place < branches:
            parent = lane + 1 if sections else 0
        else:
            parent = sections + 1 + lane + stride * ((place - branches) // branches)
        children[parent].append(k)
    for k, below in enumerate(children):
        pages[k] = replace(pages[k], children=tuple(below))


def _end_some(pages: list[Page], spec: SiteSpec, host: int, sections: int) -> list[int]:
    """Let some leaves vanish; returns the pages that stay for ever."""
    wanted = _share(spec.vanishing, host, spec.hosts)
    leaves = [page.index for page in pages[sections + 1 :] if not page.children]
    if wanted > len(leaves):
        raise UsageError(
            f"Of {len(pages)} pages on a host only {len(leaves)} can vanish, not {wanted}.",
            hint="Lower SiteSpec.vanishing or give the site more pages.",
        )
    leaves.sort(key=lambda k: mix(spec.seed, host, Purpose.LIFE, 0, k))
    for nth, k in enumerate(leaves[:wanted]):
        pages[k] = replace(pages[k], dies=_moment(spec, host, 1, nth, wanted))
    return [page.index for page in pages if page.dies is None]


def _start_some(
    pages: list[Page],
    spec: SiteSpec,
    host: int,
    sections: int,
    permanent: list[int],
    rates: tuple[float, ...],
) -> None:
    """Add pages that appear later, below permanent ones, the front page first."""
    wanted = _share(spec.appearing, host, spec.hosts)
    for nth in range(wanted):
        k = len(pages)
        rate = pick(rates, spec.seed, host, Purpose.RATE, k)
        born = _moment(spec, host, 2, nth, wanted)
        pages.append(Page(k, *_name(spec, host, k, sections), rate=rate, born=born))
        parent = pages[permanent[nth % len(permanent)]]
        pages[parent.index] = replace(parent, children=(*parent.children, k))


def _moment(spec: SiteSpec, host: int, which: int, nth: int, of: int) -> Instant:
    """A moment in the nth of equal parts of the turnover time: spread out, yet irregular."""
    place = (nth + uniform(spec.seed, host, Purpose.LIFE, which, nth)) / of
    return spec.start + max(1, round(place * spec.turnover * DAY))


def _redirects(spec: SiteSpec, host: int, targets: list[str]) -> tuple[Resource, ...]:
    found: list[Resource] = []
    for k in range(spec.redirects):
        hops = spec.chain if k % 5 == 4 else 1
        first = f"/permalink/{k + 1}"
        steps = [first, *(f"{first}/{hop}" for hop in range(2, hops + 1))]
        end = pick(targets, spec.seed, host, Purpose.REDIRECT, k)
        for hop, (here, there) in enumerate(zip(steps, [*steps[1:], end], strict=True)):
            status = _REDIRECT_STATUSES[(k + hop) % 4]
            found.append(Resource(Kind.REDIRECT, here, k, status, there))
    return tuple(found)


def _sitemaps(spec: SiteSpec, pages: int) -> tuple[str, ...]:
    if spec.sitemap == "none":
        return ()
    parts = -(-pages // _SITEMAP_PART) if spec.sitemap == "index" else 0
    return ("/sitemap.xml", *(f"/sitemap-{k + 1}.xml" for k in range(parts)))
