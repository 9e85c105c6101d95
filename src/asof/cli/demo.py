"""`asof demo`: the whole story on a small changing site that it serves itself."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import click

from asof.api import Archive, index
from asof.archive import OpenArchive
from asof.cli.options import examples, port_option
from asof.cli.reading import read_texts
from asof.cli.view import CrawlView
from asof.clock import DAY, SECOND, SystemClock, stamp, when
from asof.crawl import CrawlRequest, run_crawl
from asof.errors import UsageError
from asof.model import Capture
from asof.report.validity_words import held_and_said
from asof.report.words import number, percent
from asof.testing import Rates, SimulatedClock, SiteSpec, SyntheticSite, serve_in_thread

_WORD = "lighthouse"  # what the newspaper likes to write of


@click.command(
    "demo",
    epilog=examples(
        "asof demo",
        "asof demo --no-serve -a newspaper   keep the archive, to try the other commands on",
    ),
)
@click.option("-a", "--archive", "folder", type=click.Path(path_type=Path), metavar="DIR",
              help="Keep the archive in this new folder [a temporary one].")  # fmt: skip
@click.option("--no-serve", is_flag=True, help="End after the story instead of serving.")
@port_option("serve")
def demo_command(folder: Path | None, no_serve: bool, port: int) -> int:
    """Tell the whole story on a small site of its own.

    Serves a newspaper that changes, captures it twice, the second time so that it holds at one
    moment, and travels between the two.
    """
    if folder is not None and folder.exists():
        raise UsageError(f"{folder} exists.", hint="Name a folder that does not exist yet.")
    from asof.web.server import Service, bound, serve

    if not no_serve:
        bound("127.0.0.1", port).close()  # taken? Rather told now than after the story
    with _place(folder, keep=no_serve) as place:
        pages = _story(place)
        with Archive.open(place) as archive:
            _tell(archive, pages, place)
            if no_serve:
                # `make demo` has it in an environment that no path leads to.
                command = "asof" if shutil.which("asof") else sys.argv[0]
                click.echo(f"\nBrowse it with: {command} serve -a {place}")
                click.echo(f"then open      {_replay('http://127.0.0.1:8080/', pages[0])}")
                return 0
        serve(Service([place], "127.0.0.1", port, pictures=True), lambda url: _invite(url, pages))
    return 0


@contextmanager
def _place(folder: Path | None, *, keep: bool) -> Iterator[Path]:
    """The folder that was named, or a temporary one that goes when the demo ends by serving."""
    if folder is not None:
        yield folder
        return
    parent = Path(mkdtemp(prefix="asof-demo-"))
    try:
        yield parent / "archive"
    finally:
        if not keep:
            shutil.rmtree(parent, ignore_errors=True)


def _story(folder: Path) -> list[Capture]:
    """Two crawls, a week apart on a simulated clock; the captures of a page that changed."""
    now = SystemClock().now()
    clock = SimulatedClock(start=now - 7 * DAY)
    spec = SiteSpec(seed=7, pages=40, rates=Rates.exponential(0.2), start=now - 60 * DAY)
    site = SyntheticSite(spec)
    with serve_in_thread(site, clock=clock, by_name=True) as server:
        pages = f"{server.url} ({spec.pages} pages)"
        click.echo(f"A small newspaper is online on this machine: {pages}.")
        click.echo("The demo's clock is set back a week. Crawling the site as it is then ...")
        _crawl(folder, server.url, server.proxy, clock, coherence="off")
        clock.jump(seconds=max(0.0, (now - clock.now()) / SECOND))
        click.echo("\nA week passes: the newspaper goes on writing. Looking at each page twice ...")
        _crawl(folder, server.url, server.proxy, clock, coherence="inducible")
    with OpenArchive.open(folder) as archive:
        read_texts(archive)  # pages tell of what kind each change was
    index(folder)
    with OpenArchive.open(folder) as archive:
        _tell_coherence(archive)
        return _changed(archive)


def _crawl(folder: Path, url: str, proxy: str, clock: SimulatedClock, coherence: str) -> None:
    settings = {"delay": 0.0, "retries": 0, "proxy": proxy, "coherence": coherence}
    request = CrawlRequest(folder, (url,), settings)
    with CrawlView() as view:
        summary = run_crawl(request, clock=clock, watch=view.show, talk=view.say).summary
    click.echo(
        f"  {number(summary.captured, 'capture')}, {summary.left_out} left out, "
        f"{summary.failed} failed, in {summary.seconds:.1f} s"
    )


def _tell_coherence(archive: OpenArchive) -> None:
    # Here, for measuring needs numpy, which takes longer to load than the rest.
    from asof.coherence.certificate import Choice
    from asof.coherence.quality import measure_choice
    from asof.model import Grade

    _, found = measure_choice(archive, Choice((archive.crawls()[-1].id,)))
    counts = found.counts
    click.echo(
        f"  coherence C = {percent(found.c or 0)} as of {when(found.reference)}: of "
        f"{len(found.pages)} pages {counts[Grade.PROVEN]} proven by\n  their bytes, "
        f"{counts[Grade.CONFIRMED]} confirmed by the server (asof quality has them all)"
    )


def _changed(archive: OpenArchive) -> list[Capture]:
    """The captures of a page that changed; if there is one, of one with a new headline."""
    by_url: dict[str, list[Capture]] = {}
    for capture in archive.captures():
        if capture.media_type == "text/html" and capture.status == 200:
            by_url.setdefault(capture.url, []).append(capture)
    changed = [c for c in by_url.values() if len(c) > 1 and c[0].content != c[-1].content]
    for captures in changed:
        if _headline(archive, captures[0])[0] != _headline(archive, captures[-1])[0]:
            return captures
    return changed[-1]


def _tell(archive: Archive, pages: list[Capture], folder: Path) -> None:
    from asof.coherence.history import history

    url = pages[0].url
    click.echo(f"\n{number(archive.catalog.count(), 'capture')} in {folder}.")
    click.echo(f"\nOne page that changed is {url}")
    for no, validity in enumerate(history(archive, url), 1):
        click.echo(f"  content {no}: {held_and_said(validity, when)}")
    for capture in (pages[0], pages[-1]):
        click.echo(f"\nAs of {when(capture.at)} (asof get URL --at {stamp(capture.at)}):")
        for line in _headline(archive, capture):
            click.echo(f"  | {line}")
    ends = (crawl.ended or "now" for crawl in archive.crawls())
    first, last = (archive.search(_WORD, as_of=end).found for end in ends)
    click.echo(
        f"\nThe {_WORD} is spoken of by {number(first, 'page')} of the first crawl, by {last:,} "
        f"a week later (asof search {_WORD} --as-of T)."
    )


def _headline(archive: OpenArchive, capture: Capture) -> list[str]:
    """Headline, first sentence and edition of a page, as a reader sees them."""
    from asof.text.html.blocks import layout

    blocks = layout(b"".join(archive.read(capture).payload()).decode("utf-8", "replace")).blocks
    headings = (place for place, block in enumerate(blocks) if block.name in ("h1", "h2"))
    start = next(headings, 0)
    return [" ".join(block.text.split()) for block in blocks[start : start + 3]]


def _replay(base: str, capture: Capture) -> str:
    return f"{base}{stamp(capture.at)}/{capture.url}"


def _invite(base: str, pages: list[Capture]) -> None:
    then, now = stamp(pages[0].at), stamp(pages[-1].at)
    click.echo("\nNow look at it in a browser, as of then and as of now:")
    click.echo(f"  {_replay(base, pages[0])}")
    click.echo(f"  {_replay(base, pages[-1])}")
    click.echo("what changed between them, what the page is made of, and who spoke of what when:")
    click.echo(f"  {base}compare/{then}/{now}/{pages[0].url}")
    click.echo(f"  {base}-/composition/{now}/{pages[0].url}")
    click.echo(f"  {base}search?q={_WORD}")
    click.echo(f"Serving at {base} until you press Ctrl-C.")
