"""`asof scope`: in or out, by which rule, and what would the others have said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import rig
from support.rig import links, page, site

SEED = "https://example.org/news/"


def scope(*words: object, cwd: Path, code: int = 0) -> rig.Result:
    return rig.ok("scope", *words, code=code, cwd=cwd)


def told(*words: object, cwd: Path, code: int = 0) -> list[dict[str, Any]]:
    return scope(*words, "--json", cwd=cwd, code=code).rows()


# -- Without an archive ---------------------------------------------------------------------------


def test_all_in_is_zero_and_any_out_is_one(tmp_path: Path) -> None:
    """The exit code answers for all URLs at once, and nothing is made on the disk."""
    inside, outside = "https://example.org/a", "https://other.example/"
    scope(inside, "--seed", SEED, cwd=tmp_path)
    scope(inside, outside, "--seed", SEED, cwd=tmp_path, code=1)
    assert list(tmp_path.iterdir()) == []


def test_json_has_one_object_a_line_in_the_order_asked(tmp_path: Path) -> None:
    """The URL as written and as the crawl knows it, the decision, and every rule in order."""
    rows = told(
        "HTTPS://Example.ORG/a.pdf#top", "https://cdn.example/x.css",
        "--seed", SEED, "--rule", r"out regex:\.pdf$", "--depth", 5, cwd=tmp_path, code=1,
    )  # fmt: skip
    assert [list(row) for row in rows] == [["url", "canonical", "inside", "reason", "rules"]] * 2
    first, second = rows
    assert first["url"] == "HTTPS://Example.ORG/a.pdf#top"
    assert first["canonical"] == "https://example.org/a.pdf"
    assert (first["inside"], first["reason"]) == (False, r"rule: out regex:\.pdf$")
    assert first["rules"] == [
        {"rule": r"out regex:\.pdf$", "verdict": "out", "decided": True},
        {"rule": "out depth:5", "verdict": "no opinion", "decided": False},
        {"rule": "in seeds:", "verdict": "no opinion", "decided": False},
        {"rule": "in host:example.org", "verdict": "in", "decided": False},
        {"rule": "in requisites of pages", "verdict": "no opinion", "decided": False},
        {"rule": "out everything else", "verdict": "out", "decided": False},
    ]
    assert (second["inside"], second["reason"]) == (False, "other host")
    assert [step["decided"] for step in second["rules"]] == [False] * 5 + [True]


def test_people_see_which_rule_decided(tmp_path: Path) -> None:
    """One mark, at the rule that decided; and a word about what is not known yet."""
    said = scope(
        "https://example.org/a", "--seed", SEED, "--rule", "out path:/a", cwd=tmp_path, code=1
    ).out.decode()
    assert said.startswith("out  https://example.org/a\n")
    marked = [line for line in said.splitlines() if line.startswith("  ->")]
    assert [line.split() for line in marked] == [["->", "out", "out", "path:/a"]]
    assert "robots.txt is asked at crawl time" in said
    assert "hops L, at depth 1" in said


@pytest.mark.parametrize(
    ("words", "inside", "reason"),
    [
        (["https://cdn.example/x.css"], False, "other host"),
        (["https://cdn.example/x.css", "--hops", "LE"], True, "requisite of a page in scope"),
        (["https://example.org/x", "--hops", "LLL", "--depth", "2"], False, "deeper than 2"),
        (["https://example.org/x", "--hops", "LMF", "--depth", "2"], False, "deeper than 2"),
        (["https://example.org/x", "--hops", "LERL", "--depth", "2"], True, "same host"),
        (["https://example.org/x", "--via", SEED, "--depth", "0"], False, "deeper than 0"),
        ([SEED, "--depth", "0"], True, "seed"),
        (["https://b.example.org/", "--scope", "domain"], True, "same domain"),
        (["https://example.org/x", "--exclude", "x$"], False, "excluded by x$"),
        (["https://a.example/", "--include", "^https://a"], True, "included by ^https://a"),
        (["https://a.example/", "--rule", "in host:a.example"], True, "rule: in host:a.example"),
        (["https://b.example.org/", "--preset", "extensive"], True, "same domain"),
        (["https://b.example.org/", "--preset", "extensive", "--scope", "host"], False,
         "other host"),
        (["https://example.org/x", "--preset", "page"], False, "other page"),
        (["https://example.org/news/A:b", "--preset", "assignment"], False,
         "excluded by ^https?://[^/]+/.*(?::|%3[Aa])"),
        (["https://bücher.example/ü", "--rule", "in host:bücher.example"], True,
         "rule: in host:bücher.example"),
    ],
)  # fmt: skip
def test_options(tmp_path: Path, words: list[str], inside: bool, reason: str) -> None:
    """Each option means what it means to `asof crawl`; hops tell how the URL was found."""
    row = told(*words, "--seed", SEED, cwd=tmp_path, code=0 if inside else 1)[0]
    assert (row["inside"], row["reason"]) == (inside, reason)


def test_settings_of_the_environment_count(tmp_path: Path) -> None:
    result = rig.run(
        "scope",
        "https://b.example.org/",
        "--seed",
        SEED,
        env={"ASOF_SCOPE": "domain"},
        cwd=tmp_path,
    )
    assert result.code == 0, str(result)


BAD: dict[str, list[object]] = {
    "no URL": ["--seed", SEED],
    "no seed, no archive": ["https://example.org/"],
    "not a URL": ["word", "--seed", SEED],
    "one good, one bad": [SEED, "mailto:a@b.example", "--seed", SEED],
    "bad seed": [SEED, "--seed", "ftp://example.org/"],
    "named archive is missing": [SEED, "--seed", SEED, "-a", "missing"],
    "unknown preset": [SEED, "--seed", SEED, "--preset", "huge"],
    "unknown scope": [SEED, "--seed", SEED, "--scope", "planet"],
    "unknown kind": [SEED, "--seed", SEED, "--rule", "out colour:red"],
    "limit that takes in": [SEED, "--seed", SEED, "--rule", "in depth:3"],
    "empty rule": [SEED, "--seed", SEED, "--rule", ""],
    "bad regex in a rule": [SEED, "--seed", SEED, "--rule", "out regex:(x"],
    "long regex in a rule": [SEED, "--seed", SEED, "--rule", "out regex:" + "x" * 100_000],
    "bytes in a rule": [SEED, "--seed", SEED, "--rule", "out regex:\udcff"],
    "bad exclude": [SEED, "--seed", SEED, "--exclude", "(x"],
    "bad include": [SEED, "--seed", SEED, "--include", "(x"],
    "bytes in an exclude": [SEED, "--seed", SEED, "--exclude", "\udcff"],
    "negative depth": [SEED, "--seed", SEED, "--depth", -1],
    "unknown hop": [SEED, "--seed", SEED, "--hops", "LQ"],
    "bad via": [SEED, "--seed", SEED, "--via", "nowhere"],
}


@pytest.mark.parametrize("case", BAD)
def test_bad_usage(tmp_path: Path, case: str) -> None:
    """One short paragraph with advice, exit code 2, nothing on stdout, nothing on the disk."""
    result = scope(*BAD[case], cwd=tmp_path, code=2)
    assert result.out == b""
    said = result.err.strip()
    assert len(said.splitlines()) == 1, said
    assert len(said) < 500, said
    assert list(tmp_path.iterdir()) == []


# -- With an archive ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crawled:
    """A crawl that is over, and where its site was."""

    folder: Path
    url: str


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """Two crawls of a small site; the newer one had other settings."""
    folder = tmp_path_factory.mktemp("scope")
    pages = {
        "/robots.txt": page("User-agent: *\nDisallow: /secret\n", media="text/plain"),
        "/": page(links("/one", "/secret/a", "https://elsewhere.invalid/")),
        "/one": page(links("/two")),
        "/two": page(links("/three")),
    }
    with site(pages) as server:
        rig.crawl(folder / "archive", server.url + "/one")
        rig.crawl(folder / "archive", server.url + "/", "--depth", 2, "--exclude", "^https")
        yield Crawled(folder, server.url)


def test_seeds_and_settings_are_those_of_the_newest_crawl(crawled: Crawled) -> None:
    """Nothing has to be said again, and what the crawl found is judged as it was found there."""
    urls = [crawled.url + path for path in ("/", "/one", "/three", "/new")]
    rows = told(*urls, "https://elsewhere.invalid/", cwd=crawled.folder, code=1)
    assert [(row["inside"], row["reason"]) for row in rows] == [
        (True, "seed"),
        (True, "same host"),
        (False, "deeper than 2"),
        (True, "same host"),
        (False, "excluded by ^https"),
    ]


def test_people_hear_what_became_of_it(crawled: Crawled) -> None:
    said = scope(crawled.url + "/three", cwd=crawled.folder, code=1).out.decode()
    assert "left out: deeper than 2" in said
    assert f"found on {crawled.url}/two" in said
    assert "hops LLL, at depth 3" in said


def test_what_is_said_wins_over_the_crawl(crawled: Crawled) -> None:
    """Options replace settings of the crawl, --hops the way it was found, --seed its seeds."""
    deep = crawled.url + "/three"
    assert told(deep, "--depth", 3, cwd=crawled.folder)[0]["inside"]
    assert told(deep, "--hops", "L", cwd=crawled.folder)[0]["inside"]
    assert not told(deep, "--hops", "L", "--seed", SEED, cwd=crawled.folder, code=1)[0]["inside"]
    row = told(deep, "--preset", "intensive", cwd=crawled.folder)[0]
    assert "out regex:^https" not in [step["rule"] for step in row["rules"]]


def test_a_stored_robots_txt_is_applied(crawled: Crawled) -> None:
    """As the last rule, with its moment; it leaves out what all others took in."""
    row = told(crawled.url + "/secret/b", cwd=crawled.folder, code=1)[0]
    assert (row["inside"], row["reason"]) == (False, "robots.txt")
    assert [step["decided"] for step in row["rules"]].count(True) == 1
    last = row["rules"][-1]
    assert last["rule"].startswith(f"robots.txt of {crawled.url}, stored 20")
    assert (last["verdict"], last["decided"]) == ("out", True)
    allowed = told(crawled.url + "/new", cwd=crawled.folder)[0]
    assert allowed["rules"][-1]["verdict"] == "no opinion"


def test_robots_of_other_origins_are_asked_at_crawl_time(crawled: Crawled) -> None:
    """The rules of one port or scheme say nothing about another."""
    port = crawled.url.rpartition(":")[2]
    for url in (f"https://127.0.0.1:{port}/secret/b", "http://127.0.0.1/secret/b"):
        said = scope(url, cwd=crawled.folder, code=1).out.decode()
        assert "robots.txt is asked at crawl time" in said


def test_robots_that_are_ignored_are_not_applied(crawled: Crawled) -> None:
    result = rig.run(
        "scope", crawled.url + "/secret/b", "--preset", "intensive",
        env={"ASOF_ROBOTS": "ignore"}, cwd=crawled.folder,
    )  # fmt: skip
    assert result.code == 0, str(result)
    assert b"robots.txt is ignored" in result.out


def test_an_archive_without_a_crawl_needs_a_seed(tmp_path: Path) -> None:
    """An empty one is no archive to ask; with a seed the question can be answered."""
    (tmp_path / "archive" / "warc").mkdir(parents=True)
    result = rig.run("scope", SEED, cwd=tmp_path)
    assert result.code == 2, str(result)


def test_settings_of_asof_toml_count_without_a_crawl(tmp_path: Path) -> None:
    """A folder that is to become an archive has its say already."""
    (tmp_path / "archive").mkdir()
    text = 'rules = ["out path:/a"]\npreset = "extensive"\nscope = "host"\n'
    (tmp_path / "archive" / "asof.toml").write_text(text)
    row = told("https://example.org/a", "--seed", SEED, cwd=tmp_path, code=1)[0]
    assert row["reason"] == "rule: out path:/a"
    assert json.dumps(row).count("in host:example.org") == 1
    named = told("https://example.org/a", "--seed", SEED, "-a", "archive", cwd=tmp_path, code=1)
    assert named == [row]
    (tmp_path / "archive" / "asof.toml").write_text(f'exclude = ["{"a" * 1_000_000}"]\n')
    assert len(scope("https://a.example/", "--seed", SEED, cwd=tmp_path, code=2).err) < 500
