"""`asof pause`, `resume`, `exclude`, `stop`: orders to a crawl that runs with --control."""

from pathlib import Path

import click

from asof.archive.folder import Folder
from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import print_json, say, where
from asof.clock import SystemClock
from asof.crawl.control import Act
from asof.crawl.watch import PATIENCE, give_order

_OBEYED = {
    Act.PAUSE: "is paused. Go on with: asof resume{where}",
    Act.RESUME: "goes on.",
    Act.EXCLUDE: "leaves out what matches {pattern}: {did}.",
    Act.STOP: "is stopping. Go on with: asof crawl --control{where}",
}
_ENDED = "has ended meanwhile. See `asof status`."
_UNHEARD = (
    f"has not obeyed within {PATIENCE:.0f} seconds, but it has the order. "
    "See `asof status --follow`."
)


@click.command("pause", epilog=examples("asof pause", "asof pause -a archive"))
@archive_option
@json_option
def pause_command(folder: Path, as_json: bool) -> int:
    """Let a running crawl begin no more fetches for now.

    It goes on with `asof resume`. The crawl must have been started with `asof crawl --control`.
    """
    return _give(folder, Act.PAUSE, as_json=as_json)


@click.command("resume", epilog=examples("asof resume", "asof resume -a archive"))
@archive_option
@json_option
def resume_command(folder: Path, as_json: bool) -> int:
    """Let a paused crawl go on.

    One that was stopped or interrupted goes on with `asof crawl`.
    """
    return _give(folder, Act.RESUME, as_json=as_json)


@click.command("exclude", epilog=examples(r"asof exclude '/calendar/\d+' -a archive"))
@click.argument("pattern", metavar="RE")
@archive_option
@json_option
def exclude_command(pattern: str, folder: Path, as_json: bool) -> int:
    """Let a running crawl leave out URLs that match RE.

    Those that wait are left out, too. The rule is kept with the crawl, so it holds as well when the
    crawl is resumed. The crawl must have been started with `asof crawl --control`.
    """
    return _give(folder, Act.EXCLUDE, pattern, as_json=as_json)


@click.command("stop", epilog=examples("asof stop", "asof stop -a archive"))
@archive_option
@json_option
def stop_command(folder: Path, as_json: bool) -> int:
    """Let a running crawl finish what is in flight and end.

    As one Ctrl-C would; `asof crawl` goes on with it later. The crawl must have been started with
    `asof crawl --control`.
    """
    return _give(folder, Act.STOP, as_json=as_json)


def _give(folder: Path, act: Act, pattern: str = "", *, as_json: bool) -> int:
    home = Folder(folder)
    home.require()
    given = give_order(home, SystemClock(), act, pattern)
    if as_json:
        print_json(
            {
                "order": act.value,
                "id": given.order.id,
                **({"pattern": pattern} if act is Act.EXCLUDE else {}),
                "crawl": given.crawl,
                "obeyed": given.did is not None,
                "did": given.did,
                "state": given.state,
            }
        )
    elif given.did is not None:
        said = _OBEYED[act].format(pattern=pattern, did=given.did, where=where(folder))
        click.echo(f"Crawl {given.crawl} {said}")
    if given.did is None:
        said = _ENDED if given.state is None else _UNHEARD
        say(f"asof: Crawl {given.crawl} {said}")
    return 1 if given.did is None else 0
