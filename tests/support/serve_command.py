"""`asof serve` as its users start it."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from support import rig
from support.rig import wait_for

WABAC = Path(__file__).parents[2] / ".venv/wabac"
"""What runs archived scripts, as `make test` obtains it."""


@contextmanager
def served(
    *words: object, port: int = 0, env: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address that it says, and the process."""
    child = rig.start("serve", "--port", port, *words, env=env)
    assert child.stderr is not None
    try:
        said = child.stderr.readline().decode()
        found = re.search(r"http://[0-9.]+:\d+", said)
        assert found is not None, said
        wait_for(lambda: answers(found[0]), 15, "the server answers")
        yield found[0], child
    finally:
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=15)


@contextmanager
def serving(
    *folders: Path, scripts: bool = True, words: Sequence[object] = (), port: int = 0
) -> Iterator[str]:
    """Archives with their scripts, or without what runs them; the address alone."""
    place = WABAC if scripts else folders[0].parent / "nothing"
    with served(*folders, *words, port=port, env={"ASOF_REPLAY": str(place)}) as (base, _):
        yield base


def answers(base: str) -> bool:
    host, port = base.removeprefix("http://").split(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True
