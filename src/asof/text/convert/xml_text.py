"""XML of any kind as text: feeds, drawings (SVG), and whatever else has words between its tags.

A tokenizer, not a parser: broken documents are read to their end, nesting costs nothing, and no
entity is ever declared. What office programs save as a single XML file is passed to their readers.
"""

import json
import re
from collections.abc import Container
from html import unescape

from asof.clock import iso
from asof.text.convert.found import Found, tag_of
from asof.text.convert.zip_parts import refuse_entities
from asof.text.links.feeds import read_feed
from asof.text.links.link import bare
from asof.text.markup import Tag, tokens
from asof.text.markup import unescape as unescape_attribute

_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_DEEPEST = 1_000
# Elements of HTML that stand inside a line; all others, and all of XML, begin a new one.
_INLINE = frozenset(
    [
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn"),
        *("em", "font", "i", "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small"),
        *("span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "tspan"),
        *("emphasis", "link", "ulink", "literal", "xref", "ref", "hi", "foreign"),
    ]
)
# What is for programs: addresses, dates and numbers of feeds; styles and scripts of drawings.
_NOT_READ = frozenset(
    [
        *("guid", "id", "generator", "docs", "ttl", "url", "width", "height", "cloud", "logo"),
        *("lastbuilddate", "pubdate", "published", "updated", "date", "icon", "commentrss"),
        *("updateperiod", "updatefrequency", "updatebase", "uri", "email", "language", "link"),
        *("comments", "post-id"),
    ]
)
_STYLES = frozenset(("style", "script", "metadata", "namedview"))
_LINKED = {"a": ("href", "xlink:href"), "link": ("href", "xlink:href"), "ulink": ("url",)}


def root_of(text: str) -> str:
    """The name of the root element with its prefix gone, as written."""
    for token in tokens(text, xml=True):
        if isinstance(token, Tag) and not token.closing:
            written = re.match(r"<([^\s/>]+)", text[token.start : token.start + 200])
            return written[1].rpartition(":")[2] if written else token.name
    return ""


def fill_xml(text: str, found: Found) -> None:
    """A document of any vocabulary: by the reader of its root element, else all its words."""
    root = root_of(text)
    if root.lower() in ("rss", "feed", "rdf"):
        fill_feed(text, found)
    elif root == "svg":
        fill_svg(text, found)
    elif root == "document" and "opendocument" in text[:20_000]:
        from asof.text.convert.odf import fill_flat_odf

        fill_flat_odf(_bytes(text), found)
    elif root in ("wordDocument", "package") and "schemas.microsoft.com/office" in text[:20_000]:
        _word_2003(text, found)
    elif root == "Workbook" and "spreadsheet" in text[:20_000]:
        _excel_2003(text, found)
    else:
        _Walk(found).read(text)


def fill_svg(text: str, found: Found) -> None:
    """The words of a drawing, its title and description, and what it links to."""
    _Walk(found, _STYLES).read(text)


def fill_feed(text: str, found: Found) -> None:
    """A feed: titles and texts of its items; links as `links.feeds` finds them."""
    feed = read_feed(text.encode("utf-8", "replace"), charset="utf-8")
    found.link(feed.home)
    found.links(item.url for item in feed.items)
    found.links((*feed.pages, *feed.comments, *feed.media))
    moments = [item.updated or item.published for item in feed.items]
    newest = max((moment for moment in moments if moment is not None), default=None)
    found.date = None if newest is None else iso(newest)[:10]
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        _Walk(found, _NOT_READ, inner_markup=True).read(text)
    else:
        _json_feed(text, found)


def _json_feed(text: str, found: Found) -> None:
    feed = json.loads(text)
    if not isinstance(feed, dict):
        return
    found.title = str(feed.get("title") or "") or None
    found.language = tag_of(str(feed.get("language") or ""))
    found.paragraph(found.title or "")
    found.paragraph(str(feed.get("description") or ""))
    items = feed.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            html = item.get("content_html")
            words = item.get("content_text") or (plain(str(html)) if html else item.get("summary"))
            found.line(str(item.get("title") or ""))
            found.line(str(words or ""))
            found.line()


def plain(markup: str) -> str:
    """The words of a piece of HTML, a line for each block; no attempt at more."""
    parts: list[str] = []
    position = 0
    for token in tokens(markup):
        parts.append(_words(markup[position : token.start]))
        position = token.after
        if isinstance(token, Tag) and token.name.rpartition(":")[2] not in _INLINE:
            parts.append("\n")
    parts.append(_words(markup[position:]))
    return re.sub(r"\n\s*\n+", "\n", "".join(parts)).strip()


def _words(text: str) -> str:
    """Text between tags; white space is one blank, at its ends too."""
    return " ".join(f"x{unescape(text)}x".split())[1:-1] if text else ""


class _Walk:
    """A walk through a document: all its words but those of the elements `unread`.

    `inner_markup`: texts hold HTML once more, written as text, which is what feeds do.
    """

    def __init__(
        self, found: Found, unread: Container[str] = (), *, inner_markup: bool = False
    ) -> None:
        self._text = ""
        self._found = found
        self._unread = unread
        self._inner = inner_markup
        self._open: list[str] = []
        self._deeper = 0
        self._unread_open = 0
        self._line: list[str] = []
        self._title: list[str] | None = None

    def read(self, text: str) -> None:
        self._text = text
        position = 0
        for token in tokens(text, xml=True):
            self._words(text[position : token.start], escaped=True)
            position = token.after
            if isinstance(token, Tag):
                self._tag(token)
            elif text.startswith("<![CDATA[", token.start):
                self._words(text[token.start + 9 : token.end - 3], escaped=False)
        self._words(text[position:], escaped=True)
        self._end_line()

    def _tag(self, tag: Tag) -> None:
        name = tag.name.rpartition(":")[2]
        if name not in _INLINE:
            self._end_line()
        if tag.closing:
            self._close(name)
            return
        self._look(tag, name)
        if self._text[tag.end - 2] == "/":  # it is empty
            return
        if len(self._open) >= _DEEPEST:
            self._deeper += 1
            return
        self._open.append(name)
        self._unread_open += name in self._unread
        if name == "title" and not self._found.title and self._title is None:
            self._title = []

    def _close(self, name: str) -> None:
        if self._deeper:
            self._deeper -= 1
            return
        if name == "title" and self._title is not None:
            self._found.title = "".join(self._title).strip() or None
            self._title = None
        if name in self._open[-8:]:  # a missing end tag or two are made up for
            while self._open:
                last = self._open.pop()
                self._unread_open -= last in self._unread
                if last == name:
                    return

    def _look(self, tag: Tag, name: str) -> None:
        """The attributes that matter: language and links."""
        written = self._text[tag.start : tag.end]
        if name not in _LINKED and (self._found.language or "lang" not in written):
            return
        for each in tag.attributes(self._text):
            if each.name in ("xml:lang", "lang") and not self._found.language:
                self._found.language = tag_of(each.value)
            elif each.name in _LINKED.get(name, ()) and not self._inner:
                self._found.link(bare(unescape_attribute(each.value or "")))

    def _words(self, words: str, *, escaped: bool) -> None:
        if not words:
            return
        if words.isspace():
            self._line.append(" ")
            return
        if escaped and "&" in words:
            words = unescape(words)
        if self._open and self._open[-1] == "language" and not self._found.language:
            self._found.language = tag_of(words)
        if self._unread_open:
            return
        if self._inner and "<" in words:
            words = plain(words)
        elif self._inner and "&" in words:
            words = unescape(words)
        if self._title is not None:
            self._title.append(words)
        self._line.append(words)

    def _end_line(self) -> None:
        if not self._line:
            return
        words = "".join(self._line)
        self._line.clear()
        if "\n" in words and self._inner:
            lines = (" ".join(line.split()) for line in words.splitlines())
            words = "\n".join(line for line in lines if line)
        else:
            words = " ".join(words.split())
        if words:
            self._found.line(words)


def _bytes(text: str) -> bytes:
    """A document for a parser of bytes, which believes what the declaration says."""
    return _DECLARATION.sub("", text, count=1).encode("utf-8", "replace")


def _office_2003(text: str, found: Found, title: str) -> bytes:
    """The bytes of a document without entities; its title stands in the element of that name."""
    data = _bytes(text)
    refuse_entities(data)
    match = re.search(rf"<{title}>([^<]*)</", text)
    found.title = unescape(match[1]).strip() or None if match else None
    return data


def _word_2003(text: str, found: Found) -> None:
    """Word's XML before DOCX, and a DOCX whose parts stand in one file."""
    from asof.text.convert.flow import Flow

    Flow(found).read(_office_2003(text, found, "(?:o|dc):[Tt]itle"), {})


def _excel_2003(text: str, found: Found) -> None:
    """Excel's XML before XLSX."""
    from asof.text.convert.xml_parts import attribute, events

    data = _office_2003(text, found, "(?:o:)?Title")
    row: list[str] = []
    for event, name, element in events(data, "Worksheet", "Row", "Cell", "Data", found=found):
        if event == "start":
            if name == "Worksheet":
                found.line(attribute(element, "Name") or "")
        elif name == "Data":
            row.append("".join(element.itertext()))
        elif name == "Cell":
            found.link(attribute(element, "HRef"))
        elif name == "Row":
            found.line("\t".join(row))
            row.clear()
            element.clear()
        else:
            found.line()
