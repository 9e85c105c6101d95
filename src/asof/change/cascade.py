"""What changed between two versions, by the cheapest stage that can tell.

Spaniol 2010, "multistage change measurement procedure". The stages are those of `Stage`, in that
order: one that cannot tell hands on to the next; the one that decides is the evidence. What a
server says never stands against bytes: where digests of both are at hand and differ, an equal ETag
or date is a mistake of the server and is noted as such.
"""

from dataclasses import dataclass, replace

from rapidfuzz.distance import Levenshtein

from asof.catalog.observe import Hint
from asof.change.categories import Category, Change, Stage, Thresholds
from asof.change.digests import DATA, compared_text
from asof.change.link_changes import KnownTargets, LinkChanges, link_changes
from asof.change.noise import bare, recased, settled
from asof.change.passages import Passages, passages, words
from asof.change.version import Version, signpost, soft_404
from asof.model import State
from asof.text.document import Document
from asof.text.kinds.media import PAGES
from asof.warc.digest import same

DEFAULT = Thresholds()
# Characters of a text that are compared. Reading and comparing two of nearly 16 million took 49 s
# and 1.5 GB.
_MOST = 2_000_000


def compare(
    old: Version | None,
    new: Version,
    *,
    thresholds: Thresholds = DEFAULT,
    targets: KnownTargets | None = None,
) -> Change:
    """What became of `old`, the version before `new`; None if there was none.

    The two may be of different URLs: the same content at another address has moved.
    """
    if old is None:
        return _first(new)
    change = _by_status(old, new)
    if change is not None:
        return change
    change = _by_claims(old, new) or _by_bytes(old, new)
    if change is None:
        change = _by_content(old, new, thresholds, targets)
    notes = tuple(_contradictions(old, new))
    if notes:
        change = replace(change, details=(*change.details, *notes))
    if old.url != new.url and change.category in (Category.UNCHANGED, Category.INSIGNIFICANT):
        return replace(change, category=Category.MOVED, moved_to=new.url)
    return change


# -- Status --------------------------------------------------------------------------------------


def _first(new: Version) -> Change:
    """Nothing is known from before, so that nothing can have been removed."""
    category = Category.MOVED if new.state is State.ELSEWHERE else Category.APPEARED
    if not new.tells or new.state is State.GONE:
        category = Category.UNAVAILABLE
    moved_to = new.redirect if category is Category.MOVED else None
    return Change(category, Stage.STATUS, moved_to=moved_to, details=("no version before",))


def _is_gone(version: Version) -> bool:
    """Whether the page is not there, or its URL leads to the front page: a soft 404."""
    return version.state is State.GONE or version.hint is Hint.FRONT_PAGE


def _by_status(old: Version, new: Version) -> Change | None:
    """Where one of the two has no content there is nothing to compare but the answers."""
    details = (_answer(new),)
    if not new.tells:
        return Change(Category.UNAVAILABLE, Stage.STATUS, details=details)
    if _is_gone(new):
        category = Category.UNCHANGED if _is_gone(old) else Category.REMOVED
        moved_to = new.redirect if category is Category.REMOVED else None
        return Change(category, Stage.STATUS, moved_to=moved_to, details=details)
    if new.state is State.ELSEWHERE:
        kept = old.state is State.ELSEWHERE and old.redirect == new.redirect
        category = Category.UNCHANGED if kept else Category.MOVED
        return Change(category, Stage.STATUS, moved_to=new.redirect, details=details)
    if old.state is not State.PRESENT:
        return Change(Category.APPEARED, Stage.STATUS, details=(f"before: {_answer(old)}",))
    return None


def _answer(version: Version) -> str:
    return f"status {version.status}" + (f" to {version.redirect}" if version.redirect else "")


# -- What servers say, and bytes -----------------------------------------------------------------


def _by_claims(old: Version, new: Version) -> Change | None:
    known = same(old.entity, new.entity)
    if known is None:
        known = same(old.payload, new.payload)
    if known is False:
        return None
    if known and new.confirms:
        return Change(Category.UNCHANGED, Stage.VALIDATOR, 1.0, details=("304 Not Modified",))
    if _same_strong_etag(old, new):
        return Change(Category.UNCHANGED, Stage.VALIDATOR, 1.0, details=("the same strong ETag",))
    # Dates of whole seconds cannot prove anything (RFC 9110 section 8.8.2.2), and servers set them
    # as they like: only where there is nothing else, and said to be a claim.
    if known is None and old.last_modified is not None and old.last_modified == new.last_modified:
        note = "claimed by the server, not checked"
        return Change(Category.UNCHANGED, Stage.LAST_MODIFIED, details=(note,))
    return None


def _same_strong_etag(old: Version, new: Version) -> bool:
    """Strong means: other bytes, other tag (RFC 9110 section 8.8.1), for one URL."""
    if old.url != new.url or not old.etag or not new.etag or old.etag != new.etag:
        return False
    return old.etag.startswith('"') and len(old.etag) > len('""')


def _by_bytes(old: Version, new: Version) -> Change | None:
    if same(old.payload, new.payload):
        return Change(Category.UNCHANGED, Stage.PAYLOAD, 1.0)
    if same(old.entity, new.entity):
        note = "coded differently" if old.payload and new.payload else ""
        return Change(Category.UNCHANGED, Stage.ENTITY, 1.0, details=(note,) if note else ())
    return None


def _contradictions(old: Version, new: Version) -> list[str]:
    if same(old.entity, new.entity) is not False:
        return []
    notes = []
    if _same_strong_etag(old, new):
        notes.append("the server gave the same ETag for other bytes")
    if old.last_modified is not None and old.last_modified == new.last_modified:
        notes.append("the server gave the same Last-Modified for other bytes")
    if old.truncated or new.truncated:
        notes.append("one of the two was cut short")
    return notes


# -- Content -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Seen:
    """All that can be seen of a document; of data, its own form."""

    written: str
    settled: str
    bare: str  # without noise and punctuation


@dataclass(frozen=True, slots=True)
class _Text:
    """The words of a document: of title and main text, and all of them."""

    words: list[str]
    whole: list[str]


def _by_content(
    old: Version, new: Version, thresholds: Thresholds, targets: KnownTargets | None
) -> Change:
    before, after = _read(old), _read(new)
    unread = before is None or after is None
    if unread and not all(each.entity or each.payload for each in (old, new)):
        note = "what one of the two confirms is not in the archive"
        return Change(Category.UNAVAILABLE, Stage.STATUS, details=(note,))
    if before is None or after is None:
        # Pictures, sounds, archives; or a document that could not be read. The bytes differ, and
        # that is all there is to say: a picture stored anew looks no different to a digest.
        stage = Stage.ENTITY if old.entity and new.entity else Stage.PAYLOAD
        return Change(Category.MAJOR, stage, details=("not text: other bytes",))
    if soft_404(after, thresholds.soft_404) and not soft_404(before, thresholds.soft_404):
        return Change(Category.REMOVED, Stage.MAIN_TEXT, details=("the page says it is not there",))
    change = _by_signposts(signpost(before), signpost(after))
    if change is not None:
        return change
    # Of a page that moved, relative links lead elsewhere by themselves.
    moved = old.url != new.url
    links = LinkChanges() if moved else link_changes(before.links, after.links, targets)
    cut = old.truncated != new.truncated
    change = _by_text(before, after, cut, thresholds)
    if max(len(before.text), len(after.text)) >= _MOST:
        note = f"only the first {_MOST:,} characters were compared"
        change = replace(change, details=(*change.details, note))
    if links:
        change = replace(
            change,
            links_added=links.added,
            links_removed=links.removed,
            links_to_new=links.to_new,
            links_to_removed=links.to_removed,
        )
        if change.category in (Category.INSIGNIFICANT, Category.MINOR):
            change = replace(change, category=Category.STRUCTURE)
    return change


def _read(version: Version) -> Document | None:
    """The document, if there is anything to compare. A page of markup may well have no text."""
    document = None if version.read is None else version.read()
    if document is None:
        return None
    if document.text or document.main:
        return replace(document, text=document.text[:_MOST], main=document.main[:_MOST])
    return document if document.media_type in PAGES and not document.error else None


def _by_signposts(old: str | None, new: str | None) -> Change | None:
    """Pages that only lead elsewhere are redirects, written in markup."""
    if new is not None:
        category = Category.INSIGNIFICANT if old == new else Category.MOVED
        note = "a page that only leads elsewhere"
        return Change(category, Stage.MAIN_TEXT, moved_to=new, details=(note,))
    if old is not None:
        return Change(Category.APPEARED, Stage.MAIN_TEXT, details=(f"before: led to {old}",))
    return None


def _seen(document: Document) -> _Seen:
    if document.media_type in DATA:
        return _Seen(*[compared_text(document)] * 3)
    # With the title, as that is compared with the main text.
    shown = (document.title or "", document.text or document.main, *document.pictures)
    written = "\n".join(shown)
    whole = settled(written)
    return _Seen(written, whole, bare(whole))


def _text(document: Document, seen: _Seen) -> _Text:
    if document.media_type in DATA:
        return _Text(words(seen.settled.lower()), [])
    return _Text(words(compared_text(document)), words(seen.settled))


def _by_text(before: Document, after: Document, cut: bool, thresholds: Thresholds) -> Change:
    old, new = _seen(before), _seen(after)
    if not old.bare and not new.bare:
        return Change(Category.MINOR, Stage.ENTITY, details=("no text: other markup",))
    if old.bare == new.bare and not recased(old.written, new.written):
        return Change(Category.INSIGNIFICANT, Stage.MAIN_TEXT, 1.0, kept=1.0, known=1.0)
    return _by_words(_text(before, old), _text(after, new), cut, thresholds)


def _by_words(old: _Text, new: _Text, cut: bool, thresholds: Thresholds) -> Change:
    if old.words == new.words and old.whole:
        return _beside_the_main_text(old, new)
    if _scrap(old, thresholds) or _scrap(new, thresholds):
        old, new = replace(old, words=old.whole), replace(new, words=new.whole)
    found = passages(old.words, new.words, old.whole, new.whole)
    longest = max(len(old.words), len(new.words))
    if longest < thresholds.small_text:
        return _small(old, new, found, thresholds)
    stays = 1 - (sum(found.added) + sum(found.removed)) / (len(old.words) + len(new.words))
    if cut:
        # The rest of a text that was cut short is not gone: what there is of it must be known.
        stays = max(found.kept, found.known)
    large = max(thresholds.large_section, thresholds.large_share * longest)
    major = stays < thresholds.major or (found.largest >= large and not cut)
    category = Category.MAJOR if major else Category.MINOR
    return _measured(category, Stage.SHINGLES, found.similarity, found)


def _scrap(text: _Text, thresholds: Thresholds) -> bool:
    """Whether the main text that was found is a scrap of the page, as on pages of lists."""
    found, whole = len(text.words), len(text.whole)
    return found < thresholds.small_text and found < thresholds.scrap * whole


def _small(old: _Text, new: _Text, found: Passages, thresholds: Thresholds) -> Change:
    """Short texts by their words: one of twelve changed leaves three shingles of eight."""
    either = max(len(old.words), len(new.words), 1)
    similarity = 1 - Levenshtein.distance(old.words, new.words) / either
    # Not less than what is found when text may move, also out of the main content.
    moved = sum(found.added) + sum(found.removed)
    similarity = max(similarity, 1 - moved / either)
    category = Category.MAJOR if similarity < thresholds.major else Category.MINOR
    return _measured(category, Stage.EDIT_DISTANCE, similarity, found)


def _beside_the_main_text(old: _Text, new: _Text) -> Change:
    """The main texts are equal. Lists, tables and code are often left out of them."""
    found = passages(old.whole, new.whole)
    change = _measured(Category.MINOR, Stage.SHINGLES, found.similarity, found)
    where = "signs or capitals" if old.whole == new.whole else "outside the main text"
    return replace(change, details=(where,))


def _measured(category: Category, stage: Stage, similarity: float, found: Passages) -> Change:
    return Change(
        category,
        stage,
        similarity=similarity,
        kept=found.kept,
        known=found.known,
        added=sum(found.added),
        removed=sum(found.removed),
        largest=found.largest,
    )
