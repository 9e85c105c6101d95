"""Answers for programs: errors as JSON with one sentence, bodies in pieces, nothing half-told."""

import json
import logging
from collections.abc import Callable, Iterator
from itertools import chain

from starlette.convertors import Convertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Send

from asof.errors import AsofError, UsageError
from asof.web import address
from asof.web.pages import status_of

_AT_ONCE = 64 << 10
# For those who take gzip; not where an answer holds what others should not guess.
PACKED = [Middleware(GZipMiddleware, compresslevel=5)]

Endpoint = Callable[[Request], Response]


class _Rest(Convertor[str]):
    """All that follows in a path, as `path` does, but line breaks as well."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", _Rest())


def route(
    inside: Callable[[str], str], path: str, endpoint: Endpoint, *, packed: bool = True
) -> Route:
    """An address for programs; `packed` for those who take gzip. `inside` leaves of a sentence what
    is not about this machine.
    """

    def answer(request: Request) -> Response:
        try:
            return endpoint(request)
        except AsofError as error:
            return refusal(inside(str(error)), status_of(error))

    return Route(path, answer, methods=["GET"], middleware=PACKED if packed else None)


def asked_url(request: Request) -> str:
    """The URL that a question is about."""
    if url := request.query_params.get("url", "").strip():
        return address.typed(url)
    raise UsageError("That question is about a URL.", hint="Add url=https://example.org/.")


def number(name: str, text: str, least: int, most: int) -> int:
    """The number that a part of a question is, at most `most`."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
        raise UsageError(f"{name}={text[:80]} is not a number.", hint=f"Write {least} to {most}.")
    return min(int(text), most)


def refusal(sentence: str, status: int, **headers: str) -> Response:
    """That something cannot be answered, and why (the key is pywb's)."""
    return json_answer({"message": sentence}, status, **headers)


def json_answer(value: object, status: int = 200, **headers: str) -> Response:
    body = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(body, status, {"cache-control": "no-cache", **named}, "application/json")


class Pieces(StreamingResponse):
    """A body of which the end may turn out to be out of reach."""

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except AsofError as error:
            # Without its end the connection is cut, and nobody takes a part for the whole.
            logging.getLogger("uvicorn.error").error("An answer broke off: %s", error)


def streamed(request: Request, lines: Iterator[str], media: str) -> Response:
    """Lines as they are found; what is wrong before the first of them is an answer of its own."""
    pieces = _gathered(lines)
    first = next(pieces, b"")
    headers = {"cache-control": "no-cache"}
    body = () if request.method == "HEAD" else chain([first], pieces)
    return Pieces(iter(body), 200, headers, media)


def _gathered(lines: Iterator[str]) -> Iterator[bytes]:
    """Many short lines at once: each piece is a turn of another thread."""
    held, size = [], 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= _AT_ONCE:
            yield "".join(held).encode("utf-8", "replace")
            held, size = [], 0
    if held:
        yield "".join(held).encode("utf-8", "replace")
