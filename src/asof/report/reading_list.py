"""A cover as one HTML file to read along: what stays, and what each of it stands for.

Everything from the documents is escaped, and the page forbids itself scripts, pictures and
requests: names, titles and addresses were written by strangers. Long lists are folded into pages
and end where the file would become too large to open; counts are of all documents in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from asof.clock import iso
from asof.cover.documents.collection import Collection
from asof.cover.language.columns import Column
from asof.cover.run import Dropped, Outcome
from asof.report.reading_list_style import STYLE
from asof.report.terminal import harmless

Link = Callable[[int], str | None]

ROOM = 8 << 20
"""Bytes of documents in a page. 75,000 of them, in pairs of two versions, would take 19 MB."""

_PAGE = 100  # documents that stay, in one fold
_FEW = 3  # so many covered documents need no fold of their own
_MOST = 50  # listed below one document
_NAME = 300  # characters of a name; what is longer loses its middle
_ADDRESS = 2_000  # characters of a link: no browser needs more


def page(
    outcome: Outcome,
    *,
    title: str = "Reading list",
    link: Link | None = None,
    notes: Iterable[str] = (),
    room: int = ROOM,
) -> str:
    """The whole file, to be written as UTF-8.

    `link` gives the address that a document is to be read at, by its place in the collection, or
    None; without it, http addresses of the column `url` are taken. `notes` are sentences about
    what was wished for. Documents take up to `room` bytes.
    """
    listing = _Listing(outcome, link)
    today = "" if link else " Links lead to what is at these addresses today."
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta http-equiv="Content-Security-Policy"'
            " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            '<meta name="referrer" content="no-referrer">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{_safe(title)} - asof</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            '<header class="masthead"><span class="wordmark">as&#8239;of</span></header>\n<main>\n',
            *_opening(outcome, title, notes),
            *listing.sections(room),
            "</main>\n<footer><p>Times are UTC. Nothing on this page runs a script or loads"
            f" anything, and nothing was deleted.{today}</p></footer>\n</body>\n</html>\n",
        ]
    )


# -- the numbers -----------------------------------------------------------------------------------


def _opening(outcome: Outcome, title: str, notes: Iterable[str]) -> Iterator[str]:
    total, gone = len(outcome.collection), len(outcome.dropped)
    kept = total - gone
    documents, weight = outcome.saved
    yield '<p class="kicker">The smallest set of documents that covers all</p>\n'
    yield f"<h1><bdi>{_safe(title)}</bdi></h1>\n"
    yield f'<p class="under">d2 covers d1 if <code>{_safe(outcome.relation)}</code></p>\n'
    told = " ".join([_proof(outcome), *notes])
    cover = "covers" if kept == 1 else "cover"
    yield (
        f'<div class="verdict"><p class="big">{_percent(documents)}'
        "<small>fewer documents</small></p>"
        f'<div><p class="says">{kept:,} of {_number(total, "document")} {cover} all of them.</p>'
        f'<p class="how">{_safe(told)}</p></div></div>\n'
    )
    if total:
        yield (
            '<div class="shares" role="img" aria-label="Documents that stay, and covered ones">'
            + "".join(
                f'<span class="{name}" style="flex-grow:{count}"></span>'
                for name, count in (("kept", kept), ("gone", gone))
                if count
            )
            + '</div>\n<ul class="key">'
            f'<li><span class="swatch kept"></span>{kept:,} stay</li>'
            f'<li><span class="swatch gone"></span>{gone:,} covered by these</li></ul>\n'
        )
    weights = outcome.collection.weights
    stay = int(weights[outcome.cover.kept].sum())
    facts = (
        ("Bytes", f"{_percent(weight)} fewer", f"{stay:,} of {int(weights.sum()):,} stay"),
        ("Pairs", f"{outcome.edges:,}", "in which one document covers another"),
        ("Components", f"{outcome.cover.components.count:,}", "solved one by one"),
        ("Took", f"{outcome.seconds:.1f} s", ""),
    )
    yield '<dl class="facts">\n'
    for name, value, more in facts:
        yield f"<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>\n"
    yield "</dl>\n"


def _proof(outcome: Outcome) -> str:
    if not outcome.complete:
        return "It was stopped: not all pairs were compared, so fewer might do."
    if outcome.optimal:
        return "No smaller set does: proven."
    if not outcome.gap:
        return "No smaller set does; that none of its size is better is not proven."
    return f"A smaller set could have up to {_number(outcome.gap, 'document')} fewer; not proven."


# -- the documents ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Entry:
    """A document that stays, as HTML, and how many it covers."""

    html: str
    covers: int


class _Listing:
    """Documents that stay: first those that cover the most, then those that cover no other."""

    def __init__(self, outcome: Outcome, link: Link | None) -> None:
        self._documents = _Documents(outcome.collection, link)
        self._below: dict[int, list[Dropped]] = {}
        for each in outcome.dropped:
            self._below.setdefault(each.by, []).append(each)
        kept = np.flatnonzero(outcome.cover.kept).tolist()
        self._alone = [place for place in kept if place not in self._below]
        self._covering = sorted(self._below, key=lambda place: (-len(self._below[place]), place))

    def sections(self, room: int) -> Iterator[str]:
        """Both lists. What the first one leaves of the room is the second one's."""
        for title, meaning, places in (
            (
                "What stays, and what it stands for",
                "Below each document those that it covers: how much of them is in it (C, the bar),"
                " and how alike both are (J, Jaccard; D, Dice). Those first that cover the most.",
                self._covering,
            ),
            ("What stands alone", "These cover no other that is left out.", self._alone),
        ):
            if not places:
                continue
            entries: list[_Entry] = []
            for place in places:
                entry = self._entry(place)
                room -= len(entry.html.encode())
                if room < 0:
                    break
                entries.append(entry)
            yield f"<section>\n<h2>{title}</h2>\n<p>{meaning}</p>\n"
            yield from _folds(entries)
            if len(entries) < len(places):
                yield self._more(places[len(entries) :], len(entries))
            yield "</section>\n"

    def _entry(self, place: int) -> _Entry:
        below = self._below.get(place, [])
        rows = "".join(self._row(place, each) for each in below[:_MOST])
        if (rest := len(below) - _MOST) > 0:
            rows += f'<li class="more">and {rest:,} more (--csv FILE has all of them)</li>\n'
        if rows:
            rows = f'<ul class="gone">\n{rows}</ul>'
        if len(below) > _FEW:
            rows = f"<details><summary>covers {len(below):,} documents</summary>{rows}</details>"
        shown = self._documents.shown(place)
        return _Entry(f"<li>{shown}{rows}</li>\n", len(below))

    def _row(self, by: int, each: Dropped) -> str:
        measures = (
            f'<i style="--c:{100 * each.containment:.1f}"></i>'
            f"<span>C {_percent(each.containment)}</span><span>J {_percent(each.jaccard)}</span>"
            f"<span>D {_percent(each.dice)}</span>"
        )
        shown = self._documents.shown(each.document, beside=by)
        return f'<li>{shown}<p class="told">{measures}</p></li>\n'

    def _more(self, places: Sequence[int], shown: int) -> str:
        covered = sum(len(self._below.get(place, ())) for place in places)
        they = f" They cover {_number(covered, 'document')}." if covered else ""
        also = "more " if shown else ""
        return (
            f'<p class="more">{_number(len(places), also + "document")} would make this page too'
            f" large to open.{they} <code>--csv FILE</code> has all of them.</p>\n"
        )


def _folds(entries: Sequence[_Entry]) -> Iterator[str]:
    """The entries in pages; the first one is open."""
    for start in range(0, len(entries), _PAGE):
        part = entries[start : start + _PAGE]
        covers = sum(entry.covers for entry in part)
        verb = "covers" if len(part) == 1 else "cover"
        said = f", which {verb} {_number(covers, 'other')}" if covers else ""
        unfolded = "" if start else " open"
        places = f"{start + 1:,}" if len(part) == 1 else f"{start + 1:,} to {start + len(part):,}"
        inside = "".join(entry.html for entry in part)
        yield (
            f"<details{unfolded}><summary><b>{places}</b> <span>of {len(entries):,}{said}</span>"
            f'</summary>\n<ul class="stays">\n{inside}</ul></details>\n'
        )


class _Documents:
    """How one document is shown: name or address, title, time."""

    def __init__(self, collection: Collection, link: Link | None) -> None:
        self._names = collection.names
        self._url = _texts(collection.columns.get("url"))
        self._title = _texts(collection.columns.get("title"))
        self._time = _times(collection.columns.get("timestamp"))
        self._link = link or self._url

    def shown(self, place: int, beside: int | None = None) -> str:
        """A document; beside another one of the same address, its time is enough."""
        name, url, moment = self._names[place], self._url(place), self._time(place)
        title = self._title(place)
        if url and name.endswith(url):  # an archive's names are a time and an address
            name = url
        if beside is not None:
            if url and name == url and url == self._url(beside) and moment:
                name, moment = moment, "same address"
            if title == self._title(beside):
                title = None
        shown = f"<bdi>{_safe(_clipped(name))}</bdi>"
        if href := _address(self._link(place)):
            shown = f'<a href="{escape(href)}" rel="noreferrer">{shown}</a>'
        told = [f"<q><bdi>{_safe(_clipped(title))}</bdi></q>"] if title and title.strip() else []
        if moment:
            told.append(moment)
        under = f'<p class="told">{" · ".join(told)}</p>' if told else ""
        return f'<p class="name">{shown}</p>{under}'


def _texts(column: Column | None) -> Callable[[int], str | None]:
    if column is None or column.kind != "text":
        return lambda place: None
    codes, strings = column.values, column.strings
    return lambda place: strings[codes[place]] if codes[place] >= 0 else None


def _times(column: Column | None) -> Callable[[int], str | None]:
    if column is None or column.kind != "time":
        return lambda place: None
    values, known = column.values, column.known

    def moment(place: int) -> str | None:
        if not known[place]:
            return None
        try:
            return iso(int(values[place])).replace("T", " ")[:19]
        except OverflowError:  # no year between 1 and 9999
            return None

    return moment


def _address(href: str | None) -> str | None:
    """A link that leads to a page: whatever else would act is dropped."""
    if href is None or len(href) > _ADDRESS or not href.isprintable():
        return None
    return href if href.lower().startswith(("http://", "https://")) else None


def _clipped(text: str) -> str:
    if len(text) <= _NAME:
        return text
    return f"{text[: _NAME * 2 // 3]} … {text[-_NAME // 3 :]}"


def _percent(share: float) -> str:
    """To a tenth, rounded down: 100 % is said of nothing that misses a shingle."""
    # The solve_small addend keeps 0.29 from becoming 28.9: its nearest float lies below it.
    return f"{int(share * 1000 + 1e-9) / 10:.1f} %"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def _safe(text: str) -> str:
    return escape(harmless(text.replace("\n", " ")))
