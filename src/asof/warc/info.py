"""What a file says about itself and the crawl it comes from, written and read back.

Everything that the database knows of a crawl stands in its files as well: in the warcinfo record
that each of them starts with, and in a metadata record at the crawl's end. Each file of a crawl but
the first names the one before it, so that it shows when one is missing.
"""

import json
import re
from contextlib import suppress

from asof.clock import Instant, iso, parse_iso
from asof.errors import ArchiveError
from asof.model import CoherencePlan, Crawl, CrawlState, Headers
from asof.warc.compose import FIELDS_TYPE, compose, format_fields, parse_fields
from asof.warc.record import Record, StoredRecord

_MARK = "WARC-Asof-Crawl"
_FIELD = "asof-crawl"
_PREVIOUS = "asof-previous-file"
_MOST_SECRET = 256
# It is shown on terminals and becomes a part of file names.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CONFORMS = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


def warcinfo(crawl: Crawl, filename: str, at: Instant, previous: str | None = None) -> Record:
    return _warcinfo(
        filename,
        at,
        ((_MARK, crawl.id),),
        (
            ("isPartOf", crawl.id),
            ("robots", crawl.settings.get("robots")),
            *(() if previous is None else ((_PREVIOUS, previous),)),
            (_FIELD, _crawl_json(crawl)),
        ),
    )


def import_info(source: str, kind: str, at: Instant) -> Record:
    return _warcinfo("", at, (), (("description", f"Converted from {source} ({kind})."),))


def crawl_record(crawl: Crawl, at: Instant) -> Record:
    fields = (("WARC-Date", iso(at)), (_MARK, crawl.id))
    return compose("metadata", fields, FIELDS_TYPE, format_fields(((_FIELD, _crawl_json(crawl)),)))


def read_crawl(record: StoredRecord) -> Crawl | None:
    """The crawl that one of our records speaks of; None for all others.

    A crawl that is known from its files alone and has no end there was interrupted.
    """
    if record.header.get(_MARK) is None or not record.data:
        return None
    text = dict(parse_fields(record.data)).get(_FIELD)
    if text is None:
        return None
    with suppress(ValueError, RecursionError):
        said = json.loads(text)
        return _crawl_from(said) if isinstance(said, dict) else None
    return None


def read_previous(record: StoredRecord) -> tuple[str, str] | None:
    """The name under which a file of a crawl was begun, and that of the file before it, if any."""
    if record.header.kind != "warcinfo" or record.header.get(_MARK) is None or not record.data:
        return None
    previous = dict(parse_fields(record.data)).get(_PREVIOUS)
    return record.header.get("WARC-Filename") or "", previous or ""


def _warcinfo(
    filename: str, at: Instant, marks: Headers, extra: tuple[tuple[str, object], ...]
) -> Record:
    from importlib.metadata import version  # asof starts sooner without

    block = format_fields(
        (
            ("software", f"asof/{version('asof')}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", _CONFORMS),
            *extra,
        )
    )
    named = (("WARC-Filename", filename),) if filename else ()
    return compose("warcinfo", (("WARC-Date", iso(at)), *named, *marks), FIELDS_TYPE, block)


def _crawl_json(crawl: Crawl) -> str:
    course = crawl.coherence_plan and crawl.coherence_plan.facts()
    more = {"settings": crawl.settings, "note": crawl.note, "course": course}
    return json.dumps(crawl.facts() | more)


def _coherence_plan_from(said: object) -> CoherencePlan | None:
    """A course out of JSON that anybody may have written."""
    if not isinstance(said, dict):
        return None
    mode, plan, pages = said.get("mode"), said.get("plan"), said.get("pages")
    secret = said.get("secret")
    if not isinstance(mode, str) or not isinstance(plan, str):
        return None
    return CoherencePlan(
        mode=mode,
        plan=plan,
        expected=_number(said.get("expected")),
        pages=pages if isinstance(pages, int) and 0 <= pages < 1 << 63 else 0,
        eta=_number(said.get("eta")),
        turn=_instant(said.get("turn")),
        newcomers=_number(said.get("newcomers")),
        secret=secret if isinstance(secret, str) and len(secret) <= _MOST_SECRET else "",
    )


def _number(said: object) -> float | None:
    """A share or a risk, from 0 to 1; all else, such as NaN, is none."""
    return float(said) if isinstance(said, int | float) and 0 <= said <= 1 else None


def _crawl_from(said: dict[str, object]) -> Crawl | None:
    """A crawl out of JSON that anybody may have written."""
    name, seeds, settings = said.get("id"), said.get("seeds"), said.get("settings")
    started, ended = _instant(said.get("started")), _instant(said.get("ended"))
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        return None
    if started is None or not isinstance(seeds, list):
        return None
    finished = said.get("state") == CrawlState.FINISHED
    note = said.get("note")
    return Crawl(
        id=name,
        seeds=tuple(seed for seed in seeds if isinstance(seed, str)),
        started=started,
        state=CrawlState.FINISHED if finished else CrawlState.INTERRUPTED,
        ended=ended,
        settings=settings if isinstance(settings, dict) else {},
        note=note if isinstance(note, str) else "",
        coherence_plan=_coherence_plan_from(said.get("course")),
    )


def check_crawl_id(name: object) -> None:
    """Stop at what a catalog calls a crawl if no crawl can be called so."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ArchiveError(
            f"The catalog names {str(name)[:200]!r}, which is no crawl's id.",
            hint="Run `asof reindex` to rebuild it from the WARC files.",
        )


def _instant(text: object) -> Instant | None:
    return parse_iso(text) if isinstance(text, str) else None
