"""What a document needs to be opened as a file: no HTTP header says its encoding and its policy.

A browser gives a file many rights and no server stands between it and the live web, so each page
begins with a policy of its own. What cannot have one (SVG, XML) must have nothing in it that acts.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice

from asof.replay.links import ReplayPlace
from asof.replay.rewrite import MAX_REWRITTEN, RewriteKind, Rewritten, kind_within, rewrite
from asof.replay.xml_acts import XHTML, XmlActs
from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.labels import encoding_named
from asof.text.encoding.prescan import declared_label
from asof.text.markup import Tag, tokens

# Files are of an opaque origin each, which 'self' does not mean in every browser.
_POLICY = (
    "default-src 'none'; img-src file: data: blob:; media-src file: data: blob:;"
    " style-src file: data: 'unsafe-inline'; font-src file: data:; frame-src file:;"
    " object-src file:; form-action 'none'; base-uri 'none'; webrtc 'block'"
)
_SCRIPTS = "; script-src file: data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src data: blob:"
# No policy keeps a script from leading its page elsewhere; browsers with the Navigation API ask.
_GUARD = (
    "<script>self.navigation?.addEventListener('navigate',e=>{"
    "/^(file|about|blob|data|javascript):/.test(e.destination.url)||e.preventDefault()});"
    "self.open=()=>null</script>"
)
_BOM = b"\xef\xbb\xbf"
_DOCTYPE = re.compile(rb"\s*<!doctype[^>]*>", re.IGNORECASE)
_LATER_DOCTYPE = re.compile(rb"<!doctype[^>]*>", re.IGNORECASE)
_REACH = 8192
# As the policy of an XHTML document counts: for what comes after it.
_BEGUN = ("html", "head", "meta")
_TEXTS = (".js", ".txt", ".csv", ".vtt", ".json")


def is_harmless(data: bytes, media: str, url: str, declared: str | None, *, scripts: bool) -> bool:
    """Whether XML, as it will be written, has a policy, or does nothing but show something."""
    place = ReplayPlace(url, lambda _: "x", on_disk=True, unscripted=not scripts)
    seen = XmlActs(xml_for_disk(data, media, declared, place, scripts=scripts))
    policy = {"http-equiv": "Content-Security-Policy", "content": _policy(scripts=scripts)}
    names = [name for name, _ in seen.first] == [f"{XHTML} {name}" for name in _BEGUN]
    has_policy = names and seen.first[-1][1] == policy and not seen.is_styled
    return seen.is_read and not seen.leads_out and (has_policy or not seen.acts)


def xml_for_disk(
    data: bytes, media: str, declared: str | None, place: ReplayPlace, *, scripts: bool
) -> bytes:
    """XML that holds markup rewritten, and in any case in the encoding that a file can say."""
    kind = kind_within(media, data, declared)
    done = Rewritten(data) if kind is None else rewrite(data, kind, declared, place)
    return for_disk(done, RewriteKind.XML, declared, scripts=scripts)


def for_disk(done: Rewritten, kind: RewriteKind, declared: str | None, *, scripts: bool) -> bytes:
    """A rewritten document that says itself what HTTP said of it."""
    label = declared_label(declared or "")
    charset = done.charset or (encoding_named(label) if label else None)
    data = done.data
    if kind is RewriteKind.CSS:
        told = charset is not None and not data.isascii() and not data.startswith(_BOM)
        return f'@charset "{charset}";'.encode() + data if told else data
    if kind is RewriteKind.XML:
        return _xml(data, charset, _head(None, scripts=scripts))
    return _html(data, _head(charset, scripts=scripts))


def marked(data: Iterator[bytes], declared: str | None, path: str) -> Iterator[bytes]:
    """Text whose encoding HTTP alone has said, in the one that a file can say; else as it is."""
    label = declared_label(declared or "")
    if not path.endswith(_TEXTS) or not label or encoding_named(label) is None:
        return data
    held, size = [], 0
    for piece in data:
        held.append(piece)
        size += len(piece)
        if size > MAX_REWRITTEN:
            return chain(held, data)
    whole = b"".join(held)
    if whole.isascii() or whole.startswith(_BOM):
        return iter((whole,))
    return iter((_BOM, decoded(whole, charset_of(whole, label)).encode("utf-8", "replace")))


def _policy(*, scripts: bool) -> str:
    return _POLICY + (_SCRIPTS if scripts else "")


def _head(charset: str | None, *, scripts: bool) -> bytes:
    said = f'<meta charset="{charset}">' if charset else ""
    return (
        f'{said}<meta http-equiv="Content-Security-Policy" content="{_policy(scripts=scripts)}"/>'
        '<meta http-equiv="x-dns-prefetch-control" content="off"/>'
        f"{_GUARD if scripts else ''}"
    ).encode()


def _html(data: bytes, head: bytes) -> bytes:
    """Before all that could act; a doctype stays, or becomes, the first thing of the document."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    if (doctype := _DOCTYPE.match(data, start)) is not None:
        return data[: doctype.end()] + head + data[doctype.end() :]
    later = _LATER_DOCTYPE.search(data, start, _REACH)
    return data[:start] + (later[0] if later else b"") + head + data[start:]


def _xml(data: bytes, charset: str | None, head: bytes) -> bytes:
    written = decoded(data, charset_of(data, charset)).encode("utf-8", "replace")
    if written != data or not data.isascii():
        written = _BOM + written
    view = written.decode("latin-1")
    first = list(islice((each for each in tokens(view, xml=True) if isinstance(each, Tag)), 2))
    if [tag.name for tag in first] != list(_BEGUN[:2]) or first[1].empty:
        return written
    return written[: first[1].end] + head + written[first[1].end :]
