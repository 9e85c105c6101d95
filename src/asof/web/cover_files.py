"""A saved cover to be taken along: as JSON, as a table, as a reading list in one file."""

import csv
from dataclasses import replace
from functools import partial
from io import StringIO
from threading import Lock

from starlette.requests import Request
from starlette.responses import Response

from asof.caret import suggestion
from asof.cover.kept.saved_covers import (
    CoverFacts,
    SavedCover,
    cover_names,
    cover_path,
    load_cover,
)
from asof.errors import NotCaptured, UsageError
from asof.files import storage_errors
from asof.report import cover_export
from asof.report.cover_words import Shown
from asof.report.reading_list import ReadingList, written
from asof.web import address
from asof.web.covers import LARGEST, shown_as
from asof.web.machine import json_answer
from asof.web.pages import Pages


class CoverFiles:
    """Its public methods are endpoints; they run in a thread."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._folder = pages.archive.folder
        self._turn = Lock()  # one at a time, however large

    def json(self, request: Request) -> Response:
        """As `asof cover --json` printed it."""
        name = request.query_params.get("name", "").strip()
        with self._turn:
            cover = self._cover(name)
            told = cover_export.answer_json(
                cover_export.saved_figures(cover), cover_export.saved_documents(cover)
            )
        return json_answer(told)

    def table(self, request: Request) -> Response:
        """As `asof cover --csv` writes it, but what stays comes first."""
        name, text = request.path_params["name"], StringIO(newline="")
        with self._turn:
            rows = csv.writer(text)
            rows.writerow(cover_export.HEADER)
            rows.writerows(cover_export.rows(cover_export.saved_documents(self._cover(name))))
        return _file(text.getvalue(), "text/csv", f"{name}.csv")

    def reading_list(self, request: Request) -> Response:
        """As `asof cover --html` writes it, but without titles, which are not saved."""
        name = request.path_params["name"]
        origin = str(request.base_url).rstrip("/")
        with self._turn:
            cover = self._cover(name)
            facts = cover.facts
            wished = cover_export.notes(facts.question) if facts.question is not None else []
            told = ReadingList(
                name, facts.relation, cover_export.saved_figures(cover), wished,
                f"{origin}{address.prefix.get()}",
            )  # fmt: skip
            lead = partial(_outside, facts, origin)
            text = written(told, cover.kept, cover.dropped, lead)
        return _file(text, "text/html", f"{name}.html")

    def _cover(self, name: str) -> SavedCover:
        """A cover that is there and is not too large."""
        names = cover_names(self._folder)
        if name not in names:
            hint = suggestion(name[:80], names) or "The covers that there are: /covers."
            raise NotCaptured(f"There is no cover {name[:80]!r}.", hint=hint)
        with storage_errors(self._folder.root):
            size = cover_path(self._folder, name).stat().st_size
        if size > LARGEST:
            raise UsageError(f"{name} is too large.", hint="Ask `asof cover --again` for it.")
        return load_cover(self._folder, name)


def _outside(facts: CoverFacts, origin: str, name: str) -> Shown:
    """A document as a file shows it, wherever that lies."""
    shown = shown_as(facts, name)
    return replace(shown, href=f"{origin}{shown.href}" if shown.href else "", captures="")


def _file(text: str, media: str, name: str) -> Response:
    """A file to be saved. A name of a cover has nothing that would have to be quoted."""
    kept = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-cache"}
    return Response(text.encode("utf-8", "replace"), 200, kept, f"{media}; charset=utf-8")
