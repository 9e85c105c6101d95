"""Pictures of pages as they are replayed: an archive, served to one browser on this machine."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Thread
from time import monotonic

from asof.archive import OpenArchive
from asof.clock import Clock, Instant, stamp
from asof.web import wabac
from asof.web.address import replay
from asof.web.app import create_app
from asof.web.pictures.browser import Browser
from asof.web.pictures.tab import Tab, Unshown, opened
from asof.web.replay_site import LOOPBACK, ReplaySite
from asof.web.server import Server, bound, configured

HOST = "127.0.0.1"
# As high as a picture may be: what drawing takes grows with it, and browsers cut textures there.
HIGHEST = 16_384
# Of its time, what a page may take until it is quiet, and what lies below the fold; then it is
# pictured as it is, for some are never quiet.
_TO_SETTLE, _TO_UNFOLD = 0.5, 0.7
_END_SECONDS = 5
# Where the frame in our page is, once it shows an archived one: with its scripts, and without.
_INSIDE = re.compile(r"/w/|/(?:-/\w+/)?\d+mp_/")
_NOWHERE = re.compile(r"(?!)")
_ONWARD_SECONDS = 1
_NO_BANNER = """if (self === top) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("body.framed > header { display: none !important; }");
  document.adoptedStyleSheets = [sheet];
}"""
# Where the page in our frame is of this process; our own words, in our own page.
_FRAME = "document.querySelector('body.framed iframe')"
_HEIGHT = "Math.max(document.documentElement.scrollHeight, document.body.scrollHeight)"


@dataclass(frozen=True, slots=True)
class View:
    """How a page is looked at: the window, in pixels; `whole` to its end; for so many seconds."""

    width: int = 1280
    height: int = 800
    whole: bool = False
    banner: bool = False
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG, or a WebP that is `scale` as large as the window.

    `is_settled`: nothing was under way any more. `is_cut`: the page goes on below. `with_scripts`:
    those of the page ran.
    """

    data: bytes
    title: str
    width: int
    height: int
    is_settled: bool
    is_cut: bool
    with_scripts: bool


class Studio:
    """Where pictures of one archive are taken, one at a time. The browser stays for the next one,
    unless one went wrong in it.
    """

    def __init__(self, ports: tuple[int, ...]) -> None:
        self._ports = ports
        self._browser: Browser | None = None

    def picture(
        self, url: str, at: Instant, policy: str, view: View, scale: float = 0.0
    ) -> Picture:
        """The page of a URL as of a moment, as a PNG; or as a WebP in so small a scale."""
        browser = self._browser = self._browser or Browser(self._ports)
        try:
            with opened(browser, view.seconds, view.width, view.height) as tab:
                if not view.banner:
                    tab.before(_NO_BANNER)
                return self._taken(tab, replay(stamp(at), url, policy=policy), view, scale)
        except BaseException:
            self._browser = None  # it was ended: who knows what became of it
            raise

    def close(self) -> None:
        if self._browser is not None:
            self._browser.close()
            self._browser = None

    def _taken(self, tab: Tab, address: str, view: View, scale: float) -> Picture:
        begun = monotonic()
        tab.open(f"http://{HOST}:{self._ports[0]}{address}")
        patience = begun + view.seconds * _TO_SETTLE
        if not _is_framed(tab, patience):
            told = "No page is shown: it leads to what is not here, or to what no browser shows."
            raise Unshown(told, hint="Look with `asof serve` where it leads.")
        is_settled = tab.settle(patience, _INSIDE)
        if tab.where(_INSIDE) is None:
            raise Unshown("The page did not come in time.", hint="Give it more with --seconds.")
        with_scripts = tab.evaluate(f"'boot' in {_FRAME}.dataset") is True
        height, is_cut = view.height, False
        if view.whole:
            height = max(view.height, _height(tab, with_scripts=with_scripts))
            height, is_cut = min(height, HIGHEST), height > HIGHEST
            tab.resize(view.width, height)
            # What is only loaded when it comes into view.
            is_settled = tab.settle(begun + view.seconds * _TO_UNFOLD) and is_settled
        data = tab.picture(view.width, height, scale)
        return Picture(data, tab.title(), view.width, height, is_settled, is_cut, with_scripts)


def _is_framed(tab: Tab, patience: float) -> bool:
    """Whether our page is there, with a frame: it may be on its way to the next one."""
    for wait in (_ONWARD_SECONDS, 0):
        tab.settle(patience)
        if tab.evaluate(f"{_FRAME} !== null") is True:
            return True
        tab.settle(monotonic() + wait, _NOWHERE)
    return False


def _height(tab: Tab, *, with_scripts: bool) -> int:
    """How high the page in our frame is, with what stands above; hostile ones say anything."""
    inner = f"(document => {_HEIGHT})({_FRAME}.contentDocument)"
    apart = tab.where(_INSIDE) if with_scripts else None
    found = tab.evaluate(inner) if apart is None else tab.evaluate(_HEIGHT, apart)
    above = tab.evaluate(f"{_FRAME}.getBoundingClientRect().top")
    heights = (each for each in (found, above) if isinstance(each, int | float) and each < 1e9)
    return int(sum(heights))


@contextmanager
def studio(archive: OpenArchive, clock: Clock) -> Iterator[Studio]:
    """Where an archive's pages are pictured; a browser is started when one is needed."""
    with served(archive, clock) as ports:
        made = Studio(ports)
        try:
            yield made
        finally:
            made.close()


@contextmanager
def served(archive: OpenArchive, clock: Clock) -> Iterator[tuple[int, int]]:
    """An archive served on two free ports of this machine: our pages, and archived scripts."""
    with ExitStack() as held:
        listeners = [held.enter_context(bound(HOST, 0)) for _ in range(2)]
        main, other = (listener.getsockname()[1] for listener in listeners)
        site = ReplaySite(other, tuple(f"http://{name}:{main}" for name in LOOPBACK))
        scripts = site if wabac.installed() is not None else None
        server = Server(configured(create_app([archive], clock, scripts=scripts)))
        thread = Thread(target=server.run, kwargs={"sockets": listeners}, daemon=True)
        thread.start()
        try:
            yield main, other
        finally:
            server.should_exit = True
            thread.join(_END_SECONDS)
