"""A command that was forked is the command that was started: output, exit code, surroundings."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import rig


@pytest.mark.parametrize(
    "words", [["--version"], ["no-such-verb"], ["list"], ["check", "-a", "."], ["crawl", "--help"]]
)
def test_it_says_and_ends_as_one_that_was_started(tmp_path: Path, words: list[str]) -> None:
    warm, fresh = (rig.run(*words, cwd=tmp_path, fresh=fresh) for fresh in (False, True))
    assert (warm.code, warm.out, warm.err) == (fresh.code, fresh.out, fresh.err)


def test_it_has_the_environment_that_it_is_given(tmp_path: Path) -> None:
    """Which is told as a bad setting; and nothing of it is left for the next."""
    words = ("crawl", "http://127.0.0.1:1/", "-a", tmp_path / "a", "--json")
    told = rig.run(*words, env={"ASOF_DELAY": "nonsense"})
    assert told.code == 2
    assert "nonsense" in told.err
    assert "nonsense" not in rig.run(*words, env={"ASOF_RETRIES": "0"}).err


def test_one_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with (
        rig.site({"/": rig.Reply((b"",), after="hang")}) as server,
        pytest.raises(AssertionError, match=r"did not end within 0\.5 s"),
    ):
        rig.run("crawl", server.url + "/", "-a", tmp_path / "a", "--delay", "0", timeout=0.5)


@pytest.mark.parametrize("fresh", [False, True])
def test_its_memory_and_its_limits_are_its_own(tmp_path: Path, fresh: bool) -> None:
    plain = rig.run("--version", fresh=fresh)
    assert 1 << 20 < plain.peak_rss < 1 << 28
    (tmp_path / "some.warc").write_bytes(b"WARC/1.1\r\n" * 100_000)
    full = rig.run("import", "some.warc", "-a", "a", cwd=tmp_path, fresh=fresh, limits={"FSIZE": 9})
    assert full.code != 0
    assert len(full.err) == 9, "no file can be longer, that of its complaint included"
