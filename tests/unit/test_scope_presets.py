"""Presets: what each sets, what wins over them, and the rules of the assignment (CS6200 2019)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asof.config import Config
from asof.errors import ConfigError
from asof.model import Target
from asof.scope.presets import PRESETS, load_config, preset_settings
from asof.scope.rules import Scope

SEED = "https://en.wikipedia.org/wiki/Karen_Sp%C3%A4rck_Jones"


def configured(tmp_path: Path, seed: str = SEED, **flags: Any) -> Config:
    return load_config(tmp_path, {}, (seed,), **flags)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_settings_that_exist(tmp_path: Path, name: str) -> None:
    """Each gives settings of Config with values of the right kind, and a scope can be made."""
    config = configured(tmp_path, preset=name)
    assert config.preset == name
    assert config == Config().updated(
        {**preset_settings(name, (SEED,)), "preset": name}, source="test"
    )
    assert Scope((SEED,), config).decide(Target(SEED)).inside
    assert Config().updated(config.as_dict(), source="a crawl's row") == config


def test_the_presets_are_these() -> None:
    assert PRESETS == ("intensive", "extensive", "page", "assignment")


def test_an_unknown_preset_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no preset 'extensiv'") as refusal:
        configured(tmp_path, preset="extensiv")
    assert all(name in refusal.value.hint for name in PRESETS)


def test_without_a_preset_nothing_changes(tmp_path: Path) -> None:
    assert configured(tmp_path, depth=2) == Config(depth=2)


def test_intensive_is_vertical_and_extensive_horizontal(tmp_path: Path) -> None:
    """Spaniol 2010: one site without limits, or many sites with a little of each."""
    deep = configured(tmp_path, preset="intensive")
    assert (deep.scope, deep.depth, deep.max_pages_per_host) == ("host", None, None)
    assert deep.requisites
    assert deep.sitemaps
    wide = configured(tmp_path, preset="extensive")
    assert (wide.scope, wide.depth, wide.max_pages_per_host) == ("domain", 3, 500)
    assert Scope((SEED,), wide).per_host == 500


def test_page_takes_pages_with_all_they_need(tmp_path: Path) -> None:
    config = configured(tmp_path, preset="page")
    scope = Scope((SEED,), config)
    elsewhere = "https://upload.wikimedia.org/a.png"
    assert scope.decide(Target(elsewhere, 0, SEED, "E")).inside
    assert scope.decide(Target(elsewhere, 0, SEED, "EE")).inside
    assert not scope.decide(Target("https://en.wikipedia.org/wiki/A", 1, SEED, "L")).inside
    assert (config.sitemaps, config.feeds, config.guesses) == (False, False, False)


def test_what_the_user_sets_lies_over_the_preset(tmp_path: Path) -> None:
    """By file, variable or flag; also when it says what the default would have been."""
    (tmp_path / "asof.toml").write_text('preset = "extensive"\nmax_pages_per_host = 7\n')
    config = load_config(tmp_path, {"ASOF_DEPTH": "9"}, (SEED,), scope="host", guesses=None)
    assert (config.max_pages_per_host, config.depth, config.scope) == (7, 9, "host")
    assert config.guesses is False
    other = load_config(tmp_path, {"ASOF_PRESET": "page"}, (SEED,))
    assert (other.scope, other.depth, other.max_pages_per_host) == ("page", None, 7)
    third = load_config(tmp_path, {"ASOF_PRESET": "page"}, (SEED,), preset="intensive")
    assert (third.scope, third.preset) == ("host", "intensive")


def test_lists_of_rules_add_up_with_the_users_first(tmp_path: Path) -> None:
    """Another exclusion does not undo the rules of the assignment."""
    config = configured(
        tmp_path, preset="assignment", exclude=("X",), include=("Y",), rules=("out path:/Z",)
    )
    plain = configured(tmp_path, preset="assignment")
    assert config.exclude == ("X", *plain.exclude)
    assert config.include == ("Y", *plain.include)
    assert config.rules == ("out path:/Z", *plain.rules)


def decided(config: Config, url: str, *, seed: str = SEED, depth: int = 1) -> bool:
    return Scope((seed,), config).decide(Target(url, depth, seed, "L" * depth)).inside


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        (SEED, True),
        ("https://en.wikipedia.org/wiki/Information_retrieval", True),
        ("http://en.wikipedia.org/wiki/Information_retrieval", True),
        ("https://en.wikipedia.org/wiki/TF/IDF?action=raw", True),
        ("https://en.wikipedia.org/wiki/Main_Page", False),
        ("http://en.wikipedia.org/wiki/Main_Page", False),
        ("http://en.wikipedia.org/wiki/Main_Page?x=1", False),
        ("https://en.wikipedia.org/wiki/Main_Pages_of_history", True),
        ("https://en.wikipedia.org/wiki/Help:Authority_control", False),
        ("https://en.wikipedia.org/wiki/Help%3AAuthority_control", False),
        ("https://en.wikipedia.org/wiki/A?b=c:d", False),
        ("https://en.wikipedia.org/w/index.php", False),
        ("https://en.wikipedia.org/", False),
        ("https://en.wikipedia.org/wiki", False),
        ("https://en.wikipedia.org:8080/wiki/A", False),
        ("https://de.wikipedia.org/wiki/A", False),
        ("https://en.m.wikipedia.org/wiki/A", False),
        ("https://enxwikipedia.org/wiki/A", False),
        ("https://evil.example/https://en.wikipedia.org/wiki/A", False),
    ],
)
def test_the_assignment_includes_and_ignores(tmp_path: Path, url: str, inside: bool) -> None:
    """CS6200 2019, item 9: only /wiki/ over http or https, not the main page, no colon."""
    assert decided(configured(tmp_path, preset="assignment"), url) is inside


@pytest.mark.parametrize(("depth", "inside"), [(0, True), (4, True), (5, False)])
def test_the_assignment_goes_to_depth_five(tmp_path: Path, depth: int, inside: bool) -> None:
    """CS6200 2019, item 3: the seed is depth 1, and nothing lies beyond depth 5."""
    config = configured(tmp_path, preset="assignment")
    assert decided(config, "https://en.wikipedia.org/wiki/A", depth=depth) is inside


def test_the_assignment_is_polite_and_takes_pages_only(tmp_path: Path) -> None:
    """CS6200 2019, items 7 and 10: one second, one by one; and nothing but articles."""
    config = configured(tmp_path, preset="assignment")
    assert (config.delay, config.concurrency, config.robots) == (1.0, 1, "obey")
    assert {config.requisites, config.sitemaps, config.feeds, config.guesses} == {False}
    picture = Target("https://en.wikipedia.org/static/a.png", 1, SEED, "LE")
    assert not Scope((SEED,), config).decide(picture).inside


@pytest.mark.parametrize(
    ("seed", "url", "inside"),
    [
        ("http://127.0.0.1:8000/wiki/Start", "http://127.0.0.1:8000/wiki/A", True),
        ("http://127.0.0.1:8000/wiki/Start", "https://127.0.0.1:8000/wiki/A", True),
        ("http://127.0.0.1:8000/wiki/Start", "http://127.0.0.1:8000/wiki/Main_Page", False),
        ("http://127.0.0.1:8000/wiki/Start", "http://127.0.0.1:8000/wiki/Help:A", False),
        ("http://127.0.0.1:8000/wiki/Start", "http://127.0.0.1:8000/other/A", False),
        ("http://127.0.0.1:8000/wiki/Start", "http://127.0.0.1:8001/wiki/A", False),
        ("http://a.example/docs/x/y", "http://a.example/docs/z", True),
        ("http://a.example/index.html", "http://a.example/any/page", True),
        ("http://a.example/", "http://a.example/Main_Page", False),
        ("http://a.example/wiki/Main_Page", "http://a.example/wiki/Main_Page", True),
        ("http://a.example/wiki/Help:A", "http://a.example/wiki/Help:A", True),
        ("http://a.example/(x+)/1", "http://a.example/(x+)/2", True),
    ],
)
def test_the_assignment_can_be_done_on_any_site(
    tmp_path: Path, seed: str, url: str, inside: bool
) -> None:
    """The same rules on the seed's host and first folder; the seed itself is not a link."""
    assert decided(configured(tmp_path, seed, preset="assignment"), url, seed=seed) is inside


def test_a_bad_file_is_still_refused(tmp_path: Path) -> None:
    (tmp_path / "asof.toml").write_text('preset = "page"\ndepht = 3\n')
    with pytest.raises(ConfigError, match="unknown setting 'depht'"):
        configured(tmp_path)
