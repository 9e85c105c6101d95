from __future__ import annotations

from pathlib import Path

import pytest

from asof.config import Config
from asof.errors import ConfigError


def test_later_sources_win(tmp_path: Path):
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
    ],
)
def test_a_wrong_file_is_refused_with_advice(tmp_path: Path, toml: str, complaint: str):
    (tmp_path / "asof.toml").write_text(toml)
    with pytest.raises(ConfigError, match=complaint.replace("(", r"\(")) as refusal:
        Config.load(tmp_path, {})
    assert refusal.value.hint


def test_settings_survive_the_way_through_a_crawl_row():
    config = Config().updated({"exclude": ["a", "b"], "depth": 2}, source="test")
    assert Config().updated(config.as_dict(), source="row") == config
