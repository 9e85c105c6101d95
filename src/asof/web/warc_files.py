"""The WARC files themselves, for programs that read records by file, offset and length."""

import os
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

from asof.errors import DamageError
from asof.files import open_plain
from asof.warc.file_names import path_of
from asof.web import ranges
from asof.web.machine import Pieces, refusal
from asof.web.pages import Pages

_AT_ONCE = 256 << 10


class WarcFiles:
    """Answers `/-/warc/{file}` for what the catalog knows, up to where it is committed.

    Requests lie in these files as they were sent, with cookies: they are served only if told to.
    """

    def __init__(self, pages: Pages) -> None:
        self._archive = pages.archive

    def one(self, request: Request) -> Response:
        name = request.path_params["file"]
        segment = next((each for each in self._archive.segments() if each.file == name), None)
        if segment is None:
            return refusal(f"There is no WARC file {name[:200]} in this archive.", 404)
        try:
            handle = open_plain(path_of(self._archive.folder.warc, name), os.O_RDONLY)
        except OSError as error:
            status = 404 if isinstance(error, FileNotFoundError) else 500
            return refusal(f"{name} cannot be read: {error.strerror}.", status)
        length = min(segment.committed, os.fstat(handle).st_size)
        headers = {
            "content-type": "application/warc",
            "accept-ranges": "bytes",
            "cache-control": "no-cache",
            "etag": f'"{length:x}"',  # it is only ever appended to
        }
        if request.headers.get("if-none-match") == headers["etag"]:
            os.close(handle)
            return Response(status_code=304, headers=headers)
        part, status = _part(request, headers, length)
        headers["content-length"] = str(len(part))
        if request.method == "HEAD" or not part:
            os.close(handle)
            return Response(status_code=status, headers=headers)
        return Pieces(_pieces(handle, part, name), status, headers)


def _part(request: Request, headers: dict[str, str], length: int) -> tuple[range, int]:
    """The bytes that are asked for, and the status that says so (RFC 9110, section 14.2)."""
    asked = ranges.asked(request.headers.get("range"))
    validator = request.headers.get("if-range", headers["etag"])
    if request.method != "GET" or asked is None or validator != headers["etag"]:
        return range(length), 200
    part = ranges.satisfied(asked, range(length), length)
    named = f"{part.start}-{part.stop - 1}" if part else "*"
    headers["content-range"] = f"bytes {named}/{length}"
    return (part, 206) if part else (range(0), 416)


def _pieces(handle: int, part: range, name: str) -> Iterator[bytes]:
    try:
        place = part.start
        while place < part.stop:
            piece = os.pread(handle, min(_AT_ONCE, part.stop - place), place)
            if not piece:  # the length that was promised is not kept
                raise DamageError("the file became shorter", file=name, offset=place)
            place += len(piece)
            yield piece
    finally:
        os.close(handle)
