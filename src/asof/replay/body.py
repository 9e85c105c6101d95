"""Where the body of a document begins: at its tag, or where a browser opens one by itself."""

from dataclasses import dataclass

from asof.text.markup import WS, Tag, Token

# What may stand before the body without opening it (HTML, sections 13.2.6.4.2 to 13.2.6.4.6).
_HEAD = frozenset(
    [
        *("html", "head", "title", "base", "basefont", "bgsound", "link", "meta", "style"),
        *("script", "noscript", "noframes", "template"),
    ]
)
_BOM = "\xef\xbb\xbf"


@dataclass(slots=True)
class BodyFinder:
    """Watches tokens go by; for one token `before` or `after` is the position the body begins at.

    `end` is where the last token before the body ended: the place for what has no body at all.
    A document of frames has no body, and an element before its frameset would break it: `found` is
    set without a position. In XML only a body tag opens a body.
    """

    view: str
    xml: bool = False
    found: bool = False
    before: int | None = None
    after: int | None = None
    end: int = 0
    _templates: int = 0

    def __post_init__(self) -> None:
        self.end = len(_BOM) if self.view.startswith(_BOM) else 0

    def see(self, token: Token) -> None:
        """Look at the next token and the text before it, until the body is found."""
        previous, self.end = self.end, token.after
        if self.xml:
            self._see_xml(token)
        elif self._templates:
            self._count_templates(token)
        elif self.view[previous : token.start].strip(WS):
            self.found, self.before = True, previous
        elif isinstance(token, Tag):
            self._see_tag(token)

    def _see_tag(self, tag: Tag) -> None:
        self._count_templates(tag)
        if tag.closing or tag.name in _HEAD:
            return
        self.found = True
        if tag.name == "body":
            self.after = tag.end
        elif tag.name != "frameset":
            self.before = tag.start

    def _see_xml(self, token: Token) -> None:
        if isinstance(token, Tag) and token.name == "body" and not token.closing:
            self.found = True
            # A self-closing body has no inside to stand in.
            self.after = None if self.view.endswith("/>", token.start, token.end) else token.end

    def _count_templates(self, token: Token) -> None:
        if isinstance(token, Tag) and token.name == "template":
            self._templates += -1 if token.closing else 1
