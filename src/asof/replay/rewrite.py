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
    DATA = auto()
    """XML in general, feeds too, which is rewritten where it holds some of XHTML or SVG."""
    CSS = auto()


XMLS = (RewriteKind.XML, RewriteKind.DATA)
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
    media_type = (media_type or "").lower()
    is_xml = media_type.endswith(("+xml", "/xml", "/xsl"))  # to browsers
    return _KINDS.get(media_type) or (RewriteKind.DATA if is_xml else None)


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
    done, name, is_quiet, xml = data, "", True, kind in XMLS
    if kind is RewriteKind.CSS:
        done, name = rewrite_css(data, declared, place)
    elif kind is not RewriteKind.DATA or _acts(data, declared)[0].holds:
        done, name = rewrite_html(data, declared, place, below=below, xml=xml)
    if xml:
        seen, found = _acts(done, name or declared)
        name = name or found
        is_quiet = name in CODECS and seen.is_read and not seen.leads_out
    label = declared_label(declared or "")
    said = encoding_named(label) if label else None
    is_said = name == said or (said is None and done.isascii())
    return Rewritten(done, None if is_said else name, is_quiet)


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
