"""Settings: one frozen Config from `asof.toml`, `ASOF_*` variables and flags.

An unknown key in the file is an error, so that a misspelt limit cannot go unnoticed. Its table
`[relations]` is of no crawl: it gives names to rules of `asof cover` (`named_relations`).

Later sources win: defaults, then the archive's asof.toml, then the environment, then flags.
"""

import re
import shutil
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

from asof.errors import ConfigError, StorageError

FILE = "asof.toml"
COMMAND_LINE = "the command line"
RELATIONS = "relations"
_LARGEST = 1 << 62
# On a small disk the default reserve is this share: who gives us 5 MB means them to be used.
_LARGEST_SHARE = 0.05
# What a text must look like, and what to do where it does not.
_FORMS = {
    "robots": ("obey|ignore", "Use obey or ignore."),
    "coherence": ("off|measurable|inducible", "Use off, measurable or inducible."),
    "plan": (
        "auto|optimal|threshold|bfs|lifo|fifo",
        "Use auto, optimal, threshold, bfs, lifo or fifo.",
    ),
    "trust_dates": ("auto|always|never", "Use auto, always or never."),
    "scope": (
        r"host|domain|path|page|surt:\S[\s\S]*",
        "Use host, domain, path, page or surt:PREFIX.",
    ),
    "user_agent": (r"[!-~]([ -~]*[!-~])?", "It must be text that ASCII can write."),
    "proxy": (r"http://[^\s/]+:\d{1,5}/?", "Write it as http://[user:password@]host:port."),
}
_POSITIVE = (
    "max_pages", "max_bytes", "max_pages_per_host", "max_bytes_per_host", "time_limit",
    "concurrency", "connect_timeout", "idle_timeout", "fetch_timeout",
    "max_body", "segment_bytes", "group_records",
)  # fmt: skip
# No dots, which would nest tables in TOML.
_RELATION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,79}")
_SETTINGS_HINT = (
    "Settings are named like the options of `asof crawl`, with _ for -; docs/settings.md."
)
_SIZE = re.compile(
    r"([0-9]{1,18})|([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(?:([kmgt])(i?))?b?", re.IGNORECASE | re.ASCII
)
_SIZES = ("max_bytes", "max_bytes_per_host", "disk_reserve", "max_body", "segment_bytes")
SIZE_HINT = "Write a number of bytes: 500000, 500kB, 10MB, 1.5GB or 2GiB."
_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Config:
    """What a crawl does and how. The names are those of asof.toml and of the long options."""

    # WHICH
    preset: str | None = None
    scope: str = "host"
    rules: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    depth: int | None = None
    requisites: bool = True
    sitemaps: bool = True
    feeds: bool = True
    guesses: bool = True
    traps: bool = True
    text: bool = True
    robots: str = "obey"
    allow_private: bool = False
    # HOW MUCH
    max_pages: int | None = None
    max_bytes: int | None = None
    max_pages_per_host: int | None = None
    max_bytes_per_host: int | None = None
    time_limit: float | None = None
    disk_reserve: int = 200_000_000
    # WHEN: seconds from the end of one answer to the next request to the same host (Naumann 2011:
    # the politeness timer starts when the site is released); at least `delay`, at least
    # `delay_factor` times as long as the last fetch took.
    delay: float = 1.0
    delay_factor: float = 1.0
    max_crawl_delay: float = 60.0
    retries: int = 2
    retry_delay: float = 2.0
    concurrency: int = 128
    # HOW TRUE: in which order pages are visited, and whether twice (Spaniol 2009)
    coherence: str = "off"
    plan: str = "auto"
    eta: float = 0.6
    revisits: int | None = None
    audit: bool = True
    trust_dates: str = "auto"
    # HOW
    user_agent: str = "asof/0.1 (web archive)"
    connect_timeout: float = 20.0
    idle_timeout: float = 30.0
    fetch_timeout: float = 600.0
    max_body: int = 1 << 30
    verify_tls: bool = True
    proxy: str | None = None
    cookies: bool = False
    conditional: bool = True
    # KEEP: a WARC rolls at this size (10-capture.md); a group commit holds at most this much.
    segment_bytes: int = 1_000_000_000
    group_records: int = 64
    group_seconds: float = 1.0

    def __post_init__(self) -> None:
        for pattern in self.exclude:
            try:
                re.compile(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                raise ConfigError(
                    f"exclude pattern {pattern!r} is not a regular expression: {error}.",
                    hint="Escape special characters such as ? and + with a backslash.",
                    setting="exclude",
                ) from error
        for name, (pattern, hint) in _FORMS.items():
            value = getattr(self, name)
            if value is not None and not re.fullmatch(pattern, value):
                raise ConfigError(f"{name} is {value!r}.", hint=hint, setting=name)
        if not 0 <= self.eta <= 1:
            hint = "It is a risk, from 0 to 1."
            raise ConfigError(f"eta is {self.eta:g}.", hint=hint, setting="eta")
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            if not 0 <= value < _LARGEST or (value == 0 and name in _POSITIVE):
                least = "more than 0" if name in _POSITIVE else "0 or more"
                hint = f"It must be {least} and not endless; change or remove it."
                raise ConfigError(f"{name} is {value:g}.", hint=hint, setting=name)

    def room(self, folder: Path) -> int:
        """Bytes that may be written to the disk of a folder before it has only its reserve left."""
        disk = shutil.disk_usage(folder)
        reserve = self.disk_reserve
        if reserve == DEFAULTS.disk_reserve:  # nobody said so: not more than a share
            reserve = min(reserve, int(disk.total * _LARGEST_SHARE))
        return disk.free - reserve

    def require_room(self, folder: Path, size: int, source: Path, room: int | None = None) -> None:
        """The disk keeps its reserve, as in a crawl, when so much of a file is imported."""
        if (self.room(folder) if room is None else room) < size:
            raise StorageError(
                f"{source} was not imported, for {size / 1e6:,.0f} MB more would leave less"
                f" free than the reserve of {self.disk_reserve / 1e6:,.0f} MB.",
                hint="Make room, or lower disk_reserve in asof.toml, and import it again;"
                " nothing of it was kept.",
            )

    @classmethod
    def load(cls, folder: Path, environ: Mapping[str, str], **flags: object) -> Self:
        """The settings for an archive folder; a flag that is None was not given."""
        config = cls()
        path = folder / FILE
        if path.is_file():
            values = _read_toml(path)
            _relations(values.pop(RELATIONS, {}), str(path))
            config = config.updated(values, source=str(path))
        named = {name.lower(): value for name, value in environ.items() if name.startswith("ASOF_")}
        keys = ((f"asof_{each.name}", each.name) for each in fields(cls))
        variables = {name: named[key] for key, name in keys if key in named}
        config = config.updated(variables, source="the environment (ASOF_*)")
        given = {name: value for name, value in flags.items() if value is not None}
        return config.updated(given, source=COMMAND_LINE)

    def updated(self, values: Mapping[str, object], *, source: str) -> Self:
        """These settings with some replaced; names the source when a key or value is wrong."""
        types = get_type_hints(type(self))
        unknown = sorted(set(values) - set(types))
        if unknown:
            meant = " or ".join(get_close_matches(unknown[0], types, 3))
            hint = f"Did you mean {meant}?" if meant else _SETTINGS_HINT
            raise ConfigError(f"{source} has the unknown setting {unknown[0]!r}.", hint=hint)
        # Any: each value was just checked against its field's own type.
        checked: dict[str, Any] = {k: _coerce(k, v, types[k], source) for k, v in values.items()}
        try:
            return replace(self, **checked)
        except ConfigError as error:
            if source == COMMAND_LINE:
                raise
            raise ConfigError(f"{source}: {error.what}", hint=error.hint) from error

    def as_dict(self) -> dict[str, object]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


DEFAULTS = Config()


def named_relations(folder: Path) -> dict[str, str]:
    """The relations that asof.toml of an archive gives names to; what they say is not checked."""
    path = folder / FILE
    return _relations(_read_toml(path).get(RELATIONS, {}), str(path)) if path.is_file() else {}


def is_relation_name(text: str) -> bool:
    """Whether a text is a name, and so no relation: that has at least a sign in it."""
    return _RELATION_NAME.fullmatch(text) is not None


def parse_size(text: str) -> int | None:
    """A number of bytes as people write it (`500kB`, `10 MB`, `2GiB`, `1000000`), or None."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    digits, number, unit, binary = match.groups()
    if digits:
        return int(digits)
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index((unit or " ").lower()))


def _relations(given: object, source: str) -> dict[str, str]:
    hint = f'Write name = "C(d1,d2) >= 0.7" below [{RELATIONS}].'
    if not isinstance(given, dict):
        raise ConfigError(f"{source} sets {RELATIONS} to {given!r}.", hint=hint)
    for name, relation in given.items():
        if not is_relation_name(name):
            raise ConfigError(
                f"{source} has a relation with the name {name[:80]!r}.",
                hint="Use up to 80 letters (A to Z), digits, '_' and '-', a letter in front.",
            )
        if not isinstance(relation, str):
            raise ConfigError(f"{source} sets the relation {name} to {relation!r}.", hint=hint)
    return given


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}.", hint="Mend or remove it."
        ) from error
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}."
        raise ConfigError(what, hint="Check its rights.") from error


def _coerce(name: str, value: object, wanted: Any, source: str) -> object:  # noqa: ANN401, a type
    """A TOML value or a string as the setting's type; anything else is an error."""
    optional = isinstance(wanted, UnionType)  # `int | None`
    if value is None and optional:
        return None
    kind = get_args(wanted)[0] if optional else wanted
    if get_origin(kind) is tuple and isinstance(value, list | tuple | str):
        if isinstance(value, str):  # a rule has a space in it
            value = value.splitlines() if name == "rules" else value.split()
        return tuple(map(str, value))
    if kind is bool and isinstance(value, str) and value.lower() in _TRUE + _FALSE:
        return value.lower() in _TRUE
    if name in _SIZES and isinstance(value, str):
        if (size := parse_size(value)) is None:
            raise ConfigError(f"{source} sets {name} to {value!r}.", hint=SIZE_HINT)
        return size
    if kind in (int, float) and isinstance(value, str):
        with suppress(ValueError):
            return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is kind:
        return value
    hint = f"It must be {_KINDS.get(kind, 'a list of texts')}."
    raise ConfigError(f"{source} sets {name} to {value!r}.", hint=hint)
