"""What goes out comes back: every export can be read by others and by asof itself."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import time
import zipfile
from pathlib import Path

import pyarrow.parquet
import pytest

from support import forge, rig
from support.forge import Rec, recs
from support.rig import crawl, links, ok, page, rows_of, site, warcs


def pages(version: int) -> dict[str, rig.Answer]:
    packed = gzip.compress(b"<p>packed</p>", mtime=0)
    chunks = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    paths = [
        "/same",
        "/changes",
        "/packed",
        "/chunked",
        "/moved",
        "/none",
        "/pic.png",
        "/Case?b=2&a=1",
    ]
    return {
        "/": page(links(*paths)),
        "/same": page("<p>always this</p>"),
        "/changes": page(f"<p>version {version}</p>"),
        "/packed": page(packed, Content_Encoding="gzip"),
        "/chunked": rig.Reply((head + chunks,), "keep"),
        "/moved": page("", "301 Moved Permanently", Location="/same"),
        "/pic.png": page(bytes(range(256)) * 9, media="image/png"),
        "/Case?b=2&a=1": page("<p>query</p>"),
    }


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls with revisits and an import."""
    root = tmp_path_factory.mktemp("export")
    with site(pages(1)) as server:
        crawl(root / "archive", server.url + "/")
        time.sleep(1.1)
        server.pages = pages(2)
        crawl(root / "archive", server.url + "/", "--new")
    foreign = [
        *recs(12),
        Rec("http://example.com/ünï?q=a+b", b"x", "2021-05-05T05:05:05Z"),
        Rec("https://www.Example.com:443/WWW/Path/", b"y", "2021-05-05T05:05:06Z"),
        Rec("http://example.com/resource", b"<p>res</p>", "2021-05-05T05:05:07Z", "resource"),
    ]
    path = root / "foreign.warc.gz"
    path.write_bytes(b"".join(r.gz() for r in [forge.warcinfo(), *foreign]))
    ok("import", path, "-a", root / "archive")
    return root / "archive"


def bare(
    rows: list[dict], *, without: tuple[str, ...] = ("file", "offset", "length")
) -> list[dict]:
    """Rows without where they lie, in an order of their own."""
    kept = [{k: v for k, v in row.items() if k not in without} for row in rows]
    return sorted(kept, key=lambda row: (row["surt"], row["at"], row["record_id"]))


def test_warc_round_trip(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.warc.gz"
    ok("export", "--format", "warc", "-o", out, "-a", archive)
    assert out.stat().st_size
    rig.warcio_check([out])
    assert rig.by_warcio(out) == rig.by_fastwarc(out)
    again = tmp_path / "again"
    ok("import", out, "-a", again)
    # A crawl is a crawl of the archive that made it; all else must be equal.
    drop = ("file", "offset", "length", "crawl")
    assert bare(rows_of(again), without=drop) == bare(rows_of(archive), without=drop)
    blocks = {seen.record_id: seen.block for path in warcs(again) for seen in rig.by_warcio(path)}
    for path in warcs(archive):
        for seen in rig.by_warcio(path):
            if seen.kind in {"response", "revisit", "resource"}:
                assert blocks[seen.record_id] == seen.block
    row = next(row for row in rows_of(archive) if row["url"].endswith("/chunked"))
    words = ["get", row["url"], "--at", row["at"], "--raw", "-a"]
    assert ok(*words, again).out == ok(*words, archive).out


def test_warc_of_a_part_keeps_what_revisits_need(archive: Path, tmp_path: Path) -> None:
    host = next(row["url"] for row in rows_of(archive) if row["kind"] == "revisit").rsplit("/", 1)[
        0
    ]
    out = tmp_path / "part.warc.gz"
    ok("export", "--format", "warc", "-o", out, "--url", host + "/same", "-a", archive)
    again = tmp_path / "again"
    ok("import", out, "-a", again)
    rows = rows_of(again)
    assert {row["url"] for row in rows} == {host + "/same"}
    assert ok("get", host + "/same", "-a", again).out == b"<p>always this</p>"
    assert len(rows) == len(rows_of(archive, "--url", host + "/same"))


def test_filters_cut_the_same_part_in_every_format(archive: Path, tmp_path: Path) -> None:
    part = rows_of(archive, "--prefix", "http://example.com/page/1", "--to", "2021-12")
    assert 0 < len(part) < len(rows_of(archive))
    words = ["--prefix", "http://example.com/page/1", "--to", "2021-12", "-a", archive]
    ok("export", "--format", "cdxj", "-o", tmp_path / "part.cdxj", *words)
    cdxj = (tmp_path / "part.cdxj").read_bytes().splitlines()
    assert len([line for line in cdxj if line and not line.startswith(b"!")]) == len(part)
    table = tmp_path / "part.parquet"
    ok("export", "--format", "parquet", "-o", table, *words)
    assert pyarrow.parquet.read_table(table).num_rows == len(part)
    for form, name in (("warc", "p.warc.gz"), ("wacz", "p.wacz"), ("trec", "p.trec")):
        ok("export", "--format", form, "-o", tmp_path / name, *words)
        ok("import", tmp_path / name, "-a", tmp_path / form)
        assert {r["url"] for r in rows_of(tmp_path / form)} == {r["url"] for r in part}, form


def test_cdxj_equals_cdxj_indexer(archive: Path, tmp_path: Path) -> None:
    ok("export", "--format", "cdxj", "-o", tmp_path / "all.cdxj", "-a", archive)
    mine = (tmp_path / "all.cdxj").read_text().splitlines()
    tool = str(rig.BIN / "cdxj-indexer")
    files = [str(path) for path in warcs(archive)]
    done = subprocess.run(
        [tool, "-s", *files], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout

    def parsed(lines: list[str]) -> list[tuple[str, str, dict]]:
        out = []
        for line in lines:
            if line.strip() and not line.startswith("!"):
                surt, stamp, rest = line.split(" ", 2)
                out.append((surt, stamp, json.loads(rest)))
        return sorted(
            out, key=lambda item: (item[0], item[1], item[2]["filename"], item[2]["offset"])
        )

    ours, theirs = parsed(mine), parsed(done.stdout.splitlines())
    assert [item[:2] for item in ours] == [item[:2] for item in theirs]
    for our, their in zip(ours, theirs, strict=True):
        shared = {key: our[2].get(key) for key in their[2]}
        assert shared == their[2], (our, their)
    assert mine == sorted(mine), "CDXJ is a sorted format"


def test_parquet_is_readable_and_complete(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.parquet"
    ok("export", "--format", "parquet", "-o", out, "-a", archive)
    table = pyarrow.parquet.read_table(out)
    rows = rows_of(archive)
    assert table.num_rows == len(rows)
    names = set(table.column_names)
    # Columns like the Common Crawl index (10-capture.md).
    wanted = {"url_surtkey", "url", "fetch_time", "fetch_status", "content_digest",
              "content_mime_type", "warc_filename", "warc_record_offset",
              "warc_record_length"}  # fmt: skip
    assert wanted <= names, wanted - names
    assert sorted(table["url"].to_pylist()) == sorted(row["url"] for row in rows)
    key = list(zip(table["warc_filename"].to_pylist(), table["warc_record_offset"].to_pylist(),
                   strict=True))  # fmt: skip
    assert sorted(key) == sorted((row["file"], row["offset"]) for row in rows)


def test_wacz_is_a_wacz_and_loses_nothing(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.wacz"
    ok("export", "--format", "wacz", "-o", out, "-a", archive)
    with zipfile.ZipFile(out) as pack:
        assert pack.testzip() is None
        names = pack.namelist()
        package = json.loads(pack.read("datapackage.json"))
        assert package["profile"] == "data-package"
        assert package["wacz_version"]
        for entry in package["resources"]:
            data = pack.read(entry["path"])
            assert len(data) == entry["bytes"]
            assert entry["hash"] == "sha256:" + hashlib.sha256(data).hexdigest()
        inner = [name for name in names if name.startswith("archive/")]
        assert inner
        assert any(name.startswith("indexes/") for name in names)
        assert "pages/pages.jsonl" in names
        # The standard wants archive files uncompressed in the zip, so that ranges can be read.
        assert all(pack.getinfo(name).compress_type == zipfile.ZIP_STORED for name in inner)
        pages_file = io.StringIO(pack.read("pages/pages.jsonl").decode())
        assert json.loads(pages_file.readline())["format"]
        first, *others = map(json.loads, pages_file)
        assert (first["title"], first.get("seed")) == ("links", True)
        texts = [page["text"] for page in others if page["url"].endswith("/changes")]
        assert texts == ["version 1", "version 2"]
    again = tmp_path / "again"
    ok("import", out, "-a", again)
    # The texts for the list of pages were read on the way, and changes judged by them.
    drop = ("file", "offset", "length", "crawl", "change")
    assert bare(rows_of(again), without=drop) == bare(rows_of(archive), without=drop)
    report = ok("import", out, "-a", archive, "--json").json()
    assert report["added"] == 0, "an archive's own export is nothing new to it"


def test_trec_can_be_imported_again(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.trec"
    ok("export", "--format", "trec", "-o", out, "-a", archive)
    text = out.read_bytes()
    assert text.count(b"<DOC>") == text.count(b"</DOC>") > 0
    again = tmp_path / "again"
    ok("import", out, "-a", again)
    back = {(row["url"], row["timestamp"]) for row in rows_of(again)}
    wanted = {
        (row["url"], row["timestamp"])
        for row in rows_of(archive)
        if row["kind"] == "response" and row["status"] == 200 and row["media_type"] == "text/html"
    }
    assert wanted <= back, wanted - back
    for url, stamp in sorted(wanted)[:8]:
        mine = ok("get", url, "--at", stamp, "-a", archive).out
        theirs = ok("get", url, "--at", stamp, "-a", again).out
        assert theirs.strip() == mine.strip(), url


def test_trec_survives_bodies_that_look_like_trec(tmp_path: Path) -> None:
    """A page that talks about TREC must not break the file it is written to."""
    nasty = (
        b"<html></DOC>\n<DOC><DOCNO>evil</DOCNO><DOCHDR>\nhttp://evil.example/ x</DOCHDR></html>"
    )
    path = tmp_path / "n.warc.gz"
    path.write_bytes(b"".join(r.gz() for r in [Rec("http://a.example/", nasty), *recs(3)]))
    ok("import", path, "-a", tmp_path / "one")
    ok("export", "--format", "trec", "-o", tmp_path / "n.trec", "-a", tmp_path / "one")
    ok("import", tmp_path / "n.trec", "-a", tmp_path / "two")
    assert {r["url"] for r in rows_of(tmp_path / "two")} == {
        r["url"] for r in rows_of(tmp_path / "one")
    }


def test_an_existing_file_is_not_overwritten_in_silence(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.cdxj"
    out.write_text("precious")
    result = rig.run("export", "--format", "cdxj", "-o", out, "-a", archive)
    assert result.code == 2, str(result)
    assert out.read_text() == "precious"


def test_nothing_matches(archive: Path, tmp_path: Path) -> None:
    words = ["--url", "http://never.example/", "-a", archive]
    for form in ("warc", "cdxj", "parquet", "trec", "wacz"):
        out = tmp_path / f"none.{form}"
        result = rig.run("export", "--format", form, "-o", out, *words)
        assert result.code == 1, str(result)
        assert result.err.strip()
        assert not out.exists()


def test_a_full_disk_leaves_no_half_export(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "half.warc.gz"
    result = rig.run("export", "--format", "warc", "-o", out, "-a", archive,
                     limits={"FSIZE": 2000})  # fmt: skip
    assert result.code in {1, 2}, str(result)
    assert result.err.strip()
    assert not out.exists(), "half a file under the name of a whole one"


def test_default_output_is_named(archive: Path, tmp_path: Path) -> None:
    """Without -o the file is named on stderr, and it is the file that was written."""
    for form in ("cdxj", "warc", "wacz", "parquet", "trec"):
        result = ok("export", "--format", form, "-a", archive, cwd=tmp_path)
        made = [path for path in tmp_path.iterdir() if path.name in result.err]
        assert len(made) == 1, str(result)
        assert made[0].stat().st_size > 0


@pytest.mark.parametrize("form", ["cdxj", "warc", "trec"])
def test_a_dash_means_stdout(archive: Path, tmp_path: Path, form: str) -> None:
    """`asof export -o - | ...` is how the others do it."""
    result = ok("export", "--format", form, "-o", "-", "-a", archive, cwd=tmp_path)
    assert len(result.out) > 500, str(result)
    assert list(tmp_path.iterdir()) == []
