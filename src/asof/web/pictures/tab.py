"""A page in a browser: opened, waited for until nothing happens in any of its frames, pictured."""

import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from asof.errors import AsofError
from asof.web.pictures.browser import Browser, BrowserGone, Told

# Said by Chromium of a frame once it has asked for nothing during half a second.
_QUIET = "networkIdle"
_WEBP_QUALITY = 70
_TITLE_LIMIT = 300
_MOST_DIALOGS = 50
_FAILED = {
    "net::ERR_ABORTED": "it is a file that browsers save",
    "net::ERR_TOO_MANY_REDIRECTS": "its redirects lead in a circle",
}
_INSTEAD = "What is stored of it has `asof get URL`."


@dataclass(slots=True)
class _Frame:
    """A frame, who is asked about it, and which document is loaded there."""

    session: str
    loader: str
    url: str = ""
    is_quiet: bool = False


class Unshown(AsofError):
    """There is no page to take a picture of."""


class Tab:
    """One tab, in a context of its own: it shares nothing with another one."""

    def __init__(self, browser: Browser, until: float, width: int, height: int) -> None:
        self._browser = browser
        self.until = until  # when all must be over
        made = self._call("Target.createBrowserContext", disposeOnDetach=True)
        self._context = made["browserContextId"]
        made = self._call("Target.createTarget", url="about:blank", browserContextId=self._context)
        attached = self._call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session: str = attached["sessionId"]
        self._frames: dict[str, _Frame] = {}
        self._dialogs = 0
        self._apart: list[str] = []  # the sessions of what is in other processes: frames, workers
        self._follow(self._session)
        self.resize(width, height)

    def call(self, method: str, **words: object) -> dict[str, Any]:
        """Send a command to the page, and wait for its answer."""
        return self._call(method, self._session, **words)

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def before(self, script: str) -> None:
        """Have a script of ours run before any of each page, out of reach of theirs."""
        words = {"source": script, "worldName": "asof"}
        self.call("Page.addScriptToEvaluateOnNewDocument", **words)

    def open(self, url: str) -> None:
        """Go to an address; what it shows may take its time (see `settle`)."""
        found = self.call("Page.navigate", url=url)
        if failed := found.get("errorText"):
            why = _FAILED.get(failed, f"Chromium says {failed}")
            raise Unshown(f"No page is shown: {why}.", hint=_INSTEAD)
        for event in self._browser.told(monotonic()):
            self._heed(event)
        frame = self._frames.get(found["frameId"])
        if frame is None or frame.loader != found["loaderId"]:  # the last page's is of no interest
            self._frames[found["frameId"]] = _Frame(self._session, found["loaderId"])

    def settle(self, until: float, wanted: re.Pattern[str] | None = None) -> bool:
        """Wait until all frames are quiet, and one of them is where it is `wanted`; whether that
        was in time.
        """
        until = min(until, self.until)
        while not self._is_quiet(wanted):
            if monotonic() >= until:
                return False
            for event in self._browser.told(until):
                self._heed(event)
        return True

    def where(self, wanted: re.Pattern[str]) -> str | None:
        """Who is asked about a frame that is at such a path, if one is."""
        there = (f for f in self._frames.values() if wanted.match(urlsplit(f.url).path))
        return next((frame.session for frame in there), None)

    def evaluate(self, expression: str, session: str | None = None) -> object:
        """The value of an expression; None where it has none."""
        found = self._call(
            "Runtime.evaluate", session or self._session, expression=expression, returnByValue=True,
            timeout=1000,
        )  # fmt: skip
        return found["result"].get("value")

    def title(self) -> str:
        found = self.evaluate("document.title")
        return found[:_TITLE_LIMIT] if isinstance(found, str) else ""

    def picture(self, width: int, height: int, scale: float = 0.0) -> bytes:
        """What is seen of it, as a PNG; or as a WebP in so small a scale."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale or 1.0}
        kind = {"format": "webp", "quality": _WEBP_QUALITY} if scale else {"format": "png"}
        return b64decode(self.call("Page.captureScreenshot", clip=clip, **kind)["data"])

    def close(self) -> None:
        self._call("Target.disposeBrowserContext", browserContextId=self._context)

    def _call(self, method: str, session: str | None = None, **words: object) -> dict[str, Any]:
        return self._browser.call(method, self.until, session, **words)

    def _follow(self, session: str) -> None:
        """Be told what becomes of the frames of a session, and of those in other processes."""
        auto = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        for method, words in (
            ("Page.enable", {}),
            ("Page.setLifecycleEventsEnabled", {"enabled": True}),
            ("Inspector.enable", {}),
            ("Target.setAutoAttach", auto),
        ):
            self._send(method, session, **words)

    def _heed(self, event: Told) -> None:
        name, told, session = event["method"], event.get("params", {}), event.get("sessionId", "")
        if session not in (self._session, *self._apart):
            return  # of a tab that was here before
        match name:
            case "Target.attachedToTarget":
                self._attached(told["sessionId"], told["targetInfo"])
            case "Target.detachedFromTarget":
                gone = told["sessionId"]
                self._frames = {n: f for n, f in self._frames.items() if f.session != gone}
            case "Page.lifecycleEvent":
                self._lived(told, session)
            case "Page.frameNavigated":
                if (frame := self._frames.get(told["frame"]["id"])) is not None:
                    frame.url = told["frame"]["url"]
            case "Page.frameDetached":
                self._frames.pop(told["frameId"], None)
            case "Page.javascriptDialogOpening":
                self._dialogs += 1
                if self._dialogs > _MOST_DIALOGS:
                    raise BrowserGone("The page opens one dialog after another.", hint=_INSTEAD)
                accept = told["type"] == "beforeunload"
                self._send("Page.handleJavaScriptDialog", session, accept=accept)
            case "Inspector.targetCrashed":
                raise BrowserGone("The page has crashed.", hint="It may need too much memory.")

    def _lived(self, told: Told, session: str) -> None:
        """What was said of a document in a frame; `init` is its beginning."""
        frame = self._frames.get(told["frameId"])
        if frame is None or told["name"] == "init":
            url = "" if frame is None else frame.url
            frame = self._frames[told["frameId"]] = _Frame(session, told["loaderId"], url)
        if frame.loader == told["loaderId"]:
            frame.is_quiet |= told["name"] == _QUIET

    def _attached(self, session: str, target: Told) -> None:
        self._apart.append(session)
        if target["type"] == "iframe":
            self._frames[target["targetId"]] = _Frame(session, "", target["url"])
            self._follow(session)
        self._send("Runtime.runIfWaitingForDebugger", session)

    def _send(self, method: str, session: str, **words: object) -> None:
        self._browser.send(method, self.until, session, **words)

    def _is_quiet(self, wanted: re.Pattern[str] | None) -> bool:
        is_there = wanted is None or self.where(wanted) is not None
        return is_there and all(frame.is_quiet for frame in self._frames.values())


@contextmanager
def opened(browser: Browser, seconds: float, width: int, height: int) -> Iterator[Tab]:
    """A tab that has so many seconds for everything. A browser in which one went wrong is ended."""
    try:
        tab = Tab(browser, monotonic() + seconds, width, height)
        yield tab
        tab.until = max(tab.until, monotonic() + 5)
        tab.close()
    except BaseException:
        browser.close()
        raise
