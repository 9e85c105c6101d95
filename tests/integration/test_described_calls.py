"""All that the description of the JSON API allows, and much that it does not, asked of a server."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support import rig, served_archive
from support.serve_command import serving
from support.served_archive import Page

HOME = "http://site.example/"
STORED = [
    Page(HOME, "2026-01-01T10:00:00Z", b"<p>one"),
    Page(HOME, "2026-02-01T10:00:00Z", b"<p>two"),
    Page(HOME + "again", "2026-01-02T00:00:00Z", b"<p>kept"),
    Page(HOME + "again", "2026-01-09T00:00:00Z", same_as=(HOME + "again", "2026-01-02")),
    Page(HOME + "moved", "2026-01-02T00:00:00Z", status="302 Found", headers=(("Location", "/"),)),
    Page("https://other.example/%C3%BC", "2026-01-02T00:00:00Z", b"<p>other"),
]
CALLS = 2_000
EXAMPLES = 150  # of each operation: there are more than two dozen
# Not asked: whether all that the description allows is accepted, and nothing else. A URL is any
# text, and most texts are in no archive.
LEFT_OUT = "positive_data_acceptance,negative_data_rejection"


def test_no_call_breaks_the_server_or_the_description(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    served_archive.build(archive, STORED, seeds=(HOME,))
    with serving(archive, words=("--warc-files",)) as address:
        done = subprocess.run(
            [
                str(rig.BIN / "st"), "run", f"{address}/-/openapi.json", "--no-color",
                "--exclude-checks", LEFT_OUT, "--max-examples", str(EXAMPLES), "--seed", "16",
                "--warnings", "off", "--generation-database", ":memory:",
            ],
            capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
    found = re.search(r"([\d,]+) generated", done.stdout)
    assert found is not None, done.stdout
    assert int(found[1].replace(",", "")) >= CALLS, done.stdout
