"""An import by a tool that hashes with SHA-1, then a crawl of ours: one history."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from support import rig
from support.rig import crawl, ok, page, site


# warcio leaves a spooled file for the collector to close.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_equal_contents_merge_whatever_the_tools_hash_with(tmp_path: Path) -> None:
    body = b"<p>the same in both</p>"
    with site({"/": page(body)}) as server:
        url = server.url + "/"
        with (tmp_path / "old.warc.gz").open("wb") as out:
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            writer = WARCWriter(out, gzip=True)
            writer.write_record(
                writer.create_warc_record(
                    url,
                    "response",
                    payload=io.BytesIO(body),
                    http_headers=head,
                    warc_headers_dict={"WARC-Date": "2020-01-02T03:04:05Z"},
                )
            )
        archive = tmp_path / "archive"
        ok("import", tmp_path / "old.warc.gz", "-a", archive)
        crawl(archive, url)
    history = json.loads(ok("show", url, "-a", archive, "--json").out)
    kinds = {capture["content"].partition(":")[0] for capture in history["captures"]}
    assert kinds == {"sha1", "sha256"}
    assert len(history["validity"]) == 1
    assert history["validity"][0]["since"].startswith("2020-01-02")
    assert rig.run("check", "-a", archive).code == 0
