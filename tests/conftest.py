"""What every test stands on: missing programs, hypothesis profiles, and no way out to the network.

Tests use `tmp_path` and port 0 only, so they run on all cores at once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import ipaddress
import os
import shutil
import signal
import socket
from collections.abc import Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from asof.ledger import Ledger
from asof.testing import SimulatedClock

if TYPE_CHECKING:
    from support.raw_server import Result, Run

TESTS = Path(__file__).parent
pytest.register_assert_rewrite("support")
LONG_TESTS = ("crash", "integration", "acceptance", "hostile", "browser")  # the longest first
IN_CI = os.environ.get("CI") == "true"

# Who runs this in the background (`nohup`, `&`) has them ignored, and commands would inherit it.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

# No deadline: it would measure how busy the machine is, not whether the law holds.
# Where nobody looks again, the same examples come each time. `make test-long` asks for "long".
for name, max_examples in (("fast", 50), ("long", 500)):
    settings.register_profile(
        name,
        max_examples=max_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=IN_CI,
        print_blob=IN_CI,
    )
settings.load_profile("fast")


def pytest_configure() -> None:
    """Let tests start `nginx` and the like by name: Debian keeps servers out of a user's PATH."""
    os.environ["PATH"] = os.pathsep.join(
        [os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"]
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the long tests first, so that no core waits for a late one at the end.

    `make test` gives a file's tests to one core (`--dist loadfile`): the tests of a file run one
    after another and share their servers, and files start in the order that is set here.
    """
    rank = {folder: number for number, folder in enumerate(LONG_TESTS)}
    items.sort(key=lambda item: rank.get(item.path.relative_to(TESTS).parts[0], len(rank)))


# -- needs("nginx"), needs("module:pyarrow"), needs("replay"), needs("scripts") ------------------


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a missing part with a notice; fail it where all must be there."""
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            notice = missing(name)
            if notice and IN_CI:
                pytest.fail(f"{notice} (nothing may be missing when CI=true)", pytrace=False)
            if notice:
                pytest.skip(notice)


def missing(name: str) -> str:
    """What to do about a part that is not there, or nothing when it is."""
    kind, _, module = name.partition(":")
    if kind == "module":
        found = importlib.util.find_spec(module) is not None
        return "" if found else f"needs the Python module {module}: run `make test`"
    if name == "replay":
        found = (TESTS.parent / ".venv/replay/.whole").exists()
        return (
            ""
            if found
            else "needs pywb, replayweb.page and axe: run `make test`, with PyPI and npm"
        )
    if name == "scripts":
        found = any((TESTS.parent / ".venv/wabac").glob("wabac-*.js"))
        return "" if found else "needs wabac: run `make test`, with npm"
    packages = _packages()
    if name not in packages:
        raise pytest.UsageError(f"needs({name!r}): add the program to tests/needs.txt")
    return "" if shutil.which(name) else f"needs {name}: apt-get install {packages[name]}"


def _packages() -> dict[str, str]:
    lines = (TESTS / "needs.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return dict(pair for pair in pairs)


# -- Loopback only ------------------------------------------------------------------------------


class ReachedOut(AssertionError):
    """A test tried to talk to another machine."""


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Fail every test in whose process a connection to another machine was tried.

    The attempt itself raises, and the test fails at its end even if the code under test took that
    for a dead server. Child processes are not watched.
    """
    attempts: list[str] = []

    def guard(address: object) -> None:
        if not is_local(address):
            attempts.append(str(address))
            raise ReachedOut(f"tests stay on loopback, but this one asked for {address}")

    def connect(self: socket.socket, address: Any) -> None:
        guard(address)
        plain_connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        guard(address)
        return plain_connect_ex(self, address)

    plain_connect, plain_connect_ex = socket.socket.connect, socket.socket.connect_ex
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect_ex)
    _guard_uvloop(monkeypatch, guard)
    yield attempts
    if attempts:
        pytest.fail(f"the test reached out to {', '.join(attempts)}", pytrace=False)


def _guard_uvloop(monkeypatch: pytest.MonkeyPatch, guard: Any) -> None:
    """Guard uvloop as well, which connects in C and not through the socket module."""
    if importlib.util.find_spec("uvloop") is None:
        return
    import uvloop

    plain = uvloop.Loop.create_connection

    async def create_connection(
        self: Any, factory: Any, host: Any = None, port: Any = None, **options: Any
    ) -> Any:
        if host is not None:
            guard((host, port))
        return await plain(self, factory, host, port, **options)

    monkeypatch.setattr(uvloop.Loop, "create_connection", create_connection)


def is_local(address: object) -> bool:
    """Whether a socket address is this machine: a Unix socket, loopback, or a name for it."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    # RFC 6761: localhost never leaves the machine and .invalid never resolves.
    if host == "localhost" or host.endswith((".localhost", ".invalid")):
        return True
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return ip.is_loopback or ip.is_unspecified or bool(mapped and mapped.is_loopback)


# -- Either event loop --------------------------------------------------------------------------


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a coroutine on either event loop, and fails when a callback failed."""
    factory = None
    if request.param == "uvloop":
        factory = pytest.importorskip("uvloop").new_event_loop

    def runner(coroutine: Coroutine[Any, Any, Result]) -> Result:
        errors: list[dict[str, Any]] = []

        async def main() -> Result:
            asyncio.get_running_loop().set_exception_handler(lambda _, what: errors.append(what))
            return await coroutine

        with asyncio.Runner(loop_factory=factory) as on:
            result = on.run(main())
        assert not errors, errors
        return result

    return runner


# -- What many tests begin with -----------------------------------------------------------------


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(virtual=True)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "asof.db", writable=True)) as made:
        yield made
