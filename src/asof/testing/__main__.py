"""`python -m asof.testing`: the synthetic web as a process of its own.

The first line on stdout is the URL of the first host, followed by those of the others. The
process serves until SIGTERM or SIGINT and then ends with 0.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from asof.clock import DAY, SystemClock, parse_iso
from asof.errors import UsageError
from asof.testing import Rates, SimulatedClock, SiteSpec, serve
from asof.testing.spec import TRAPS


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve as told; 0 when stopped by a signal, 2 when told nonsense."""
    options = _parser().parse_args(arguments)
    try:
        asyncio.run(_serve(options))
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    default = SiteSpec()
    parser = argparse.ArgumentParser(prog="python -m asof.testing", description=__doc__)
    for name in ("seed", "pages", "hosts", "links", "words", "css", "images", "scripts",
                 "appearing", "vanishing", "redirects", "disallowed"):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=getattr(default, name), metavar="N")
    for name in ("static", "asset_rate", "turnover", "chunked", "crawl_delay"):
        option = "--" + name.replace("_", "-")
        parser.add_argument(option, type=float, default=getattr(default, name), metavar="X")
    parser.add_argument("--rates", default="exponential:0.2", metavar="FAMILY:MEAN")
    parser.add_argument("--errors", default="404,410,500,503", help="statuses, or nothing")
    parser.add_argument("--etag", choices=("strong", "weak", "none", "mixed"), default="strong")
    parser.add_argument("--sitemap", choices=("none", "single", "index"), default="single")
    parser.add_argument("--traps", default="", metavar="KINDS", help="all, or some of them")
    parser.add_argument("--start", metavar="DATE", help="when its time starts (30 days ago)")
    parser.add_argument("--speed", type=float, help="run on a clock of its own, this fast")
    parser.add_argument("--port", type=int, default=0)
    by_name = "one port, as a proxy, for all hosts"
    parser.add_argument("--by-name", action="store_true", help=by_name)
    parser.add_argument("--prepare", action="store_true", help="render everything beforehand")
    parser.add_argument("--log", type=Path, metavar="FILE", help="append requests as JSON lines")
    return parser


def _spec(options: argparse.Namespace) -> SiteSpec:
    start = SystemClock().now() - 30 * DAY
    if options.start is not None:
        moment = parse_iso(options.start)
        if moment is None:
            raise UsageError(f"{options.start!r} is not a date.", hint="Write 2026-01-31.")
        start = moment
    try:
        errors = tuple(int(status) for status in options.errors.split(",") if status)
    except ValueError:
        raise UsageError(
            f"{options.errors!r} are not statuses.", hint="Write --errors 404,503."
        ) from None
    known = {each.name for each in fields(SiteSpec)}
    chosen = {name: value for name, value in vars(options).items() if name in known}
    some = tuple(kind for kind in options.traps.split(",") if kind)
    traps = TRAPS if options.traps == "all" else some
    read: dict[str, Any] = {"rates": Rates.parse(options.rates), "traps": traps}
    return SiteSpec(**{**chosen, **read, "errors": errors, "start": start})


async def _serve(options: argparse.Namespace) -> None:
    spec = _spec(options)
    simulated = options.speed is not None
    clock = SimulatedClock(spec.start, speed=options.speed) if simulated else SystemClock()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serve(
        spec, clock=clock, port=options.port, by_name=options.by_name, log=options.log
    ) as server:
        if options.prepare:
            server.site.prepare(clock.now())
        lines = (server.proxy,) if options.by_name else server.urls
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    sys.exit(main())
