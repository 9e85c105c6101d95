"""The change cascade: each stage decides what it can, and says that it did."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from asof.catalog.observe import Hint, observe
from asof.change.cascade import compare
from asof.change.categories import Category, Stage, Thresholds
from asof.change.digests import bytes_digest
from asof.change.link_changes import KnownTargets, link_changes, link_target
from asof.change.measures import jaccard
from asof.change.passages import passages, words
from asof.change.shingles import shingles
from asof.change.version import Version, version_of
from asof.clock import SECOND
from asof.model import Capture, Location, State
from asof.text.document import Document

URL = "https://example.org/a/page.html"
THEN = 1_700_000_000 * SECOND


def unreadable() -> Document:
    raise AssertionError("a cheap stage should have decided")


def stored(content: str = "A", **fields: Any) -> Version:
    """A version as a row of the catalog has it, whose text must not be read."""
    plain: dict[str, object] = {
        "url": URL,
        "payload": bytes_digest(f"coded {content}".encode()),
        "entity": bytes_digest(content.encode()),
        "read": unreadable,
    }
    return Version(**(plain | fields))  # type: ignore[arg-type] # fields of different types by name


def page(main: str, *, links: tuple[str, ...] = (), title: str = "Page", **fields: Any) -> Version:
    """A version with its text at hand."""
    text = str(fields.pop("text", f"Menu {main} Imprint"))
    media_type = str(fields.pop("media_type", "text/html"))
    document = Document(media_type=media_type, title=title, main=main, text=text, links=links)
    entity = bytes_digest(f"{title} {main} {text} {links}".encode())
    plain: dict[str, object] = {"payload": entity, "entity": entity, "read": lambda: document}
    return stored("", **(plain | fields))


def prose(seed: int, count: int = 300) -> str:
    chance = random.Random(seed)
    syllables = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "za"]
    return " ".join("".join(chance.choices(syllables, k=3)) for _ in range(count))


TEXT = prose(1)


class TestStatus:
    @pytest.mark.parametrize("status", [404, 410, 451])
    def test_gone(self, status: int) -> None:
        change = compare(stored(), stored(status=status))
        assert (change.category, change.stage) == (Category.REMOVED, Stage.STATUS)

    @pytest.mark.parametrize("status", [500, 503, 429, 403, 401, 304, 408])
    def test_an_answer_about_the_server_says_nothing_about_the_page(self, status: int) -> None:
        sick = stored(status=status)
        assert compare(stored(), sick).category is Category.UNAVAILABLE
        assert not sick.tells

    @pytest.mark.parametrize("before", [stored(status=404), stored(status=500), None])
    def test_there_was_no_content_before(self, before: Version | None) -> None:
        assert compare(before, stored()).category is Category.APPEARED

    def test_gone_stays_gone_whatever_the_error_page_says(self) -> None:
        assert (
            compare(stored("a", status=404), stored("b", status=410)).category is Category.UNCHANGED
        )

    def test_moved(self) -> None:
        change = compare(stored(), stored(status=301, redirect="https://example.org/b"))
        assert (change.category, change.moved_to) == (Category.MOVED, "https://example.org/b")

    def test_moved_on(self) -> None:
        one, two = "https://example.org/b", "https://example.org/c"
        first, second = stored(status=301, redirect=one), stored(status=302, redirect=two)
        assert compare(first, second).category is Category.MOVED
        assert compare(first, stored(status=302, redirect=one)).category is Category.UNCHANGED
        assert compare(first, stored()).category is Category.APPEARED

    @pytest.mark.parametrize(
        ("url", "target", "means"),
        [
            (URL, "https://example.org/", Hint.FRONT_PAGE),
            (URL, "https://example.org", Hint.FRONT_PAGE),
            (URL, "https://new.example/", Hint.FRONT_PAGE),
            ("https://example.org/", "https://www.example.org/", Hint.NONE),
            ("https://example.org", "https://www.example.org/", Hint.NONE),
            ("https://example.org/index.html", "https://example.org/", Hint.NONE),
            ("https://example.org/Home", "https://example.org/", Hint.NONE),
            (URL, "https://example.org/a/", Hint.NONE),
            (URL, "https://example.org/?p=7", Hint.NONE),
            (URL, "https://example.org/login?next=/a", Hint.LOGIN),
            (URL, "https://example.org/users/sign_in", Hint.NONE),
            (URL, "https://id.example/sso/saml", Hint.LOGIN),
            ("https://example.org/login", "https://example.org/login/", Hint.NONE),
            (URL, "https://example.org/blogin/", Hint.NONE),
            (URL, "http://[bad/", Hint.NONE),
        ],
    )
    def test_what_a_redirect_says_and_what_it_may_mean(
        self, url: str, target: str, means: Hint
    ) -> None:
        found = stored(url=url, status=302, redirect=target)
        assert (found.state, found.hint) == (State.ELSEWHERE, means)
        category = {
            Hint.FRONT_PAGE: Category.REMOVED,
            Hint.LOGIN: Category.UNAVAILABLE,
            Hint.NONE: Category.MOVED,
        }[means]
        assert compare(stored(url=url), found).category is category
        if category is Category.REMOVED:  # of what was never there nothing can be removed
            category = Category.MOVED
        assert compare(None, found).category is category
        assert found.tells is (means is not Hint.LOGIN)

    def test_a_soft_404_is_as_good_as_a_404(self) -> None:
        soft = stored(status=302, redirect="https://example.org/")
        assert compare(stored(status=404), soft).category is Category.UNCHANGED
        assert compare(soft, stored(status=404)).category is Category.UNCHANGED
        assert compare(soft, soft).category is Category.UNCHANGED

    def test_a_redirect_without_a_target_says_nothing(self) -> None:
        lost = stored(status=301)
        assert (lost.state, lost.tells) == (State.ELSEWHERE, False)
        assert compare(stored(), lost).category is Category.UNAVAILABLE

    @pytest.mark.parametrize(
        ("new", "category"),
        [
            (stored(status=301, redirect="https://example.org/b"), Category.MOVED),
            (stored(status=404), Category.UNAVAILABLE),
            (stored(status=410), Category.UNAVAILABLE),
            (stored(status=302, redirect="https://example.org/"), Category.MOVED),
            (stored(status=503), Category.UNAVAILABLE),
        ],
    )
    def test_the_first_version_of_all(self, new: Version, category: Category) -> None:
        assert compare(None, new).category is category


class TestClaims:
    def test_not_modified(self) -> None:
        change = compare(stored(), stored(status=304, confirms=True))
        assert (change.category, change.stage) == (Category.UNCHANGED, Stage.VALIDATOR)

    def test_a_strong_etag(self) -> None:
        change = compare(stored(etag='"x"'), stored(etag='"x"'))
        assert (change.category, change.stage) == (Category.UNCHANGED, Stage.VALIDATOR)

    @pytest.mark.parametrize("etag", ['W/"x"', '""', "x", ""])
    def test_other_tags_prove_nothing(self, etag: str) -> None:
        assert compare(stored(etag=etag), stored(etag=etag)).stage is Stage.PAYLOAD

    def test_a_tag_is_of_one_url(self) -> None:
        there = stored(url="https://example.org/b", etag='"x"')
        assert compare(stored(etag='"x"'), there).stage is Stage.PAYLOAD

    def test_a_date_settles_only_what_cannot_be_checked(self) -> None:
        blind = stored(payload=None, entity=None, last_modified=THEN)
        change = compare(blind, blind)
        assert (change.category, change.stage) == (Category.UNCHANGED, Stage.LAST_MODIFIED)
        assert change.similarity is None
        assert "claimed" in change.details[0]
        dated = stored(last_modified=THEN)
        assert compare(dated, dated).stage is Stage.PAYLOAD

    def test_bytes_stand_against_what_the_server_says(self) -> None:
        old = page(TEXT, etag='"x"', last_modified=THEN)
        new = page(prose(2), etag='"x"', last_modified=THEN)
        change = compare(old, new)
        assert change.category is Category.MAJOR
        assert [note for note in change.details if "ETag" in note]
        assert [note for note in change.details if "Last-Modified" in note]
        assert compare(old, replace(new, confirms=True)).category is Category.MAJOR

    def test_other_dates_say_nothing(self) -> None:
        assert compare(stored(last_modified=1), stored(last_modified=2)).stage is Stage.PAYLOAD


class TestBytes:
    def test_the_same_bytes(self) -> None:
        change = compare(stored(), stored())
        assert (change.category, change.stage, change.similarity) == (
            Category.UNCHANGED, Stage.PAYLOAD, 1.0,
        )  # fmt: skip

    def test_coded_differently(self) -> None:
        change = compare(stored(), stored(payload=bytes_digest(b"other coding")))
        assert (change.category, change.stage) == (Category.UNCHANGED, Stage.ENTITY)

    def test_digests_of_different_kinds_decide_nothing(self) -> None:
        old = page(TEXT, payload="sha1:" + "A" * 32, entity=None)
        assert compare(old, page(TEXT)).stage is Stage.MAIN_TEXT

    @pytest.mark.parametrize(
        "read", [None, lambda: None, lambda: Document("image/png", error="no text")]
    )
    def test_a_picture_is_only_its_bytes(self, read: object) -> None:
        change = compare(stored("a", read=read), stored("b", read=read))
        assert (change.category, change.stage, change.similarity) == (
            Category.MAJOR, Stage.ENTITY, None,
        )  # fmt: skip

    def test_a_page_that_became_a_picture(self) -> None:
        assert compare(page(TEXT), stored("b", read=None)).category is Category.MAJOR


class TestMainText:
    def test_only_noise(self) -> None:
        old = page(TEXT + "\n10 views, 3 minutes ago")
        new = page(TEXT.upper() + "\n\n11 views, 4 hours ago")
        change = compare(old, new)
        assert (change.category, change.stage) == (Category.INSIGNIFICANT, Stage.MAIN_TEXT)

    def test_punctuation_alone_says_nothing_new(self) -> None:
        pointed = TEXT.replace(" ", ", ", 5)
        assert compare(page(TEXT), page(pointed)).category is Category.INSIGNIFICANT
        assert compare(page(f"{TEXT} 1.5"), page(f"{TEXT} 15")).category is Category.MINOR
        assert compare(page(f"{TEXT} -5"), page(f"{TEXT} 5")).category is Category.MINOR

    def test_a_page_that_only_leads_elsewhere(self) -> None:
        here, there = "https://example.org/x", "https://example.org/y"
        post = page("", text="", title="", links=(here,))
        change = compare(page(TEXT), post)
        assert (change.category, change.moved_to) == (Category.MOVED, here)
        again = compare(post, page("", text="", title="Go", links=(here,)))
        assert again.category is Category.INSIGNIFICANT
        assert compare(post, page("", text="", title="", links=(there,))).moved_to == there
        assert compare(post, page(TEXT)).category is Category.APPEARED

    def test_markup_without_text(self) -> None:
        shell, other = (
            page("", text="", title="", entity=digest, payload=digest)
            for digest in (bytes_digest(b"1"), bytes_digest(b"2"))
        )
        change = compare(shell, other)
        assert (change.category, change.stage) == (Category.MINOR, Stage.ENTITY)
        assert compare(page(TEXT), shell).category is Category.MAJOR

    def test_a_scrap_is_no_measure_of_a_page(self) -> None:
        """Three headlines of a front page were taken for its main text."""
        headlines = [prose(seed, 8) for seed in range(40)]
        fresh = [prose(50, 8), prose(51, 8)]
        old = page(" ".join(headlines[30:33]), text=" ".join(headlines))
        newer = " ".join([*headlines[:30], *fresh, *headlines[32:]])
        new = page(" ".join([*fresh, headlines[32]]), text=newer)
        change = compare(old, new)
        assert (change.category, change.stage) == (Category.MINOR, Stage.SHINGLES)
        strict = Thresholds(scrap=0.0)
        assert compare(old, new, thresholds=strict).category is Category.MAJOR

    def test_a_title_is_content(self) -> None:
        assert compare(page(TEXT, title="a"), page(TEXT, title="b")).category is Category.MINOR

    @pytest.mark.parametrize("count", [1, 100])
    def test_words_outside_the_main_text_are_words(self, count: int) -> None:
        change = compare(page(TEXT), page(TEXT, text=f"Menu {TEXT} Imprint {prose(3, count)}"))
        assert (change.category, change.added) == (Category.MINOR, count)
        assert "outside" in change.details[0]

    def test_links_in_the_furniture_are_structure(self) -> None:
        change = compare(page(TEXT), page(TEXT, links=("https://example.org/new",)))
        assert (change.category, change.stage) == (Category.STRUCTURE, Stage.MAIN_TEXT)
        assert change.links_added == ("https://example.org/new",)

    def test_a_page_that_says_it_is_not_there(self) -> None:
        gone = page("Sorry, the page could not be found.", title="Error")
        change = compare(page(TEXT), gone)
        assert (change.category, change.stage) == (Category.REMOVED, Stage.MAIN_TEXT)
        assert (
            compare(gone, page("Page not found! Try the search.")).category is not Category.REMOVED
        )
        assert compare(page(TEXT), page("404 " + prose(4))).category is Category.MAJOR

    @pytest.mark.parametrize(
        "title", ["404", "404 Not Found", "Seite nicht gefunden", "Page introuvable", "页面不存在"]
    )
    def test_ways_to_say_so(self, title: str) -> None:
        assert compare(page(TEXT), page("Oh no", title=title)).category is Category.REMOVED

    @pytest.mark.parametrize("title", ["Route 4040", "Lost and found", "Notfoundry"])
    def test_what_only_sounds_like_it(self, title: str) -> None:
        assert compare(page(TEXT), page("Oh no", title=title)).category is Category.MAJOR


class TestSimilarity:
    def test_a_word(self) -> None:
        edited = TEXT.split()
        edited[150] = "other"
        change = compare(page(TEXT), page(" ".join(edited)))
        assert (change.category, change.stage) == (Category.MINOR, Stage.SHINGLES)
        assert (change.added, change.removed, change.largest) == (1, 1, 1)
        assert change.similarity is not None
        assert change.similarity > 0.95

    def test_another_text(self) -> None:
        change = compare(page(TEXT), page(prose(2)))
        assert (change.category, change.stage) == (Category.MAJOR, Stage.SHINGLES)
        assert change.kept == pytest.approx(0, abs=0.05)

    def test_a_large_section_is_major_however_long_the_text(self) -> None:
        long = prose(5, 2000)
        section = compare(page(long), page(long + " " + prose(6, 80)))
        assert section.category is Category.MAJOR
        assert section.largest == 80
        assert section.similarity is not None
        assert section.similarity > 0.9
        small = compare(page(long), page(long + " " + prose(6, 30)))
        assert small.category is Category.MINOR

    def test_text_that_moved_is_not_new(self) -> None:
        half = TEXT.split()
        change = compare(page(TEXT), page(" ".join(half[150:] + half[:150])))
        assert change.category is Category.MINOR
        assert change.added == 0 or change.largest <= 4

    def test_main_content_found_elsewhere_is_not_new(self) -> None:
        """The extractor may take more of a page for content one day than the other."""
        part, whole = " ".join(TEXT.split()[:150]), f"Menu {TEXT} Imprint"
        change = compare(page(part, text=whole), page(TEXT, text=whole + " new"))
        assert (change.category, change.largest) == (Category.MINOR, 0)
        change = compare(page(part, text=whole), page(TEXT, text=whole))
        assert (change.category, change.stage) == (Category.INSIGNIFICANT, Stage.MAIN_TEXT)

    def test_a_short_text_is_compared_by_its_words(self) -> None:
        old = page("The museum is open from ten to five on every day but Monday.")
        new = page("The museum is open from ten to six on every day but Monday.")
        change = compare(old, new)
        assert (change.category, change.stage) == (Category.MINOR, Stage.EDIT_DISTANCE)
        assert change.similarity == pytest.approx(1 - 1 / 14)
        other = page("Closed for repairs.", title="Closed")
        assert compare(old, other).category is Category.MAJOR

    def test_characters_where_words_have_no_spaces(self) -> None:
        text = "".join(chr(0x4E00 + number * 7 % 5000) for number in range(300))
        change = compare(page(text), page(text[:150] + "山" + text[151:]))
        assert change.category is Category.MINOR
        assert change.added == 1

    def test_cut_short_is_not_removed(self) -> None:
        cut = page(TEXT[: len(TEXT) // 3], text=TEXT[: len(TEXT) // 3], truncated=True)
        assert compare(page(TEXT), cut).category is Category.MINOR
        assert compare(page(TEXT), replace(cut, truncated=False)).category is Category.MAJOR

    def test_thresholds_are_settings(self) -> None:
        old, new = page(TEXT), page(TEXT + " " + prose(6, 80))
        assert compare(old, new).category is Category.MAJOR
        lax = Thresholds(large_section=100)
        assert compare(old, new, thresholds=lax).category is Category.MINOR

    def test_the_shingles_are_those_of_search(self) -> None:
        one, other = TEXT.split(), (TEXT + " and more of it").split()[20:]
        measured = passages(one, other).similarity
        assert measured == pytest.approx(
            jaccard(shingles(" ".join(one)), shingles(" ".join(other)))
        )

    def test_nothing_has_all_of_nothing(self) -> None:
        assert passages([], []).similarity == 1.0
        assert passages([], ["a"]).added == (1,)
        assert passages(["a", "b"], []).removed == (2,)

    def test_words(self) -> None:
        assert words("it's 漢字 and x2") == ["it", "s", "漢", "字", "and", "x2"]


class TestData:
    def data(self, value: object, media_type: str = "application/json", **style: Any) -> Version:
        text = value if isinstance(value, str) else json.dumps(value, **style)
        document = Document(media_type=media_type, text=text)
        return stored(text, read=lambda: document)

    def test_json_laid_out_anew(self) -> None:
        value = {"b": list(range(50)), "a": "x"}
        change = compare(self.data(value), self.data(value, indent=2, sort_keys=True))
        assert (change.category, change.stage) == (Category.INSIGNIFICANT, Stage.MAIN_TEXT)

    def test_a_value_is_content(self) -> None:
        numbers = list(range(1000, 1300))
        change = compare(self.data(numbers), self.data([*numbers[:-1], 7]))
        assert change.category is Category.MINOR

    def test_a_style_sheet(self) -> None:
        old, new = (
            self.data("a { color: red }", "text/css"),
            self.data("a {\n color: red\n}", "text/css"),
        )
        assert compare(old, new).category is Category.INSIGNIFICANT
        blue = self.data("a { color: blue }", "text/css")
        assert compare(old, blue).category is not Category.INSIGNIFICANT


class TestStructure:
    A, B = "https://example.org/a", "https://example.org/b"

    def test_a_few_words_and_a_link(self) -> None:
        change = compare(
            page(TEXT, links=(self.A,)), page(TEXT + " see also", links=(self.A, self.B))
        )
        assert change.category is Category.STRUCTURE
        assert change.links_added == (self.B,)
        assert change.added == 2

    def test_a_new_text_is_more_than_its_links(self) -> None:
        change = compare(page(TEXT, links=(self.A,)), page(prose(2), links=(self.B,)))
        assert change.category is Category.MAJOR
        assert change.links_removed == (self.A,)

    def test_contents_that_are_new_or_gone(self) -> None:
        before = {"https://example.org/new": False, self.B: True}
        known = KnownTargets(before.get, lambda url: url == "https://example.org/old")
        old = page(TEXT, links=(self.A, "https://example.org/old"))
        new = page(TEXT, links=(self.B, "https://example.org/new", "https://else.example/"))
        change = compare(old, new, targets=known)
        assert change.links_to_new == ("https://example.org/new",)
        assert change.links_to_removed == ("https://example.org/old",)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("http://example.org/a", "https://example.org/a"),
            ("https://example.org/a#top", "https://example.org/a#end"),
            ("https://example.org/a?utm_source=x&id=1", "https://example.org/a?id=1"),
            ("https://example.org/a;jsessionid=1F", "https://example.org/a;jsessionid=2E"),
            ("https://example.org/a?sid=1", "https://example.org/a?sid=2"),
            ("https://example.org", "https://example.org/"),
        ],
    )
    def test_links_to_the_same_place(self, one: str, other: str) -> None:
        assert not link_changes([one], [other])

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("https://example.org/a", "https://example.org/A"),
            ("https://example.org/?v=1", "https://example.org/?v=2"),
            ("https://example.org/?p=", "https://example.org/"),
        ],
    )
    def test_links_to_different_places(self, one: str, other: str) -> None:
        assert link_changes([one], [other])

    @pytest.mark.parametrize(
        "link", ["mailto:a@b.c", "javascript:void(0)", "tel:1", "#top", "data:,"]
    )
    def test_no_links_to_documents(self, link: str) -> None:
        assert link_target(link) is None

    def test_advertisements_are_no_content(self) -> None:
        assert link_target("https://ad.doubleclick.net/click?x=1") is None
        assert link_target("https://notdoubleclick.net/") is not None

    def test_a_broken_link_is_itself(self) -> None:
        assert link_target("http://[bad/") == "http://[bad/"


class TestElsewhere:
    def test_the_same_content_at_another_address(self) -> None:
        there = "https://new.example/page"
        change = compare(stored(), stored(url=there))
        assert (change.category, change.stage, change.moved_to) == (
            Category.MOVED, Stage.PAYLOAD, there,
        )  # fmt: skip

    def test_its_relative_links_do_not_count(self) -> None:
        old = page(TEXT, links=("https://example.org/x",))
        new = page(TEXT + "\n5 views", links=("https://new.example/x",), url="https://new.example/")
        assert compare(page(TEXT + "\n4 views"), new).category is Category.MOVED
        assert compare(old, new).category is not Category.STRUCTURE

    def test_another_content_has_not_moved(self) -> None:
        change = compare(page(TEXT), page(prose(2), url="https://new.example/"))
        assert change.category is Category.MAJOR


class TestCaptures:
    def capture(self, **fields: Any) -> Capture:
        plain: dict[str, object] = {
            "url": URL, "surt": "", "at": THEN, "kind": "response", "status": 200,
            "media_type": "text/html", "digest": "sha256:A", "content": "sha256:B", "size": 1,
            "record_id": "r", "where": Location("f", 0, 1), "etag": '"x"',
        }  # fmt: skip
        return Capture(**(plain | fields))  # type: ignore[arg-type]

    def versions(self, *captures: Capture) -> list[Version]:
        """In order of time, by what they show."""
        return [version_of(seen) for seen in observe(captures)[URL]]

    def test_a_download(self) -> None:
        [version] = self.versions(self.capture(truncated="length"))
        assert (version.payload, version.entity, version.etag) == ("sha256:A", "sha256:B", '"x"')
        assert version.truncated
        assert not version.confirms

    def test_a_304_stands_for_what_it_confirms(self) -> None:
        bare = self.capture(
            kind="revisit", status=304, profile="server-not-modified", digest=None, content=None,
            media_type=None, etag=None, at=THEN + SECOND, record_id="s",
        )  # fmt: skip
        before, version = self.versions(self.capture(), bare)
        assert (version.status, version.entity) == (200, "sha256:B")
        assert compare(before, version).stage is Stage.VALIDATOR
        # Without anything that it could be about it says nothing.
        [alone] = self.versions(bare)
        assert (alone.state, alone.tells) == (State.SILENT, False)
        assert compare(before, alone).category is Category.UNAVAILABLE

    def test_a_304_about_what_is_not_here_is_no_proof(self) -> None:
        lost = self.capture(
            kind="revisit", status=304, profile="server-not-modified", digest=None, content=None,
            etag=None, at=THEN + SECOND, refers_to_at=THEN - SECOND,
        )  # fmt: skip
        before, version = self.versions(self.capture(record_id="q"), lost)
        assert version.state is State.PRESENT
        assert compare(before, version).category is Category.UNAVAILABLE

    def test_a_304_about_another_version_is_no_proof(self) -> None:
        old = self.capture(content=bytes_digest(b"old"), digest=bytes_digest(b"old"))
        newer = self.capture(
            content=bytes_digest(b"new"), digest=bytes_digest(b"new"), at=THEN + SECOND
        )
        bare = self.capture(
            kind="revisit", status=304, profile="server-not-modified", content=None, digest=None,
            at=THEN + 2 * SECOND, refers_to_at=THEN + SECOND, record_id="s",
        )  # fmt: skip
        before, _, version = self.versions(old, newer, bare)
        assert version.confirms
        assert compare(before, version).category is Category.MAJOR

    def test_a_revisit_by_digest(self) -> None:
        revisit = self.capture(
            kind="revisit", profile="identical-payload-digest", etag=None, content=None,
            at=THEN + SECOND, record_id="s",
        )  # fmt: skip
        before, version = self.versions(self.capture(), revisit)
        assert version.entity == "sha256:B"
        assert compare(before, version).stage in (
            Stage.PAYLOAD,
            Stage.VALIDATOR,
        )


def test_a_change_as_json_is_plain() -> None:
    change = compare(page(TEXT), page(TEXT + " more", links=("https://example.org/n",)))
    told = json.loads(json.dumps(change.as_json()))
    assert told["category"] == "structure"
    assert told["links_added"] == ["https://example.org/n"]
    assert told["words_added"] == 1
    assert 0 < told["similarity"] < 1


def test_endless_texts_are_compared_in_part() -> None:
    """And it is said so: nobody waits a minute for the comparison of two logs."""
    old, new = ("one two three four five six seven. " * 80_000, "eight nine ten. " * 200_000)
    versions = [
        Version(
            "http://a.example/",
            entity=f"sha256:{n}",
            read=lambda text=text: Document("text/plain", main=text, text=text),  # type: ignore[misc]
        )
        for n, text in enumerate((old, new))
    ]
    change = compare(*versions)
    assert change.category is Category.MAJOR
    assert any("characters were compared" in detail for detail in change.details)
