"""Builds archive files by hand, good and bad ones: WARC, ARC, TREC-Web and WACZ as other tools
write them, so that the tests know every byte and every offset."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import uuid
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CRLF = b"\r\n"


def sha1(data: bytes) -> str:
    """A digest as most tools write it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


@dataclass
class Rec:
    """One WARC record to be; `declared` overrides the true Content-Length."""

    url: str
    body: bytes = b"<html>body</html>"
    date: str = "2021-03-04T05:06:07Z"
    kind: str = "response"
    status: str = "200 OK"
    headers: Sequence[tuple[str, str]] = (("Content-Type", "text/html"),)
    extra: Sequence[tuple[str, str]] = ()
    version: str = "WARC/1.0"
    declared: int | None = None
    digests: bool = True
    eol: bytes = CRLF
    record_id: str = ""
    block: bytes | None = None

    def http(self) -> bytes:
        """The record's block: HTTP head and body for a response."""
        if self.block is not None:
            return self.block
        if self.kind in {"resource", "metadata", "conversion"}:
            return self.body
        head = f"HTTP/1.1 {self.status}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in self.headers)
        return head.encode() + CRLF + self.body

    def head(self) -> list[tuple[str, str]]:
        """The WARC header fields, in order."""
        block = self.http()
        identity = self.record_id or str(uuid.uuid5(uuid.NAMESPACE_URL, self.url + self.date))
        media = {"response": "application/http; msgtype=response", "resource": "text/html"}
        fields = [
            ("WARC-Type", self.kind),
            ("WARC-Record-ID", f"<urn:uuid:{identity}>"),
            ("WARC-Target-URI", self.url),
            ("WARC-Date", self.date),
            ("Content-Type", media.get(self.kind, "application/octet-stream")),
        ]
        if self.digests:
            fields += [("WARC-Block-Digest", sha1(block))]
            if self.kind == "response" and self.block is None:
                fields += [("WARC-Payload-Digest", sha1(self.body))]
        fields += list(self.extra)
        length = len(block) if self.declared is None else self.declared
        return [*fields, ("Content-Length", str(length))]

    def plain(self) -> bytes:
        """The record uncompressed."""
        lines = [self.version.encode()]
        lines += [f"{name}: {value}".encode() for name, value in self.head()]
        return self.eol.join(lines) + self.eol * 2 + self.http() + CRLF * 2

    def gz(self) -> bytes:
        """The record as one gzip member."""
        return gzip.compress(self.plain(), 6, mtime=0)


def recs(count: int, host: str = "example.com", **kw: Any) -> list[Rec]:
    """Some ordinary records with different bodies and times."""
    return [
        Rec(
            f"http://{host}/page/{no}",
            f"<html><title>{no}</title>{'word ' * (no % 7 * 30)}</html>".encode(),
            f"2021-03-04T05:{no // 60 % 60:02d}:{no % 60:02d}Z",
            **kw,
        )
        for no in range(count)
    ]


def warcinfo(name: str = "made-by-hand.warc.gz") -> Rec:
    """The record that opens most files."""
    block = b"software: by hand\r\nformat: WARC File Format 1.0\r\n"
    return Rec(
        "",
        kind="warcinfo",
        block=block,
        extra=(("WARC-Filename", name),),
        record_id=str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
    )


def offsets(parts: Sequence[bytes]) -> list[int]:
    """Where each part starts when they are written one after the other."""
    places, at = [], 0
    for part in parts:
        places.append(at)
        at += len(part)
    return places


# --- ARC and TREC-Web ----------------------------------------------------------------------------


def arc_head(version: int = 1) -> bytes:
    """The version block of an ARC file."""
    block = b"1 0 by-hand\nURL IP-address Archive-date Content-type Archive-length\n"
    line = b"filedesc://hand.arc 0.0.0.0 20050614070159 text/plain %d\n" % len(block)
    return line + block + b"\n"


def arc_rec(url: str, body: bytes, *, stamp: str = "20050614070144", declared: int = -1) -> bytes:
    """One ARC record, uncompressed."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    length = len(block) if declared < 0 else declared
    return f"{url} 127.0.0.1 {stamp} text/html {length}\n".encode() + block + b"\n"


def arc(records: Sequence[bytes], *, compress: bool = True) -> list[bytes]:
    """The parts of an ARC file, header first; each its own gzip member when compressed."""
    parts = [arc_head(), *records]
    return [gzip.compress(part, 6, mtime=0) for part in parts] if compress else parts


def trec_doc(no: int, *, body: str = "", url: str = "", stamp: str = "19970101013145") -> bytes:
    """One document as in Naumann 2011, slide 69."""
    text = body or f"<HTML>\n<TITLE>Fish {no}</TITLE>\nComing soon!\n</HTML>\n"
    where = url or f"http://www.example.com/fish{no}.html"
    return (
        f"<DOC>\n<DOCNO>WTX001-B01-{no}</DOCNO>\n<DOCHDR>\n"
        f"{where} 204.244.59.33 {stamp} text/html 440\n"
        "HTTP/1.0 200 OK\nDate: Wed, 01 Jan 1997 01:21:13 GMT\nServer: Apache/1.0.3\n"
        f"Content-type: text/html\nContent-length: {len(text)}\n"
        f"Last-modified: Mon, 25 Nov 1996 05:31:24 GMT\n</DOCHDR>\n{text}</DOC>\n"
    ).encode()


# --- WACZ ----------------------------------------------------------------------------------------


def wacz(
    path: Path, files: dict[str, bytes], *, package: bool = True, deflate: bool = False
) -> Path:
    """A WACZ with these members under these very names, and a datapackage.json."""
    kind = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as pack:
        for name, data in files.items():
            pack.writestr(zipfile.ZipInfo(name, (2021, 3, 4, 5, 6, 8)), data, kind)
        if package:
            resources = [
                {"name": Path(name).name, "path": name, "bytes": len(data),
                 "hash": "sha256:" + hashlib.sha256(data).hexdigest()}
                for name, data in files.items()
            ]  # fmt: skip
            listing = {"profile": "data-package", "wacz_version": "1.1.1", "resources": resources}
            pack.writestr("datapackage.json", json.dumps(listing))
    return path


# --- bombs ---------------------------------------------------------------------------------------


def bomb(path: Path, head: bytes, unit: bytes, times: int, tail: bytes = b"") -> Path:
    """A gzip member of head, `unit` repeated, and tail, made without inflating it anywhere.

    A full flush makes a stretch of deflate independent of what came before, so that the bytes of
    one stretch can simply be repeated. Only the CRC needs a pass over the data.
    """

    def raw(data: bytes, *, last: bool = False) -> bytes:
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        return deflate.compress(data) + deflate.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)

    stretch, crc = raw(unit), zlib.crc32(head)
    with path.open("ab") as out:
        out.write(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + raw(head))
        for _ in range(times):
            out.write(stretch)
            crc = zlib.crc32(unit, crc)
        crc = zlib.crc32(tail, crc)
        size = len(head) + len(unit) * times + len(tail)
        out.write(raw(tail, last=True))
        out.write(crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little"))
    return path
