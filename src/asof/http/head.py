"""The head of a response: where it ends, and what it says. Tolerant of everything seen in the wild.

One rule finds the head, whether bytes come from a socket in pieces or from a stored WARC block:

    stream = *blank  *(interim *blank)  [ head ]  body

- A head begins with `HTTP/` or `ICY ` and ends with its first empty line, CR LF or LF alone. A line
  of spaces is not empty: it continues a header (RFC 9112 section 5.2).
- An interim block is a head of status 1xx, save 101, which is final (RFC 9110 section 15.2).
- A stream that begins with anything else has no head: HTTP/0.9.
- An interim block that no head follows is itself the head.

`find_head_end(block)` is therefore exactly the length of the head that the framer in `wire` found
when the block came over the wire.
"""

import re
from dataclasses import dataclass, field

from asof.model import Headers

_STARTS = (b"HTTP/", b"ICY ")
_NOT_BLANK = re.compile(rb"[^\r\n \t]")
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_FOLD = re.compile(r"\n[ \t]+")
_BARE_CR = re.compile(r"\r(?!\n)")
# Possessive quantifiers: no run of spaces, however long, may cost quadratic time.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]++")  # RFC 9110 section 5.6.2
# A head with nothing odd about it, as nearly all are: one match tells, and halves the cost.
_CLEAN = re.compile(
    rb"HTTP/(1\.[01]) ([1-5][0-9]{2}) ((?:[!-~][\t -~]*+)?+)\r\n"
    rb"((?:%s:[\t -~]*+\r\n)*+)\r\n" % _TOKEN.pattern.encode()
)
_STATUS = re.compile(
    rb"(?:HTTP/[ \t]*+([0-9.]*+)|ICY)[ \t]++([0-9]{3})(?![0-9])[ \t]*+([^\r\n]*+)", re.IGNORECASE
)
_STRICT_STATUS = re.compile(r"(?:HTTP/[0-9.]+|ICY) [0-9]{3}( (?:\S.*)?)?", re.IGNORECASE)
_CONTENT_RANGE = re.compile(
    r"\s*bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)\s*", re.IGNORECASE | re.ASCII
)
_READABLE = ("space-before-colon", "odd-header-name")


@dataclass(frozen=True, slots=True)
class Head:
    """A response's head. `raw` is all of it, interim blocks included; the head that counts begins
    at `start`. `status` is 0 when none was said, `version` "0.9" when there is no head at all.
    """

    raw: bytes
    start: int
    version: str
    status: int
    reason: str
    headers: Headers
    anomalies: tuple[str, ...] = ()


def content_range(field: str | None) -> tuple[int, int, int | None] | None:
    """The first and the last byte of a part, and of how many (RFC 9110 section 14.4)."""
    match = _CONTENT_RANGE.fullmatch(field or "")
    if match is None:
        return None
    first, last, size = int(match[1]), int(match[2]), None if match[3] == "*" else int(match[3])
    return (first, last, size) if first <= last and (size is None or last < size) else None


def parse_head(raw: bytes) -> Head:
    """The head at the beginning of `raw`; what follows it is not looked at."""
    finder = HeadFinder()
    end = finder.find(raw, whole=True) or 0
    return finder.read(raw[:end])


def find_head_end(block: bytes) -> int:
    """The length of the head, interim blocks included; 0 when the block has no HTTP head."""
    return HeadFinder().find(block, whole=True) or 0


@dataclass(slots=True, eq=False)
class HeadFinder:
    """Finds the end of the head in a growing buffer; looks at no byte twice, however it grows."""

    _block: int = 0  # where the interim blocks so far end
    _begin: int = 0  # where, after blanks, the block being looked at begins
    _seen: int = 0  # no empty line ends before here
    _interim: tuple[int, re.Match[bytes]] | None = None
    _status: re.Match[bytes] | None = None
    _notes: list[str] = field(default_factory=list)

    def find(self, buffer: bytes | bytearray, *, whole: bool) -> int | None:
        """The length of the head; None when it needs more bytes, unless these are the `whole`."""
        while True:
            begins = self._begins(buffer)
            if begins is None and not whole:
                return None
            if not begins and (begins is False or self._begin == len(buffer)):
                return self._find_none()
            end = _EMPTY_LINE.search(buffer, max(self._begin, self._seen - 2))
            if end is None:
                self._seen = len(buffer)
                return self._leave_unfinished(buffer) if whole else None
            self._note_blanks()
            status = self._status = _STATUS.match(buffer, self._begin)
            if status is None or not 100 <= int(status[2]) <= 199 or status[2] == b"101":
                return end.end()
            self._interim, self._status = (self._begin, status), None
            self._block = self._begin = self._seen = end.end()

    def _begins(self, buffer: bytes | bytearray) -> bool | None:
        """Whether a head begins after the blanks; None when the bytes do not tell yet."""
        text = _NOT_BLANK.search(buffer, self._begin)
        self._begin = text.start() if text else len(buffer)
        start = bytes(buffer[self._begin : self._begin + 5]).upper()
        if start.startswith(_STARTS):
            return True
        return None if any(known.startswith(start) for known in _STARTS) else False

    def _find_none(self) -> int:
        """No head (more) begins here: the last interim block is the head, or there is none."""
        if self._interim is None:
            self._notes = ["http-0.9"]
            return 0
        self._begin, self._status = self._interim
        self._notes.append("interim-only")
        return self._block

    def _note_blanks(self) -> None:
        if self._begin > self._block and "leading-blank-lines" not in self._notes:
            self._notes.append("leading-blank-lines")

    def _leave_unfinished(self, buffer: bytes | bytearray) -> int:
        self._note_blanks()
        self._notes.append("unfinished-head")
        # A status counts once its line is whole: 20 might have become 200.
        if buffer.find(b"\n", self._begin) >= 0:
            self._status = _STATUS.match(buffer, self._begin)
        return len(buffer)

    def read(self, raw: bytes) -> Head:
        """The head whose length `find` returned: `raw` is that many bytes."""
        if not raw:
            return Head(b"", 0, "0.9", 0, "", (), tuple(self._notes))
        clean = _CLEAN.fullmatch(raw, self._begin)
        if clean is not None:
            version, status, reason, headers = _read_clean(clean)
        else:  # whatever can be read, with a note of whatever is odd
            line, lf, rest = _as_text(raw[self._begin :], self._notes).partition("\n")
            version, status, reason = _read_status(self._status, line if lf else "", self._notes)
            headers = _read_fields(rest, self._notes)
        return Head(raw, self._begin, version, status, reason, headers, tuple(self._notes))


def _read_clean(match: re.Match[bytes]) -> tuple[str, int, str, Headers]:
    version, status, reason, fields = match.groups()
    lines = [line.partition(":") for line in fields.decode().split("\r\n")[:-1]]
    headers = tuple([(name, value.strip(" \t")) for name, _, value in lines])
    return version.decode(), int(status), reason.decode().rstrip(" \t"), headers


def _as_text(raw: bytes, notes: list[str]) -> str:
    """The head as text, in Latin-1 so that every byte has its character; lines end in LF.

    A bare CR or a NUL becomes a space (RFC 9110 section 5.5), so that no header value can ever
    carry one into a later request that repeats it.
    """
    text = raw.decode("latin-1")
    if not raw.isascii():
        notes.append("non-ascii-head")
    pairs = text.count("\r\n")
    if text.count("\n") != pairs:
        notes.append("lf-line-ends")
    # A CR at the very end is half a line end that was cut off, not a bare one.
    if text.count("\r") - text.endswith("\r") != pairs:
        notes.append("bare-cr")
        text = _BARE_CR.sub(" ", text)
    if "\0" in text:
        notes.append("nul-byte")
        text = text.replace("\0", " ")
    return text.replace("\r\n", "\n")


def _read_status(
    found: re.Match[bytes] | None, line: str, notes: list[str]
) -> tuple[str, int, str]:
    if found is None:
        if line:
            notes.append("bad-status-line")
        return "", 0, ""
    version = "ICY" if found[1] is None else found[1].decode()
    status, reason = int(found[2]), found[3].decode("latin-1").rstrip(" \t")
    if version not in ("1.1", "1.0") or not line.startswith("HTTP/"):
        notes.append("odd-version")
    if not 100 <= status <= 599:
        notes.append("odd-status")
    strict = _STRICT_STATUS.fullmatch(line)
    if strict is None:
        notes.append("status-line-spacing")
    elif strict[1] is None:
        notes.append("missing-reason")
    return version, status, reason


def _read_fields(text: str, notes: list[str]) -> Headers:
    """The header fields in order, names as written; what is no field is noted and left out."""
    unfolded = _FOLD.sub(" ", text)
    if unfolded != text:
        notes.append("obs-fold")
    fields: list[tuple[str, str]] = []
    # What follows the last LF was cut off: a line counts once it is whole.
    for line in unfolded.split("\n")[:-1]:
        if not line:
            continue
        name, colon, value = line.partition(":")
        if not (colon and _TOKEN.fullmatch(name)):
            note = _oddity(name, colon)
            if note not in notes:
                notes.append(note)
            if note not in _READABLE:
                continue
        fields.append((name.rstrip(" \t"), value.strip(" \t")))
    return tuple(fields)


def _oddity(name: str, colon: str) -> str:
    """What is odd about a header line that does not begin with a token and a colon."""
    if name[:1] in (" ", "\t"):
        return "fold-without-header"
    if not colon:
        return "header-without-colon"
    if not name:
        return "header-without-name"
    return "space-before-colon" if _TOKEN.fullmatch(name.rstrip(" \t")) else "odd-header-name"
