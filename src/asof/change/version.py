"""A version of a document, as far as comparing needs it: a row of the catalog, and maybe its text.

Reading the text costs thousands of times what comparing digests costs, so a version brings a way
to read it, which is used only if no cheaper stage has decided.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from asof.catalog.observe import Hint, Observation, Silence, hint_of, state_of
from asof.clock import Instant
from asof.model import State
from asof.text.document import Document
from asof.text.kinds.media import PAGES


@dataclass(frozen=True, slots=True)
class Version:
    """One answer to a URL at a moment.

    `payload` and `entity` are digests (see `asof.change.digests`). `confirms` marks an answer that
    only said "not modified" of what is known.
    """

    url: str
    status: int | None = 200
    etag: str | None = None
    last_modified: Instant | None = None
    payload: str | None = None
    entity: str | None = None
    redirect: str | None = None
    truncated: bool = False
    confirms: bool = False
    read: Callable[[], Document | None] | None = field(default=None, compare=False, repr=False)

    @property
    def state(self) -> State:
        return State.PRESENT if self.confirms else state_of(self.status)

    @property
    def hint(self) -> Hint:
        is_elsewhere = self.state is State.ELSEWHERE
        return hint_of(self.url, self.redirect) if is_elsewhere else Hint.NONE

    @property
    def tells(self) -> bool:
        """Whether a later version can be compared with this one: whether it says anything at all.

        A redirect to a login is a refusal, and one that leads nowhere is a mistake.
        """
        if self.state is State.ELSEWHERE:
            return self.redirect is not None and self.hint is not Hint.LOGIN
        return self.state is not State.SILENT


def version_of(seen: Observation, *, read: Callable[[], Document | None] | None = None) -> Version:
    """The version that a capture is, by what it shows. A revisit has its content from another."""
    capture = seen.capture
    source = seen.source or capture
    return Version(
        url=capture.url,
        status=seen.status,
        etag=capture.etag or source.etag,
        last_modified=capture.last_modified or source.last_modified,
        payload=source.digest or capture.digest,
        entity=seen.content,
        redirect=seen.redirect,
        truncated=seen.why is Silence.PART,
        confirms=seen.confirms and seen.content is not None and seen.state is State.PRESENT,
        read=read,
    )


def signpost(document: Document) -> str | None:
    """Where a page leads that has no text and a single link: what is left where a page was."""
    if document.media_type not in PAGES or document.text.strip() or document.main.strip():
        return None
    return document.links[0] if len(document.links) == 1 else None


# What pages say in their title, or at the top, when they are not there. Whole phrases only.
_NOT_FOUND = re.compile(
    r"""
    (?<!\w)(?: 404(?!\w)
      | (?:page|file|document|resource|url|object|content)\ (?:(?:was|is|could|can|has|you)\ ){0,2}+
        (?: not\ (?:be\ )?found | no\ longer\ available | been\ removed | does(?:n't|\ not)\ exist )
      | not\ found | no\ longer\ (?:available|exists)
      | seite\ existiert\ nicht | (?:seite\ (?:wurde\ )?)?nicht\ gefunden
      | page\ (?:introuvable|non\ trouvée)
      | página\ no\ (?:encontrada|existe) | página\ não\ encontrada | pagina\ non\ trovata
      | pagina\ niet\ gevonden | страница\ не\ найдена ) (?!\w)
    | ページが見つかりません | 页面不存在 | 找不到
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TOP = 200


def soft_404(document: Document, most_words: int) -> bool:
    """Whether a page that was answered with 200 says that there is no page."""
    text = document.main or document.text
    if len(text.split()) > most_words:
        return False
    title = document.title or ""
    return bool(_NOT_FOUND.search(title) or _NOT_FOUND.search(text.lstrip()[:_TOP]))
