"""`asof pause`, `resume`, `exclude`, `stop`: orders to a crawl that runs with --control."""

from pathlib import Path

import click

from asof.archive.folder import Folder
from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import print_json, say, where
from asof.clock import SystemClock
from asof.crawl.control import Act
from asof.crawl.watch import give_order
from asof.report.crawl_words import obeyed

_ONWARD = {Act.PAUSE: " Go on with: asof resume", Act.STOP: " Go on with: asof crawl --control"}


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
        onward = f"{_ONWARD[act]}{where(folder)}" if act in _ONWARD else ""
        click.echo(f"{obeyed(given)}.{onward}")
    if given.did is None:
        follow = "" if given.state is None else " --follow"
        say(f"asof: {obeyed(given)}. See `asof status{follow}`.")
    return 1 if given.did is None else 0
