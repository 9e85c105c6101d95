"""What a page is made of: its parts and theirs, where they moved, and where looking ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.api import Archive
from asof.errors import DamageError, NotCaptured, UsageError
from asof.replay import composition
from asof.replay.choose import Verdict
from asof.report.composition_words import why
from support.served_archive import Page, build

SITE = "http://site.example/"
THEN = "2026-03-01T00:00:00Z"


def made(folder: Path, *pages: Page, at: str = "2026-03-02") -> dict[str, str]:
    with Archive.open(build(folder, pages)) as archive:
        found = archive.composition(SITE, at)
        assert found.resources[0] is found.root
        assert sum(found.counts.values()) == len(found.resources)
        return {choice.url.removeprefix(SITE): choice.verdict for choice in found.resources}


def page(path: str, body: str, media: str = "text/html", at: str = THEN) -> Page:
    return Page(SITE + path, at, body.encode(), media)


def test_parts_of_parts_belong_to_it_and_links_do_not(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        page("", "<base href=d/><link rel=stylesheet href=a.css><iframe src=f.html></iframe>"
                 "<img srcset='1.png, 2.png 2x'><script src=s.js></script><a href=away.html>x</a>"),
        page("d/a.css", "@import 'b.css'; @font-face { src: url(f.woff) }", "text/css"),
        page("d/b.css", "a { background: url(bg.png) }", "text/css"),
        page("d/f.html", "<img src=inner.png><a href=also-away.html>y</a>"),
    )  # fmt: skip
    assert set(found) == {
        "", "d/a.css", "d/b.css", "d/f.html", "d/f.woff", "d/bg.png", "d/inner.png", "d/1.png",
        "d/2.png", "d/s.js",
    }  # fmt: skip
    assert found["d/bg.png"] == Verdict.MISSING


def test_what_modules_import_belongs_to_it(tmp_path: Path) -> None:
    later = "2026-03-05T00:00:00Z"
    found = made(
        tmp_path,
        page("", "<script type=module src=m/a.js></script><script>import './classic.js'</script>"
                 "<script type=module>import {x} from './in.js'; import('./asked.js')</script>"),
        page("m/a.js", "import{b as c}from'./b.js';import '/c.js'\nexport * from \"../d.js\"\n"
                       "// import './said.js'\nx = \"import './quoted.js'\"", "text/javascript"),
        page("m/b.js", "import './a.js'; import vue from 'vue'", "text/javascript", later),
        page("c.js", "export const here = './no.js'", "text/javascript"),
    )  # fmt: skip
    assert set(found) == {"", "m/a.js", "m/b.js", "c.js", "d.js", "in.js"}
    assert (found["c.js"], found["m/b.js"]) == (Verdict.PROVEN, Verdict.DOUBTFUL)
    assert found["in.js"] == Verdict.MISSING


def test_what_has_moved_is_followed(tmp_path: Path) -> None:
    moved = Page(SITE, THEN, status="302 Found", headers=(("Location", "/home"),))
    picture = Page(SITE + "i.png", THEN, status="301 Moved", headers=(("Location", "/j.png"),))
    found = made(tmp_path, moved, page("home", "<img src=i.png>"), picture)
    assert set(found) == {"", "home", "i.png", "j.png"}


def test_a_circle_ends_and_so_does_a_page_of_very_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    circle = [page("a.html", "<iframe src=b.html>"), page("b.html", "<iframe src=a.html>")]
    found = made(tmp_path / "circle", page("", "<iframe src=a.html>"), *circle)
    assert set(found) == {"", "a.html", "b.html"}
    monkeypatch.setattr(composition, "MOST_PARTS", 3)
    many = page("", "".join(f"<img src={number}.png>" for number in range(9)))
    with Archive.open(build(tmp_path / "many", [many])) as archive:
        cut = archive.composition(SITE)
        assert len(cut.parts) == 3
        assert not cut.is_whole


def test_no_more_is_looked_through_than_a_reader_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composition, "MOST_BYTES", 1000)
    frames = [page(f"{n}.html", f"<img src={n}.png>" + "x" * 600) for n in range(9)]
    root = page("", "".join(f"<iframe src={n}.html></iframe>" for n in range(9)))
    with Archive.open(build(tmp_path, [root, *frames])) as archive:
        cut = archive.composition(SITE)
        assert len(cut.parts) == 9 + 2
        assert not cut.is_whole


def test_an_error_page_needs_nothing(tmp_path: Path) -> None:
    error = Page(SITE + "e.html", THEN, b"<img src=no.png>", status="404 Gone")
    root = page("", "<iframe src=e.html></iframe>")
    assert set(made(tmp_path, root, error)) == {"", "e.html"}


@pytest.mark.parametrize("path", ["f.html", "i.png"])
def test_a_part_that_cannot_be_read_is_missing(tmp_path: Path, path: str) -> None:
    frame, picture = page("f.html", "<p>x"), page("i.png", "i", "image/png")
    root = page("", "<iframe src=f.html></iframe><img src=i.png>")
    with Archive.open(build(tmp_path, [root, frame, picture])) as archive:
        damage(tmp_path, archive, SITE + path)
        found = {choice.url: choice for choice in archive.composition(SITE).resources}
        lost = found.pop(SITE + path)
        assert (lost.capture, lost.verdict, lost.reason) == (None, "missing", "unreadable")
        assert why(lost) == "captured, but its record is lost or damaged"
        assert {choice.verdict for choice in found.values()} == {"proven"}


def test_a_page_that_cannot_be_read_has_no_composition(tmp_path: Path) -> None:
    with Archive.open(build(tmp_path, [page("", "x")])) as archive:
        damage(tmp_path, archive, SITE)
        with pytest.raises(DamageError):
            archive.composition(SITE)
        for file in (tmp_path / "warc").iterdir():
            file.unlink()
        with pytest.raises(DamageError):
            archive.composition(SITE)


def damage(folder: Path, archive: Archive, url: str) -> None:
    [capture] = archive.captures(url=url)
    path = folder / "warc" / capture.where.file
    data = bytearray(path.read_bytes())
    start = capture.where.offset
    data[start : start + capture.where.length] = bytes(capture.where.length)
    path.write_bytes(data)


def test_parts_are_of_the_moment_that_is_shown(tmp_path: Path) -> None:
    pages = [
        page("", "<img src=i.png>"),
        page("i.png", "old", "image/png", "2026-02-28T00:00:00Z"),
        page("i.png", "new", "image/png", "2026-03-05T00:00:00Z"),
    ]
    with Archive.open(build(tmp_path, pages)) as archive:
        found = archive.composition(SITE, "2026-03-04")
        assert found.shown < found.asked
        [part] = found.parts
        assert part.via == SITE
        assert part.choice.at == found.shown
        assert part.choice.capture is not None
        assert b"".join(archive.read(part.choice.capture).payload()) == b"old"


def test_what_cannot_be_composed_is_said(tmp_path: Path) -> None:
    with Archive.open(build(tmp_path, [page("", "x")])) as archive:
        with pytest.raises(NotCaptured, match="was not captured as of 2025"):
            archive.composition(SITE, "2025")
        with pytest.raises(UsageError, match="is no policy"):
            archive.composition(SITE, policy="best")
