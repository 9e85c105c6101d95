"""pywb, the replay that others use, as a server of WARC files on loopback."""

from __future__ import annotations

import gzip
import http.client
import shutil
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urljoin

from support import rig
from support.crawled_thrice import Shown

REPLAY = Path(__file__).parents[2] / ".venv/replay/bin"


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def collection(root: Path, name: str, files: list[Path], index: str = "") -> None:
    """A collection of pywb: with an index that is given, or by pywb's own."""
    if not index:
        run(REPLAY / "wb-manager", "init", name, cwd=root)
        run(REPLAY / "wb-manager", "add", name, *files, cwd=root)
        return
    folder = root / "collections" / name
    (folder / "archive").mkdir(parents=True)
    (folder / "indexes").mkdir()
    for path in files:
        shutil.copy(path, folder / "archive")
    (folder / "indexes/index.cdxj").write_text(index)


class Pywb:
    """A server of these collections."""

    def __init__(self, root: Path) -> None:
        self.port = rig.closed_port()
        command = [REPLAY / "wayback", "--bind", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [str(REPLAY / "python"), *map(str, command)],
            cwd=root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        rig.wait_for(self._answers, 60, "pywb does not start")

    def _answers(self) -> bool:
        assert self._process.poll() is None, "pywb has ended"
        time.sleep(0.05)
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def shows(self, collection: str, wanted: Shown) -> Shown:
        """What it shows where asof shows that."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", f"/{collection}/{wanted.timestamp}id_/{wanted.url}")
        answer = connection.getresponse()
        body = answer.read()
        if answer.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        connection.close()
        is_redirect = 300 <= answer.status < 400
        location = urljoin(wanted.url, answer.headers.get("Location") or "") if is_redirect else ""
        return Shown(
            wanted.url, wanted.timestamp, answer.status,
            (answer.headers.get("Content-Type") or "").partition(";")[0],
            wanted.body if is_redirect else body,  # of a redirect it shows none, as a browser
            wanted.redirect if location.endswith(wanted.redirect or "?") else location or None,
            wanted.kind, wanted.profile,
        )  # fmt: skip

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(15)
