"""`asof demo`: the whole story in under a minute, without a network."""

from __future__ import annotations

import re
import select
import signal
import time
import urllib.request
from pathlib import Path

from support import rig
from support.rig import ok, referees_agree, rows_of


def test_demo_tells_the_story_and_ends(tmp_path: Path) -> None:
    archive = tmp_path / "demo"
    result = ok("demo", "--no-serve", "-a", archive, timeout=60, cwd=tmp_path)
    assert result.seconds < 60
    said = result.out.decode() + result.err
    assert re.search(r"http://(127\.0\.0\.1|localhost):\d+/\S*\d{14}", said), said
    rows = rows_of(archive)
    contents: dict[str, set[str]] = {}
    for row in rows:
        if row["status"] == 200:
            contents.setdefault(row["url"], set()).add(row["content"])
    changed = {url for url, found in contents.items() if len(found) > 1}
    assert changed, "the demo shows a change, so there must be one"
    named = [url for url in changed if url in said or url.split("/", 3)[3] in said]
    assert named, f"none of the changed pages is named in what the demo says:\n{said}"
    moments = set(re.findall(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?", said))
    moments |= set(re.findall(r"\b\d{14}\b", said))
    assert len(moments) >= 2, f"as of two moments, but these are named: {moments}\n{said}"
    status = ok("status", "-a", archive, "--json").json()
    assert [crawl["state"] for crawl in status["crawls"]] == ["finished", "finished"]
    referees_agree(archive)


def test_demo_again_in_the_same_folder_does_not_fail(tmp_path: Path) -> None:
    archive = tmp_path / "demo"
    ok("demo", "--no-serve", "-a", archive, timeout=60, cwd=tmp_path)
    again = rig.run("demo", "--no-serve", "-a", archive, timeout=60, cwd=tmp_path)
    assert again.code in {0, 2}, str(again)
    if again.code == 2:
        assert len(again.err.strip().splitlines()) <= 3


def test_demo_keeps_serving_until_told_to_end(tmp_path: Path) -> None:
    for sig in (signal.SIGINT, signal.SIGTERM):
        child = rig.start("demo", "-a", tmp_path / f"demo{sig}", cwd=tmp_path)
        said, address = "", None
        until = time.monotonic() + 60
        try:
            while time.monotonic() < until and child.poll() is None and not address:
                ready, _, _ = select.select([child.stdout, child.stderr], [], [], 0.5)  # type: ignore[type-var]
                for stream in ready:
                    said += stream.read1(65536).decode()
                for found in re.findall(
                    r"http://(?:127\.0\.0\.1|localhost):\d+/\S*\d{14}\S*", said
                ):
                    address = address or answers(found)
            assert address, said
            time.sleep(0.5)
            assert child.poll() is None, "it must keep serving"
            child.send_signal(sig)
            _, err = child.communicate(timeout=20)
        finally:
            if child.poll() is None:
                child.kill()
                child.communicate()
        assert child.returncode in {0, 128 + sig}, err.decode()
        assert b"Traceback" not in err


def answers(url: str) -> str | None:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return url if answer.status == 200 and answer.headers["Memento-Datetime"] else None
    except OSError:
        return None
