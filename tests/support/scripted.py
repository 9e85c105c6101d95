"""A Chromium of which every request is seen, and a live web that notices what reaches it."""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from support.chromium import PATIENCE, Chromium, LeftMeanwhile

_SIOCGIFADDR = 0x8915


class Sink:
    """The live web: whatever reaches it, by TCP or UDP, is told by the name it was sent to."""

    def __init__(self, names: Sequence[str]) -> None:
        self._sockets: dict[socket.socket, str] = {}
        self.rules: list[str] = []
        self.seen: list[str] = []
        for name in names:
            listener = socket.create_server(("127.0.0.1", 0))
            self._sockets[listener] = name
            port = listener.getsockname()[1]
            self.rules += [f"MAP {name}:{each} 127.0.0.1:{port}" for each in (80, 443)]
        # WebRTC asks no address of loopback.
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("0.0.0.0", 0))
        self.udp_port = self.udp.getsockname()[1]
        self._is_over = False
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._is_over:
            for ready in select.select([*self._sockets, self.udp], [], [], 0.1)[0]:
                if ready is self.udp:
                    ready.recv(4096)
                    self.seen.append("udp")
                else:
                    ready.accept()[0].close()
                    self.seen.append(self._sockets[ready])

    def close(self) -> None:
        self._is_over = True
        self._thread.join()
        for each in (*self._sockets, self.udp):
            each.close()


def own_address() -> str:
    """An address of this machine that is not loopback, which WebRTC does not use; or nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                found = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()))
                address = socket.inet_ntoa(found[20:24])
                if not address.startswith("127."):
                    return address
    return ""


class Watched(Chromium):
    """Follows frames and workers, too. `targets` are their kinds and sessions."""

    def __init__(self, profile: str, rules: Sequence[str] = ()) -> None:
        kept = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
        named = f"--host-resolver-rules={', '.join([*rules, kept])}"
        self.targets: list[tuple[str, str]] = []
        super().__init__(profile, [named])
        self._attach()

    def _attach(self) -> None:
        params = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
        self.tell("Target.setAutoAttach", **params)

    def tell(self, method: str, **params: Any) -> None:
        """Send a command, and wait for nothing: what it is sent to may be gone."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        os.write(self._out, json.dumps({**message, "sessionId": self._session}).encode() + b"\0")

    def _read(self, timeout: float) -> dict[str, Any]:
        message = super()._read(timeout)
        if message.get("method") == "Target.attachedToTarget":
            params, own = message["params"], self._session
            self.targets.append((params["targetInfo"]["type"], params["sessionId"]))
            self._session = params["sessionId"]
            self.tell("Network.enable")
            self.tell("Runtime.enable")
            self._attach()
            self._session = own
        return message

    def inside(self, expression: str) -> Any:
        """The value of an expression in the frame that has an origin of its own."""
        frames = [session for kind, session in self.targets if kind == "iframe"]
        own, self._session = self._session, frames[-1] if frames else None
        try:
            answer = self.call(
                "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True,
                userGesture=True,
            )  # fmt: skip
        except AssertionError:  # it went elsewhere meanwhile
            return None
        finally:
            self._session = own
        return answer["result"].get("value")

    def until(self, expression: str, wanted: Any, *, inside: bool = True) -> Any:
        """Wait for an expression to have a value; what it has at the end."""
        end = time.monotonic() + PATIENCE
        while True:
            found = None
            with suppress(LeftMeanwhile):
                found = self.inside(expression) if inside else self.evaluate(expression)
            if found == wanted or time.monotonic() > end:
                return found
            self.settle(0.1)
