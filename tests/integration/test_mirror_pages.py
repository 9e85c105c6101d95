"""The pages of ours in a mirror: an index and a list of what is missing, each in several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.api import Archive
from asof.archive.export import Selection
from asof.config import Config
from asof.report import mirror
from support import served_archive
from support.served_archive import Page

SITE = "http://a.example/"


def test_long_lists_go_on_in_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "_ON_A_PAGE", 2)
    links = "".join(f"<a href=/not/{number}>x</a>" for number in range(3)).encode()
    pages = [Page(f"{SITE}{number}", "2026-01-01T00:00:00Z", links) for number in range(5)]
    out = tmp_path / "site"
    with Archive.open(served_archive.build(tmp_path / "archive", pages)) as archive:
        wanted = mirror.Wanted(Selection(), archive.moment("now"))
        done = mirror.export_mirror(archive, archive.chooser, wanted, out, Config())
    assert (len(done.pages), done.files, done.missing) == (5, 5, 3)
    ours = sorted(path.name for path in out.iterdir() if path.is_file())
    assert ours == ["index-2.html", "index-3.html", "index.html", "manifest.json",
                    "missing-2.html", "missing.html"]  # fmt: skip
    second = (out / "index-2.html").read_text()
    assert 'href="index.html" rel="prev"' in second
    assert 'href="index-3.html" rel="next"' in second
    assert 'href="a.example/2.html"' in second
    assert '<li id="2">' in (out / "missing-2.html").read_text()
    assert 'href="../missing-2.html#2"' in (out / "a.example" / "0.html").read_text()
