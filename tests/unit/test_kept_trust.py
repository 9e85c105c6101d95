"""What is learnt of a host is kept until something was captured; who waits sees a bar."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from asof.archive import OpenArchive
from asof.clock import SECOND
from asof.coherence import gather
from asof.coherence.certificate import Choice
from asof.coherence.history import history
from asof.coherence.quality import quality
from asof.coherence.trust_file import trust_in
from asof.coherence.verdict import HostTrust
from asof.model import Capture, Location, Segment, State
from support import rig
from support.catalog_entry import enter
from support.serve_command import serving

START = 1_700_000_000 * SECOND
URL = "http://example.org/a"


def taken(second: int, *, seen: int | None = None, body: str = "A") -> Capture:
    """A download; with `seen`, a 304 about the download of that second."""
    at = START + second * SECOND
    again = seen is not None
    return Capture(
        URL, "org,example)/a", at, "revisit" if again else "response", 304 if again else 200,
        "text/html", f"sha1:{body * 32}", None if again else f"sha1:{body * 32}", 1, f"{second}",
        Location("f.warc.gz", second, 1), None, f'"{body}"', None, None, None,
        "server-not-modified" if again else None, URL if again else None,
        START + seen * SECOND if seen is not None else None,
    )  # fmt: skip


def put(folder: Path, *captures: Capture, committed: int) -> None:
    with (
        OpenArchive.write(folder, purpose="test") as archive,
        archive.ledger.transaction(),
    ):
        (folder / "warc" / "f.warc.gz").write_bytes(bytes(committed))
        number = archive.catalog.put_segment(Segment("f.warc.gz", committed))
        enter(archive.catalog, captures, number)


def grades(folder: Path) -> list[str]:
    with OpenArchive.open(folder) as archive:
        return [each.grade for validity in history(archive, URL) for each in validity.evidence]


def test_a_host_is_learnt_once_for_many_histories_and_anew_after_a_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[str] = []
    learn = gather.learn_trust_in

    def counted(archive: OpenArchive, hosts: Collection[str]) -> dict[str, HostTrust]:
        learnt.extend(hosts)
        return learn(archive, hosts)

    monkeypatch.setattr(gather, "learn_trust_in", counted)
    put(tmp_path, taken(0), taken(9, seen=0), committed=10)
    assert grades(tmp_path) == grades(tmp_path) == ["proven", "confirmed"]
    assert learnt == ["example.org"]
    # Another content by the same strong ETag: the host is caught.
    put(tmp_path, replace(taken(20, body="B"), etag='"A"'), committed=30)
    with OpenArchive.open(tmp_path) as archive:
        assert State.SILENT in [validity.state for validity in history(archive, URL)]
    assert learnt == ["example.org"] * 2


def test_what_is_captured_of_another_host_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, taken(0), taken(9, seen=0), committed=10)
    first = grades(tmp_path)
    other = replace(taken(20), url="http://other.example/", surt="example,other)/")
    put(tmp_path, other, committed=30)

    def refused(archive: OpenArchive, hosts: Collection[str]) -> dict[str, HostTrust]:
        raise AssertionError("learnt again")

    monkeypatch.setattr(gather, "learn_trust_in", refused)
    assert grades(tmp_path) == first


def test_a_server_learns_of_large_hosts_before_somebody_asks(tmp_path: Path) -> None:
    many = [replace(taken(second), at=START + second * SECOND) for second in range(1100)]
    few = replace(taken(1), url="http://small.example/", surt="example,small)/")
    put(tmp_path, *many, few, committed=1500)
    with serving(tmp_path):
        rig.wait_for(lambda: _learnt(tmp_path) == ["example.org"], 20, "nothing is learnt")
    with OpenArchive.open(tmp_path) as archive:
        [known] = (tmp_path / "derived" / "trust").iterdir()
        before = known.read_bytes()
        assert trust_in(archive, "example.org").validators_right == 1099
        assert known.read_bytes() == before


def _learnt(folder: Path) -> list[str]:
    return [
        json.loads(path.read_bytes())["trust"]["host"]
        for path in (folder / "derived" / "trust").glob("*.json")
    ]


def test_what_is_kept_of_a_host_may_be_lost_or_broken(tmp_path: Path) -> None:
    put(tmp_path, taken(0), taken(9, seen=0), committed=10)
    first = grades(tmp_path)
    [kept] = (tmp_path / "derived" / "trust").iterdir()
    for broken in (b"", b"[]", b'{"stamp": 1}', b'{"stamp": "", "trust": {"x": 1, "doubted": 1}}'):
        kept.write_bytes(broken)
        assert grades(tmp_path) == first


def test_a_bar_is_there_before_anything_is_read(tmp_path: Path) -> None:
    put(tmp_path, *(taken(second) for second in range(1500)), committed=1500)
    told: list[tuple[str, int | None]] = []
    done: list[int] = []

    @contextmanager
    def bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
        told.append((what, total))
        yield done.append

    with OpenArchive.open(tmp_path) as archive:
        quality(archive, Choice((), "http://example.org/"), progress=bar)
    assert told[0] == ("reading", 1500)
    assert [what for what, _ in told] == ["reading", "comparing", "reporting"]
    assert done == [1000, 500]
