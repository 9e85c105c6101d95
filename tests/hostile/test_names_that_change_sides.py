"""Who owns a name decides what its addresses are: what a seed opens, and for how long.

A name server of our own answers; a public address leads to a server on this machine, so that a
crawl can capture something of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM
from typing import Any

import pytest

from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.crawl import CrawlRequest, run_crawl
from asof.crawl.run import CrawlOutcome
from asof.fetch.addresses import policy
from asof.fetch.request import split_url
from support.misbehaving import Server, Stage, page

PUBLIC = "8.8.8.8"
SETTINGS = {"delay": 0, "retries": 0, "text": False}
REFUSED = "refused-address"
Answer = Callable[..., None]

NEAREST = (
    "127.0.0.1", "::1", "169.254.169.254", "fe80::1", "0.0.0.0", "::", "::ffff:127.0.0.1",
    "::ffff:169.254.169.254", "2002:7f00:1::", "64:ff9b::a9fe:a9fe", "2001:0:808:808::80ff:fffe",
)  # fmt: skip


@pytest.fixture
def site() -> Iterator[Server]:
    with Stage() as stage:
        yield stage.open({"/": page("what a public site says")})


@pytest.fixture
def calls() -> list[str]:
    """The addresses that were called."""
    return []


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch, site: Server, calls: list[str]) -> Answer:
    """Says which addresses every name has from now on."""
    addresses: list[str] = []
    really = asyncio.BaseEventLoop.create_connection

    async def getaddrinfo(loop: Any, host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        families = [AF_INET6 if ":" in ip else AF_INET for ip in addresses]
        return [
            (family, SOCK_STREAM, IPPROTO_TCP, "", (ip, port))
            for family, ip in zip(families, addresses, strict=True)
        ]

    async def connect(loop: Any, factory: Any, host: str, port: int, **_: Any) -> Any:
        calls.append(host)
        return await really(loop, factory, "127.0.0.1", port)

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", connect)
    monkeypatch.setattr("asof.crawl.run._new_loop", asyncio.new_event_loop)

    def change(*those: str) -> None:
        addresses[:] = those

    return change


@pytest.fixture
def crawl(tmp_path: Path, site: Server) -> Callable[..., CrawlOutcome]:
    """A new crawl of the same archive, with a name for seed."""

    def run(name: str = "a.example", **settings: object) -> CrawlOutcome:
        seed = f"http://{name}:{site.port}/"
        request = CrawlRequest(tmp_path / "a", (seed,), SETTINGS | settings, new=True)
        return run_crawl(request)

    return run


Crawl = Callable[..., CrawlOutcome]


def test_a_seed_that_was_public_is_so_in_the_next_crawl(
    answer: Answer, crawl: Crawl, calls: list[str]
) -> None:
    answer(PUBLIC)
    assert crawl().summary.captured == 2  # with robots.txt
    answer("10.0.0.7")
    assert crawl().summary.reasons == {REFUSED: 1}
    answer(PUBLIC, "10.0.0.7")
    assert crawl().summary.reasons == {REFUSED: 1}
    assert set(calls) == {PUBLIC}
    assert crawl(allow_private=True).summary.captured == 2


def test_so_it_is_when_nothing_was_captured(
    answer: Answer, crawl: Crawl, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(PUBLIC)
    with monkeypatch.context() as patch:

        async def nobody(*_: Any, **__: Any) -> None:
            raise ConnectionRefusedError("nobody is there")

        patch.setattr(asyncio.BaseEventLoop, "create_connection", nobody)
        assert crawl().summary.reasons == {"refused": 1}
    answer("10.0.0.7")
    assert crawl().summary.reasons == {REFUSED: 1}
    assert calls == []


def test_so_it_is_after_a_reindex(
    answer: Answer, crawl: Crawl, calls: list[str], tmp_path: Path
) -> None:
    """The records say which address had answered."""
    answer(PUBLIC)
    crawl()
    (tmp_path / "a" / "asof.db").unlink()
    reindex(Folder(tmp_path / "a"), spread=map, progress=lambda size: None)
    answer("10.0.0.7")
    assert crawl().summary.reasons == {REFUSED: 1}
    assert set(calls) == {PUBLIC}


def test_a_private_seed_stays_as_easy_as_it_was(answer: Answer, crawl: Crawl) -> None:
    answer("10.0.0.7")
    assert [crawl("intra.example").summary.captured for _ in range(2)] == [2, 2]
    answer("2606:4700::1", "10.0.0.7")
    assert crawl("intra.example").summary.captured == 2


@pytest.mark.parametrize("address", NEAREST)
def test_a_name_with_a_dot_opens_nothing_on_this_machine(
    answer: Answer, crawl: Crawl, calls: list[str], address: str
) -> None:
    answer(address)
    assert crawl().summary.reasons == {REFUSED: 1}
    assert calls == []


def test_the_refusal_says_what_to_do(answer: Answer, crawl: Crawl, tmp_path: Path) -> None:
    answer("127.0.0.1")
    crawl()
    (log,) = (tmp_path / "a" / "logs").glob("*.jsonl")
    assert "a.example is 127.0.0.1: loopback; --allow-private" in log.read_text("utf-8")


@pytest.mark.parametrize("name", ["localhost", "app.localhost", "nas", "nas.local"])
def test_names_that_only_this_network_gives_stay_open(
    answer: Answer, crawl: Crawl, name: str
) -> None:
    answer("127.0.0.1", "::1")
    assert crawl(name).summary.captured == 2


def test_a_name_of_both_kinds_is_private() -> None:
    """One public address does not vouch for the others."""
    place = split_url("http://a.example/")[0]
    mixed = [PUBLIC, "192.168.0.1", "2606:4700::1"]
    assert set(policy((), False)(place, mixed)) == set(mixed)
    assert policy(("http://a.example/",), False)(place, mixed) == {}
    assert set(policy(("http://a.example/",), False)(place, [PUBLIC, "::1"])) == {PUBLIC, "::1"}
