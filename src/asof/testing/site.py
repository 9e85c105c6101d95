"""The synthetic web itself: a pure function from (method, path, headers, moment) to a response."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from asof.clock import DAY, SECOND, Instant
from asof.errors import UsageError
from asof.model import Headers
from asof.testing import art
from asof.testing.answer import Rendering, Response, answer, plain
from asof.testing.chance import Purpose, mix, uniform
from asof.testing.edition import Edition, compose
from asof.testing.history import History
from asof.testing.layout import STILL, Kind, Layout, Resource, paper_of, plan
from asof.testing.pages import Press, robots, sitemap
from asof.testing.spec import SiteSpec
from asof.testing.traps import Traps, entrances

# Some 25,000 pages of the default size; beyond it, the oldest renderings are made anew.
_CACHE_BYTES = 192 * 1024 * 1024
# Pages have existed for up to this long when the site's time starts.
_OLDEST = 400 * DAY
_NEIGHBOURS = 3
_CHANGING = frozenset({Kind.PAGE, Kind.CSS, Kind.SCRIPT, Kind.IMAGE})


@dataclass(frozen=True, slots=True)
class _Host:
    layout: Layout
    press: Press
    traps: Traps
    origin: str


class SyntheticSite:
    """A web that changes over time, and the truth about when it did.

    Every method is a pure function of the spec and its arguments; what was asked before makes no
    difference. Paths are those of one host, number 0 unless `host` says otherwise.
    """

    def __init__(self, spec: SiteSpec) -> None:
        self.spec = spec
        # RFC 2606: nothing under .example will ever resolve on the internet.
        self.origins = tuple(f"http://{paper_of(k).slug}.example" for k in range(spec.hosts))
        rates = spec.page_rates()
        layouts = [plan(spec, host, rates) for host in range(spec.hosts)]
        self._hosts = self._print(layouts)
        self._histories: dict[tuple[int, str], History] = {}
        self._cache: dict[tuple[int, str, int], Rendering] = {}
        self._cached = 0
        self._lock = threading.Lock()

    def at(self, origins: Sequence[str]) -> SyntheticSite:
        """The same web, same changes, under other origins (absolute URLs in pages follow)."""
        if len(origins) != self.spec.hosts:
            raise UsageError(
                f"{len(origins)} origins were given for {self.spec.hosts} hosts.",
                hint="Give one origin, such as http://gazette.example, for each host.",
            )
        twin = copy(self)  # layouts and histories are the same and are shared
        twin.origins = tuple(origins)
        twin._hosts = twin._print([host.layout for host in self._hosts])
        twin._cache = {}
        twin._cached = 0
        return twin

    # --- the truth -----------------------------------------------------------------------------

    def paths(self, t: Instant, *, host: int = 0) -> tuple[str, ...]:
        """All pages that exist at `t`, the front page first."""
        return tuple(page.path for page in self._hosts[host].layout.pages if page.exists(t))

    def version(self, path: str, t: Instant, *, host: int = 0) -> int:
        """How often what is at `path` had changed by `t` (coming and going are changes, too)."""
        resource = self._resource(path, host)
        if resource.kind is Kind.SITEMAP:
            return len(self.changes(path, self.spec.start, t, host=host))
        history = self._history(resource, host)
        return 0 if history is None else history.count(t)

    def changes(self, path: str, t0: Instant, t1: Instant, *, host: int = 0) -> list[Instant]:
        """The true instants in (t0, t1] at which what is at `path` changed."""
        resource = self._resource(path, host)
        if resource.kind is Kind.SITEMAP:
            pages = self._hosts[host].layout.listed(resource)
            return sorted({at for p in pages for at in self.changes(p.path, t0, t1, host=host)})
        history = self._history(resource, host)
        return [] if history is None else history.between(t0, t1)

    def modified(self, path: str, t: Instant, *, host: int = 0) -> Instant:
        """When what is at `path` at `t` was last changed; before the first change: when made."""
        resource = self._resource(path, host)
        if resource.kind is Kind.SITEMAP:
            pages = self._hosts[host].layout.listed(resource)
            return max((self.modified(page.path, t, host=host) for page in pages), default=0)
        return self._modified(resource, host, self.version(path, t, host=host))

    def rate(self, path: str, *, host: int = 0) -> float:
        """Changes a day of the content at `path`, links that come and go left out."""
        resource = self._resource(path, host)
        if resource.kind is Kind.PAGE:
            return self._hosts[host].layout.pages[resource.index].rate
        if resource.kind not in _CHANGING or path in STILL:
            return 0.0
        return self.spec.asset_rate

    def links(self, path: str, t: Instant, *, host: int = 0) -> tuple[str, ...]:
        """The targets of all links on a page: paths, and URLs where they lead to other hosts."""
        resource, here = self._resource(path, host), self._hosts[host]
        if resource.kind is not Kind.PAGE or not here.layout.pages[resource.index].exists(t):
            return ()
        edition = self._composed(resource, host, self.version(path, t, host=host))
        return here.press.links(edition)

    def kind(self, path: str, *, host: int = 0) -> Kind:
        """What a path is. A page under a session id is a trap; what it shows is a page."""
        return self._resource(path, host).kind

    def expected(self, t: Instant, *, host: int = 0, sitemaps: bool = True) -> frozenset[str]:
        """All paths that a complete and polite crawl of a host asks for, beginning at `/`.

        Pages, what they need, redirects with each hop, dead links, robots.txt and sitemaps (or,
        with `sitemaps=False`, a mere link to one); not what robots.txt forbids, nor traps.
        """
        layout, press = self._hosts[host].layout, self._hosts[host].press
        pages = [page for page in layout.pages if page.exists(t)]
        found = {"/robots.txt", *(page.path for page in pages)}
        for page in pages:
            found |= press.requisites(page)
        found.update(resource.path for resource in (*layout.redirects, *layout.errors))
        found.update(layout.sitemaps if sitemaps else layout.sitemaps[:1])
        return frozenset(found)

    def forbidden(self, *, host: int = 0) -> frozenset[str]:
        """Paths that pages link to and robots.txt disallows."""
        return frozenset(self._hosts[host].layout.drafts)

    def urls(self, t: Instant, *, sitemaps: bool = True) -> frozenset[str]:
        """`expected` of all hosts, as URLs."""
        return frozenset(
            origin + path
            for host, origin in enumerate(self.origins)
            for path in self.expected(t, host=host, sitemaps=sitemaps)
        )

    # --- the answer ----------------------------------------------------------------------------

    def respond(
        self, method: str, path: str, headers: Headers, t: Instant, *, host: int = 0
    ) -> Response:
        """What the host answers at `t`."""
        press = self._hosts[host].press
        if method not in ("GET", "HEAD"):
            return plain(405, t, b"", ("Allow", "GET, HEAD"))
        resource = self._hosts[host].layout.resources.get(path)
        if resource is None:
            return self._trap(path, t, host)
        if resource.kind is Kind.REDIRECT:
            body = press.notice("Moved", "This page has moved to another shelf.")
            return plain(resource.status, t, body, ("Location", resource.target))
        if resource.kind is Kind.ERROR:
            return self._dead(resource, press, t)
        asked = {name.lower(): value for name, value in headers}
        rendering = self._rendering(resource, host, t)
        if rendering is None:
            page = self._hosts[host].layout.pages[resource.index]
            gone = 404 if page.born is not None and t < page.born else 410
            return plain(gone, t, press.notice("Nothing here", "This page is not in print."))
        spec = self.spec
        return answer(rendering, asked, t, conditional=spec.conditional, zip_it=spec.gzip)

    def prepare(self, t: Instant) -> None:
        """Render all that is expected at `t` now, so that a benchmark does not pay for it."""
        for host, here in enumerate(self._hosts):
            for path in self.expected(t, host=host) & here.layout.resources.keys():
                rendering = self._rendering(here.layout.resources[path], host, t)
                if rendering is not None and self.spec.gzip:
                    _ = rendering.zipped

    def _trap(self, path: str, t: Instant, host: int) -> Response:
        """A page of a trap; a real page under a session id; or what was never printed."""
        here = self._hosts[host]
        session = here.traps.session(path)
        rendering = session and self._rendering(here.layout.resources[session[0]], host, t)
        if session and rendering:
            return plain(200, t, here.traps.in_session(rendering.body, *session))
        body = here.traps.page(path)
        if body is not None:
            return plain(200, t, body)
        return plain(404, t, here.press.notice("Not found", "No such page was ever printed."))

    def _dead(self, resource: Resource, press: Press, t: Instant) -> Response:
        body = press.notice(f"Lost ({resource.status})", "The cutting you asked for is not here.")
        later = (("Retry-After", str(self.spec.retry_after)),)
        return plain(resource.status, t, body, *(later if resource.status in (429, 503) else ()))

    def _rendering(self, resource: Resource, host: int, t: Instant) -> Rendering | None:
        """The resource as it stands at `t`, kept for the next time; None if it is not there."""
        if resource.kind is Kind.SITEMAP:
            body = self._sitemap(resource, host, t)
            tag = self._tag(resource, host, zlib.crc32(body))
            return Rendering("application/xml", body, tag, None)
        layout = self._hosts[host].layout
        if resource.kind is Kind.PAGE and not layout.pages[resource.index].exists(t):
            return None
        version = self.version(resource.path, t, host=host)
        key = (host, resource.path, version)
        found = self._cache.get(key)
        if found is None:
            found = self._render(resource, host, version)
            self._keep(key, found)
        return found

    def _render(self, resource: Resource, host: int, version: int) -> Rendering:
        here = self._hosts[host]
        layout = here.layout
        key = (self.spec.seed, host, resource.index)
        match resource.kind:
            case Kind.PAGE:
                edition = self._composed(resource, host, version)
                media, body = "text/html; charset=utf-8", here.press.page(edition)
            case Kind.CSS:
                imports = layout.css[1:] if resource.index == 0 else ()
                media = "text/css"
                body = art.stylesheet(layout.paper, resource.index, version, imports)
            case Kind.SCRIPT:
                media, body = "text/javascript", art.script(resource.index, version)
            case Kind.IMAGE:
                media, body = art.image(layout.paper, resource.path, version, key)
            case Kind.ROBOTS:
                media, body = "text/plain; charset=utf-8", robots(self.spec, layout, here.origin)
            case _:
                said = "The desk of the editors", "An unfinished draft, not for print."
                media, body = "text/html; charset=utf-8", here.press.notice(*said)
        return Rendering(
            media,
            body,
            self._tag(resource, host, version),
            self._modified(resource, host, version) if self.spec.last_modified else None,
            resource.kind is Kind.PAGE and uniform(*key, Purpose.FRAMING) <= self.spec.chunked,
        )

    def _keep(self, key: tuple[int, str, int], rendering: Rendering) -> None:
        with self._lock:
            self._cache[key] = rendering
            self._cached += rendering.size
            while self._cached > _CACHE_BYTES and len(self._cache) > 1:
                self._cached -= self._cache.pop(next(iter(self._cache))).size

    def _tag(self, resource: Resource, host: int, version: int) -> str:
        style = self.spec.etag
        number = mix(self.spec.seed, host, zlib.crc32(resource.path.encode()), Purpose.TAG)
        if style == "mixed":
            style = ("strong", "weak", "none")[number % 3]
        if style == "none":
            return ""
        return f'{"W/" if style == "weak" else ""}"{version}-{number & 0xFFFFFFFF:08x}"'

    def _sitemap(self, resource: Resource, host: int, t: Instant) -> bytes:
        here = self._hosts[host]
        index = resource.index == 0 and len(here.layout.sitemaps) > 1
        pages = [page.path for page in here.layout.listed(resource) if page.exists(t)]
        paths = here.layout.sitemaps[1:] if index else pages
        entries = ((here.origin + path, self.modified(path, t, host=host)) for path in paths)
        return sitemap(entries, index=index)

    # --- the parts -----------------------------------------------------------------------------

    def _print(self, layouts: list[Layout]) -> tuple[_Host, ...]:
        hosts = []
        for host, layout in enumerate(layouts):
            # A ring: all hosts can be reached, and a thousand of them do not fill every footer.
            ring = ((host + k) % len(layouts) for k in range(1, min(_NEIGHBOURS + 1, len(layouts))))
            others = [(layouts[k].paper.name, f"{self.origins[k]}/") for k in ring]
            press = Press(self.spec, layout, others, entrances(self.spec, layout))
            traps = Traps(self.spec, layout, press)
            hosts.append(_Host(layout, press, traps, self.origins[host]))
        return tuple(hosts)

    def _resource(self, path: str, host: int) -> Resource:
        here = self._hosts[host]
        if path in here.layout.resources:
            return here.layout.resources[path]
        if here.traps.owns(path):
            return Resource(Kind.TRAP, path, 0)
        raise UsageError(
            f"The synthetic site has nothing at {path!r}.",
            hint="Ask for one of SyntheticSite.expected(t) or .forbidden().",
        )

    def _composed(self, page: Resource, host: int, version: int) -> Edition:
        layout, at = self._hosts[host].layout, self._modified(page, host, version)
        return compose(self.spec, layout, layout.pages[page.index], version, at)

    def _history(self, resource: Resource, host: int) -> History | None:
        if resource.kind not in _CHANGING:
            return None
        key = host, resource.path
        if key not in self._histories:
            self._histories.setdefault(key, self._make_history(resource, host))
        return self._histories[key]

    def _make_history(self, resource: Resource, host: int) -> History:
        spec = self.spec
        which = (list(Kind).index(resource.kind), resource.index)
        key = mix(spec.seed, host, *which, Purpose.CHANGE)
        if resource.kind is not Kind.PAGE:
            return History(key, self.rate(resource.path, host=host), spec.start)
        pages = self._hosts[host].layout.pages
        page = pages[resource.index]
        lives = [page, *(pages[k] for k in page.children)]
        fixed = [at for life in lives for at in (life.born, life.dies) if at is not None]
        since = spec.start if page.born is None else page.born
        return History(key, page.rate, since, page.dies, *fixed)

    def _modified(self, resource: Resource, host: int, version: int) -> Instant:
        history = self._history(resource, host)
        if history is not None and version:
            return history.at(version)
        number = zlib.crc32(resource.path.encode())
        age = uniform(self.spec.seed, host, number, Purpose.AGE) * _OLDEST
        return self.spec.start - SECOND - int(age)
