"""What a user asks of a crawl: checked before anything is made, and which crawl is meant by it."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.clock import stamp
from asof.config import COMMAND_LINE, Config
from asof.errors import ConfigError, UsageError
from asof.model import Crawl, CrawlState
from asof.scope.presets import load_config, preset_settings
from asof.scope.rules import Scope
from asof.url import fault, host_of, typed
from asof.warc.info import check_crawl_id

_LOOSE = {
    "allow_private": "--allow-private",
    "proxy": "--proxy",
    "verify_tls": "--insecure",
    "robots": "--robots ignore",
}


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """What the user asked for. `settings` are the flags that were given, and only those."""

    archive: Path
    seeds: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    new: bool = False
    control: bool = False


def read_request(request: CrawlRequest) -> tuple[tuple[str, ...], Config]:
    """The seeds, and the settings that a new crawl of them has; what is wrong is an error."""
    hint = "Seeds are http or https URLs."
    seeds = tuple(dict.fromkeys(address(url, hint) for url in request.seeds))
    config = load_config(request.archive, request.environ, seeds, **request.settings)
    Scope(seeds, config)
    return seeds, config


def checked_seeds(request: CrawlRequest) -> tuple[str, ...]:
    """The seeds. Everything that the user wrote is checked before a folder is made."""
    seeds, config = read_request(request)
    if seeds:
        _check_coherence(config, request.settings)
    if not seeds and not Folder(request.archive).exists():
        raise _nothing_to_resume()
    return seeds


def choose_crawl(
    archive: OpenArchive, request: CrawlRequest, seeds: tuple[str, ...]
) -> tuple[Crawl, Config, bool]:
    """The interrupted crawl that is meant, with its settings under the new flags; or a new one."""
    crawl = None if request.new else interrupted(archive, seeds)
    if crawl is not None:
        check_crawl_id(crawl.id)
        config = Config().updated(crawl.settings, source=f"crawl {crawl.id}")
        given = {k: v for k, v in request.settings.items() if v is not None}
        if given.get("preset"):
            given = preset_settings(str(given["preset"]), crawl.seeds) | given
        return crawl, config.updated(given, source=COMMAND_LINE), True
    if not seeds:
        raise _nothing_to_resume()
    config = load_config(request.archive, request.environ, seeds, **request.settings)
    now = archive.clock.now()
    name = f"{stamp(now)}-{secrets.token_hex(2)}"
    return Crawl(name, seeds, now, CrawlState.RUNNING, settings=config.as_dict()), config, False


def interrupted(archive: OpenArchive, seeds: tuple[str, ...]) -> Crawl | None:
    """The crawl that goes on when these seeds, or none, are given: the last of ours that has not
    ended.
    """
    ours = (crawl for crawl in archive.crawls()[::-1] if not crawl.imported)
    unfinished = (crawl for crawl in ours if crawl.state is not CrawlState.FINISHED)
    return next((c for c in unfinished if not seeds or c.seeds == seeds), None)


def loosened(crawl: Crawl, config: Config, given: Mapping[str, object]) -> str | None:
    """What a crawl that goes on has of settings that loosen safety and nobody gives now: the files
    it was begun in may have come from anywhere. None: nothing.
    """
    usual = Config()
    names = [n for n in _LOOSE if getattr(config, n) != getattr(usual, n) and given.get(n) is None]
    if not names:
        return None
    host = f" {host_of(config.proxy)}" if config.proxy else ""
    told = ", ".join(_LOOSE[name] + (host if name == "proxy" else "") for name in names)
    return f"Going on with crawl {crawl.id} as it was begun, with {told}. To begin anew: --new"


def _check_coherence(config: Config, given: Mapping[str, object]) -> None:
    """Options of a plan make no sense without one."""
    meant = [name for name in ("plan", "eta", "revisits", "audit") if given.get(name) is not None]
    if meant and config.coherence == "off":
        raise ConfigError(
            f"{meant[0]} has no effect on a crawl that does not seek coherence.",
            hint="Add --coherence inducible, or leave it out.",
            setting=meant[0],
        )
    if given.get("revisits") is not None and config.coherence == "measurable":
        raise UsageError(
            "A measurable crawl makes no revisits.", hint="Use --coherence inducible for them."
        )


def address(url: str, hint: str = "Write http or https URLs.") -> str:
    """A URL as the crawl asks for it."""
    found = typed(url)
    if found is None:
        if url and os.path.lexists(url):
            there = "It lies on this machine: serve it (`python3 -m http.server` in its folder)"
            hint = f"{there} and crawl that address; `asof import` takes WARC files."
            raise UsageError(f"{url[:200]!r} is a file or folder, not a URL.", hint=hint)
        raise UsageError(f"{url[:200]!r} {fault(url)}.", hint=hint)
    return found


def _nothing_to_resume() -> UsageError:
    return UsageError(
        "There is no interrupted crawl to resume.", hint="Name at least one URL to crawl."
    )
