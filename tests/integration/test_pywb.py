"""pywb shows what asof shows: of every capture the same status, type and bytes.

From our WARC files by any index; and from what asof serves: our CDX server is its index, our WARC
files are its archive.
"""

from __future__ import annotations

import json
import sys
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from support import crawled_thrice, rig, served_archive
from support.crawled_thrice import Shown
from support.pywb import Pywb, collection, run

pytestmark = pytest.mark.needs("replay")

NOT_MODIFIED = "server-not-modified"


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
    files = rig.warcs(archive)
    collection(root, "own", files)
    indexer = Path(sys.executable).with_name("cdxj-indexer")
    collection(root, "indexer", files, run(indexer, "--sort", *files))
    exported = root / "all.cdxj"
    rig.ok("export", "--format", "cdxj", "-o", exported, "-a", archive)
    collection(root, "exported", files, exported.read_text())
    old = crawled_thrice.as_before(archive, root / "old")
    packed = root / "all.warc.gz"
    rig.ok("export", "--format", "warc", "-o", packed, "-a", old)
    rig.warcio_check([packed])
    collection(root, "before", [packed])
    # YAML, too.
    (root / "config.yaml").write_text(
        json.dumps({"collections": sources(archive, asof.url, exported)})
    )
    server = Pywb(root)
    yield server
    server.close()


def sources(archive: Path, served: str, index: Path) -> dict[str, Any]:
    """Collections that take from what asof serves, and one that takes all from files."""
    ours = f"cdx+{served}/cdx"
    return {
        "local": {"index_paths": ours, "archive_paths": f"{archive}/warc/"},
        "remote": {"index_paths": ours, "archive_paths": f"{served}/-/warc/"},
        "alone": {"index_paths": ours},
        "memento": {
            "index": {
                "type": "memento",
                "timegate_url": f"{served}/timegate/{{url}}",
                "timemap_url": f"{served}/timemap/link/{{url}}",
                "replay_url": f"{served}/{{timestamp}}id_/{{url}}",
            }
        },
        "listed": {"index_paths": str(index), "archive_paths": f"{archive}/warc/"},
    }


def test_the_archive_has_revisits_of_all_kinds(archive: Path, wanted: list[Shown]) -> None:
    rig.warcio_check(rig.warcs(archive))
    kinds = Counter((each.kind, each.profile, each.status) for each in wanted)
    assert kinds["revisit", NOT_MODIFIED, 200] >= 9
    for status in (200, 301, 302, 404, 500):
        assert kinds["response", None, status]
        assert kinds["revisit", "identical-payload-digest", status]


@pytest.mark.parametrize("name", ["own", "indexer", "exported", "before", "local", "remote"])
def test_every_capture_is_shown_as_in_asof(pywb: Pywb, wanted: list[Shown], name: str) -> None:
    """By pywb's index, by that of cdxj-indexer, by ours; what an earlier asof wrote, exported; and
    as it is served: of revisits and 304s pywb asks for what they refer to, and finds it.

    pywb decodes what is chunked and asof what is packed, too: entities are compared.
    """
    different = [(theirs, ours) for ours in wanted if (theirs := pywb.shows(name, ours)) != ours]
    assert different == []


def test_an_archive_of_before_reads_the_same(
    archive: Path, wanted: list[Shown], tmp_path: Path
) -> None:
    old = crawled_thrice.shown(crawled_thrice.as_before(archive, tmp_path / "old"))
    assert [replace(each, kind="", profile="") for each in old] == [
        replace(each, kind="", profile="") for each in wanted
    ]
    assert Counter(each.kind for each in old) != Counter(each.kind for each in wanted)


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
    theirs = _ask(f"{pywb.url}/listed/cdx", asked)
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
