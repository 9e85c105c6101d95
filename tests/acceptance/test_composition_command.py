"""`asof show --composition`: what a page is made of, for people and for programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import rig
from support.served_archive import Page, build

SITE = "http://site.example/"
HEAD = (("Last-Modified", "Thu, 05 Mar 2026 00:00:00 GMT"),)
PAGES = [
    Page(SITE, "2026-03-01T00:00:00Z", b"<img src=a.png><img src=b.png><img src=c.png>"),
    Page(SITE, "2026-03-09T00:00:00Z", b"<img src=a.png><img src=b.png><img src=c.png>"),
    Page(SITE + "a.png", "2026-02-28T00:00:00Z", b"a", "image/png"),
    Page(SITE + "b.png", "2026-03-09T00:00:00Z", b"b", "image/png", headers=HEAD),
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("archive"), PAGES)


def show(archive: Path, *options: object, code: int = 0) -> rig.Result:
    return rig.ok("show", SITE, "--composition", *options, "-a", archive, code=code)


def test_a_table_that_is_read_line_by_line(archive: Path) -> None:
    lines = show(archive, "--at", "2026-03-02").out.decode().splitlines()
    assert lines[:2] == [SITE, "as of 2 Mar 2026, 23:59:59 (UTC, coherent)"]
    told = {line.split()[-1]: line for line in lines[3:-2]}
    assert told[SITE].startswith("proven ")
    assert "the same bytes before and after" in told[SITE]
    assert told[SITE + "a.png"].split()[:2] == ["possible", "20260228000000"]
    assert "3 days before" in told[SITE + "a.png"] or "2 days before" in told[SITE + "a.png"]
    assert "captured later, dated to after the moment" in told[SITE + "b.png"]
    assert "never captured" in told[SITE + "c.png"]
    assert lines[-1] == "4 resources: 1 proven, 1 possible, 2 missing"


def test_json_and_policies(archive: Path) -> None:
    found = show(archive, "--at", "2026-03-02", "--policy", "nearest", "--json").json()
    assert found["policy"] == "nearest"
    assert found["counts"] == {"proven": 1, "possible": 1, "violated": 1, "missing": 1}
    assert [each["reason"] for each in found["resources"]] == [
        "", "not-seen-again", "dated-after", "",
    ]  # fmt: skip
    assert found["resources"][3]["capture"] is None


def test_what_cannot_be_answered(archive: Path) -> None:
    assert "was not captured as of 2025" in show(archive, "--at", "2025", code=1).err
    show(archive, "--policy", "best", code=2)
    lone = rig.ok("show", SITE, "--at", "2026", "-a", archive, code=2)
    assert "--at needs --composition" in lone.err
