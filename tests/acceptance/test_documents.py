"""`asof text`, `diff`, `similar` and `reindex --text`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.rig import crawl, page, run, site

TEXT = " ".join(
    f"The harbour master of the town wrote sentence number {n} about boats, tides and weather."
    for n in range(40)
)
OTHER = " ".join(f"Cooks of the valley praise recipe {n} with onions and rye." for n in range(40))
NAV = "<nav><a href='/'>Home</a> <a href='/b'>Next</a> <a href='/c'>Other</a></nav>"


def article(title: str, text: str, extra: str = "") -> str:
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title></head><body>{NAV}"
        f"<main><article><h1>{title}</h1><p>{text}</p>{extra}</article></main></body></html>"
    )


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Two crawls of three pages: one changed in between, one near the first, one different."""
    folder = tmp_path_factory.mktemp("documents") / "archive"
    near = TEXT.replace("number 7 ", "number seven ")
    with site({}) as server:
        server.pages.update(
            {
                "/": page(article("Harbour", TEXT)),
                "/b": page(article("Harbour again", near)),
                "/c": page(article("Kitchen", OTHER)),
            }
        )
        crawl(folder, server.url + "/")
        server.pages["/"] = page(article("Harbour", TEXT + " A new sentence came at last."))
        crawl(folder, server.url + "/")
        return folder, server.url


def test_local_files_give_one_line_each(tmp_path: Path) -> None:
    """The shape that is relied upon, in the order of the inputs."""
    html, plain = tmp_path / "page.html", tmp_path / "notes.txt"
    html.write_text(article("Harbour", TEXT, "<a href='http://x.example/y'>y</a>"))
    plain.write_text("Ein paar deutsche Wörter, die niemand für Englisch hält.\n", "utf-8")
    result = run("text", html, plain, "--json")
    assert result.code == 0, result
    first, second = result.rows()
    keys = ["input", "media_type", "charset", "title", "language", "date", "main", "text", "links",
            "method", "error"]  # fmt: skip
    assert list(first) == list(second) == keys
    assert (first["input"], second["input"]) == (str(html), str(plain))
    assert first["media_type"] == "text/html"
    assert first["title"] == "Harbour"
    assert first["language"] == "en"
    assert "sentence number 39" in first["main"]
    assert "Next" not in first["main"]
    assert "Next" in first["text"]
    assert "http://x.example/y" in first["links"]
    assert second["media_type"] == "text/plain"
    assert second["language"] == "de"
    assert second["error"] is None


@pytest.mark.parametrize("method", ["default", "fast", "tags"])
def test_every_method_finds_the_article(tmp_path: Path, method: str) -> None:
    html = tmp_path / "page.html"
    html.write_text(article("Harbour", TEXT))
    [row] = run("text", html, "--method", method, "--json").rows()
    assert "sentence number 20" in row["main"]
    assert row["method"]


def test_a_file_that_cannot_be_read_has_a_reason(tmp_path: Path) -> None:
    """The others are read all the same; the answer to "all of them?" is no."""
    broken, plain = tmp_path / "broken.pdf", tmp_path / "plain.txt"
    broken.write_bytes(b"%PDF-1.7\n" + b"garbage " * 50)
    plain.write_text("Words.")
    result = run("text", broken, plain, "--json")
    assert result.code == 1, result
    first, second = result.rows()
    assert first["error"]
    assert second["text"].strip() == "Words."


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    """The others are read all the same, each in its line."""
    result = run("text", tmp_path / "none.html")
    assert result.code == 2
    assert "none.html" in result.err
    (tmp_path / "a.txt").write_text("Words.")
    several = run("text", tmp_path / "none.html", tmp_path / "a.txt", "--json")
    assert several.code == 2
    missing, there = several.rows()
    assert "cannot be read" in missing["error"]
    assert there["text"].strip() == "Words."


def test_many_files_come_in_their_order(tmp_path: Path) -> None:
    """Though several are read at once."""
    files = [tmp_path / f"{n}.txt" for n in range(30)]
    for number, file in enumerate(files):
        file.write_text(f"Number {number}." * (1 + number % 7 * 1000))
    rows = run("text", *files, "--json").rows()
    assert [row["input"] for row in rows] == [str(file) for file in files]
    assert all(row["text"].startswith(f"Number {n}.") for n, row in enumerate(rows))


def test_a_capture_is_read_as_of_a_moment(archive: tuple[Path, str]) -> None:
    folder, url = archive
    [now] = run("text", f"{url}/", "--json", "-a", folder).rows()
    assert now["input"] == f"{url}/"
    assert "A new sentence came" in now["main"]
    assert run("text", f"{url}/nowhere", "-a", folder).code == 1


def test_the_difference_has_a_category(archive: tuple[Path, str]) -> None:
    folder, url = archive
    result = run("diff", f"{url}/", "-a", folder, "--json")
    assert result.code == 0, result
    found = result.json()
    assert found["category"] == "minor"
    assert found["stage"] in ("shingles", "edit-distance")
    assert 0.9 < found["similarity"] < 1
    assert "new sentence" in json.dumps(found["difference"])
    shown = run("diff", f"{url}/", "-a", folder)
    assert shown.out.decode().splitlines()[1].startswith("minor (by ")
    assert "new sentence" in shown.out.decode()


def test_the_difference_is_a_page_that_runs_nothing(
    archive: tuple[Path, str], tmp_path: Path
) -> None:
    folder, url = archive
    file = tmp_path / "changes.html"
    assert run("diff", f"{url}/", "-a", folder, "--html", "-o", file).code == 0
    text = file.read_text("utf-8")
    assert "new sentence" in text
    assert "<script" not in text
    assert "src=" not in text
    assert "default-src 'none'" in text


def test_without_a_second_capture_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with site({"/": page(article("Harbour", TEXT))}) as server:
        crawl(tmp_path / "a", f"{server.url}/")
        result = run("diff", f"{server.url}/", "-a", tmp_path / "a")
    assert result.code == 1
    assert "one capture only" in result.err


def test_near_documents_are_found(archive: tuple[Path, str]) -> None:
    folder, url = archive
    result = run("similar", f"{url}/b", "-a", folder, "--json")
    assert result.code == 0, result
    [found] = result.rows()
    assert found["url"] == f"{url}/"
    assert 0.9 < found["jaccard"] < 1
    assert run("similar", f"{url}/c", "-a", folder).code == 1


def test_all_pairs_are_found(archive: tuple[Path, str]) -> None:
    folder, url = archive
    found = run("similar", "--all", "-a", folder, "--json").json()
    assert found["documents"] == 3
    assert found["identical"] == []
    [pair] = found["pairs"]
    assert {pair["a"]["url"], pair["b"]["url"]} == {f"{url}/", f"{url}/b"}


@pytest.mark.parametrize(
    "words",
    [[], ["http://a.example/", "--all"], ["--all", "--threshold", "0"], ["--all", "--contained"]],
)
def test_what_is_asked_must_make_sense(archive: tuple[Path, str], words: list[str]) -> None:
    assert run("similar", *words, "-a", archive[0]).code == 2


def test_reading_goes_on_where_it_stood(archive: tuple[Path, str]) -> None:
    """And deleting what was read loses nothing: it is read again."""
    folder, url = archive
    first = run("reindex", "--text", "-a", folder, "--json")
    assert first.code == 0, first
    again = run("reindex", "--text", "-a", folder, "--json").json()
    assert again == {"documents": 4, "failed": 0, "judged": 0}
    for file in (folder / "derived").iterdir():
        file.unlink()
    anew = run("reindex", "--text", "-a", folder, "--json").json()
    assert anew["documents"] == 4
    shown = run("show", f"{url}/", "-a", folder, "--json").json()
    assert [each["change"] for each in shown["captures"]] == ["appeared", "minor"]
    assert [each["change"] for each in run("list", "-a", folder, "--json").rows()]


def test_a_polite_crawl_reads_while_it_waits(tmp_path: Path) -> None:
    """Documents that have been taken are read before the crawl is over, in a process of its own."""
    names = [f"/{n}" for n in range(12)]
    links = "".join(f"<a href='{name}'>x</a>" for name in names)
    pages = {name: page(article(f"Page {name}", f"{TEXT} {name}")) for name in names}
    with site({**pages, "/": page(article("Harbour", TEXT, links))}) as server:
        result = run("crawl", f"{server.url}/", "--delay", "0.5", "-a", tmp_path / "a", "--json")
        assert result.code == 0, result
    assert (tmp_path / "a" / "derived" / "text.db").exists()
    changes = [row["change"] for row in run("list", "-a", tmp_path / "a", "--json").rows()]
    assert "appeared" in changes


@pytest.mark.parametrize("words", [["--delay", "0"], ["--delay", "0.3", "--no-text"]])
def test_a_crawl_in_a_hurry_reads_nothing(tmp_path: Path, words: list[str]) -> None:
    names = [f"/{n}" for n in range(12)]
    links = "".join(f"<a href='{name}'>x</a>" for name in names)
    with site({"/": page(links), **{name: page("x") for name in names}}) as server:
        assert run("crawl", f"{server.url}/", *words, "-a", tmp_path / "a").code == 0
    assert not (tmp_path / "a" / "derived").exists()
