"""pywb replays what asof serves: our CDX server is its index, our WARC files are its archive."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from support import crawled_thrice, rig, served_archive
from support.crawled_thrice import Shown
from support.pywb import Pywb

pytestmark = pytest.mark.needs("replay")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawled_thrice.build(tmp_path_factory.mktemp("thrice"))


@pytest.fixture(scope="module")
def wanted(archive: Path) -> list[Shown]:
    return crawled_thrice.shown(archive)


@pytest.fixture(scope="module")
def asof(archive: Path) -> Iterator[Any]:
    with served_archive.serving(archive, files=True) as running:
        yield running


@pytest.fixture(scope="module")
def pywb(archive: Path, asof: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pywb]:
    root = tmp_path_factory.mktemp("pywb")
    index = root / "all.cdxj"
    rig.ok("export", "--format", "cdxj", "-o", index, "-a", archive)
    ours = f"cdx+{asof.url}/cdx"
    sources = {
        "local": {"index_paths": ours, "archive_paths": f"{archive}/warc/"},
        "remote": {"index_paths": ours, "archive_paths": f"{asof.url}/-/warc/"},
        "alone": {"index_paths": ours},
        "memento": {
            "index": {
                "type": "memento",
                "timegate_url": f"{asof.url}/timegate/{{url}}",
                "timemap_url": f"{asof.url}/timemap/link/{{url}}",
                "replay_url": f"{asof.url}/{{timestamp}}id_/{{url}}",
            }
        },
        "own": {"index_paths": str(index), "archive_paths": f"{archive}/warc/"},
    }
    # YAML, too.
    (root / "config.yaml").write_text(json.dumps({"collections": sources}))
    server = Pywb(root)
    yield server
    server.close()


@pytest.mark.parametrize("name", ["local", "remote"])
def test_every_capture_is_shown_as_in_asof(pywb: Pywb, wanted: list[Shown], name: str) -> None:
    """Revisits and 304s too: it asks for what they refer to, and finds it."""
    different = [(theirs, ours) for ours in wanted if (theirs := pywb.shows(name, ours)) != ours]
    assert different == []


@pytest.mark.parametrize("name", ["alone", "memento"])
def test_without_files_pywb_takes_mementos_as_they_are_served(
    pywb: Pywb, wanted: list[Shown], name: str
) -> None:
    """`/{stamp}id_/{url}` is where it looks for them, beside `/cdx`; and by our TimeGate."""
    pages = [each for each in wanted if each.status == 200]
    assert len(pages) > 20
    different = [ours.url for ours in pages if pywb.shows(name, ours).body != ours.body]
    assert different == []


def test_pywb_lists_what_a_timemap_lists(pywb: Pywb, wanted: list[Shown]) -> None:
    page = next(each.url for each in wanted if each.url.endswith("/page"))
    status, lines = _ask(f"{pywb.url}/memento/cdx", {"url": page, "output": "json"})
    assert status == 200
    told = [json.loads(line)["timestamp"] for line in lines]
    assert told == sorted(each.timestamp for each in wanted if each.url == page)


def _ask(base: str, query: dict[str, Any]) -> tuple[int, list[str]]:
    address = f"{base}?{urllib.parse.urlencode(query, doseq=True)}"
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, answer.read().decode().splitlines()
    except HTTPError as error:
        with error:
            return error.code, []


QUESTIONS: list[dict[str, Any]] = [
    {"url": "{site}/page"},
    {"url": "{site}/page", "limit": 2},
    {"url": "{site}/page", "sort": "reverse"},
    {"url": "{site}/page", "sort": "reverse", "limit": 2},
    {"url": "{site}/page", "closest": "{second}", "limit": 2},
    {"url": "{site}/page", "from": "{second}"},
    {"url": "{site}/page", "to": "{second}"},
    {"url": "{site}/page", "from": "1999", "to": "2000"},
    {"url": "{site}/*"},
    {"url": "{site}/p*"},
    {"url": "{site}/", "matchType": "prefix"},
    {"url": "{site}/p", "matchType": "prefix", "filter": "=status:200"},
    {"url": "{site}/none", "matchType": "host"},
    {"url": "{site}/none", "matchType": "domain", "limit": 7},
    {"url": "{site}/*", "filter": ["=mime:text/html", "!status:200"]},
    {"url": "{site}/*", "filter": "~status:[45]0."},
    {"url": "{site}/*", "filter": "!~status:[45]"},
    {"url": "{site}/*", "filter": "mime:revisit"},
    {"url": "{site}/*", "filter": "!=mime:warc/revisit", "fl": "urlkey,timestamp,url,status"},
    {"url": "{site}/*", "fields": "urlkey,timestamp,digest"},
    {"url": "{site}/page", "resolveRevisits": "true"},
    {"url": "{site}/plain", "resolveRevisits": "true"},
    {"url": "{site}/plain", "resolveRevisits": "1", "sort": "reverse", "limit": 2},
    {"url": "{site}/plain", "resolveRevisits": "true", "filter": "=mime:text/html"},
    {"url": "{site}/plain", "resolveRevisits": "true", "fl": "timestamp,orig.offset,mime"},
    {"url": "{site}/plain", "resolveRevisits": "0"},
    {"url": "{site}/page", "reverse": "true", "limit": 2},
    {"url": "{site}/*", "collapseTime": "12"},
    {"url": "{site}/*", "collapseTime": "4", "filter": "!=mime:warc/revisit"},
    {"url": "{site}/*", "filter": "text/html"},
    {"url": "{site}/*", "filter": "!text/html", "sort": "reverse"},
    {"url": "{site}/page", "from": "{second}", "to": "{second}"},
    {"url": "{site}/*", "to": "{second}", "closest": "{second}", "limit": 4},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: urllib.parse.urlencode(each))
@pytest.mark.parametrize("output", ["cdxj", "json"])
def test_our_index_answers_what_pywb_answers_of_the_same(
    pywb: Pywb, asof: Any, wanted: list[Shown], question: dict[str, Any], output: str
) -> None:
    """pywb's own CDX server over our exported index, and ours, question by question."""
    site = wanted[0].url.rsplit("/", 1)[0]
    times = sorted(each.timestamp for each in wanted if each.url == f"{site}/page")
    assert len(times) == 3

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(each) for each in value]
        return str(value).format(site=site, second=times[1])

    asked = {name: fill(value) for name, value in question.items()}
    asked |= {"output": output, "allowFuzzy": "0"}
    theirs = _ask(f"{pywb.url}/own/cdx", asked)
    ours = _ask(f"{asof.url}/cdx", asked)
    if not theirs[1]:
        assert ours[1] == []
        return
    assert ours[0] == theirs[0] == 200
    assert [_without_source(line) for line in ours[1]] == [
        _without_source(line) for line in theirs[1]
    ]


def _without_source(line: str) -> tuple[str, dict[str, Any]]:
    """A line as its start and its fields, but for where pywb says that it has them from."""
    start, brace, rest = line.partition("{")
    fields = json.loads(brace + rest)
    return start, {name: fields[name] for name in fields if not name.startswith("source")}
