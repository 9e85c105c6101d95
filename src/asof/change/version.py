"""A version of a document, as far as comparing needs it: a row of the catalog, and maybe its text.

Reading the text costs thousands of times what comparing digests costs, so a version brings a way
to read it, which is used only if no cheaper stage has decided.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from asof.catalog.validity import NOT_MODIFIED
from asof.clock import Instant
from asof.model import Capture
from asof.text.document import Document


@dataclass(frozen=True, slots=True)
class Version:
    """One answer to a URL at a moment.

    `payload` and `entity` are digests (see `asof.change.digests`). `failure` is the reason why
    there was no answer. `confirms` marks an answer that only said "not modified".
    """

    url: str
    status: int | None = 200
    media_type: str | None = None
    etag: str | None = None
    last_modified: Instant | None = None
    payload: str | None = None
    entity: str | None = None
    redirect: str | None = None
    failure: str | None = None
    truncated: bool = False
    confirms: bool = False
    read: Callable[[], Document | None] | None = field(default=None, compare=False, repr=False)


def version_of(
    capture: Capture,
    original: Capture | None = None,
    *,
    read: Callable[[], Document | None] | None = None,
) -> Version:
    """The version that a capture is. A revisit has its content from the `original` it refers to."""
    source = capture if original is None else original
    status, redirect = capture.status, capture.redirect
    if capture.profile == NOT_MODIFIED:
        status, redirect = (source.status, source.redirect) if original else (200, None)
    return Version(
        url=capture.url,
        status=status,
        media_type=source.media_type or capture.media_type,
        etag=capture.etag or source.etag,
        last_modified=capture.last_modified or source.last_modified,
        payload=source.digest or capture.digest,
        entity=source.content or capture.content,
        redirect=redirect,
        truncated=bool(source.truncated),
        confirms=capture.profile == NOT_MODIFIED,
        read=read,
    )


class Standing(StrEnum):
    """What an answer says about the content of its URL."""

    PRESENT = "present"
    ELSEWHERE = "elsewhere"  # a redirect
    GONE = "gone"
    SILENT = "silent"  # nothing: the server is ill, wants a login, or did not answer


# 451: taken away by law. It is gone for the reader, whatever the reason.
_GONE = frozenset((404, 410, 451))
_LOGIN = re.compile(r"(?:^|/)(?:log-?in|sign-?in|sso|oauth2?|cas|shibboleth)(?:$|[/._-])", re.I)
_INDEX = re.compile(r"/(?:(?:index|default|home|start|main)(?:\.\w+)?)?\Z", re.I)


def standing(version: Version) -> Standing:
    """What an answer says. A failure or an error of the server says nothing about the content.

    A redirect to a login is a refusal. A redirect of some page to the front page is how many
    servers say that the page is gone: a soft 404.
    """
    if version.failure is not None:
        return Standing.SILENT
    status = version.status
    if version.confirms or status is None or 200 <= status <= 299:
        return Standing.PRESENT
    if status in _GONE:
        return Standing.GONE
    if 300 <= status <= 399 and version.redirect:
        return _redirect_standing(version.url, version.redirect)
    return Standing.SILENT


def _redirect_standing(url: str, target: str) -> Standing:
    try:
        before, after = urlsplit(url), urlsplit(target)
    except ValueError:
        return Standing.ELSEWHERE
    if _LOGIN.search(after.path) and not _LOGIN.search(before.path):
        return Standing.SILENT
    # /index.html -> / and old.example/ -> new.example/ are moves; /a/b.html -> / is a goodbye.
    was_front = _INDEX.fullmatch(before.path or "/") is not None
    to_front = after.path in ("", "/") and not after.query
    return Standing.GONE if to_front and not was_front else Standing.ELSEWHERE


def tells(version: Version) -> bool:
    """Whether a later version can be compared with this one: whether it says anything at all."""
    return standing(version) is not Standing.SILENT


# Where a document without text is still a page.
PAGES = frozenset(("text/html", "application/xhtml+xml"))


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
