"""Rewriting by media type: what can be rewritten, and how."""

from dataclasses import dataclass
from enum import Enum, auto

from asof.replay.links import ReplayPlace
from asof.replay.rewrite_html import rewrite_html
from asof.replay.xml_acts import XmlActs
from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.labels import CODECS, encoding_named
from asof.text.encoding.prescan import declared_label
from asof.text.encoding.view import open_text
from asof.text.links.attribute_values import replaced
from asof.text.links.css import css_references

# A document is held in memory several times over while it is rewritten; the largest HTML pages of
# the web stay far below this.
MAX_REWRITTEN = 32 << 20


class RewriteKind(Enum):
    """The languages that are rewritten."""

    HTML = auto()
    XML = auto()
    CSS = auto()


_KINDS = {
    "text/html": RewriteKind.HTML,
    "application/xhtml+xml": RewriteKind.XML,
    "image/svg+xml": RewriteKind.XML,
    "text/css": RewriteKind.CSS,
}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten document. `charset` is set when its HTTP header has to say another one now.

    XML is `is_quiet` if a parser reads all of it, and finds no link that leads out of the archive.
    """

    data: bytes
    charset: str | None = None
    is_quiet: bool = True


def kind_of(media_type: str | None) -> RewriteKind | None:
    """The language of a media type without parameters, or None for what passes through as it is."""
    return _KINDS.get((media_type or "").lower())


def is_xml(media_type: str) -> bool:
    """Whether browsers parse it as XML."""
    return media_type.lower().endswith(("+xml", "/xml", "/xsl"))


def kind_within(media_type: str, data: bytes, declared: str | None) -> RewriteKind | None:
    """The language of a document by its bytes, too: any XML may hold parts of XHTML and SVG."""
    kind = kind_of(media_type)
    asks = kind is None and is_xml(media_type)
    return RewriteKind.XML if asks and _acts(data, declared)[0].holds else kind


def rewrite(
    data: bytes,
    kind: RewriteKind,
    declared: str | None,
    place: ReplayPlace,
    *,
    below: bool = False,
) -> Rewritten:
    """Rewrite a whole document (at most MAX_REWRITTEN bytes) so that it works inside the archive.

    `declared` is the Content-Type that HTTP gave, or a label. `below` says that it
    is shown below a banner.
    """
    if kind is RewriteKind.CSS:
        done, name = rewrite_css(data, declared, place)
    else:
        done, name = rewrite_html(data, declared, place, below=below, xml=kind is RewriteKind.XML)
    label = declared_label(declared or "")
    said = encoding_named(label) if label else None
    return Rewritten(done, None if name == said or (said is None and done.isascii()) else name)


def rewrite_xml(
    data: bytes, media_type: str, declared: str, place: ReplayPlace, *, below: bool = False
) -> Rewritten:
    """The same for any XML, of which that without markup stays as it is."""
    kind = kind_within(media_type, data, declared)
    done = Rewritten(data)
    if kind is not None:
        done = rewrite(data, kind, declared, place, below=below)
    seen, name = _acts(done.data, done.charset or declared)
    charset = done.charset if done.data.isascii() else name
    is_quiet = name in CODECS and seen.is_read and not seen.leads_out
    return Rewritten(done.data, charset, is_quiet)


def _acts(data: bytes, declared: str | None) -> tuple[XmlActs, str]:
    """What XML does, and the encoding that it is read in."""
    charset = charset_of(data, declared)
    return XmlActs(decoded(data, charset).encode("utf-8", "replace")), charset.name


def rewrite_css(data: bytes, declared: str | None, place: ReplayPlace) -> tuple[bytes, str]:
    """A whole style sheet, and the name of the encoding that it is in now."""
    text = open_text(data, declared, sheet=True)
    # The encoding of a sheet does not reach into its URLs' queries (CSS Values, section 4.5).
    refer = place.reading("utf-8").of_parts().refer
    done = replaced(text.view, css_references(text.view, text.charset), refer)
    return text.back(done), text.charset.name
