"""The encoding that a document names in its first bytes.

HTML: "prescan a byte stream to determine its encoding" of the HTML standard, step by step, with the
XML declaration as browsers heed it in HTML as well.
"""

import re
from functools import lru_cache

from asof.text.encoding.labels import encoding_named

# The standard asks for 1024 bytes at least. Browsers look further, up to the end of the head.
PRESCAN_BYTES = 8192
_LONGEST_LABEL = 64

# A name, and a value between quotes, after one that never closes, or bare ("get an attribute").
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*+(=?[^\t\n\f\r /=>]*+)[\t\n\f\r ]*+"""
    rb"""(?:=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|(["'])|([^\t\n\f\r >]*+)))?+"""
)
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
_TAG = re.compile(rb"</?[a-zA-Z]")
_TAG_NAME_END = re.compile(rb"[\t\n\f\r >]")
_PRAGMA = re.compile(
    r"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|["'].*|([^\t\n\f\r ;]+))""",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(rb"""<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:"([^"]*)"|'([^']*)')""")
_SHEET = re.compile(rb'@charset "([^"]{1,64})";')


def prescan(data: bytes) -> str | None:
    """The encoding that an HTML document names itself, as a name of the standard; None if none."""
    head = data[:PRESCAN_BYTES]
    if head.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if head.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    # A walk over all tags takes a millisecond: not where none can say it.
    said = _Prescan(head).encoding() if b"charset" in head.lower() else None
    return said or xml_encoding(data)


def xml_encoding(data: bytes) -> str | None:
    """The encoding in the XML declaration; it was readable as ASCII, so it is not UTF-16."""
    found = _XML.match(data, 0, PRESCAN_BYTES)
    if found is None:
        return None
    label = found[1] if found[1] is not None else found[2]
    return _readable(encoding_named(_text(label)))


def sheet_encoding(data: bytes) -> str | None:
    """The encoding that a style sheet names itself (CSS Syntax, section 3.2)."""
    found = _SHEET.match(data)
    name = encoding_named(_text(found[1])) if found else None
    return "utf-8" if name in ("utf-16le", "utf-16be") else name


@lru_cache(maxsize=64)
def declared_label(content_type: str) -> str | None:
    """The charset parameter of a Content-Type value, or the value itself where it is a label."""
    if len(content_type) > 1024:
        return None
    if "/" not in content_type and "=" not in content_type:
        return content_type.strip() or None
    found = re.search(
        r""";[\t\n\r ]*charset=[\t\n\r ]*(?:"((?:[^"\\]|\\.)*)"?|([^;]*))""",
        ";" + content_type.split(";", 1)[-1] if "/" in content_type else ";" + content_type,
        re.IGNORECASE,
    )
    if found is None:
        return None
    label = re.sub(r"\\(.)", r"\1", found[1]) if found[1] is not None else found[2]
    # Single quotes are no quotes in HTTP, but servers send them.
    return label.strip("\t\n\r '\"") or None


def pragma_label(content: str) -> str | None:
    """The label in the `content` of `<meta http-equiv=content-type>`."""
    found = _PRAGMA.search(content)
    return (found[1] or found[2] or found[3]) if found else None


def _text(label: bytes) -> str:
    return label[:_LONGEST_LABEL].decode("latin-1")


def _readable(name: str | None) -> str | None:
    """What could be read as ASCII so far is not UTF-16, whatever it says of itself."""
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


class _Prescan:
    """One walk over the first bytes; `at` is the position of the standard's algorithm."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def encoding(self) -> str | None:
        data = self._data
        while True:
            self._at = data.find(b"<", self._at)
            if self._at < 0:
                return None
            if data.startswith(b"<!--", self._at):
                end = data.find(b"-->", self._at + 2)
                if end < 0:
                    return None
                self._at = end + 3
            elif meta := _META.match(data, self._at):
                self._at = meta.end()
                found = self._meta()
                if found is not None:
                    return found
            elif _TAG.match(data, self._at):
                self._tag()
            elif data[self._at + 1 : self._at + 2] in (b"!", b"/", b"?"):
                self._at = data.find(b">", self._at)
                if self._at < 0:
                    return None
            else:
                self._at += 1

    def _tag(self) -> None:
        end = _TAG_NAME_END.search(self._data, self._at)
        self._at = end.start() if end else len(self._data)
        while self._attribute() is not None:
            pass

    def _meta(self) -> str | None:
        seen: set[bytes] = set()
        pragma = False
        needs_pragma: bool | None = None
        charset: str | None = None
        known = False  # a label was given, though it may name nothing
        while (attribute := self._attribute()) is not None:
            name, value = attribute
            if name in seen:
                continue
            seen.add(name)
            if name == b"http-equiv":
                pragma = pragma or value == b"content-type"
            elif name == b"content":
                label = pragma_label(value.decode("latin-1"))
                found = encoding_named(label[:_LONGEST_LABEL]) if label else None
                if found is not None and not known:
                    charset, known, needs_pragma = found, True, True
            elif name == b"charset":
                charset, known, needs_pragma = encoding_named(_text(value)), True, False
        if self._at >= len(self._data):  # the tag is cut off: nothing is known
            return None
        if needs_pragma is None or (needs_pragma and not pragma):
            return None
        return _readable(charset)

    def _attribute(self) -> tuple[bytes, bytes] | None:
        """The next attribute of the tag, in lower case; None at the end of the tag."""
        found = _ATTRIBUTE.match(self._data, self._at)
        assert found is not None  # all of it may be missing
        name, double, single, torn, bare = found.groups()
        self._at = len(self._data) if torn else found.end()
        return (name.lower(), (double or single or bare or b"").lower()) if name else None
