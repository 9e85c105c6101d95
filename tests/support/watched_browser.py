"""A Chromium that is watched from outside: what each frame shows, and all that left the browser.

What it asked of any network is read from its own log (NetLog), which has every request, connection,
datagram and look-up of every process: pages, frames, workers and service workers alike.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from support.chromium import Chromium

# What the browser itself looks for, whatever page is open.
_OWN = (
    "chrome:",
    "chrome-untrusted:",
    "chrome-extension:",
    "devtools:",
    "about:",
    "data:",
    "blob:",
)
_READ = """(() => {
  const table = document.querySelector("probe-table");
  if (!table) return null;
  const rows = [...table.querySelectorAll("probe-row")].map(row => ({...row.dataset}));
  return {done: table.dataset.done === "yes", rows};
})()"""


class Watched(Chromium):
    """A browser that looks into every frame, those of other processes included."""

    def __init__(self, profile: str, flags: Sequence[str] = ()) -> None:
        self.log = Path(profile, "net.json")
        super().__init__(profile, [*flags, f"--log-net-log={self.log}"])

    def in_frames(self, expression: str) -> list[Any]:
        """The value of an expression in every frame, in a world that the page cannot reach.

        None where a PDF is shown: to look into its viewer keeps Chromium 156 from opening the
        next page, in every second try.
        """
        found: list[Any] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        if any(target["url"].startswith("chrome-extension:") for target in targets):
            return found
        for target in targets:
            if target["type"] in ("page", "iframe") and target["url"]:  # without: nothing is there
                with suppress(AssertionError, TimeoutError), self._attached(target["targetId"]):
                    found += self._in_frames_of_session(expression)
        return found

    @contextmanager
    def _attached(self, target: str) -> Iterator[None]:
        """Speak to a target for a while; it may be gone by now, or stuck."""
        own, patience = self._session, self.patience
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        try:
            self._session, self.patience = session, 2.0
            yield
        finally:
            self._session, self.patience = own, patience
            with suppress(AssertionError):
                self.call("Target.detachFromTarget", sessionId=session)

    def _in_frames_of_session(self, expression: str) -> list[Any]:
        found, left = [], [self.call("Page.getFrameTree")["frameTree"]]
        while left:
            tree = left.pop()
            left += tree.get("childFrames", [])
            with suppress(AssertionError):
                world = self.call("Page.createIsolatedWorld", frameId=tree["frame"]["id"])
                answer = self.call(
                    "Runtime.evaluate",
                    expression=expression,
                    contextId=world["executionContextId"],
                    returnByValue=True,
                )
                found.append(answer["result"].get("value"))
        return found

    def connections(self) -> Iterator[tuple[str, str]]:
        """What its log has of networks: ("url", address) of requests, ("to", address and port)
        of connections and datagrams, ("name", name) of look-ups, ("for", origin) of connections.
        """
        names: dict[int, str] = {}
        for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith('{"constants"'):
                types = json.loads(line.rstrip(",") + "}")["constants"]["logEventTypes"]
                names = {number: name for name, number in types.items()}
            with suppress(ValueError):
                event = json.loads(line.rstrip(","))
                if isinstance(event, dict) and {"params", "type"} <= event.keys():
                    yield from _told(names.get(event["type"], ""), event["params"])

    def probed(self, url: str, patience: float = 12) -> dict[str, str]:
        """Of each probe why it failed, "" where it passed; the page may lead on to another.

        It has `patience` to begin, and half of it from one thing said to the next.
        """
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        rows: list[dict[str, str]] = []
        until = time.monotonic() + patience
        while time.monotonic() < until:
            self.settle(0.1)
            tables = [each for each in self.in_frames(_READ) if each]
            told = [row for table in tables for row in table["rows"]] or rows
            if told != rows:
                rows, until = told, time.monotonic() + patience / 2
            if tables and all(table["done"] for table in tables):
                break
        self.events.clear()
        return {row["id"]: _outcome(row) for row in rows}


def _told(name: str, params: dict[str, Any]) -> Iterator[tuple[str, str]]:
    url = str(params.get("url", ""))
    if name in ("URL_REQUEST_START_JOB", "CORS_REQUEST") and not url.startswith(_OWN):
        yield "url", url
    if name in ("TCP_CONNECT_ATTEMPT", "UDP_CONNECT", "UDP_BYTES_SENT") and "address" in params:
        yield "to", str(params["address"])
    if name.startswith("HOST_RESOLVER") and "host" in params:
        yield "name", str(params["host"])
    if "group_id" in params:  # also of a connection that says nothing, whatever its name leads to
        yield "for", str(params["group_id"])


def _outcome(row: dict[str, str]) -> str:
    return "" if row["state"] == "pass" else row.get("why") or row["state"]
