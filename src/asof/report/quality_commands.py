"""The commands that a report proposes: whole, quoted, and for the archive it speaks of."""

import shlex

from asof.clock import iso, stamp
from asof.coherence.quality_report import Report
from asof.coherence.verdict import PageVerdict

_WEB = ("http://", "https://")
_MOST_NAMES = 3  # seeds or crawls in one command: more cannot be read


def diff(page: PageVerdict, place: str = "") -> str | None:
    """What shows the difference of both sides of a page; None where one side is missing."""
    if page.before is None or page.after is None:
        return None
    # A stamp means the end of its second; two sights in one second need all digits.
    old, new = page.before.at, page.after.at
    write = stamp if stamp(old) != stamp(new) else iso
    return f"asof diff {shlex.quote(page.url)} {write(old)} {write(new)}{place}"


def crawl(report: Report, *more: str) -> str:
    """Another crawl of the same pages, which visits all of them twice.

    Without its scope a crawl of one folder would become one of the whole host.
    """
    part = report.part if report.part.startswith(_WEB) else ""
    settings = report.crawls[-1].settings if report.crawls else {}
    scope = str(settings.get("scope", "host"))
    if part:
        scope = "path" if is_folder(part) else "host"
    words = ["asof crawl", shlex.quote(part) if part else _seeds(report) or "URL"]
    if scope != "host":
        words.append(f"--scope {shlex.quote(scope)}")
    return " ".join([*words, "--coherence inducible", *more]) + report.place


def crawl_of_part(report: Report, prefix: str) -> str | None:
    """A crawl of the pages under one address alone; None where nothing is known to begin at.

    Folders often have no page of their own: a crawl that began there would find nothing.
    """
    if not any(page.url == prefix for page in report.measurement.pages):
        return None
    scope = " --scope path" if is_folder(prefix) else ""
    return f"asof crawl {shlex.quote(prefix)}{scope} --coherence inducible{report.place}"


def resume(report: Report) -> str:
    """What lets an interrupted crawl go on: its seeds name it, where several were interrupted."""
    seeds = _seeds(report)
    return "asof crawl" + (f" {seeds}" if seeds else "") + report.place


def listing(report: Report) -> str:
    """What lists every page of this report; the newest crawl is another one tomorrow."""
    if report.part:
        which = f" --url {shlex.quote(report.part)}"
    else:
        names = [shlex.quote(each.id) for each in report.crawls]
        which = "".join(f" {name}" for name in names) if len(names) <= _MOST_NAMES else ""
    return f"asof quality{which} --json{report.place}"


def is_folder(address: str) -> bool:
    """Whether an address is of less than a whole host."""
    return bool(address.partition("://")[2].partition("/")[2])


def _seeds(report: Report) -> str:
    seeds = report.crawls[-1].seeds if report.crawls else ()
    return " ".join(map(shlex.quote, seeds)) if len(seeds) <= _MOST_NAMES else ""
