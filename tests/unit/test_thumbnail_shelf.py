"""Small pictures below `derived/`: whole or not there, bounded, and made again at will."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request

from asof.archive import OpenArchive
from asof.catalog.observe import Observation
from asof.clock import Instant, SystemClock
from asof.errors import UsageError
from asof.web.pictures import shelf as shelves
from asof.web.pictures.maker import Wishes
from asof.web.pictures.shelf import Shelf, is_whole, looked_at
from asof.web.pictures.thumbnails import Thumbnails
from support import served_archive
from support.served_archive import Page

SITE, AT = "http://site.example/", "2026-01-01T00:00:00Z"
SECOND_TIME = "2026-01-02T00:00:00Z"


def webp(filling: bytes = b"x") -> bytes:
    body = b"WEBP" + filling
    return b"RIFF" + len(body).to_bytes(4, "little") + body


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[OpenArchive]:
    pages = [
        *(Page(f"{SITE}{n}", AT, b"<p>%d" % n) for n in range(8)),
        Page(f"{SITE}same", AT, b"<p>same"),
        Page(f"{SITE}same", SECOND_TIME, same_as=(f"{SITE}same", AT), media=None),
        Page(f"{SITE}gone", AT, b"<p>no", status="404 Not Found"),
        Page(f"{SITE}moved", AT, b"", status="302 Found", headers=(("Location", "/0"),)),
        Page(f"{SITE}style", AT, b"p {}", "text/css"),
    ]
    with OpenArchive.open(served_archive.build(tmp_path / "archive", pages)) as opened:
        yield opened


@pytest.fixture
def shelf(archive: OpenArchive) -> Shelf:
    made = Shelf(archive.folder, SystemClock())
    made.prepare()
    return made


def seen(archive: OpenArchive, name: object) -> Observation:
    found = looked_at(archive, archive.as_of(f"{SITE}{name}"))
    assert found is not None
    return found


def files(archive: OpenArchive) -> list[Path]:
    return sorted((archive.folder.root / "derived/pictures").iterdir())


def test_a_picture_is_kept_for_each_content_of_a_url(archive: OpenArchive, shelf: Shelf) -> None:
    assert shelf.find(seen(archive, 0)) is None
    shelf.keep(seen(archive, 0), webp(b"zero"))
    assert shelf.find(seen(archive, 0)) == webp(b"zero")
    assert shelf.find(seen(archive, 1)) is None
    first = looked_at(archive, archive.as_of(f"{SITE}same", AT))
    assert first is not None
    shelf.keep(first, webp(b"same"))
    assert shelf.find(seen(archive, "same")) == webp(b"same")  # a revisit shows the same


@pytest.mark.parametrize("name", ["gone", "moved", "style", "never"])
def test_what_is_no_page_has_none(archive: OpenArchive, name: str) -> None:
    assert looked_at(archive, archive.as_of(f"{SITE}{name}")) is None


@pytest.mark.parametrize("damage", [webp()[:-1], webp() + b"x", b"GIF89a", b"\0" * 200_000])
def test_what_is_not_whole_is_removed(archive: OpenArchive, shelf: Shelf, damage: bytes) -> None:
    shelf.keep(seen(archive, 0), webp())
    [path] = files(archive)
    path.write_bytes(damage)
    assert shelf.find(seen(archive, 0)) is None
    assert files(archive) == []


def test_that_there_is_none_is_kept_for_a_day(archive: OpenArchive, shelf: Shelf) -> None:
    shelf.keep(seen(archive, 0), b"")
    assert shelf.find(seen(archive, 0)) == b""
    [path] = files(archive)
    os.utime(path, (0, time.time() - 25 * 3600))
    assert shelf.find(seen(archive, 0)) is None


@pytest.mark.parametrize(("name", "most"), [("MOST", 4), ("MOST_BYTES", 4 * len(webp()))])
def test_the_oldest_make_room(
    archive: OpenArchive, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(shelves, name, most)
    for number in range(8):
        shelf.keep(seen(archive, number), webp())
        for path in files(archive):  # each is a second older than the next one
            os.utime(path, (0, path.stat().st_mtime - 1))
        assert len(files(archive)) <= 4
    kept = [number for number in range(8) if shelf.find(seen(archive, number))]
    assert kept == list(range(8 - len(kept), 8))
    assert len(kept) >= 3


def test_nothing_is_written_through_a_link(archive: OpenArchive, tmp_path: Path) -> None:
    (archive.folder.root / "derived").mkdir(exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    (archive.folder.root / "derived/pictures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link"):
        Shelf(archive.folder, SystemClock()).prepare()


def test_only_a_whole_webp_is_one() -> None:
    assert is_whole(webp())
    assert not any(map(is_whole, (b"", webp()[:11], webp(b"x" * 70_000), b"RIFX" + webp()[4:])))


def asked(target: str, **headers: str) -> Request:
    named = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return Request({
        "type": "http", "method": "GET", "path": target, "raw_path": target.encode(),
        "query_string": b"", "headers": [(b"host", b"localhost"), *named],
    })  # fmt: skip


def test_who_asks_for_one_that_is_not_there_has_it_made(archive: OpenArchive, shelf: Shelf) -> None:
    wished: list[tuple[Path, str, Instant]] = []
    asking = Thumbnails(archive, SystemClock(), lambda *wish: wished.append(wish))
    silent = Thumbnails(archive, SystemClock())
    capture = archive.as_of(f"{SITE}0")
    assert capture is not None
    where = f"/-/thumb/20260101000000/{SITE}0"
    assert (asking.of(capture), silent.of(capture)) == (where, "")
    for thumbnails, headers, count in (
        (silent, {}, 0),
        (asking, {"sec_fetch_site": "cross-site"}, 0),  # another site's page has nothing made
        (asking, {}, 1),
    ):
        answer = thumbnails.one(asked(where, **headers))
        assert (answer.status_code, len(wished)) == (204, count)
        assert answer.headers["cache-control"] == "private, max-age=5"
    assert wished == [(archive.folder.root, capture.url, capture.at)]
    shelf.keep(seen(archive, 0), webp())
    answer = silent.one(asked(where))
    assert (answer.status_code, answer.body) == (200, webp())
    assert "immutable" in answer.headers["cache-control"]
    assert silent.of(capture) == where
    shelf.keep(seen(archive, 0), b"")
    assert (asking.of(capture), asking.one(asked(where)).status_code) == ("", 204)
    for other in ("style", "gone", "never"):
        assert asking.one(asked(f"/-/thumb/20260101000000/{SITE}{other}")).status_code == 204
    for wrong in ("", "now/x", "99999999999999/x", "2026/x", "20260101000000/", "%00/%FF"):
        assert asking.one(asked(f"/-/thumb/{wrong}")).status_code == 204
    assert len(wished) == 1


def test_wishes_are_bounded_and_nobody_waits() -> None:
    folders = [Path(f"/archive/{number}") for number in range(3)]
    wishes = Wishes(folders)
    wishes.ask(folders[0], SITE + "x" * 1000, 5)  # too long to be written in one go
    begun = time.monotonic()
    for number in range(10_000):
        wishes.ask(folders[number % 3], SITE, number)
    assert time.monotonic() - begun < 5
    got = []
    while (wish := wishes.next(0)) is not None:
        got.append(wish)
    assert got == [(folders[number % 3], SITE, number) for number in range(len(got))]
    assert 100 < len(got) < 10_000
