from __future__ import annotations

from pathlib import Path

import pytest

from asof.config import Config, is_relation_name, named_relations
from asof.errors import ConfigError


def test_later_sources_win(tmp_path: Path) -> None:
    (tmp_path / "asof.toml").write_text('delay = 2\nuser_agent = "file"\ndepth = 7\n')
    config = Config.load(
        tmp_path, {"ASOF_USER_AGENT": "env", "ASOF_DEPTH": "5", "HOME": "/"}, depth=3, scope=None
    )
    assert (config.delay, config.user_agent, config.depth) == (2.0, "env", 3)
    assert config.scope == "host"


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [
        ("dellay = 1", "unknown setting 'dellay'"),
        ('delay = "soon"', "sets delay to 'soon'"),
        ("delay = -1", "delay is -1"),
        ("max_pages = 0", "max_pages is 0"),
        ("depth = 1.5", "sets depth to 1.5"),
        ("delay = nan", "delay is nan"),
        ('robots = "maybe"', "robots is 'maybe'"),
        ('scope = "galaxy"', "scope is 'galaxy'"),
        ('exclude = ["("]', "not a regular expression"),
        ("cookies = 1", "sets cookies to 1"),
        ("[[", "not valid TOML"),
        ("relations = 3", "sets relations to 3"),
        ("[relations]\ncopies = 1", "sets the relation copies to 1"),
        ("[relations]\n'a b' = 'x'", "a relation with the name 'a b'"),
        ("[relations]\na.b = 'x'", "sets the relation a to"),
        ("[relation]\na = 'x'", "unknown setting 'relation'"),
    ],
)
def test_a_wrong_file_is_refused_with_advice(tmp_path: Path, toml: str, complaint: str) -> None:
    (tmp_path / "asof.toml").write_text(toml)
    with pytest.raises(ConfigError, match=complaint.replace("(", r"\(")) as refusal:
        Config.load(tmp_path, {})
    assert refusal.value.hint


def test_settings_survive_the_way_through_a_crawl_row() -> None:
    config = Config().updated({"exclude": ["a", "b"], "depth": 2}, source="test")
    assert Config().updated(config.as_dict(), source="row") == config


def test_relations_by_name_are_no_settings(tmp_path: Path) -> None:
    """A crawl reads past them; whether they say anything is seen when one is used."""
    assert named_relations(tmp_path) == {}
    (tmp_path / "asof.toml").write_text("delay = 2\n[relations]\ncopies = 'J(d1,d2) ='\nx-1 = ''\n")
    assert Config.load(tmp_path, {"ASOF_RELATIONS": "x"}).delay == 2
    assert named_relations(tmp_path) == {"copies": "J(d1,d2) =", "x-1": ""}


@pytest.mark.parametrize("name", ["", "1", "a.b", "a b", "-a", "ä", "a" * 81, "C(d1,d2)", "a\n"])
def test_what_is_no_name_of_a_relation(name: str) -> None:
    assert not is_relation_name(name)


@pytest.mark.parametrize(
    ("text", "size"),
    [("500GB", 500 * 10**9), ("1.5 gb", 15 * 10**8), ("2GiB", 2 << 30), ("10k", 10_000),
     ("64 KiB", 1 << 16), ("3TB", 3 * 10**12), ("1000000", 10**6), ("7 B", 7)],
)  # fmt: skip
def test_sizes_may_be_written_as_people_write_them(tmp_path: Path, text: str, size: int) -> None:
    assert Config.load(tmp_path, {"ASOF_DISK_RESERVE": text}).disk_reserve == size
    (tmp_path / "asof.toml").write_text(f'max_bytes = "{text}"\n')
    assert Config.load(tmp_path, {}).max_bytes == size


@pytest.mark.parametrize("text", ["lots", "", "5 XB", "-1", "1e9", "5GBs", "1.GB", "5ib"])
def test_what_is_no_size_is_refused_with_examples(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="10MB"):
        Config.load(tmp_path, {"ASOF_DISK_RESERVE": text})
