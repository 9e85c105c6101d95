"""The content decides what a file is: not its name, and not one layer of compression around it."""

from __future__ import annotations

import gzip
import io
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from asof.errors import InputError
from asof.warc.foreign.detect import Format, sniff

WARC = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
ARC = b"filedesc://x.arc 0.0.0.0 20050614070159 text/plain 68\n1 0 by-hand\n"
HEADLESS = b"http://a/ 192.0.2.7 20050614070144 text/html 5\nhello\n"
TREC = b"<DOC>\n<DOCNO>D-1</DOCNO>\n<DOCHDR>\nhttp://a/\n</DOCHDR>\n</DOC>\n"


def zipped(*names: str, content: bytes = b"\xa5" * 300) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as pack:
        for name in names:
            pack.writestr(name, content)
    return out.getvalue()


KNOWN = {
    "warc": (WARC, Format.WARC),
    "warc after blank lines": (b"\r\n\n" + WARC, Format.WARC),
    "warc after damage": (random.Random(2).randbytes(9000) + b"\n" + WARC, Format.WARC),
    "arc": (ARC, Format.ARC),
    "arc without its start": (HEADLESS, Format.ARC),
    "arc after damage": (bytes(500) + b"\n" + ARC, Format.ARC),
    "trec": (TREC, Format.TREC),
    "trec in lower case": (b" " + TREC.lower(), Format.TREC),
    "trec after a prologue": (b"<?xml version='1.0'?>\n" + TREC, Format.TREC),
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("name", KNOWN)
def test_known_formats(tmp_path: Path, name: str, pack: Callable[..., Any] | type[bytes]) -> None:
    data, wanted = KNOWN[name]
    path = tmp_path / "misleading.docx"
    path.write_bytes(pack(data))
    assert sniff(path) is wanted


@pytest.mark.parametrize("content", [WARC, gzip.compress(WARC, mtime=0), ARC, TREC, bytes(300)])
@pytest.mark.parametrize(
    "names",
    [("archive/a.warc.gz",), ("datapackage.json",), ("b.wacz", "x"), ("pages/x", "a.warc")],
)
def test_wacz_whatever_its_members_hold(
    tmp_path: Path, names: tuple[str, ...], content: bytes
) -> None:
    path = tmp_path / "x.warc"
    data = zipped(*names, content=content)
    for whole_or_torn in (data, data[:-30], b"#!/bin/sh\n" + data):
        path.write_bytes(whole_or_torn)
        assert sniff(path) is Format.WACZ


def test_a_wacz_that_has_lost_its_start(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    for content in (random.Random(3).randbytes(500), gzip.compress(WARC) * 9):
        path.write_bytes(zipped("archive/a.warc.gz", "archive/b.warc.gz", content=content)[100:])
        assert sniff(path) is Format.WACZ


def test_a_warc_that_ends_in_a_zip_is_a_warc(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(WARC + zipped("archive/a.warc.gz"))
    assert sniff(path) is Format.WARC


def test_a_gzip_file_whose_first_members_are_damaged(tmp_path: Path) -> None:
    bad = bytearray(gzip.compress(WARC * 20))
    bad[20:40] = bytes(20)
    path = tmp_path / "x.gz"
    path.write_bytes(bytes(bad) * 3 + gzip.compress(ARC))
    assert sniff(path) is Format.ARC


@pytest.mark.parametrize(
    "junk", [bytes(700), b"junk of text\n" * 9, b"\x1f\x8b\x08 no gzip\n", b"\x1f\x8b\x08\x00" * 99]
)
@pytest.mark.parametrize("data", [WARC, ARC, TREC])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_junk_in_front_of_a_file(
    tmp_path: Path, junk: bytes, data: bytes, pack: Callable[..., Any] | type[bytes]
) -> None:
    path = tmp_path / "x"
    path.write_bytes(junk + b"\n" + pack(data) + pack(data))
    assert sniff(path) is sniff_plain(tmp_path, data)


def sniff_plain(folder: Path, data: bytes) -> Format:
    (folder / "plain").write_bytes(data)
    return sniff(folder / "plain")


def test_a_zstd_file_with_a_dictionary_is_a_warc(tmp_path: Path) -> None:
    path = tmp_path / "x.zst"
    path.write_bytes(
        b"\x5d\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"dict" + b"\x28\xb5\x2f\xfd"
    )
    assert sniff(path) is Format.WARC


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (b"Dear archive,\nthis is a letter.\n", "no known format"),
        (b"<!doctype html><html><body>WARC/1.0</body></html>", "no known format"),
        (b"\x89PNG\r\n\x1a\n" + bytes(500), "no known format"),
        (random.Random(1).randbytes(5000), "no known format"),
        (gzip.compress(b"just text " * 100, mtime=0), "inside its compression"),
        (gzip.compress(b"", mtime=0), "inside its compression"),
        (zstandard.compress(b"just text " * 100), "inside its compression"),
        (b"\x1f\x8b\x08 not really gzip", "no known format"),
        (zipped("word/document.xml"), "not a WACZ"),
        (b"PK\x05\x06" + bytes(18), "not a WACZ"),
    ],
)
def test_what_is_unknown_says_so_and_what_to_do(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=what) as caught:
        sniff(path)
    assert str(path) in caught.value.what
    assert caught.value.hint


def test_what_is_no_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        sniff(tmp_path / "none.warc")
    with pytest.raises(InputError, match="not a regular file"):
        sniff(tmp_path)
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for a writer for ever
    with pytest.raises(InputError, match="not a regular file"):
        sniff(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        sniff(Path("/dev/zero"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(WARC)
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        sniff(path)
