"""What changes something is asked by POST, by whoever has the token of `asof serve --control`.

No cookie holds the token: nothing that a browser adds to a request by itself is enough, so that no
other site, frame or name that leads here can order a thing in its reader's name. Forms carry it in
a field; templates/token.js fills that in for as long as the tab is open.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from asof.errors import AsofError, UsageError

# Below it, and nowhere else, something can be ordered.
PLACE = "/-/do/"
FIELD = "token"
# Bytes, fields and seconds of one form: seeds by the thousand are for the terminal.
_MOST, _FIELDS, _SECONDS = 64 << 10, 100, 10
_FORM = "application/x-www-form-urlencoded"

Order = Callable[[Request, Mapping[str, str]], Response]
"""Does what a form asks for. It runs in a thread."""


def new_token() -> str:
    return secrets.token_urlsafe(24)


class Refused(AsofError):
    """An order that is not carried out: the status of the answer, and why not."""

    def __init__(self, status: int, what: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.status = status


class Orders:
    """Who may order. An empty token is nobody's."""

    def __init__(self, token: str) -> None:
        self._token = token

    @property
    def are_taken(self) -> bool:
        return bool(self._token)

    def endpoint(self, order: Order) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint that does what was ordered, once the token has been shown."""

        async def answer(request: Request) -> Response:
            return await run_sync(order, request, await self._fields(request))

        return answer

    async def _fields(self, request: Request) -> Mapping[str, str]:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            raise Refused(415, f"Orders come as {_FORM}.")
        try:
            async with asyncio.timeout(_SECONDS):
                body = await _body(request)
            text = body.decode()
            fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS))
        except (TimeoutError, ClientDisconnect) as error:
            raise Refused(408, "The form did not come to its end.") from error
        except ValueError as error:
            raise Refused(400, "The form cannot be read.") from error
        given = fields.pop(FIELD, "").strip()
        if not self._token or not secrets.compare_digest(given.encode(), self._token.encode()):
            raise Refused(
                401,
                "This needs the token of this server.",
                hint="Open the link that `asof serve --control` printed, or paste its token.",
            )
        return fields


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST:
            raise Refused(413, f"A form may have {_MOST >> 10} KB.")
    return bytes(body)


def comes_from_elsewhere(headers: Headers) -> bool:
    """Whether a browser says that another site's page has sent a request."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    # Forms of pages without a referrer say "null", as those in a sandbox do: they lack the token.
    origin = headers.get("origin", "null")
    return origin != "null" and origin.partition("//")[2] != headers.get("host", "")


def needed(fields: Mapping[str, str], name: str) -> str:
    """A field that must say something."""
    if value := fields.get(name, "").strip():
        return value
    raise UsageError(f"{name} is empty.", hint="Fill it in and send the form again.")
