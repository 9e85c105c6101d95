"""The origin in which archived scripts run: a worker, the page that starts it, and raw answers.

Archived scripts must not run with the rights of our own pages, so they have an origin with nothing
else in it: another port, or another name. There the worker of `asof.web.wabac` makes pages of what
`/w/PLAN/{stamp}{form}/{url}` answers; PLAN is a policy of choosing and, where several archives are
served, after a dot the name of one. What keeps them from getting out
is in `templates/replay/worker.js`.

How the worker is told of redirects, errors and times is not documented by its authors: by an answer
of 200 with `x-redirect-status`, `x-orig-location` and `x-orig-ts`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.resources import files

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from asof.clock import http_date, parse_moment, stamp
from asof.model import Headers, find_header
from asof.replay.choose import Choice, Policy
from asof.replay.links import ReplayPlace
from asof.replay.posted import posted
from asof.replay.rewrite import rewrite_css
from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.labels import encoding_named
from asof.text.kinds.media import ContentType
from asof.web import address, wabac
from asof.web.address import BELOW_BANNER, RAW, Wanted
from asof.web.compositions import verdict_header
from asof.web.mementos import whole
from asof.web.opened import (
    REDIRECTS,
    Body,
    Opened,
    Parts,
    lengths,
    location_of,
    open_memento,
    status_of,
)
from asof.web.pages import Pages
from asof.web.replay_site import BOOT, SCRIPTED_TYPES, ReplaySite
from asof.web.security import (
    OWN_CONNECTIONS,
    RAW_POLICY,
    field_value,
    kept_headers,
    scripted_policy,
)

WORKER = "/sw.js"
# With these words alone: others would be settings of the program.
WORKER_TARGET = f"{WORKER}?replayPrefix=w"
_RAW = re.compile(
    rb"(?s)(/w/(coherent|nearest|strict)(?:\.([\w.~-]+))?/(:\d{14}/)?(\d{14})([a-z]{2,4}_)/)(.+)"
)
# What a document may ask for that no worker controls (ADR 19): never a document, never a worker.
_PARTS = ("image", "style", "script", "font", "audio", "video", "track", "empty")
# What a worker's own requests, and those of the page that starts it, may reach.
_WORKER_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self' blob:"
_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_WIDE = ("utf-16be", "utf-16le")
_UTF_8 = re.compile(rb"charset\s*=\s*[\"']?utf-?8", re.IGNORECASE)
# What stands behind which file of the program, by the names of both.
_MENDS = {"wombat.js": "scripts_see.js", "wombatWorkers.js": "workers_see.js"}
_MOST_POSTED = 1 << 20
_NEVER = ("x-redirect-", "x-orig-", "x-proxy-", "x-wabac-", "x-archive-", "x-content-type-options",
          "x-dns-prefetch-control", "x-frame-options", "x-robots-tag", "x-asof-")  # fmt: skip
_READ = ("etag", "last-modified", "link")


class ReplayOrigin:
    """Answers for the worker, and to nobody else; `shelves` are archives by the names in plans."""

    def __init__(self, shelves: Mapping[str, Pages], site: ReplaySite, program: bytes) -> None:
        self._shelves = {name: _Shelf(pages) for name, pages in shelves.items()}
        policy = scripted_policy(site.main)
        known = {
            "POLICY": policy,
            "CONNECTIONS": OWN_CONNECTIONS,
            "PROGRAM": f"/wabac.js?{wabac.DIGEST}",
            "MENDS": {name: _text(ours) for name, ours in _MENDS.items()},
        }
        constants = "".join(f"const {name} = {json.dumps(known[name])};\n" for name in known)
        boot = f"frame-ancestors {' '.join(site.main)}; script-src 'self'; default-src 'none'"
        script = "text/javascript"
        self._files = {
            WORKER: _file(
                constants + _text("markup.js", "modules.js", "worker.js"), script, _WORKER_POLICY
            ),
            "/wabac.js": _file(program, script, RAW_POLICY, kept=True),
            BOOT: _file(_text("boot.html"), "text/html", boot),
            f"{BOOT}.js": _file(_text("boot.js"), script, RAW_POLICY),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response, asked = self._files.get(scope["path"]), _asked(scope)
        kind, by_document = request.headers.get("sec-fetch-dest", "empty"), asked and asked[2]
        if response is None and (by_document or kind != "empty"):
            response = self._past(request, kind if by_document else "")
        if response is None and asked and (shelf := self._shelves.get(asked[0])):
            try:
                body = await _body(request)
            except ClientDisconnect:  # or he was told that it took too long
                return
            response = await run_in_threadpool(shelf.answer, request, asked, body)
        await (response or PlainTextResponse("Nothing is here.\n", 404))(scope, receive, send)

    def _past(self, request: Request, part: str) -> Response | None:
        """To what did not come by the worker: a page starts it; parts are for our documents."""
        path, said = request.url.path, request.headers.get
        if path.startswith("/w/") and said("sec-fetch-dest") in ("iframe", "frame"):
            return self._files[BOOT]
        if part in _PARTS and said("sec-fetch-site") == "same-origin":
            return None
        return PlainTextResponse("Archived scripts run inside the archive's own pages only.\n", 403)


def _asked(scope: Scope) -> tuple[str, Wanted, str] | None:
    """The name of an archive, what is wanted, and what a document wrote before the URL."""
    match = _RAW.fullmatch(scope["raw_path"])
    if match is None:
        return None
    query: bytes = scope["query_string"]
    before, policy, shelf, page, digits, form, url = (part or b"" for part in match.groups())
    written = (url + (b"?" + query if query else b"")).decode("utf-8", "replace")
    kind, url_of = RAW if page else form.decode(), address.typed(written)
    wanted = Wanted(digits.decode(), kind, url_of, Policy(policy.decode()))
    return shelf.decode(), wanted, before.decode() if page else ""


class _Shelf:
    """One archive."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._length, self._parts = lengths(pages.archive), Parts(pages.archive)

    def answer(self, request: Request, asked: tuple[str, Wanted, str], body: bytes) -> Response:
        """The bytes of a memento, and what the worker must know of them."""
        _, wanted, before = asked
        choice = self._choice(request, wanted, body)
        if choice.capture is None:
            return _missing(request, wanted)
        shown = stamp(choice.at)
        memento = self._pages.archive.read(choice.capture)
        opened = open_memento(wanted, choice, shown, memento, "")
        response = _described(opened)
        response.headers["asof-verdict"] = verdict_header(choice)
        if wanted.form == BELOW_BANNER and "x-orig-location" not in response.headers:
            if opened.type.media not in SCRIPTED_TYPES:
                return _missing(request, wanted)  # our page around it shows it in another way
            if shown != wanted.stamp:
                response = _elsewhere(302, wanted.url)
                response.headers["x-orig-ts"] = shown
                return response
        if before:
            _part(response, opened, request.headers["sec-fetch-dest"], before)
        return response.answer(request, partial(self._length, choice.capture))

    def _choice(self, request: Request, wanted: Wanted, body: bytes) -> Choice:
        """A page that somebody goes to, as of when it is known; what belongs to it, as of then."""
        moment = parse_moment(wanted.stamp, self._pages.clock.now())
        if request.method not in ("GET", "HEAD"):
            method = request.headers.get("x-asof-method", request.method)
            asked = method, request.headers.get("content-type", ""), body
            return posted(self._pages.chooser, asked, wanted.url, moment, wanted.policy)
        chooser = self._pages.chooser
        choose = chooser.page if wanted.form == BELOW_BANNER else chooser.choose
        return choose(wanted.url, moment, wanted.policy, self._parts.having(request))


async def _body(request: Request) -> bytes:
    """What was posted, as much of it as anybody compares."""
    body = b""
    if request.method not in ("GET", "HEAD"):
        async for piece in request.stream():
            body += piece
            if len(body) > _MOST_POSTED:
                break
    return body


def _described(opened: Opened) -> Body:
    """What browsers and scripts may act on of an archived answer, under names that are safe."""
    memento, status = opened.memento, status_of(opened.memento.status)
    if opened.wanted.form != BELOW_BANNER and memento.status in (204, 205):
        status = memento.status
    location = opened.place.resolve(location_of(memento)) if status in REDIRECTS else None
    payload, kind, length = _readable(opened)
    response = _elsewhere(status, location) if location else Body(payload, 200)
    for name, value in memento.headers:
        if (low := name.lower()).startswith("x-") and not low.startswith(_NEVER):
            response.headers.append(low, field_value(value))
        elif low in _READ:  # by scripts alone: the worker gives them their names
            response.headers.append(f"x-asof-{low}", field_value(value))
    if (later := find_header(memento.headers, "refresh")) is not None:
        response.headers["refresh"] = field_value(later)  # the worker makes markup of it
    if cookies := ",".join(_cookies(memento.headers)):
        response.headers["x-proxy-set-cookie"] = cookies
    response.headers.update(dict(kept_headers(memento.headers)))
    if status != 200:
        response.headers["x-redirect-status"] = str(status)
    response.place = opened.part if payload is opened.payload else None
    response.headers["content-type"] = str(kind)
    response.headers["memento-datetime"] = http_date(memento.capture.at)
    response.headers.update({"content-security-policy": RAW_POLICY, "cache-control": "no-store"})
    response.headers["etag"] = f'"{memento.capture.record_id.strip("<>")}"'
    if length is not None and not location:
        response.headers["content-length"] = str(length)
    return response


def _readable(opened: Opened) -> tuple[Iterator[bytes], ContentType, int | None]:
    """A payload with its type and length; a page of which the worker would mistake the encoding,
    for it has a mark of it, says two things about it or has no ASCII in it, in UTF-8.
    """
    kind, length = opened.type, opened.memento.length
    said = encoding_named(kind.charset) if kind.charset else None
    is_torn = said not in (None, "utf-8") and (said in _WIDE or _UTF_8.search(opened.start))
    if kind.media not in SCRIPTED_TYPES or not (is_torn or opened.start.startswith(_MARKS)):
        return opened.payload, kind, length
    data = b"".join(opened.payload)
    text = decoded(data, charset_of(data, str(kind))).removeprefix("\ufeff").encode()
    return iter((text,)), ContentType(kind.media, "utf-8"), len(text)


def _part(response: Body, opened: Opened, kind: str, before: str) -> None:
    """Make of an answer for the worker one for a document, as the worker would."""
    headers = response.headers
    response.status_code = int(headers.get("x-redirect-status", response.status_code))
    if (location := headers.get("x-orig-location")) is not None:
        headers["location"] = before + location
    for name in ("x-redirect-status", "x-orig-location", "x-proxy-set-cookie", "refresh"):
        del headers[name]
    if location is not None or kind not in ("style", "script"):
        return
    if kind == "style":
        place = ReplayPlace(opened.wanted.url, lambda url: before + address.written(url))
        data, charset = rewrite_css(whole(response.pieces) or b"", str(opened.type), place)
        headers["content-type"] = str(ContentType(opened.type.media, charset))
    else:  # pages rewrite scripts, with what they have for that
        url = json.dumps(before + address.written(opened.wanted.url))
        data = f"{{\nconst address = {url};\n{_text('part.js')}}}\n".encode()
        headers["content-type"] = "text/javascript; charset=utf-8"
    response.pieces, headers["content-length"] = iter((data,)), str(len(data))


def _cookies(headers: Headers) -> Iterator[str]:
    """Those that scripts could see; the worker hands them over, and they are never sent."""
    for name, value in headers:
        pair, _, words = field_value(value).partition(";")
        if name.lower() == "set-cookie" and "httponly" not in words.lower() and "," not in pair:
            yield pair.strip()


def _elsewhere(status: int, url: str) -> Body:
    response = Body(iter(()), 200)
    told = {"x-redirect-status": str(status), "x-orig-location": address.written(url)}
    response.headers.update({**told, "content-security-policy": RAW_POLICY})
    return response


def _missing(request: Request, wanted: Wanted) -> Response:
    """That the archive has no such answer: a page says nothing, ours around it says it."""
    if wanted.form == BELOW_BANNER:
        return Response("This is not in the archive.", 404, media_type="text/html")
    told = f"The archive has no answer to this {request.method} as of then.\n"
    return PlainTextResponse(told, 404)


def _file(data: str | bytes, media: str, policy: str, *, kept: bool = False) -> Response:
    age = "public, max-age=31536000, immutable" if kept else "no-cache"
    headers = {"content-security-policy": policy, "cache-control": age}
    return Response(data, media_type=media, headers=headers)


def _text(*names: str) -> str:
    folder = files("asof.web").joinpath("templates", "replay")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
