"""What every answer says to the browser, and which requests are not answered at all."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import quote, unquote

from starlette.datastructures import Headers as RequestHeaders
from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.model import Headers, find_header
from asof.text.kinds.media import sniffed
from asof.web.connection import HEAD_LIMIT, TOLD
from asof.web.orders import comes_from_elsewhere

# Archived documents: no scripts, nothing from anywhere else, no way to pass for one of our pages.
# Without allow-scripts browsers show <noscript>, too. allow-downloads: archived files may be kept.
# What opens in a tab of its own has a policy of its own, and may be a PDF.
SANDBOX = (
    "allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads"
    " allow-top-navigation-by-user-activation"
)
# Archived documents with scripts, in an origin of their own: no new windows, no way to the top.
SCRIPTED = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals"
_REPLAY_POLICY = (
    f"sandbox {SANDBOX};"
    " default-src 'self' data: blob: 'unsafe-inline'; script-src 'none'; connect-src 'none';"
    " worker-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
# Raw mementos are for programs; a browser that shows one must not load a thing.
RAW_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
# Browsers show no PDF in a sandbox.
_PDF_POLICY = (
    "default-src 'none'; script-src 'none'; object-src 'self'; style-src 'unsafe-inline';"
    " frame-ancestors 'self'"
)
# Browsers that know it do not so much as look a name up for archived scripts, nor talk WebRTC, of
# which no Content-Security-Policy keeps them. Redirects are ours: none leads to another origin.
OWN_CONNECTIONS = "(response-origin); webrtc=block; redirects=allow"
PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
# Pictures of ours whose parts have their places in attributes, as they have in a file.
STYLED_POLICY = PAGE_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
PDF = "application/pdf"

_EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    # Other sites must not read or probe the archive by embedding its answers.
    "cross-origin-resource-policy": "same-origin",
    "x-dns-prefetch-control": "off",
    "x-robots-tag": "noindex, nofollow",
}
_HOST = re.compile(r"(?:\[([^\]]*)\]|([^:]*))(?::\d*)?")
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LANGUAGES = re.compile(r"[A-Za-z0-9-]+(?:\s*,\s*[A-Za-z0-9-]+)*", re.ASCII)
_FILE_NAME = re.compile(r";\s*filename(\*?)\s*=\s*(?:\"([^\"]*)\"|([^;]*))", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
# Browsers give up on more than 256 KB of headers.
_MAX_ORIGINAL = 64 << 10


def memento_policy(sent: str, start: bytes, *, raw: bool) -> str:
    """The policy of a memento that is sent as a media type, by what its first bytes are.

    What the archived answer called itself counts for nothing here: one that is sent as anything but
    a PDF, or is none, stays in the sandbox.
    """
    if sent == PDF and sniffed(start) == PDF:
        return _PDF_POLICY
    return RAW_POLICY if raw else _REPLAY_POLICY


def banner_policy(script: str, framed: str = "'self'") -> str:
    """The policy of the page that has a banner and, in a frame, a memento: one script is ours.

    `framed` is the origin of the memento; the banner of another page comes by `connect-src`.
    """
    allowed = f"script-src {_digest(script)}; frame-src {framed}; frame-ancestors 'self'"
    if framed != "'self'":
        allowed += "; connect-src 'self'"
    return PAGE_POLICY.replace("frame-ancestors 'none'", allowed)


def live_policy(*scripts: str) -> str:
    """The policy of a page with some scripts of ours, which may ask for more of ours."""
    allowed = " ".join(_digest(each) for each in scripts if each)
    return f"{PAGE_POLICY}; script-src {allowed}; connect-src 'self'"


def _digest(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


def scripted_policy(ancestors: Iterable[str]) -> str:
    """The policy of archived documents whose scripts run, in the origin that they have for
    themselves: they may do there what they like, and nothing gets out of it.
    """
    return (
        f"sandbox {SCRIPTED};"
        " default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; object-src 'none';"
        " connect-src 'self' data: blob:; frame-src 'self' blob:; form-action 'self';"
        f" base-uri 'self'; frame-ancestors 'self' {' '.join(ancestors)}"
    )


class Gate:
    """Answers only local, harmless requests, and puts the common headers on every answer.

    A name that is not this machine's comes from DNS rebinding: a foreign site has its own name lead
    here, to read the archive with its own scripts. An address in numbers cannot be rebound, so
    those and `localhost` pass. `hosts` are further names to answer to; `*` lets all pass.
    `worker` is the one target that browsers may take a worker from. `orders` are what addresses
    begin with that may be posted to.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str] = (),
        *,
        worker: str = "",
        orders: Iterable[str] = (),
    ) -> None:
        self.app = app
        self.worker = worker
        self.orders = tuple(place.encode() for place in orders)
        self.hosts = frozenset(host.lower() for host in ("localhost", *hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _EVERYWHERE.items():
                    headers[name] = value
                # A 304 has its headers laid over those the browser keeps: none of ours may differ.
                if self.worker:
                    headers["connection-allowlist"] = OWN_CONNECTIONS
                if message["status"] != 304:
                    headers.setdefault("content-security-policy", PAGE_POLICY)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, send_guarded)

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None or "*" in self.hosts:
            return match is not None
        name = match[1] or match[2]
        try:
            ip_address(name)
        except ValueError:
            return name.lower() in self.hosts
        return True

    def _refusal(self, scope: Scope) -> Response | None:
        headers = RequestHeaders(scope=scope)
        if not self._is_ours(headers.get("host", "")):
            return PlainTextResponse("This server does not answer to that host name.\n", 400)
        if not scope["http_version"].startswith("1."):
            return PlainTextResponse("This server speaks HTTP/1.1.\n", 505)
        # h11 counts only what has not come to its end: a head in one piece can be longer.
        target = len(scope["raw_path"]) + len(scope["query_string"])
        if target > HEAD_LIMIT:
            return PlainTextResponse(TOLD[HTTPStatus.REQUEST_URI_TOO_LONG], 414)
        if target + sum(len(name) + len(value) for name, value in headers.raw) > HEAD_LIMIT:
            return PlainTextResponse(TOLD[HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE], 431)
        if scope["method"] == "POST" and scope["raw_path"].startswith(self.orders):
            if comes_from_elsewhere(headers):
                return PlainTextResponse("Another site's pages order nothing here.\n", 403)
        elif scope["method"] not in ("GET", "HEAD") and not self.worker:
            told = "An archive can only be read (GET and HEAD); posted forms cannot be replayed.\n"
            return PlainTextResponse(told, 405, {"Allow": "GET, HEAD"})
        asks = headers.get("service-worker") or "worker" in headers.get("sec-fetch-dest", "")
        if asks and f"{scope['path']}?{scope['query_string'].decode('latin-1')}" != self.worker:
            return PlainTextResponse("Archived scripts do not run here.\n", 403)
        return None


def original_headers(headers: Headers) -> list[tuple[str, str]]:
    """The archived headers under names that no browser acts on, and harmless on the wire."""
    room, kept = _MAX_ORIGINAL, []
    for name, value in headers:
        value = field_value(value)
        room -= len(name) + len(value) + 20
        if room > 0 and _FIELD_NAME.fullmatch(name):
            kept.append((f"X-Archive-Orig-{name}", value))
    return kept


def kept_headers(headers: Headers) -> Iterator[tuple[str, str]]:
    """The archived headers that browsers may act on, written anew from what they were read as."""
    languages = find_header(headers, "content-language") or ""
    if _LANGUAGES.fullmatch(languages.strip()):
        yield "content-language", languages.strip()
    said = find_header(headers, "content-disposition") or ""
    kind = said.partition(";")[0].strip().lower()
    if kind in ("inline", "attachment"):
        yield "content-disposition", f"{kind}{_file_name(said)}"


def _file_name(disposition: str) -> str:
    """The parameter for the name that a file is saved under (RFC 6266, section 4.3)."""
    found = _FILE_NAME.search(disposition[:4096])
    if found is None:
        return ""
    name = (found[2] if found[2] is not None else found[3]).strip()
    name = unquote(name.rpartition("'")[2]) if found[1] else name
    name = re.split(r"[/\\]", _CONTROLS.sub("", name))[-1]
    return f"; filename*=UTF-8''{quote(name, safe='', errors='replace')}" if name else ""


def field_value(value: str) -> str:
    """An archived header value on one line, in the characters that HTTP can carry."""
    return _CONTROLS.sub(" ", value).strip().encode("latin-1", "replace").decode("latin-1")
