"""SIGKILL at random moments of the visits and of the revisits: each page once in either phase.

A smaller sibling of test_sigkill.py for crawls that look again (asof.crawl.phases).
"""

from __future__ import annotations

import gzip
import random
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

from support import rig
from support.rig import ok, page, referees_agree, rows_of, site

KILLS = 20
PAGES = int(KILLS * 1.5)
DELAY = 0.05
FILL = "<p>" + "Words that make a page longer than two hundred and fifty-six bytes. " * 5 + "</p>"


def answer(path: str, body: str) -> rig.Answer:
    """A page with a validator, and 304 for those who have it."""

    def reply(head: bytes) -> rig.Reply:
        if b"\r\nIf-None-Match" in head:
            return page("", "304 Not Modified", ETag=f'"{path}"')
        return page(body, ETag=f'"{path}"')

    return reply


def test_kills_in_both_phases(tmp_path: Path) -> None:
    names = [f"/{number}" for number in range(PAGES)]
    bodies = {"/": rig.links(*names) + FILL} | {name: f"<p>{name}</p>{FILL}" for name in names}
    archive = tmp_path / "archive"
    archive.mkdir()
    # Small groups, so that a short life gets somewhere and dies in the middle of commits, too.
    (archive / "asof.toml").write_text("group_records = 2\n")
    chance = random.Random(5_000_005)
    with site({path: answer(path, body) for path, body in bodies.items()}) as server:
        words = ["crawl", server.url + "/", "-a", archive, "--delay", DELAY, "--quiet",
                 "--coherence", "inducible"]  # fmt: skip
        kills, dead_in = 0, Counter[bool]()
        while kills < KILLS:
            enough = len(server.hits) + chance.randrange(5)
            life = rig.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            until = time.monotonic() + 20
            while len(server.hits) <= enough and life.poll() is None:
                assert time.monotonic() < until, "a life of 20 s without a single request"
                time.sleep(0.002)
            # In the middle of a request, of the delay after it, of a commit, or of the turn.
            wait = chance.uniform(0.0, DELAY)
            try:
                life.wait(wait)
            except subprocess.TimeoutExpired:
                life.send_signal(signal.SIGKILL)
                kills += 1
            _, err = life.communicate()
            assert b"Traceback" not in err, err.decode()
            if life.returncode == 0:
                break
            assert life.returncode == -signal.SIGKILL, (life.returncode, err.decode())
            dead_in[len({hit.path for hit in server.hits}) > PAGES + 1] += 1
        assert kills >= KILLS * 0.8, f"finished after {kills} kills"
        last = ok(*words, "--json") if life.returncode else None
        assert last is None or last.code == 0
    assert dead_in[False] >= 2
    assert dead_in[True] >= 2
    files = [gzip.decompress(path.read_bytes()) for path in rig.warcs(archive)]
    text = b"".join(files).decode("latin-1")
    moments = set(re.findall(r'"turn": "([^"]+)"', text))
    assert len(moments) == 1, "there is one turning point, however often the crawl was killed"
    (turn,) = moments
    rows = [row for row in rows_of(archive) if "robots.txt" not in row["url"]]
    assert len({row["crawl"] for row in rows}) == 1
    visits = Counter(row["url"] for row in rows if row["at"] <= turn)
    assert len(visits) == PAGES + 1
    assert set(visits.values()) == {1}
    later = [row for row in rows if row["at"] > turn]
    # An audit is a second, whole answer right after a 304.
    again = Counter(row["url"] for row in later if row["status"] == 304)
    (joker,) = visits.keys() - {row["url"] for row in later}
    assert max(row["at"] for row in rows if row["url"] == joker) == turn
    assert set(again.values()) <= {1}
    referees_agree(archive)
    before = rows_of(archive)
    rig.remove_database(archive)
    ok("reindex", "-a", archive)
    assert rows_of(archive) == before
