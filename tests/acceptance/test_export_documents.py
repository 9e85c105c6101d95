"""The documents of an archive as a table: what it holds, and that covers of both are the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import pytest

from support.rig import crawl, ok, page, site

WORDS = " ".join(f"The harbour master wrote sentence {n} about boats and tides." for n in range(30))
RULES = [
    "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)",
    "J(d1,d2) >= 0.5 and hostname(d1) = hostname(d2) and not length(d1) > length(d2)",
    "C(d1,d2) >= 0.3 or title(d1) = title(d2) and domain(d1) = domain(d2)",
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents") / "archive"
    with site({}) as server:
        links = " ".join(f"<a href='/{n}'>{n}</a>" for n in range(5))
        server.pages["/"] = page(f"<title>All</title>{links}<img src='/p.png'>")
        server.pages["/p.png"] = page(b"\x89PNG\r\n\x1a\n" + bytes(40), media="image/png")
        for n in range(5):
            server.pages[f"/{n}"] = page(f"<title>Part</title><p>{WORDS[n * 90 :]}</p>")
        crawl(folder, server.url + "/")
        server.pages["/1"] = page(f"<title>Part</title><p>{WORDS} And one more sentence.</p>")
        crawl(folder, server.url + "/")
    return folder


def test_the_table_holds_what_the_archive_says(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "docs.parquet"
    ok("export", "--format", "documents", "-o", out, "-a", archive)
    rows = pyarrow.parquet.read_table(out).to_pylist()
    assert len(rows) == 7, "two versions of a page, no picture, no revisits"
    assert all(row["id"].endswith(row["url"]) and row["length"] == len(row["text"]) for row in rows)
    assert {row["title"] for row in rows} == {"All", "Part"}
    assert {row["hostname"] for row in rows} == {"127.0.0.1"}


@pytest.mark.parametrize("rule", RULES)
def test_a_cover_of_the_table_is_that_of_the_archive(
    archive: Path, tmp_path: Path, rule: str
) -> None:
    out = tmp_path / "docs.parquet"
    ok("export", "--format", "documents", "-o", out, "-a", archive)
    of_table = ok("cover", rule, "--from", out, "--json").json()
    of_archive = ok("cover", rule, "-a", archive, "--json").json()
    assert of_table.pop("seconds") >= 0
    assert of_archive.pop("seconds") >= 0
    assert of_table == of_archive
    assert of_table["dropped"]


def test_nothing_is_written_over(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "docs.parquet"
    out.write_bytes(b"mine")
    ok("export", "--format", "documents", "-o", out, "-a", archive, code=2)
    assert out.read_bytes() == b"mine"


def test_a_copy_under_another_address_is_a_document(tmp_path: Path) -> None:
    """Its bytes are stored once, and it was there all the same: rules about addresses count it."""
    folder = tmp_path / "archive"
    with site({}) as server:
        text = f"<title>Part</title><p>{WORDS}</p>"
        server.pages["/"] = page("<title>All</title><a href='/a'>a</a> <a href='/mirror/a'>b</a>")
        server.pages["/a"] = server.pages["/mirror/a"] = page(text)
        crawl(folder, server.url + "/", "--no-conditional")
        server.pages["/mirror/a"] = page(text + "<p>Now the mirror has something of its own.</p>")
        crawl(folder, server.url + "/", "--no-conditional")
        server.pages["/mirror/a"] = page(text)
        crawl(folder, server.url + "/", "--no-conditional")
    rows = ok("list", "-a", folder, "--json").rows()
    copies = [row for row in rows if row["url"].endswith("/mirror/a")]
    assert [row["kind"] for row in copies] == ["revisit", "response", "revisit"]
    same = "J(d1,d2) = 1"
    found = ok("cover", same, "-a", folder, "--json").json()
    assert found["documents"] == 4, "what a mirror had before is not counted again"
    assert [gone["containment"] for gone in found["dropped"]] == [1.0]
    apart = ok("cover", f"{same} and url(d1) = url(d2)", "-a", folder, "--json", "--save", "all")
    assert apart.json()["dropped"] == []
    out = tmp_path / "kept.warc.gz"
    ok("export", "--format", "warc", "--cover", "all", "-o", out, "-a", folder)
    ok("import", out, "-a", tmp_path / "again")
    again = ok("cover", f"{same} and url(d1) = url(d2)", "-a", tmp_path / "again", "--json").json()
    assert sorted(again["kept"]) == sorted(apart.json()["kept"])
