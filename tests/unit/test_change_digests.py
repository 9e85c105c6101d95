"""Digests at three levels, and what the third one leaves out."""

from __future__ import annotations

import hashlib
import time

import pytest

from asof.catalog.derive import content_digest
from asof.change.digests import (
    bytes_digest,
    compared_text,
    data_form,
    digests,
    main_digest,
)
from asof.change.noise import RULES, bare, noise, settled
from asof.text.document import Document
from asof.warc.digest import same


def page(main: str, title: str | None = None, **fields: str) -> Document:
    return Document(media_type="text/html", title=title, main=main, **fields)  # type: ignore[arg-type] # all are str


class TestLevels:
    def test_bytes_are_digested_as_the_catalog_does(self) -> None:
        assert bytes_digest(b"abc") == content_digest((), [b"abc"])

    def test_each_level_has_its_own(self) -> None:
        found = digests(b"coded", b"<p>Hello</p>", page("Hello"))
        assert found.payload == bytes_digest(b"coded")
        assert found.entity == bytes_digest(b"<p>Hello</p>")
        assert found.main not in (None, found.payload, found.entity)

    def test_what_has_no_text_has_no_main_digest(self) -> None:
        assert main_digest(page("")) is None
        assert digests(b"a", b"b").main is None

    def test_a_title_counts(self) -> None:
        assert main_digest(page("Text", "One")) != main_digest(page("Text", "Two"))
        assert main_digest(page("", "One")) is not None

    def test_title_and_text_cannot_be_taken_for_each_other(self) -> None:
        assert main_digest(page("b c", "a")) != main_digest(page("c", "a b"))

    def test_without_main_content_all_text_counts(self) -> None:
        assert main_digest(page("", text="Hello")) == main_digest(page("Hello"))

    def test_furniture_does_not_count(self) -> None:
        one = page("Hello", text="Menu Hello")
        assert main_digest(one) == main_digest(page("Hello", text="Hello Imprint"))

    def test_half_a_character_is_no_error(self) -> None:
        assert main_digest(page("\ud800")) is not None


class TestComparing:
    SHA1 = hashlib.sha1(b"x").hexdigest()

    def test_equal_ones(self) -> None:
        assert same("sha256:A", "sha256:A") is True
        assert same(bytes_digest(b"x"), bytes_digest(b"y")) is False

    def test_hexadecimal_and_base32_of_one_value(self) -> None:
        assert same(bytes_digest(b"x"), "sha256:" + hashlib.sha256(b"x").hexdigest()) is True

    @pytest.mark.parametrize("other", [None, f"sha1:{SHA1}", "sha256:torn", "odd"])
    def test_what_cannot_be_compared_is_not_different(self, other: str | None) -> None:
        assert same(bytes_digest(b"x"), other) is None
        assert same(other, bytes_digest(b"x")) is None


class TestPolicy:
    def test_case_blanks_and_lines_do_not_count(self) -> None:
        assert settled("Hello\n\n  WORLD\u00a0again\t") == "hello world again"

    def test_typography_does_not_count(self) -> None:
        curly = "\u201cIt\u2019s\u201d \u2013 he said\u2026"
        assert settled(curly) == settled('"It\'s" - he said...')

    def test_one_form_of_accents(self) -> None:
        assert settled("Cafe\u0301") == settled("CAFÉ")

    def test_what_cannot_be_seen_does_not_count(self) -> None:
        assert settled("re\u00adcord\u200b\ufeff") == "record"

    @pytest.mark.parametrize(
        ("name", "one", "other"),
        [
            ("updated", "Last updated: 3 March 2026, 12:30 UTC",
             "Last updated: 1 May 2027, 9:05 CET"),
            ("updated", "This page was last edited on 3 May 2024, at 10:11 (UTC)",
             "This page was last edited on 14 June 2024, at 01:00 (UTC)"),
            ("updated", "Stand: 03.03.2026", "Stand: 17.11.2026"),
            ("updated", "Last updated\n2024-01-02", "Last updated\n2025-11-12"),
            ("updated", "最后更新时间：2024年3月3日 12:30", "最后更新时间：2025年12月1日 8:15"),  # noqa: RUF001
            ("updated", "Today is Tuesday, July 7, 2026", "Today is Friday, July 10, 2026"),
            ("clock", "made 2026-03-03T12:01:55Z", "made 2026-03-04T00:00:07.123+01:00"),
            ("clock", "at Tue Mar  3 12:01:55 2026", "at Wed Dec 23 01:59:01 2026"),
            ("clock", "Tue, 03 Mar 2026 12:01:55 GMT", "Thu, 05 Mar 2026 00:00:00 GMT"),
            ("age", "3 minutes ago", "an hour ago"),
            ("age", "vor 3 Minuten", "vor einem Tag"),
            ("age", "3分钟前", "12小时前"),
            ("counter", "1,234 views", "999 views"),
            ("counter", "Visitors: 0012345", "Visitors: 0012346"),
            ("counter", "12.4k followers", "13k followers"),
            ("copyright", "© 2011–2024 Example", "© 2011–2025 Example"),  # noqa: RUF001
            ("copyright", "Copyright (c) 2024", "Copyright (c) 2025"),
            ("worktime", "Page generated in 0.123 seconds", "Page generated in 2.4 seconds"),
            ("token", "Request ID: 7f3a9c2bd1e0", "Request ID: 00aa11bb22cc"),
            ("token", "550e8400-e29b-41d4-a716-446655440000",
             "0e8400f5-e29b-41d4-a716-00005544ffff"),
        ],
    )  # fmt: skip
    def test_what_changes_by_itself_does_not_count(self, name: str, one: str, other: str) -> None:
        assert settled(one) == settled(other)
        assert f"<{name}>" in settled(one)
        assert {found for found, _ in noise(one)} == {name}

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Deadline: 3 March 2026", "Deadline: 10 March 2026"),
            ("The meeting is at 10:00", "The meeting is at 11:00"),
            ("Published 5 May 2020", "Published 6 May 2020"),
            ("We built 3 towers", "We built 4 towers"),
            ("version 2.0\nDownloads", "version 2.1\nDownloads"),
            ("founded in 2020", "founded in 2021"),
            ("sha256 9f86d081884c7d65", "sha256 9f86d081884c7d66"),
            ("1,234 inhabitants", "1,235 inhabitants"),
            ("10 views", "a wide view"),
            ("costs 5 EUR", "costs 6 EUR"),
        ],
    )
    def test_what_people_write_counts(self, one: str, other: str) -> None:
        assert settled(one) != settled(other)

    @pytest.mark.parametrize(
        ("one", "other", "equal"),
        [
            ("1.1 Terms", "1.1. Terms:", True),
            ("well-known (really)", "well known, really!", True),
            ("1.5", "15", False),
            ("1.5", "1 5", False),
            ("-5 °C", "5 °C", False),
            ("(-5)", "(5)", False),
            ("5 $", "5 €", False),
            ("a < b", "a > b", False),
            ("to day", "today", False),
        ],
    )
    def test_punctuation_and_signs(self, one: str, other: str, equal: bool) -> None:
        assert (bare(settled(one)) == bare(settled(other))) is equal

    def test_that_a_clock_came_or_went_is_seen(self) -> None:
        assert settled("News. Last updated: 3 March 2026.") != settled("News.")

    def test_every_rule_has_a_reason_and_is_tested(self) -> None:
        names = [rule.name for rule in RULES]
        assert len(set(names)) == len(names)
        assert all(len(rule.reason.split()) >= 5 for rule in RULES)

    @pytest.mark.parametrize(
        "bomb",
        ["1" * 200_000, "last updated " * 20_000, "1 " * 100_000, "1," * 100_000, "mon 1 " * 40_000,
         "updated 1 jan " * 15_000, "1 view" * 40_000, "request id 1-" * 15_000, "\n1" * 100_000,
         "2024-01-01 " * 20_000, "© 2024 - " * 20_000, "generated in 1." * 15_000],
        ids=lambda bomb: bomb[:12].strip(),
    )  # fmt: skip
    def test_hostile_texts_take_linear_time(self, bomb: str) -> None:
        start = time.process_time()
        settled(bomb)
        assert time.process_time() - start < 3


class TestData:
    @pytest.mark.parametrize(
        ("one", "other"),
        [('{"a": 1, "b": [1, 2]}', '{"b":[1,2],"a":1}'), ("[1,\n 2]", "[1, 2]")],
    )
    def test_json_is_compared_by_value(self, one: str, other: str) -> None:
        assert data_form("application/json", one) == data_form("application/json", other)

    def test_a_figure_in_data_is_no_clock(self) -> None:
        def data(text: str) -> Document:
            return Document(media_type="application/json", text=text)

        assert main_digest(data('{"at": "2026-03-03T12:01:55Z"}')) != main_digest(
            data('{"at": "2026-03-03T12:01:56Z"}')
        )

    def test_case_counts_in_code(self) -> None:
        assert data_form("text/css", "a  {}") == "a {}"
        assert data_form("text/css", "A {}") != data_form("text/css", "a {}")

    @pytest.mark.parametrize(
        "text", ["{", "[" * 100_000, "", "\ud800"], ids=["torn", "deep", "empty", "half"]
    )
    def test_what_is_no_json_is_text(self, text: str) -> None:
        assert data_form("application/json", text) == text

    def test_lines_of_json_are_lines(self) -> None:
        assert data_form("application/x-ndjson", "{}\n{}") == "{} {}"

    def test_compared_text_of_data_has_no_title(self) -> None:
        sheet = Document(media_type="text/css", title="x", text="a {}")
        assert compared_text(sheet) == "a {}"
