"""`asof pause`, `resume`, `exclude`, `stop`: orders to a crawl that runs with --control."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from asof.archive.folder import Folder
from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import print_json, say
from asof.clock import Clock, SystemClock
from asof.crawl.control import Act, Order, Status, running, send_order
from asof.errors import UsageError

# A crawl hears orders five times a second; one that is busy with a large document takes longer.
_PATIENCE = 5.0
_LOOK_EVERY = 0.05


@click.command("pause")
@archive_option
@json_option
def pause_command(folder: Path, as_json: bool) -> int:
    """Let a running crawl begin no more fetches for now.

    It goes on with `asof resume`. The crawl must have been started with `asof crawl --control`.
    """
    return _give(folder, Act.PAUSE, as_json=as_json)


@click.command("resume")
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


@click.command("stop")
@archive_option
@json_option
def stop_command(folder: Path, as_json: bool) -> int:
    """Let a running crawl finish what is in flight and end.

    As one Ctrl-C would; `asof crawl` goes on with it later. The crawl must have been started with
    `asof crawl --control`.
    """
    return _give(folder, Act.STOP, as_json=as_json)


def _give(folder: Path, act: Act, pattern: str = "", *, as_json: bool) -> int:
    """Give an order, and wait a little until it is obeyed."""
    home, clock = Folder(folder), SystemClock()
    home.require()
    status = running(home)
    if status is None:
        raise _nobody(home)
    order = send_order(home, clock, act, pattern)
    did, last = _await(home, order, status, clock)
    if as_json:
        print_json(
            {
                "order": act.value,
                "id": order.id,
                **({"pattern": pattern} if act is Act.EXCLUDE else {}),
                "crawl": status.crawl,
                "obeyed": did is not None,
                "did": did,
                "state": None if last is None else last.state,
            }
        )
    elif did is not None:
        click.echo(_sentence(order, did, status.crawl, folder))
    if did is None:
        say(f"asof: {_unheard(status.crawl, last, folder)}")
    return 1 if did is None else 0


def _await(
    home: Folder, order: Order, status: Status, clock: Clock
) -> tuple[str | None, Status | None]:
    """What was done about an order, or None; and the crawl's last status, None when it ended."""
    deadline = clock.monotonic() + _PATIENCE
    last: Status | None = status
    while clock.monotonic() < deadline:
        last = running(home)
        if last is None or last.crawl != status.crawl:
            # A crawl that has been told to stop, and is not there any more, has obeyed.
            return ("stopped" if order.act is Act.STOP else None), None
        did = last.did(order)
        if did is not None:
            return did, last
        asyncio.run(clock.sleep(_LOOK_EVERY))
    return None, last


def _nobody(home: Folder) -> UsageError:
    if home.is_locked():
        return UsageError(
            f"{home.root} is in use, but not by a crawl that takes orders.",
            hint="Stop it with Ctrl-C, then go on with `asof crawl --control`.",
        )
    return UsageError(
        f"No crawl is running in {home.root}.",
        hint="Start one that takes orders with `asof crawl --control`.",
    )


def _unheard(crawl: str, last: Status | None, folder: Path) -> str:
    if last is None:
        return f"Crawl {crawl} has ended meanwhile. See `asof status{_where(folder)}`."
    return (
        f"Crawl {crawl} has not obeyed within {_PATIENCE:.0f} seconds, but it has the order. "
        f"See `asof status --follow{_where(folder)}`."
    )


def _sentence(order: Order, did: str, crawl: str, folder: Path) -> str:
    match order.act:
        case Act.PAUSE:
            return f"Crawl {crawl} is paused. Go on with: asof resume{_where(folder)}"
        case Act.RESUME:
            return f"Crawl {crawl} goes on."
        case Act.EXCLUDE:
            return f"Crawl {crawl} leaves out what matches {order.pattern}: {did}."
        case Act.STOP:
            return f"Crawl {crawl} is stopping. Go on with: asof crawl --control{_where(folder)}"


def _where(folder: Path) -> str:
    return "" if folder == Path("archive") else f" -a {folder}"
