"""A page must not steer the crawler into a private network: not by a link, a redirect, a name.

The scope would let every target here in: what keeps the crawler away is where the connection would
go to. A seed opens its own host and port and nothing beside it; `--allow-private` opens all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM
from subprocess import DEVNULL
from typing import Any

import pytest

from asof.fetch.addresses import policy
from asof.model import Exchange, Failure
from asof.url import canonical
from support import rig
from support.misbehaving import Behaviour, Server, Stage, links, page, redirect
from support.raw_server import client, serving

SETTINGS = {
    "ASOF_INCLUDE": ".",  # the scope lets everything in
    "ASOF_CONNECT_TIMEOUT": "2",
    "ASOF_IDLE_TIMEOUT": "5",
    "ASOF_RETRIES": "1",
    "ASOF_RETRY_DELAY": "0.1",
}
REFUSED = "refused-address"
# Where a server of ours can listen, and how a page calls it.
NEARBY = {
    "another-port": ("127.0.0.1", "127.0.0.1"),
    "another-address": ("127.0.0.2", "127.0.0.2"),
    "ipv6": ("::1", "[::1]"),
    "mapped": ("127.0.0.1", "[::ffff:127.0.0.1]"),
    "name": ("127.0.0.1", "localhost"),
    "number": ("127.0.0.1", "2130706433"),
    "hexadecimal": ("127.0.0.1", "0x7f.1"),
}
# Where nothing of ours listens, and nobody else should hear of us.
FAR = (
    "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "255.255.255.255", "224.0.0.1", "[fe80::1]", "[fd00::1]", "[::ffff:10.0.0.1]",
    "[64:ff9b::a9fe:a9fe]", "[2002:a00:1::]",
)  # fmt: skip
WAYS = ("link", "image", "redirect", "robots")
ORDINARY = ("/", "/ordinary")


@dataclass
class Steered:
    """A site that leads to others in every way, those others, and what `asof` says of the crawl.

    `moved` are sites whose robots.txt is a redirect to one of the others.
    """

    site: Server
    others: dict[str, Server]
    moved: dict[str, Server]
    reasons: dict[str, int]
    urls: set[str]
    failures: dict[str, set[str]]


def front(targets: dict[str, str]) -> dict[str, Behaviour]:
    """Pages that lead to each target by a link, an image and a redirect."""
    linked = "".join(f"<a href='{target}/link'>x</a>" for target in targets.values())
    images = "".join(f"<img src='{target}/image'>" for target in targets.values())
    hops = "".join(f"<a href='/hop/{name}'>x</a>" for name in targets)
    return {
        "/": page(f"{linked}{images}{hops}<a href='/ordinary'>x</a>"),
        "/ordinary": page("<p>nothing special"),
        **{f"/hop/{name}": redirect(f"{target}/redirect") for name, target in targets.items()},
    }


def steer(stage: Stage, archive: Path, far: tuple[str, ...], *words: str, **env: str) -> Steered:
    """A crawl of such a site, with its own pages for seeds."""
    secret = {f"/{way}": page(f"a secret, by {way}") for way in WAYS}
    others = {name: stage.open(secret, host=listens) for name, (listens, _) in NEARBY.items()}
    targets = {name: f"http://{called}:{others[name].port}" for name, (_, called) in NEARBY.items()}
    moved = {
        name: stage.open({"/robots.txt": redirect(f"{target}/robots"), "/": page("moved")})
        for name, target in targets.items()
    }
    site = stage.open(front(targets | {str(n): f"http://{host}" for n, host in enumerate(far)}))
    seeds = [f"{server.url}/" for server in (site, *moved.values())]
    rig.ok(
        "crawl", *seeds, *words, "-a", archive, "--delay", "0", "--json",
        timeout=90, env=SETTINGS | env,
    )  # fmt: skip
    status = rig.ok("status", "-a", archive, "--json").json()["crawls"][0]
    assert (status["state"], status["queued"]) == ("finished", 0)
    urls = {row["url"] for row in rig.rows_of(archive)}
    return Steered(site, others, moved, status["reasons"], urls, rig.failures_of(archive))


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as made:
        yield made


@pytest.fixture(scope="module")
def refused(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Steered:
    """A crawl as anybody would start it."""
    return steer(stage, tmp_path_factory.mktemp("refused") / "archive", ())


@pytest.fixture(scope="module")
def distant(stage: Stage, refused: Steered, tmp_path_factory: pytest.TempPathFactory) -> Steered:
    """The same with targets that nobody shall be sent to by a test, should the crawler go there."""
    assert not any(server.connections for server in refused.others.values())
    return steer(stage, tmp_path_factory.mktemp("distant") / "archive", FAR)


@pytest.fixture(scope="module")
def allowed(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Steered:
    """The same with the setting that opens private networks."""
    folder = tmp_path_factory.mktemp("allowed") / "archive"
    return steer(stage, folder, (), ASOF_ALLOW_PRIVATE="1")


@pytest.mark.parametrize("name", NEARBY)
def test_not_one_connection_arrives(refused: Steered, name: str) -> None:
    """By whatever way, and by whatever name: the other service hears nothing."""
    other = refused.others[name]
    assert other.connections == 0, other.paths
    assert not [url for url in refused.urls if f":{other.port}/" in url]


def test_every_target_has_the_reason(refused: Steered) -> None:
    """Three ways to each, and the pages of the sites whose robots.txt lies there."""
    assert refused.reasons == {REFUSED: 3 * len(NEARBY) + len(refused.moved)}


@pytest.mark.parametrize("host", FAR)
def test_nobody_is_called_in_networks_nearby(distant: Steered, host: str) -> None:
    """Refused, which is neither a time-out nor a network that cannot be reached."""
    origin = canonical(f"http://{host}/")
    assert origin is not None
    assert distant.failures[f"{origin}robots.txt"] == {REFUSED}
    assert list(distant.reasons) == [REFUSED]


def test_the_site_itself_is_crawled(refused: Steered) -> None:
    """A seed names it, private or not."""
    hops = [f"/hop/{name}" for name in NEARBY]
    assert {refused.site.url + path for path in (*ORDINARY, *hops)} <= refused.urls


def test_rules_behind_a_private_redirect_are_no_licence(refused: Steered) -> None:
    """What cannot be had is taken for a refusal (RFC 9309 section 2.3.1.4)."""
    assert {tuple(server.paths) for server in refused.moved.values()} == {("/robots.txt",)}


@pytest.mark.parametrize("name", NEARBY)
def test_allow_private_lets_them_be_fetched(allowed: Steered, name: str) -> None:
    """By the environment; the option is the same setting."""
    asked = set(allowed.others[name].paths)
    assert asked == {"/robots.txt", *(f"/{way}" for way in WAYS)}
    assert allowed.reasons == {}


def test_the_option_is_there(stage: Stage, tmp_path: Path) -> None:
    """For those who mean it."""
    steered = steer(stage, tmp_path / "archive", (), "--allow-private")
    assert steered.reasons == {}
    assert all(server.connections for server in steered.others.values())


def test_a_seed_opens_the_place_it_names(stage: Stage, tmp_path: Path) -> None:
    """Two services of one machine, both named; a third is not."""
    third = stage.open({"/": page("secret")})
    second = stage.open({"/": page(links(f"{third.url}/"))})
    first = stage.open({"/": page(links(f"{second.url}/"))})
    words = ("-a", tmp_path / "a", "--delay", "0", "--json")
    result = rig.ok("crawl", f"{first.url}/", f"{second.url}/", *words, env=SETTINGS)
    assert result.json()["reasons"] == {REFUSED: 1}
    assert second.paths == ["/robots.txt", "/"]
    assert third.connections == 0


def test_a_resumed_crawl_is_as_careful(stage: Stage, tmp_path: Path) -> None:
    """The seeds are those of the crawl, though the command that goes on with it names none."""
    other = stage.open({"/": page("secret")})
    site = stage.open({"/": page(links(f"{other.url}/"))})
    archive = tmp_path / "a"
    archive.mkdir()
    (archive / "asof.toml").write_text('include = ["."]\ndelay = 60\n', encoding="utf-8")
    first = rig.start("crawl", f"{site.url}/", "-a", archive, stdout=DEVNULL, stderr=DEVNULL)
    try:
        rig.wait_for(lambda: bool(site.paths), 20, "a first request")
        time.sleep(0.2)
    finally:
        assert rig.end(first) == 130
    result = rig.ok("crawl", "-a", archive, "--delay", "0", "--json", timeout=60, env=SETTINGS)
    assert site.paths == ["/robots.txt", "/"]
    assert other.connections == 0
    assert result.json()["reasons"] == {REFUSED: 1}


# --- names, whose answers a test can make up -----------------------------------------------------

Runner = Callable[[Coroutine[Any, Any, None]], None]


class Names:
    """A name server of our own: each look-up of a name takes its next answer, the last for ever."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self._answers = {name.replace("_", "."): given for name, given in answers.items()}
        self.asked: list[str] = []

    async def getaddrinfo(
        self, loop: asyncio.AbstractEventLoop, host: str, port: int, **_: Any
    ) -> list[tuple[Any, ...]]:
        """As the loop's own."""
        self.asked.append(host)
        given = self._answers[host]
        addresses = given.pop(0) if len(given) > 1 else given[0]
        return [
            (AF_INET6 if ":" in ip else AF_INET, SOCK_STREAM, IPPROTO_TCP, "", (ip, port))
            for ip in addresses
        ]


class Calls:
    """Stands for the network: remembers where a connection would go, and refuses it."""

    def __init__(self) -> None:
        self.made: list[tuple[str, int]] = []

    async def create_connection(
        self, loop: asyncio.AbstractEventLoop, factory: Any, host: str, port: int, **_: Any
    ) -> None:
        """As the loop's own."""
        self.made.append((host, port))
        raise ConnectionRefusedError("nobody is there")


def _replace(patch: pytest.MonkeyPatch, name: str, function: Any) -> None:
    """On the loop of asyncio; uvloop's is compiled and cannot be changed."""

    def method(loop: asyncio.AbstractEventLoop, *args: Any, **options: Any) -> Any:
        return function(loop, *args, **options)

    patch.setattr(asyncio.BaseEventLoop, name, method)


async def fetched(url: str, tmp_path: Path, *seeds: str) -> Exchange | Failure:
    async with client(tmp_path, allow_address=policy(seeds, False)) as web:
        outcome: Exchange | Failure = await web.fetch(url)
        return outcome


def test_an_answer_of_a_name_server_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A public name with a private address: no call is made, and the reason says which it was."""
    names, calls = Names(a_example=[["10.1.2.3", "::1"]]), Calls()
    _replace(monkeypatch, "getaddrinfo", names.getaddrinfo)
    _replace(monkeypatch, "create_connection", calls.create_connection)
    failure = asyncio.run(fetched("http://a.example/", tmp_path, "http://b.example/"))
    assert isinstance(failure, Failure)
    assert (failure.reason, failure.transient) == (REFUSED, False)
    assert "10.1.2.3" in failure.detail
    assert "private" in failure.detail
    assert calls.made == []


def test_of_several_addresses_one_private_is_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A name that answers with both kinds is private: none is called, at any connection."""
    answer = ["192.168.0.1", "8.8.8.8", "fe80::1%2", "2606:4700::1"]
    calls = Calls()
    _replace(monkeypatch, "getaddrinfo", Names(a_example=[answer]).getaddrinfo)
    _replace(monkeypatch, "create_connection", calls.create_connection)
    failure = asyncio.run(fetched("https://a.example/", tmp_path))
    assert isinstance(failure, Failure)
    assert failure.reason == REFUSED
    assert calls.made == []


def test_what_was_looked_at_is_what_is_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One look-up for each connection: a second could have another answer (DNS rebinding)."""
    names, calls = Names(a_example=[["8.8.8.8"], ["127.0.0.1"]]), Calls()
    _replace(monkeypatch, "getaddrinfo", names.getaddrinfo)
    _replace(monkeypatch, "create_connection", calls.create_connection)
    asyncio.run(fetched("http://a.example:8080/", tmp_path))
    assert names.asked == ["a.example"]
    assert calls.made == [("8.8.8.8", 8080)]


def test_a_name_that_changes_sides_is_not_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not even when it is a seed: it was a public site that the user named."""
    names, calls = Names(a_example=[["8.8.8.8"], ["169.254.169.254"]]), Calls()
    _replace(monkeypatch, "getaddrinfo", names.getaddrinfo)
    _replace(monkeypatch, "create_connection", calls.create_connection)

    async def scene() -> None:
        judge = policy(("http://a.example/",), False)
        async with client(tmp_path, allow_address=judge) as web:
            assert (await web.fetch("http://a.example/")).reason == "refused"
            assert (await web.fetch("http://a.example/")).reason == REFUSED

    asyncio.run(scene())
    assert calls.made == [("8.8.8.8", 80)]


def test_a_name_that_is_a_seed_may_be_private(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A company's own site, by http and https, and no other port of it."""
    calls = Calls()
    _replace(monkeypatch, "getaddrinfo", Names(intra_example=[["10.0.0.7"]]).getaddrinfo)
    _replace(monkeypatch, "create_connection", calls.create_connection)
    for url in ("http://intra.example/", "https://intra.example/", "http://intra.example:8080/"):
        asyncio.run(fetched(url, tmp_path, "http://intra.example/start"))
    assert calls.made == [("10.0.0.7", 80), ("10.0.0.7", 443)]


def test_on_either_loop_an_address_is_refused_before_it_is_called(
    run: Runner, tmp_path: Path
) -> None:
    """With a server that would answer."""

    async def scene() -> None:
        async with serving() as server:
            for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
                outcome = await fetched(f"http://{host}:{server.port}/", tmp_path)
                assert isinstance(outcome, Failure)
                assert outcome.reason == REFUSED
            assert server.connections == 0
            assert isinstance(await fetched(f"{server.url}/", tmp_path, server.url), Exchange)

    run(scene())
