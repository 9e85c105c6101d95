"""The user's Chromium, without a window, spoken to over its debugging pipe.

It reaches nothing but the ports that it is told of: names are not looked up, and what is meant for
any other address is sent to a proxy that is not there. It has a new folder for all that it writes,
and goes with this process (see `keeper`).
"""

import fcntl
import json
import os
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from tempfile import gettempdir, mkdtemp
from time import monotonic
from typing import Any

from asof.errors import AsofError, UsageError
from asof.web.pictures import keeper

SETTING = "ASOF_CHROMIUM"
_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "msedge",
)  # fmt: skip
_OF_MACS = tuple(
    f"/Applications/{name}.app/Contents/MacOS/{name}"
    for name in ("Chromium", "Google Chrome", "Microsoft Edge")
)
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
    "--disable-gpu", "--disable-extensions", "--disable-sync", "--disable-default-apps",
    "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
    "--disable-crash-reporter", "--disable-domain-reliability", "--disable-quic",
    "--disable-dev-shm-usage", "--disable-search-engine-choice-screen", "--mute-audio",
    "--hide-scrollbars", "--password-store=basic", "--use-mock-keychain",
    "--metrics-recording-only", "--renderer-process-limit=2",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
)  # fmt: skip
# What one of its processes can write to: the largest pictures took 0.9 GB (ADR 22).
_MEGABYTES = 2048
# What one message may be: a picture of 1,280 x 16,384 pixels of noise is 84 MB in base64.
_LONGEST = 256 << 20
_START_SECONDS = 30
_END_SECONDS = 10
# Of a folder for temporary files: a socket of Chromium's lies 70 signs below, and may have 103.
_LONG = 33
_SLOW = "The page may keep it busy, or it needs more time."
_ENDED = "The page may need too much memory; try again."

Told = Mapping[str, Any]
"""An event: what a message says that answers nothing."""


class BrowserGone(AsofError):
    """The browser has ended, or does not answer: another one can be started."""


def installed() -> str | None:
    """Where Chromium, Chrome or Edge is; None where there is none."""
    if named := os.environ.get(SETTING, ""):
        return shutil.which(named)
    found = (shutil.which(name) for name in (*_NAMES, *_OF_MACS))
    return next((path for path in found if path), None)


def required() -> str:
    """The same, or what to do."""
    if (found := installed()) is not None:
        return found
    if named := os.environ.get(SETTING, ""):
        hint = f"Name a program with {SETTING}, or leave it out."
        raise UsageError(f"{named} cannot be run, and {SETTING} names it.", hint=hint)
    raise UsageError(
        "Pictures are taken by Chromium, and there is none on this machine.",
        hint=f"Install Chromium, Chrome or Edge, or name one that lies elsewhere by {SETTING}.",
    )


class Browser:
    """One browser. It is used by one thread, and ended by `close`."""

    def __init__(self, ports: Sequence[int], flags: Sequence[str] = ()) -> None:
        self._number, self._received = 0, bytearray()
        self._events: list[Told] = []
        with ExitStack() as held:
            nowhere = held.enter_context(socket.socket())
            nowhere.bind(("127.0.0.1", 0))  # without listening: nobody else can, either
            command = [required(), *_FLAGS, *_reaching(ports, nowhere.getsockname()[1]), *flags]
            self._start(command, held)
            self._held = held.pop_all()
        try:
            self.call("Browser.getVersion", monotonic() + _START_SECONDS)
            self.call("Browser.setDownloadBehavior", monotonic() + _START_SECONDS, behavior="deny")
        except AsofError as error:
            self.close()
            hint = f"Does `{command[0]} --headless=new --screenshot about:blank` work?"
            raise UsageError(f"{command[0]} does not start as a browser.", hint=hint) from error
        except BaseException:
            self.close()
            raise

    def _start(self, command: Sequence[str], held: ExitStack) -> None:
        place = gettempdir()
        folder = mkdtemp(prefix="asof-chromium-", dir=place if len(place) <= _LONG else "/tmp")
        lifeline, alive = os.pipe()
        theirs, self._to = os.pipe()
        self._from, back = os.pipe()
        for end in (alive, self._to, self._from):
            held.callback(os.close, end)
        # Out of the way of descriptors 3 and 4, which they become.
        given = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (lifeline, theirs, back)]
        words = [*map(str, given), str(_MEGABYTES), folder, *command, f"--user-data-dir={folder}"]
        try:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, *words],
                pass_fds=given,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": folder},
                process_group=0,  # Ctrl-C is for us
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            for end in (*given, lifeline, theirs, back):
                os.close(end)
        os.set_blocking(self._to, False)

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; when this returns nothing of it is left."""
        self._held.close()
        try:
            self._keeper.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()

    def call(
        self, method: str, until: float, session: str | None = None, **words: object
    ) -> dict[str, Any]:
        """Send a command, and wait for its answer; what is told meanwhile is kept for `told`."""
        number = self.send(method, until, session, **words)
        while True:
            message = self._read(until)
            if message is None:
                raise BrowserGone("The browser did not answer in time.", hint=_SLOW)
            if message.get("id") == number:
                if "error" in message:
                    why = message["error"].get("message", "")
                    raise BrowserGone(f"The browser refuses {method}: {why}.", hint=_ENDED)
                result: dict[str, Any] = message["result"]
                return result
            self._keep(message)

    def send(self, method: str, until: float, session: str | None = None, **words: object) -> int:
        """Send a command and wait for nothing."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": words}
        if session is not None:
            message["sessionId"] = session
        rest = memoryview(json.dumps(message).encode() + b"\0")
        while rest:
            if not select.select([], [self._to], [], max(until - monotonic(), 0))[1]:
                raise BrowserGone("The browser did not listen in time.", hint=_SLOW)
            try:
                rest = rest[os.write(self._to, rest[: 16 << 10]) :]
            except OSError as error:
                raise BrowserGone("The browser has ended.", hint=_ENDED) from error
        return self._number

    def told(self, until: float) -> Iterator[Told]:
        """What was told and nobody has looked at, or is told until a moment: once it is silent."""
        if not self._events and (message := self._read(until)) is not None:
            self._keep(message)
        events, self._events = self._events, []
        yield from events

    def _keep(self, message: Told) -> None:
        if "method" in message:
            self._events.append(message)

    def _read(self, until: float) -> dict[str, Any] | None:
        """The next message; None if there is none until then."""
        while (end := self._received.find(b"\0")) < 0:
            if not select.select([self._from], [], [], max(until - monotonic(), 0))[0]:
                return None
            data = os.read(self._from, 1 << 20)
            if not data or len(self._received) > _LONGEST:
                raise BrowserGone("The browser has ended.", hint=_ENDED)
            self._received += data
        message = bytes(self._received[:end])
        del self._received[: end + 1]
        decoded: dict[str, Any] = json.loads(message)
        return decoded


def _reaching(ports: Sequence[int], nowhere: int) -> Iterator[str]:
    """What keeps a browser to some ports of this machine."""
    reached = (f"{name}:{port}" for name in ("127.0.0.1", "localhost") for port in ports)
    # Without the first word all of this machine would go past the proxy; later ones overrule it.
    yield f"--proxy-bypass-list=<-loopback>;{';'.join(reached)}"
    yield f"--proxy-server=127.0.0.1:{nowhere}"
    yield "--host-resolver-rules=MAP localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    if is_without_sandbox():
        yield "--no-sandbox"


def is_without_sandbox() -> bool:
    """Whether a page could get out of the browser: for root it starts in no other way."""
    return os.geteuid() == 0
