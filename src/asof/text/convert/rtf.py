"""Rich Text Format (RTF 1.0 to 1.9.1): control words, groups, and text in many code pages.

Characters are bytes in the code page of the current font, which may need two of them for one, or
numbers of UTF-16 units with a replacement after each for readers that know no Unicode.
"""

import re
from dataclasses import dataclass, replace

from asof.text.convert.found import Found, Refused, day_of, field_links
from asof.text.convert.ole import codec

_TOKEN = re.compile(
    rb"\\(?:'([0-9A-Fa-f]{2})|([A-Za-z]{1,40})(-?\d{1,10})? ?|([^A-Za-z]))|([{}])|([^\\{}\r\n\0]+)"
)
_DEEPEST = 10_000
# Destinations: groups that are not text of the document. Others that are unknown begin with `\*`.
_SKIPPED = (
    *("colortbl", "stylesheet", "pict", "objdata", "themedata", "datastore", "listtable"),
    *("listoverridetable", "rsidtbl", "generator", "filetbl", "revtbl", "latentstyles"),
    *("xmlnstbl", "fldtype", "atnid", "atnauthor", "annotation0", "pgdsctbl", "keycode"),
    *("colorschememapping", "wgrffmtfilter", "mmathPr", "pntxta", "pntxtb", "pnseclvl"),
    *("xe", "tc", "operator", "company", "author", "subject", "doccomm", "keywords"),
    *("category", "manager", "hlinkbase", "bkmkstart", "bkmkend", "template", "userprops"),
    *("listtext1", "nonshppict", "falt", "panose", "fontemb", "private", "objclass", "objname"),
)
# These do begin with `\*` and are read nevertheless.
_STARRED = frozenset(("shptxt", "annotation", "footnote", "nesttableprops", "fldinst", "ud"))
_STARRED |= {"fonttbl", "info", "title"}
# What stands in the middle of a sentence, or of a word, and is read after the text.
_INTO = dict.fromkeys(("annotation", "footnote"), "aside")
_INTO |= {"fonttbl": "fonts", "fldinst": "code", "info": "info"}
# Of `upr`, the same text for old readers is passed over; {\*\ud follows inside.
_INTO |= dict.fromkeys((*_SKIPPED, "upr"), "skip")
_CHARACTERS = frozenset(("text", "aside", "code", "title"))
_WORDS = {
    **dict.fromkeys(("par", "line", "sect", "row", "nestrow", "softline"), "\n"),
    **dict.fromkeys(("page", "column", "softpage"), "\n\n"),
    **dict.fromkeys(("tab", "cell", "nestcell"), "\t"),
    **dict.fromkeys(("emspace", "enspace", "qmspace"), " "),
}
_WORDS |= {"emdash": "\u2014", "endash": "\u2013", "bullet": "\u2022"}
_WORDS |= {"lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d"}
_WORDS |= {"zwj": "\u200d", "zwnj": "\u200c", "ltrmark": "\u200e", "rtlmark": "\u200f"}
_SYMBOLS = {b"~": "\xa0", b"_": "\u2011", b"\\": "\\", b"{": "{", b"}": "}"}
_SYMBOLS |= {b"\n": "\n", b"\r": "\n", b"\t": "\t"}
# Character sets of fonts (the numbers of Windows) as code pages.
_CHARSETS = {2: 1252, 77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253}
_CHARSETS |= {162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250}
_CHARSETS |= {255: 437}
_DOCUMENTS = {"ansi": "cp1252", "mac": "mac-roman", "pc": "cp437", "pca": "cp850"}
# Languages by their primary number, where one reader or another could need them (\deflang).
_LANGUAGES = {0x09: "en", 0x07: "de", 0x0C: "fr", 0x0A: "es", 0x10: "it", 0x13: "nl", 0x19: "ru"}


@dataclass(slots=True)
class _State:
    """What holds inside a group and ends with it."""

    into: str = "text"  # text, aside, skip, fonts, info, title, code, creatim, revtim
    skip: int = 1  # characters after \u that stand for it elsewhere
    font: int = -1
    hidden: bool = False


def fill_rtf(data: bytes, found: Found) -> None:
    """The text of a document, its title, date and links."""
    start = data.find(b"{\\rtf", 0, 1024)
    if start < 0 and not data.lstrip().startswith(b"{\\"):  # a fragment, without its head
        raise Refused("is no RTF document")
    _Reading(found).read(data, max(0, start))


class _Reading:
    """The open groups of a document, and bytes that wait for the rest of their character."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._state = _State()
        self._groups: list[_State] = []
        self._opened = False  # the token before was a brace: only here `\\*` means anything
        self._starred = False
        self._fonts: dict[int, str] = {}
        self._default = "cp1252"
        self._default_font = -1
        self._bytes: list[bytes] = []
        self._codec = "cp1252"
        self._to_skip = 0
        self._high = 0  # the first half of a surrogate pair
        self._code: list[str] = []
        self._title: list[str] = []
        self._asides: list[str] = []
        self._moments: dict[str, dict[str, int]] = {}

    def read(self, data: bytes, position: int) -> None:
        """Token by token to the end, or to the brace that closes the document."""
        end = len(data)
        match = _TOKEN.match
        while position < end:
            token = match(data, position)
            if token is None:
                position += 1  # a line break, or a backslash at the very end
                continue
            position = token.end()
            kind = token.lastindex
            opened, self._opened = self._opened, False
            if kind == 6:
                self._starred = False
                self._characters(token[6])
            elif kind == 1:
                self._characters(bytes.fromhex(token[1].decode("ascii")))
            elif kind == 5:
                if token[5] == b"{":
                    self._open()
                elif not self._close():
                    break
            elif kind == 4:
                self._symbol(token[4], opened)
            else:
                word = token[2].decode("ascii")
                number = int(token[3]) if token[3] else None
                if word == "bin":
                    position += max(0, number or 0)
                else:
                    self._word(word, number)
        self._flush()
        self._finish()

    # -- Groups -------------------------------------------------------------------------------

    def _open(self) -> None:
        self._flush()
        if len(self._groups) >= _DEEPEST:
            raise Refused("is nested too deeply")
        self._groups.append(self._state)
        self._state = replace(self._state)
        self._starred = False
        self._opened = True
        self._to_skip = 0

    def _close(self) -> bool:
        self._flush()
        if not self._groups:
            return False
        ended, self._state = self._state, self._groups.pop()
        self._starred = False
        self._to_skip = 0
        if ended.into == "code" and self._state.into != "code":
            self._found.links(field_links("".join(self._code)))
            self._code.clear()
        self._choose()
        return bool(self._groups)

    def _destination(self, word: str) -> bool:
        """Whether a word begins a group that is not text, or text of another kind."""
        state = self._state
        if state.into == "skip":
            return True
        starred, self._starred = self._starred, False
        into = _INTO.get(word)
        if starred and word not in _STARRED:
            into = "skip"
        elif word in ("title", "creatim", "revtim") and state.into == "info":
            into = word
        if into is None:
            return False
        if into == "aside":
            self._asides.append("\n")
        state.into = into
        return True

    # -- Control words ------------------------------------------------------------------------

    def _word(self, word: str, number: int | None) -> None:
        if word == "ud" and self._starred:
            self._starred = False
            self._state.into = "text"
            return
        if word == "u" and number is not None:
            self._unicode(number)
            return
        if self._to_skip:  # a word stands for one character
            self._to_skip -= 1
            if word not in ("par", "line", "tab", "row", "cell"):
                return
        self._flush()
        if self._destination(word):
            return
        if word in _WORDS:
            self._put(_WORDS[word])
        else:
            self._setting(word, number)

    def _setting(self, word: str, number: int | None) -> None:
        state = self._state
        if word == "f" and number is not None:
            state.font = number
        elif word == "fcharset" and state.into == "fonts":
            known = _CHARSETS.get(number or 0)
            self._fonts[state.font] = codec(known) if known else ""
        elif word == "cpg" and state.into == "fonts" and number:
            self._fonts[state.font] = codec(number)
        elif word == "uc":
            state.skip = max(0, min(number if number is not None else 1, 100))
        elif word == "v" or word == "deleted":
            state.hidden = number != 0
        elif word == "plain":
            state.font = self._default_font
            state.hidden = False
        elif state.into in ("creatim", "revtim") and number is not None:
            self._moments.setdefault(state.into, {})[word] = number
        else:
            self._document(word, number)
        self._choose()

    def _document(self, word: str, number: int | None) -> None:
        """What holds for the whole document."""
        if word in _DOCUMENTS:
            self._default = _DOCUMENTS[word]
        elif word == "ansicpg" and number:
            self._default = codec(number)
        elif word == "deff" and number is not None:
            self._default_font = self._state.font = number
        elif word == "deflang" and number:
            self._found.language = _LANGUAGES.get(number & 0x3FF)

    def _choose(self) -> None:
        """The codec of the current font."""
        self._codec = self._fonts.get(self._state.font) or self._default

    # -- Characters ---------------------------------------------------------------------------

    def _characters(self, text: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
        if text and self._state.into in _CHARACTERS:
            self._bytes.append(text)

    def _symbol(self, symbol: bytes, opened: bool) -> None:
        if symbol == b"*":
            self._flush()
            self._starred = opened
        elif self._to_skip:
            self._to_skip -= 1
        else:
            self._flush()
            self._put(_SYMBOLS.get(symbol, ""))

    def _unicode(self, number: int) -> None:
        self._flush()
        unit = number & 0xFFFF
        self._to_skip = self._state.skip
        if 0xD800 <= unit < 0xDC00:
            self._high = unit
        elif 0xDC00 <= unit < 0xE000:
            high, self._high = self._high, 0
            if high:
                self._put(chr(0x10000 + ((high & 0x3FF) << 10) + (unit & 0x3FF)))
        else:
            self._put(chr(number if 0xFFFF < number < 0x110000 else unit))

    def _flush(self) -> None:
        """The bytes that have gathered are whole characters now."""
        if self._bytes:
            data = b"".join(self._bytes)
            self._bytes.clear()
            self._put(data.decode(self._codec, "replace"))

    def _put(self, text: str) -> None:
        state = self._state
        if state.into == "code":
            if len(self._code) < 10_000:
                self._code.append(text)
        elif state.into == "title":
            self._title.append(text)
        elif state.into == "aside" and not state.hidden:
            self._asides.append(text)
        elif state.into == "text" and not state.hidden:
            self._found.add(text)

    def _finish(self) -> None:
        self._found.title = "".join(self._title).strip() or None
        for name in ("revtim", "creatim"):
            moment = self._moments.get(name, {})
            day = f"{moment.get('yr', 0):04}-{moment.get('mo', 0):02}-{moment.get('dy', 0):02}"
            self._found.date = self._found.date or day_of(day)
        self._found.add("".join(self._asides))
