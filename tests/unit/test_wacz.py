"""WACZ in and out: what goes in comes out, what is promised is checked, what is lost is named."""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.clock import SECOND
from asof.errors import InputError, StorageError, UsageError
from asof.model import Damage
from asof.warc.foreign import wacz_write
from asof.warc.foreign.wacz import WaczKind, extract_warcs, wacz_members
from asof.warc.foreign.wacz_write import WaczPage, write_wacz

NOW = 1_700_000_000 * SECOND
WARC = gzip.compress(
    b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n", mtime=0
)
OTHER = gzip.compress(
    b"WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 0\r\n\r\n\r\n\r\n", mtime=0
)


def line(number: int) -> str:
    values = {"url": f"http://a/{number}", "offset": str(number), "filename": "one.warc.gz"}
    return f"a)/{number:06d} 20260101000000 {json.dumps(values)}"


@pytest.fixture
def warcs(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "warcs"
    folder.mkdir()
    (folder / "one.warc.gz").write_bytes(WARC)
    (folder / "Two Words.warc").write_bytes(gzip.decompress(OTHER))
    return sorted(folder.iterdir(), reverse=True)


def make(out: Path, warcs: list[Path], lines: Any = (), pages: Any = ()) -> Path:
    write_wacz(out, warcs, lines, pages, title="Fish", software="asof 0", created=NOW)
    return out


def foreign(path: Path, members: dict[str, bytes], package: object = None, **wrong: Any) -> Path:
    """A WACZ by another tool, with its manifest unless one is given."""
    resources = [
        {"path": name, "hash": f"sha256:{hashlib.sha256(data).hexdigest()}", "bytes": len(data)}
        for name, data in members.items()
    ]
    manifest = {"profile": "data-package", "wacz_version": "1.1.1", "resources": resources, **wrong}
    with zipfile.ZipFile(path, "w") as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
        zipped.writestr("datapackage.json", json.dumps(manifest if package is None else package))
    return path


def taken(path: Path, into: Path) -> tuple[list[tuple[str, bytes]], list[Damage]]:
    items = list(extract_warcs(path, into))
    files = [(item[0], item[1].read_bytes()) for item in items if isinstance(item, tuple)]
    assert all(item[1].parent == into for item in items if isinstance(item, tuple))
    return files, [item for item in items if isinstance(item, Damage)]


# -- out ------------------------------------------------------------------------------------------


def test_a_wacz_has_what_the_standard_asks_for(tmp_path: Path, warcs: list[Path]) -> None:
    page = WaczPage("http://a/1", "Fish \U0001f41f", NOW)
    out = make(
        tmp_path / "x.wacz", warcs, [line(1)], [page, WaczPage("http://a/2", "", NOW + SECOND)]
    )
    with zipfile.ZipFile(out) as zipped:
        assert zipped.testzip() is None
        kinds = {info.filename: info.compress_type for info in zipped.infolist()}
        assert list(kinds) == [
            "archive/one.warc.gz", "archive/Two Words.warc", "indexes/index.cdx.gz",
            "indexes/index.idx", "pages/pages.jsonl", "datapackage.json",
            "datapackage-digest.json",
        ]  # fmt: skip
        stored = [name for name, kind in kinds.items() if kind == zipfile.ZIP_STORED]
        assert stored == list(kinds)[:3]
        assert zipped.read("archive/one.warc.gz") == WARC
        header, *pages = map(json.loads, zipped.read("pages/pages.jsonl").splitlines())
        text = zipped.read("datapackage.json")
        digest = json.loads(zipped.read("datapackage-digest.json"))
        package = json.loads(text)
        for resource in package["resources"]:
            data = zipped.read(resource["path"])
            assert resource["bytes"] == len(data)
            assert resource["hash"] == "sha256:" + hashlib.sha256(data).hexdigest()
    assert header == {
        "format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": True
    }  # fmt: skip
    assert [(p["url"], p["ts"], p["title"]) for p in pages] == [
        ("http://a/1", "2023-11-14T22:13:20Z", "Fish \U0001f41f"),
        ("http://a/2", "2023-11-14T22:13:21Z", ""),
    ]
    assert digest == {
        "path": "datapackage.json",
        "hash": "sha256:" + hashlib.sha256(text).hexdigest(),
    }
    assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
    assert (package["title"], package["software"]) == ("Fish", "asof 0")
    assert package["created"] == package["mainPageDate"] == "2023-11-14T22:13:20Z"
    assert package["mainPageUrl"] == "http://a/1"
    names = [resource["name"] for resource in package["resources"]]
    assert names[:2] == ["one.warc.gz", "two-words.warc"]
    assert len(set(names)) == len(names)


def index_of(path: Path) -> tuple[list[bytes], list[bytes]]:
    """The lines of the index, found block by block through the index over it."""
    lines, keys = [], []
    with zipfile.ZipFile(path) as zipped:
        packed = zipped.read("indexes/index.cdx.gz")
        meta, *places = zipped.read("indexes/index.idx").splitlines()
    prefix, _, values = meta.partition(b"{")
    assert prefix == b"!meta 0 "
    assert json.loads(b"{" + values) == {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    for place in places:
        key, _, values = place.partition(b" {")
        where = json.loads(b"{" + values)
        block = packed[where["offset"] : where["offset"] + where["length"]]
        assert where["digest"] == "sha256:" + hashlib.sha256(block).hexdigest()
        found = gzip.decompress(block).splitlines()
        assert found[0].startswith(key + b" {")
        lines += found
        keys.append(key)
    return lines, keys


def test_the_index_is_sorted_and_every_block_of_it_can_be_found(
    tmp_path: Path, warcs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wacz_write, "_RUN_LINES", 700)
    wanted = [line(number) for number in range(2500)]
    mixed = [*wanted[1500:], *wanted[:1500], *wanted[:10]]
    lines, keys = index_of(make(tmp_path / "x.wacz", warcs, (f"{one}\n" for one in mixed)))
    assert lines == [one.encode() for one in wanted]
    assert keys == [b"a)/%06d 20260101000000" % number for number in (0, 1024, 2048)]
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["warcs"]


def test_an_index_of_nothing(tmp_path: Path, warcs: list[Path]) -> None:
    assert index_of(make(tmp_path / "x.wacz", warcs)) == ([], [])


def test_the_same_input_gives_the_same_bytes(tmp_path: Path, warcs: list[Path]) -> None:
    pages = [WaczPage("http://a/1", "Fish", NOW)]
    first, second = (
        make(tmp_path / name, warcs, [line(1)], pages) for name in ("1.wacz", "2.wacz")
    )
    assert first.read_bytes() == second.read_bytes()


def test_what_goes_out_comes_in(tmp_path: Path, warcs: list[Path]) -> None:
    out = make(tmp_path / "x.wacz", warcs, [line(1)])
    files, damage = taken(out, tmp_path / "into")
    assert files == [("one.warc.gz", WARC), ("Two_Words.warc", gzip.decompress(OTHER))]
    assert not damage
    warc, other, manifest = WaczKind.WARC, WaczKind.OTHER, WaczKind.MANIFEST
    assert [(kind, entry.name, entry.method == 0) for kind, entry in wacz_members(out)] == [
        (warc, "archive/one.warc.gz", True), (warc, "archive/Two Words.warc", True),
        (other, "indexes/index.cdx.gz", True), (other, "indexes/index.idx", False),
        (other, "pages/pages.jsonl", False), (manifest, "datapackage.json", False),
        (manifest, "datapackage-digest.json", False),
    ]  # fmt: skip


def test_a_large_warc_gets_zip64(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z", "w") as zipped:
        package = wacz_write._Package(zipped, NOW)
        package.add("archive/big.warc", iter([b"start"]), 5 << 30)
    extra = struct.unpack_from("<HH", (tmp_path / "z").read_bytes(), 26)[1]
    assert extra >= 20, "the local header has no room for sizes of 64 bits"


@pytest.mark.parametrize("name", ["x.warc.zst", "x.arc.gz", "notes.txt"])
def test_files_that_a_wacz_may_not_hold_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(WARC)
    with pytest.raises(UsageError, match="cannot go into a WACZ"):
        make(tmp_path / "x.wacz", [tmp_path / name])
    assert not (tmp_path / "x.wacz").exists()


def test_no_warc_a_missing_one_and_two_of_one_name_are_refused(
    tmp_path: Path, warcs: list[Path]
) -> None:
    with pytest.raises(UsageError, match="no WARC"):
        make(tmp_path / "x.wacz", [])
    with pytest.raises(UsageError, match="not a file"):
        make(tmp_path / "x.wacz", [tmp_path / "gone.warc.gz"])
    (tmp_path / "one.warc.gz").write_bytes(WARC)
    with pytest.raises(UsageError, match="one name"):
        make(tmp_path / "x.wacz", [*warcs, tmp_path / "one.warc.gz"])


def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path, warcs: list[Path]) -> None:
    def broken() -> Iterator[str]:
        yield line(1)
        raise OSError(28, "No space left on device")

    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StorageError, match="No space left"):
        make(tmp_path / "x.wacz", warcs, broken())
    assert sorted(tmp_path.rglob("*")) == before


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, warcs: list[Path]) -> None:
    out = tmp_path / "x.wacz"
    out.write_bytes(b"precious")

    def broken() -> Iterator[WaczPage]:
        yield WaczPage("http://a/", "", NOW)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        make(out, warcs, [], broken())
    assert out.read_bytes() == b"precious"


# -- in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["archive/a.warc.gz", "data/archive/a.warc.gz", "a.WARC.GZ", "archive/deep/a.warc.gz"]
)
def test_warcs_are_found_in_any_folder(tmp_path: Path, name: str) -> None:
    files, damage = taken(foreign(tmp_path / "x.wacz", {name: WARC}), tmp_path / "into")
    assert files == [(name.rpartition("/")[2], WARC)]
    assert not damage


def test_the_manifest_of_wacz_1_0_is_checked_too(tmp_path: Path) -> None:
    stats = {"hash": hashlib.sha256(OTHER).hexdigest(), "bytes": len(OTHER)}
    resources = [{"path": "archive/a.warc.gz", "stats": stats, "hashing": "sha256"}]
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC}, {"resources": resources})
    files, damage = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", WARC)]
    assert ["sha256" in item.reason for item in damage] == [True]


def test_a_wrong_digest_is_reported_and_the_file_still_comes(tmp_path: Path) -> None:
    wrong = [{"path": "archive/a.warc.gz", "hash": "sha256:" + "0" * 64}]
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC}, resources=wrong)
    files, (item,) = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", WARC)]
    assert item == Damage(
        str(path), 0, "archive/a.warc.gz does not match its sha256 digest in datapackage.json"
    )


@pytest.mark.parametrize("text", ["md5:" + hashlib.md5(WARC).hexdigest(), "crc9:0", "junk", 7])
def test_other_digests_are_checked_where_we_know_them(tmp_path: Path, text: int | str) -> None:
    resources = [{"path": "archive/a.warc.gz", "hash": text}]
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC}, resources=resources)
    files, damage = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", WARC)]
    assert bool(damage) == (text == "junk")


def test_a_wrong_checksum_is_reported_and_the_file_still_comes(tmp_path: Path) -> None:
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC, "archive/b.warc.gz": OTHER})
    data = bytearray(path.read_bytes())
    data[data.index(WARC) + 20] ^= 0x01
    path.write_bytes(data)
    files, damage = taken(path, tmp_path / "into")
    assert [name for name, _ in files] == ["a.warc.gz", "b.warc.gz"]
    assert files[1][1] == OTHER
    assert [item.reason for item in damage] == ["archive/a.warc.gz does not match its checksum"]


def test_a_manifest_that_was_changed_is_reported(tmp_path: Path) -> None:
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC})
    with zipfile.ZipFile(path, "a") as zipped:
        seal = {"path": "datapackage.json", "hash": "sha256:" + "0" * 64}
        zipped.writestr("datapackage-digest.json", json.dumps(seal))
    files, (item,) = taken(path, tmp_path / "into")
    assert len(files) == 1
    assert "datapackage-digest.json" in item.reason


@pytest.mark.parametrize("package", [[], "text", 5, {"resources": "x"}, {"resources": [1, {}]}])
def test_a_manifest_of_another_shape_is_no_obstacle(tmp_path: Path, package: Any) -> None:
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC}, package)
    files, damage = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", WARC)]
    assert bool(damage) == (not isinstance(package, dict))


def test_a_file_that_is_promised_but_missing_is_named(tmp_path: Path) -> None:
    missing = [{"path": "archive/gone.warc.gz", "hash": "sha256:" + "0" * 64}]
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC}, resources=missing)
    files, (item,) = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", WARC)]
    assert "archive/gone.warc.gz" in item.reason


def test_a_package_of_packages_says_what_to_do(tmp_path: Path) -> None:
    inner = foreign(tmp_path / "inner.wacz", {"archive/a.warc.gz": WARC}).read_bytes()
    path = foreign(tmp_path / "x.wacz", {"inner.wacz": inner}, profile="multi-wacz-package")
    files, (item,) = taken(path, tmp_path / "into")
    assert not files
    assert "inner.wacz" in item.reason
    assert "one by one" in item.reason
    remote = [{"path": "https://a/b.wacz", "hash": "sha256:" + "0" * 64}]
    path = foreign(
        tmp_path / "y.wacz", {"x.txt": b""}, profile="multi-wacz-package", resources=remote
    )
    assert "https://a/b.wacz" in taken(path, tmp_path / "into")[1][0].reason


def test_a_zip_without_warcs_says_so(tmp_path: Path) -> None:
    files, (item,) = taken(foreign(tmp_path / "x.wacz", {"readme.txt": b"hi"}), tmp_path / "into")
    assert not files
    assert "no WARC" in item.reason


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all" * 100, b"PK\x05\x06" + bytes(18)])
def test_what_is_no_zip_is_an_input_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.wacz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"not a WACZ.*Name"):
        wacz_members(path)
    with pytest.raises(InputError):
        list(extract_warcs(path, tmp_path / "into"))


def test_bytes_before_and_after_the_zip_do_not_matter(tmp_path: Path) -> None:
    path = foreign(tmp_path / "x.wacz", {"archive/a.warc.gz": WARC})
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes() + b"trailing")
    files, damage = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", WARC)]
    assert not damage


def test_each_file_may_be_removed_before_the_next_is_asked_for(tmp_path: Path) -> None:
    members = {f"archive/{number}.warc.gz": WARC for number in range(5)}
    into = tmp_path / "into"
    most = 0
    for item in extract_warcs(foreign(tmp_path / "x.wacz", members), into):
        assert not isinstance(item, Damage)
        most = max(most, len(list(into.iterdir())))
        item[1].unlink()
    assert most == 1
    assert not list(into.iterdir())
