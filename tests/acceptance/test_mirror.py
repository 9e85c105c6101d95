"""`asof export --format files`: a folder that holds a site as of a moment, and nothing else."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from support import rig, served_archive
from support.served_archive import Page

SITE = "http://a.example/"
JAN, FEB, MAR = (f"2026-0{month}-01T00:00:00Z" for month in (1, 2, 3))


def mirrored(tmp_path: Path, pages: list[Page], *words: object) -> tuple[Path, dict[str, Any]]:
    archive = served_archive.build(tmp_path / "archive", pages)
    out = tmp_path / "site"
    said = rig.ok("export", "--format", "files", "-o", out, "-a", archive, "--json", *words).json()
    return out, said


def manifest(out: Path) -> list[dict[str, Any]]:
    """The entries of the manifest, each checked against its file."""
    said = json.loads((out / "manifest.json").read_text())
    assert said["format"] == "asof-mirror"
    entries: list[dict[str, Any]] = said["files"]
    for entry in entries:
        data = (out / entry["file"]).read_bytes()
        assert sha256(data).hexdigest() == entry["sha256"]
        assert len(data) == entry["bytes"]
    listed = {entry["file"] for entry in entries}
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    ours = {name for name in found if "/" not in name}
    assert found - ours == listed
    assert len(listed) == len(entries)
    return entries


def dangling(out: Path) -> list[str]:
    """References in pages and sheets to files that are not there."""
    lost = []
    for path in out.rglob("*"):
        if path.suffix in (".html", ".css", ".xhtml") and path.is_file():
            for led in re.findall(
                rb"""(?:href|src)="([^":#]+)["#]|url\("?([^":#)]+)["#)]""", path.read_bytes()
            ):
                target = path.parent / unquote(b"".join(led).decode())
                lost += [] if target.is_file() else [f"{path}: {target}"]
    return lost


def of(entries: list[dict[str, Any]], url: str) -> list[str]:
    return [entry["file"] for entry in entries if entry["url"] == url]


def test_each_page_has_the_parts_of_its_own_moment(tmp_path: Path) -> None:
    """Two pages with one style sheet: one page was seen last before the sheet changed."""
    page = b"<link rel=stylesheet href=/s.css><img src=/same.png>"
    css = b"p { background: url(bg.png) }"
    pages = [
        Page(SITE + "old", JAN, page),
        Page(SITE + "s.css", JAN, css, "text/css"),
        Page(SITE + "same.png", JAN, b"\x89PNG\r\n\x1a\nsame", "image/png"),
        Page(SITE + "bg.png", JAN, b"\x89PNG\r\n\x1a\nold", "image/png"),
        Page(SITE + "new", MAR, page),
        Page(SITE + "s.css", MAR, css, "text/css"),
        Page(SITE + "same.png", MAR, b"\x89PNG\r\n\x1a\nsame", "image/png"),
        Page(SITE + "bg.png", MAR, b"\x89PNG\r\n\x1a\nnew", "image/png"),
    ]
    out, said = mirrored(tmp_path, pages, "--at", "2026-04")
    entries = manifest(out)
    assert said["pages"] == 2
    assert dangling(out) == []
    assert len(of(entries, SITE + "same.png")) == 1
    # The same bytes in the archive, but two files: they refer to pictures of two times.
    assert len(of(entries, SITE + "s.css")) == 2
    assert len(of(entries, SITE + "bg.png")) == 2
    for name, content in (("old", b"old"), ("new", b"new")):
        html = (out / "a.example" / f"{name}.html").read_text()
        sheet = html.partition('stylesheet href="')[2].partition('"')[0]
        style = (out / "a.example" / sheet).read_text()
        picture = style.partition("url(")[2].partition(")")[0].strip("\"'")
        assert (out / "a.example" / picture).read_bytes().endswith(content)


AWFUL = [
    "..%2f..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/x", "con", "aux.html", "nul.", "a", "a/b", "A",
    "a.html", "a.html/c", "trailing.", "blank%20", "%00", "%0d%0a", "q?" + "x" * 3000,
    "d/" * 200, "l" * 4000, "%C3%A9", "e%CC%81", "c:%5Cwindows", "COM1.css", ".htaccess", "~",
    "-rf", "index.html", "index", "?a=/../../b", "?a=\u2028", "%FF%FE", "*", "a%3Fb", "a|b",
    "\u212a",
]  # fmt: skip


def test_awful_addresses_stay_in_the_folder(tmp_path: Path) -> None:
    hosts = ["http://a.example/", "http://[::1]/", "http://index.html/", "http://manifest.json/"]
    links = "".join(f'<a href="{hosts[0]}{path}">x</a>' for path in AWFUL).encode()
    pages = [Page(SITE, JAN, links)]
    pages += [Page(host + path, JAN, b"<p>" + (host + path).encode()) for host in hosts
              for path in AWFUL]  # fmt: skip
    out, said = mirrored(tmp_path, pages)
    entries = manifest(out)
    assert said["files"] == len(entries) > 100
    assert dangling(out) == []
    folded = {entry["file"].lower() for entry in entries}
    assert len(folded) == len(entries)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "site"]
    for entry in entries:
        assert (out / entry["file"]).resolve().is_relative_to(out)
        if entry["url"] != SITE:
            assert entry["url"].encode() in (out / entry["file"]).read_bytes()


def test_the_folder_must_be_new_or_empty(tmp_path: Path) -> None:
    archive = served_archive.build(tmp_path / "archive", [Page(SITE, JAN, b"<p>x")])
    words = ("export", "--format", "files", "-a", archive, "-o")
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("x")
    refused = rig.run(*words, full)
    assert (refused.code, "is not empty" in refused.err) == (2, True), str(refused)
    (tmp_path / "file").write_text("x")
    assert rig.run(*words, tmp_path / "file").code == 2
    assert rig.run(*words, "-").code == 2
    assert rig.run(*words, tmp_path / "no" / "where").code == 2
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    assert rig.run(*words, tmp_path / "link").code == 2
    (tmp_path / "empty").mkdir()
    rig.ok(*words, tmp_path / "empty")
    assert (tmp_path / "empty" / "index.html").is_file()
    assert [path.name for path in full.iterdir()] == ["mine"]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_options_of_other_formats_are_refused(tmp_path: Path) -> None:
    archive = served_archive.build(tmp_path / "archive", [Page(SITE, JAN, b"<p>x")])
    files = ("export", "--format", "files", "-a", archive, "-o", tmp_path / "x")
    for words in (["--to", "2026"], ["--from", "2026"], ["--cover", "x"]):
        assert rig.run(*files, *words).code == 2
    cdxj = ("export", "--format", "cdxj", "-a", archive, "-o", tmp_path / "x")
    for words in (["--at", "2026"], ["--policy", "strict"], ["--scripts"]):
        assert rig.run(*cdxj, *words).code == 2
    early = rig.run(*files, "--at", "2020")
    assert early.code not in (0, 2), str(early)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive"]


def test_a_prefix_takes_its_pages_with_parts_from_elsewhere(tmp_path: Path) -> None:
    pages = [
        Page(SITE + "in/page", JAN, b"<img src=http://cdn.example/x.png><a href=/out>out</a>"),
        Page(SITE + "out", JAN, b"<p>out"),
        Page("http://cdn.example/x.png", JAN, b"\x89PNG\r\n\x1a\nx", "image/png"),
        Page("http://cdn.example/y.png", JAN, b"\x89PNG\r\n\x1a\ny", "image/png"),
    ]
    out, said = mirrored(tmp_path, pages, "--prefix", SITE + "in/")
    assert [entry["url"] for entry in manifest(out)] == [SITE + "in/page", pages[2].url]
    assert said["missing"] == 1
    assert "not among what was exported" in (out / "missing.html").read_text()


def test_what_others_captured_under_a_scheme_in_capitals_is_of_the_web_too(tmp_path: Path) -> None:
    """As everywhere else: RFC 3986, section 3.1."""
    out, said = mirrored(tmp_path, [Page("HTTP://a.example/x", JAN, b"<p>x"), Page(SITE, JAN)])
    assert said["pages"] == 2
    assert {entry["url"] for entry in manifest(out)} == {"HTTP://a.example/x", SITE}


def test_only_what_the_policy_allows_and_errors_only_alone(tmp_path: Path) -> None:
    pages = [Page(SITE, JAN, b"<p>x"), Page(SITE + "e", JAN, b"<p>no", status="404 Not Found")]
    out, _ = mirrored(tmp_path, pages)
    (entry,) = manifest(out)
    assert entry["url"] == SITE
    assert entry["capture"]["at"].startswith("2026-01-01")
    assert entry["verdict"] == "proven"  # of the moment that it is shown as of
    assert {"since", "until", "reason", "distance"} <= entry.keys()
    alone = tmp_path / "alone"
    words = ("--url", SITE + "e", "-a", tmp_path / "archive", "-o", alone)
    rig.ok("export", "--format", "files", *words)
    assert [entry["url"] for entry in manifest(alone)] == [SITE + "e"]


def test_nothing_comes_from_the_future_unless_the_nearest_is_wanted(tmp_path: Path) -> None:
    pages = [Page(SITE, JAN, b"<img src=x.png>"), Page(SITE + "late", MAR, b"<p>late"),
             Page(SITE + "x.png", MAR, b"\x89PNG\r\n\x1a\nx", "image/png")]  # fmt: skip
    archive = served_archive.build(tmp_path / "archive", pages)
    found = {}
    for policy in ("coherent", "strict", "nearest"):
        out = tmp_path / policy
        words = ("--at", "2026-02", "--policy", policy, "-a", archive, "-o", out)
        rig.ok("export", "--format", "files", *words)
        found[policy] = {entry["url"]: entry["verdict"] for entry in manifest(out)}
        assert dangling(out) == []
    # A picture that is known from later only may have been there, and is said to be doubtful.
    assert found["coherent"] == {SITE: "proven", SITE + "x.png": "doubtful"}
    assert found["strict"] == {SITE: "proven"}
    assert found["nearest"].keys() == {SITE, SITE + "late", SITE + "x.png"}


def test_a_frame_that_is_the_same_as_its_page_is_one_file(tmp_path: Path) -> None:
    pages = [
        Page(SITE, JAN, b"<iframe src=/f></iframe><iframe src=/></iframe>"),
        Page(SITE + "f", JAN, b"<img src=x.png><a href=/>up</a>"),
        Page(SITE + "x.png", JAN, b"\x89PNG\r\n\x1a\nx", "image/png"),
    ]
    out, _ = mirrored(tmp_path, pages)
    assert len(manifest(out)) == 3
    assert dangling(out) == []


@pytest.mark.parametrize(
    ("media", "body", "expected"),
    [
        ("text/html; charset=koi8-r", "<p>ждя".encode("koi8-r"), b'<meta charset="koi8-r">'),
        ("text/css; charset=koi8-r", "p::after{content:'ждя'}".encode("koi8-r"), b"@charset"),
        ("text/plain; charset=koi8-r", "ждя".encode("koi8-r"), "\ufeffждя".encode()),
        ("text/javascript; charset=koi8-r", "'ждя'".encode("koi8-r"), "\ufeff'ждя'".encode()),
        ("image/svg+xml; charset=koi8-r",
         "<svg xmlns='http://www.w3.org/2000/svg'><text>ждя</text></svg>".encode("koi8-r"),
         "\ufeff<svg".encode()),
        ("text/html", "<p>ждя".encode("utf-16"), "ждя".encode()),
    ],
)  # fmt: skip
def test_files_say_their_encoding_themselves(
    tmp_path: Path, media: str, body: bytes, expected: bytes
) -> None:
    out, _ = mirrored(tmp_path, [Page(SITE + "x", JAN, body, media)])
    (entry,) = manifest(out)
    assert expected in (out / entry["file"]).read_bytes()


def test_the_reserve_of_the_disk_is_heeded(tmp_path: Path) -> None:
    archive = served_archive.build(tmp_path / "archive", [Page(SITE, JAN, b"<p>x")])
    (archive / "asof.toml").write_text("disk_reserve = 1000000000000000\n")
    words = ("export", "--format", "files", "-a", archive, "-o", tmp_path / "x")
    refused = rig.run(*words)
    assert refused.code == 1, str(refused)
    assert "reserve" in refused.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive"]
