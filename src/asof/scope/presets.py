"""Presets: what a kind of collection usually wants, under everything that the user says himself.

Spaniol 2010, "Intensive Collection" and "Extensive Collection": an intensive one prefers vertical
completeness (all that is found from an entry point), an extensive one horizontal completeness
(all entry points). `page` is a few pages as they are shown; `assignment` is that of CS6200 2019.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from asof.config import FILE, Config
from asof.errors import ConfigError
from asof.scope.areas import place
from asof.url import host_of

Settings = dict[str, object]

# CS6200 2019, item 3: the seed is depth 1 and the last pages are depth 5. Seeds are depth 0 here.
_ASSIGNMENT_DEPTH = 4
# Enough to know a site by: 10,000 sites are then 5 million pages, a day at 58 pages a second.
_EXTENSIVE_PAGES = 500
_LISTS = ("rules", "exclude", "include")
_NOTHING_BESIDE = {"sitemaps": False, "feeds": False, "guesses": False}


def _assignment(seeds: tuple[str, ...]) -> Settings:
    """CS6200 2019, items 3 to 10. The rules of item 9 are made for the seed's host and folder."""
    folders = tuple(dict.fromkeys(_first_folder(seed) for seed in seeds))
    return {
        # The seed is not a link, so the rules about links do not leave it out.
        "rules": ("in seeds:",),
        "scope": "page",
        # 9b: only links that start with http://en.wikipedia.org/wiki/, or the same with https.
        "include": tuple(f"^https?://{folder}" for folder in folders),
        # 9c: not the main page. 9d: no colon after the host name; a port's is before the slash.
        "exclude": (
            *(rf"^https?://{folder}Main_Page(?:\?|$)" for folder in folders),
            r"^https?://[^/]+/.*(?::|%3[Aa])",
        ),
        "depth": _ASSIGNMENT_DEPTH,
        # 7: at least one second between requests; 10: pages one by one.
        "delay": 1.0,
        "concurrency": 1,
        "requisites": False,
        **_NOTHING_BESIDE,
    }


def _first_folder(seed: str) -> str:
    """`en\\.wikipedia\\.org/wiki/` of a page there: host and first folder, as a pattern."""
    path = place(seed)[1]
    return re.escape(host_of(seed) + (path[: path.find("/", 1) + 1] or "/"))


_FIXED: dict[str, Settings] = {
    "intensive": {
        "scope": "host",
        "depth": None,
        "max_pages_per_host": None,
        **dict.fromkeys(("requisites", "sitemaps", "feeds", "guesses"), True),
    },
    "extensive": {
        "scope": "domain",
        "depth": 3,
        "max_pages_per_host": _EXTENSIVE_PAGES,
        "requisites": True,
        "guesses": False,
    },
    "page": {"scope": "page", "requisites": True, **_NOTHING_BESIDE},
}
PRESETS = (*_FIXED, "assignment")


def preset_settings(name: str, seeds: tuple[str, ...]) -> Settings:
    """What a preset sets, for these (canonical) seeds. ConfigError when there is none so named."""
    if name not in PRESETS:
        raise ConfigError(
            f"There is no preset {name[:60]!r}.", hint=f"Known ones are: {', '.join(PRESETS)}."
        )
    return _assignment(seeds) if name == "assignment" else dict(_FIXED[name])


def load_config(
    folder: Path, environ: Mapping[str, str], seeds: tuple[str, ...], **flags: object
) -> Config:
    """`Config.load`, with the preset that it names under all that is set by file, variable or flag.

    A setting that somebody made wins over the preset, even when it says what is the default. The
    lists of rules add up: the user's come first, and in a list of rules the first one wins.
    """
    config = Config.load(folder, environ, **flags)
    if config.preset is None:
        return config
    # The settings that somebody made; the file was read and found good by `Config.load`.
    path = folder / FILE
    given = set(tomllib.loads(path.read_text("utf-8")) if path.is_file() else ())
    given |= {name[5:].lower() for name in environ if name.startswith("ASOF_")}
    given |= {name for name, value in flags.items() if value is not None}
    values = preset_settings(config.preset, seeds)
    for name in _LISTS:
        if name in values:
            values[name] = (*getattr(config, name), *cast(tuple[str, ...], values[name]))
    under = {name: value for name, value in values.items() if name in _LISTS or name not in given}
    return config.updated(under, source=f"the preset {config.preset}")
