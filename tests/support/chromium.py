"""A real Chromium for tests, driven over its debugging pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name is ever looked up: whatever a page asks for stays on this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
]
# Chromium reads its commands from descriptor 3 and answers on 4.
_START = """import os, sys
os.dup2(int(sys.argv[1]), 3), os.dup2(int(sys.argv[2]), 4)
os.execvp(sys.argv[3], sys.argv[3:])"""
PATIENCE = 30.0
# Of all that has words: how far they stand out from what is behind them (WCAG 2.2, 1.4.3).
ILLEGIBLE = """(() => {
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const parts = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
const light = rgb => rgb.slice(0, 3).map(c => c / 255)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
const behind = one => { for (; one; one = one.parentElement) {
  const colour = parts(getComputedStyle(one).backgroundColor);
  if (colour[3] === 255) return colour; }
  return [255, 255, 255]; };
const found = [];
for (const one of document.body.querySelectorAll(":not(script)")) {
  if (![...one.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
  if (!one.checkVisibility() || one.matches(".none")) continue;
  const [a, b] = [parts(getComputedStyle(one).color), behind(one)].map(light).sort((a, b) => b - a);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) found.push(`${one.className || one.tagName}: ${ratio.toFixed(1)}`); }
return found; })()"""


class LeftMeanwhile(AssertionError):
    """The page that was asked has made room for the next one."""


class Chromium:
    """One tab. `sent` are the URLs that were asked for since the last `open`."""

    patience = PATIENCE  # seconds for the answer to a command

    def __init__(self, profile: str, flags: Sequence[str] = ()) -> None:
        child_in, self._out = os.pipe()
        self._in, child_out = os.pipe()
        # Out of the way of descriptors 3 and 4, which they become in the child.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (child_in, child_out)]
        command = [sys.executable, "-c", _START, *map(str, ends), "chromium", *FLAGS, *flags]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}"],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (child_in, child_out, *ends):
            os.close(end)
        self._received = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=self.target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "DOM", "CSS", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    @classmethod
    @contextmanager
    def fresh(cls, *flags: str) -> Iterator[Self]:
        """One with a profile of its own, for as long as the block lasts."""
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
            closing(cls(profile, flags)) as browser,
        ):
            yield browser

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read(self.patience)
            if answer.get("id") == number:
                if "navigated or closed" in answer.get("error", {}).get("message", ""):
                    raise LeftMeanwhile(method)
                assert "error" not in answer, (method, answer)
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait(self, method: str) -> dict[str, Any]:
        """The next event of that name, past ones included."""
        until = time.monotonic() + PATIENCE
        while True:
            for event in self.events:
                if event.get("method") == method:
                    self.events.remove(event)
                    return event
            self.events.append(self._read(until - time.monotonic()))

    def settle(self, seconds: float) -> None:
        """Let the page go on for a while."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if b"\0" in self._received or select.select([self._in], [], [], left)[0]:
                self.events.append(self._read(PATIENCE))

    def open(self, url: str) -> None:
        """Load a page."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    @property
    def sent(self) -> list[str]:
        """What the page asked for, documents included, and no policy kept from being sent."""
        asked, blocked = {}, set()
        for event in self.events:
            if event.get("method") == "Network.requestWillBeSent":
                asked[event["params"]["requestId"]] = event["params"]["request"]["url"]
            elif event.get("params", {}).get("blockedReason") == "csp":
                blocked.add(event["params"]["requestId"])
        return [url for number, url in asked.items() if number not in blocked]

    def size(self, width: int, height: int = 800) -> None:
        """Set the size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def scheme(self, name: str) -> None:
        """Prefer light or dark."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page, which may itself run no script."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def promised(self, expression: str) -> Any:
        """What a promise in the page is kept with."""
        asked = {"awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", expression=expression, **asked)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def illegible(self) -> list[str]:
        """What has words that do not stand out, and how far they do."""
        found: list[str] = self.evaluate(ILLEGIBLE)
        return found

    def click(self, x: float, y: float) -> None:
        """Press and release the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            code = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37}[key]
            text = "\r" if key == "Enter" and kind == "keyDown" else ""
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                text=text,
            )

    def screenshot(self, path: Path) -> None:
        """Save what is seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self) -> None:
        """End the process that was started."""
        self._process.kill()
        self._process.wait(PATIENCE)
        os.close(self._in)
        os.close(self._out)

    def _read(self, timeout: float) -> dict[str, Any]:
        while b"\0" not in self._received:
            if not select.select([self._in], [], [], max(timeout, 0))[0]:
                raise TimeoutError("Chromium does not answer.")
            data = os.read(self._in, 1 << 20)
            assert data, "Chromium has ended."
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded
