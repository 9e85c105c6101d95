"""`asof shot`: a picture of a page as of a moment."""

import sys
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.options import (
    archive_option,
    examples,
    json_option,
    moment_option,
    output_option,
    policy_option,
    require_place,
)
from asof.cli.output import open_archive, print_json, say
from asof.clock import SystemClock, iso, stamp
from asof.errors import UsageError
from asof.files import output_file

if TYPE_CHECKING:
    from asof.replay.composition import Composition
    from asof.web.pictures.studio import Picture


@click.command(
    "shot",
    epilog=examples(
        "asof shot https://example.org/ --at 2026-03-01 -o march.png",
        "asof shot https://example.org/ --full --width 390 -o phone.png",
        "asof shot https://example.org/ -o now.png --json",
    ),
)
@click.argument("url")
@archive_option
@moment_option
@policy_option
@output_option
@click.option("--width", type=click.IntRange(200, 4096), default=1280, show_default=True,
              metavar="N", help="In pixels; it is 800 high, or five eighths of this.")  # fmt: skip
@click.option("--full", is_flag=True, help="All of the page, not what the window shows.")
@click.option("--banner", is_flag=True, help="With the banner that `asof serve` shows above it.")
@click.option("--seconds", type=click.IntRange(1, 600), default=30, show_default=True,
              metavar="N", help="So long at most; what is there then is the picture.")  # fmt: skip
@json_option
def shot_command(
    url: str, folder: Path, moment: str, policy: str, output: Path | None, width: int, full: bool,
    banner: bool, seconds: int, as_json: bool,
) -> int:  # fmt: skip
    """A picture (PNG) of a page as it is replayed as of a moment.

    Taken by your own Chromium, Chrome or Edge ($ASOF_CHROMIUM names another one), which reaches
    nothing but this archive. The picture says of what it is, as of when, and how sure that is.
    """
    # Here, for no other command needs a server to show something.
    from asof.web.pictures.browser import is_without_sandbox, required
    from asof.web.pictures.studio import View, studio

    if as_json and output is None:
        raise UsageError("--json needs -o: a picture and JSON are two things.", hint="Add -o FILE.")
    if output is not None:
        require_place(output)
    elif sys.stdout.isatty():
        raise UsageError("No terminal shows a picture.", hint="Write it to a file with -o FILE.")
    required()
    view = View(width, max(width * 5 // 8, 800), whole=full, banner=banner, seconds=float(seconds))
    with open_archive(folder) as archive:
        # A whole second, as addresses of the server have it.
        made = archive.composition(url, stamp(archive.moment(moment)), policy)
        if is_without_sandbox():
            say("As root, Chromium runs without its sandbox: archived pages could break out of it.")
        with studio(archive, SystemClock()) as place:
            taken = place.picture(made.root.url, made.asked, policy, view)
    data = _worded(taken, made)
    with nullcontext(sys.stdout.buffer) if output is None else output_file(output) as file:
        file.write(data)
        file.flush()
    _tell(taken, made)
    if as_json:
        print_json(_json(taken, made, str(output), len(data)))
    return 0


def _worded(taken: "Picture", made: "Composition") -> bytes:
    from asof.web.pictures.png import with_words

    words = {
        "Software": f"asof {version('asof')}", "Title": taken.title, "URL": made.root.url,
        "Asked": iso(made.asked), "Shown": iso(made.shown), "Verdict": made.root.verdict.value,
    }  # fmt: skip
    return with_words(taken.data, words)


def _tell(taken: "Picture", made: "Composition") -> None:
    """What one does not see in the picture."""
    status = None if made.root.capture is None else made.root.capture.status
    if status is not None and status >= 400:
        say(f"The server answered with an error then: {status}.")
    from asof.web import wabac
    from asof.web.replay_site import SCRIPTED_TYPES

    media = None if made.root.capture is None else made.root.capture.media_type
    if media in SCRIPTED_TYPES and wabac.installed() is None:
        say("Its scripts did not run: `asof setup replay` obtains what runs them.")
    if not taken.is_settled:
        say("The page was still at work when its time was over: something may be missing.")
    if taken.is_cut:
        say(f"The page goes on below: a picture is at most {taken.height:,} pixels high.")


def _json(taken: "Picture", made: "Composition", name: str, size: int) -> dict[str, object]:
    from asof.report.composition_words import composition_json

    picture = {
        "file": name, "bytes": size, "width": taken.width, "height": taken.height,
        "title": taken.title, "scripts": taken.with_scripts, "settled": taken.is_settled,
        "cut": taken.is_cut,
    }  # fmt: skip
    return {"picture": picture, **composition_json(made)}
