"""`asof setup`: what is not part of asof, and is obtained once."""

from pathlib import Path

import click

from asof.cli.options import examples, file_option
from asof.cli.output import say


@click.command(
    "setup",
    epilog=examples(
        "asof setup replay",
        "asof setup replay --from webrecorder-wabac-2.27.3.tgz",
    ),
)
@click.argument("what", type=click.Choice(["replay"]), metavar="replay")
@file_option("--from", "tarball", help="The npm package at hand, instead of npm.", dir_okay=False)
def setup_command(what: str, tarball: Path | None) -> int:
    """Obtain what replays archived pages with their scripts.

    That is @webrecorder/wabac, under the AGPL, by `npm pack`: one file, checked against its known
    digest, put into your data folder ($XDG_DATA_HOME/asof, or the folder $ASOF_REPLAY). Without
    it `asof serve` shows pages without scripts.
    """
    from asof.web import wabac

    where = wabac.install(tarball)
    say(f"{wabac.NAME} {wabac.VERSION} ({wabac.LICENCE}, source: {wabac.SOURCE}) is in {where}.")
    say("`asof serve` uses it from its next start on.")
    return 0
