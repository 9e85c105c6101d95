"""The parts of the web pages that are plain functions."""

from __future__ import annotations

import pytest

from asof.change.arrivals import Arrival
from asof.change.categories import Category
from asof.clock import DAY, SECOND, Instant, parse_iso
from asof.errors import UsageError
from asof.model import Evidence, Grade, Proof, Validity
from asof.report import words
from asof.report.change_kinds import Kind
from asof.web import address
from asof.web.security import field_value, original_headers
from asof.web.timeline import WIDTH, timeline


def at(text: str) -> Instant:
    found = parse_iso(text)
    assert found is not None
    return found


class TestAddress:
    @pytest.mark.parametrize(
        ("target", "query", "expected"),
        [
            (b"/2026/http://a/b", b"", ("2026", "", "http://a/b")),
            (b"/20261115190512id_/http://a/", b"x=1&y=%20", ("20261115190512", "id_", "http://a/?x=1&y=%20")),
            (b"/2026/http://a//b", b"", ("2026", "", "http://a//b")),
            (b"/2026/http://a/%2F%3F%23", b"", ("2026", "", "http://a/%2F%3F%23")),
            (b"/2026/http%3A%2F%2Fa%2Fb%3Fx%3D%2520", b"", ("2026", "", "http://a/b?x=%20")),
            (b"/2026id_/http%3A//a/%C3%BC", b"", ("2026", "id_", "http://a/%C3%BC")),
            (b"/2026/a.example:8080/x", b"", ("2026", "", "http://a.example:8080/x")),
            (b"/2026/http://a/\xc3\xbc", b"", ("2026", "", "http://a/%C3%BC")),
            (b"/2026/urn:x", b"", ("2026", "", "urn:x")),
            (b"/2026/http://a/\nb", b"", ("2026", "", "http://a/b")),
            (b"/20261115190512im_/http://a/", b"", ("20261115190512", "im_", "http://a/")),
            (b"/now/http://a/", b"", ("now", "", "http://a/")),
            (b"/nowid_/a.example", b"", ("now", "id_", "https://a.example/")),
            (b"/http://a/b", b"x", ("now", "", "http://a/b?x")),
            (b"/HTTPS:/a/b", b"", ("now", "", "https://a/b")),
            (b"/a.example/b", b"", ("", "", "https://a.example/b")),
            (b"/*/http://a/", b"", ("*", "", "http://a/")),
            (b"/2/http://a/", b"", ("2999", "", "http://a/")),
            (b"/202/http://a/", b"", ("2029", "", "http://a/")),
            (b"/20261/http://a/", b"", ("202612", "", "http://a/")),
            (b"/20260/http://a/", b"", ("202609", "", "http://a/")),
            (b"/2026022/http://a/", b"", ("20260228", "", "http://a/")),
            (b"/2026113/http://a/", b"", ("20261130", "", "http://a/")),
            (b"/202611152/http://a/", b"", ("2026111523", "", "http://a/")),
            (b"/2026111519051/http://a/", b"", ("20261115190519", "", "http://a/")),
            (b"/20264/http://a/", b"", ("20264", "", "http://a/")),
        ],
    )  # fmt: skip
    def test_reads_what_is_wanted(
        self, target: bytes, query: bytes, expected: tuple[str, str, str]
    ) -> None:
        found = address.wanted({"raw_path": target, "path": "", "query_string": query})
        assert found is not None
        assert (found.stamp, found.form, found.url) == expected

    @pytest.mark.parametrize("target", [b"/", b"/2026", b"/-/go", b"/x/y", b"/.."])
    def test_leaves_other_addresses_alone(self, target: bytes) -> None:
        assert address.wanted({"raw_path": target, "path": "", "query_string": b""}) is None

    def test_without_the_raw_path_the_decoded_one_has_to_do(self) -> None:
        found = address.wanted({"path": "/2026/http://a/ü", "query_string": b""})
        assert found is not None
        assert found.url == "http://a/%C3%BC"

    @pytest.mark.parametrize(
        "url",
        ["http://a/b?c=d&e=%20", "http://[::1]:8/x", "http://a/it's(x)", "http://a/?q=\\|^`{}"],
    )
    def test_what_is_written_can_be_read(self, url: str) -> None:
        path, _, query = address.replay("2026", url).partition("?")
        found = address.wanted(
            {"raw_path": path.encode(), "path": "", "query_string": query.encode()}
        )
        assert found is not None
        assert found.url == url

    def test_hostile_urls_are_written_harmlessly(self) -> None:
        written = address.replay("2026", 'http://a/"><script>\n#x\\y ü')
        assert not set(written) & set('"<>\n# \\ü')

    @pytest.mark.parametrize(
        ("text", "stamp"),
        [
            ("2026", "2026"),
            ("2026-11", "202611"),
            ("2026-11-15", "20261115"),
            ("20261115190512", "20261115190512"),
            ("2026-11-15T19:05:12Z", "20261115190512"),
            ("2026-11-15T19:05:12+02:00", "20261115170512"),
            ("2026-11-15T19:05:12.5Z", "20261115190512"),
            ("now", "20260101000000"),
        ],
    )
    def test_moments_become_stamps(self, text: str, stamp: str) -> None:
        assert address.stamp_of(text, at("2026-01-01T00:00:00Z")) == stamp

    def test_what_is_no_moment(self) -> None:
        with pytest.raises(UsageError):
            address.stamp_of("soon", 0)


class TestWords:
    def test_times(self) -> None:
        assert words.moment(at("2026-11-05T09:05:02.9Z")) == "5 Nov 2026, 09:05:02"
        assert words.day(at("2026-11-05T09:05:02Z")) == "5 Nov 2026"
        assert words.clock(at("2026-11-05T09:05:02Z")) == "09:05:02"

    @pytest.mark.parametrize(
        ("length", "text"),
        [
            (0, "less than a second"),
            (SECOND, "1 second"),
            (90 * SECOND, "90 seconds"),
            (int(2.9 * DAY), "2 days"),
            (3 * DAY, "3 days"),
            (800 * DAY, "2 years"),
        ],
    )
    def test_spans(self, length: int, text: str) -> None:
        assert words.span(length) == text

    @pytest.mark.parametrize(
        ("count", "text"),
        [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (41_300, "41.3 kB"),
         (999_600, "999.6 kB"), (999_960, "1.0 MB"),
         (5_400_000_000, "5.4 GB"), (12_300_000_000_000, "12.3 TB")],
    )  # fmt: skip
    def test_sizes(self, count: int, text: str) -> None:
        assert words.human_bytes(count) == text

    def test_counts_that_stopped(self) -> None:
        assert [words.bounded(n) for n in (7, 1000, 1001)] == ["7", "1,000", "1,000+"]

    @pytest.mark.parametrize(
        ("url", "text"),
        [
            ("http://a/%C3%BC", "http://a/ü"),
            ("http://a/%FF", "http://a/%FF"),
            ("http://a/%E2%80%AEgpj", "http://a/%E2%80%AEgpj"),
            ("http://a/%0A", "http://a/%0A"),
            ("http://a/%2F%3Cb%3E%25", "http://a/%2F%3Cb%3E%25"),
            ("http://a/%C3%BC%FF", "http://a/%C3%BC%FF"),
        ],
    )
    def test_urls_are_decoded_where_that_can_be_read(self, url: str, text: str) -> None:
        assert words.readable(url) == text


class TestTimeline:
    @staticmethod
    def validity(since: str, until: str, claimed: str | None = None) -> Validity:
        proof = tuple(Evidence(Proof.DOWNLOAD, at(when), "r") for when in (since, until))
        claim = at(claimed) if claimed else None
        return Validity("http://a/", "c", 200, at(since), at(until), proof, claim)

    def test_nothing(self) -> None:
        assert timeline([], None) is None

    def test_bars_are_in_proportion_and_inside(self) -> None:
        history = [
            self.validity("2026-01-11", "2026-01-21", "2026-01-01"),
            self.validity("2026-01-31", "2026-01-31"),
        ]
        picture = timeline([*map(Arrival, history)], at("2026-01-16"))
        assert picture is not None
        first, last = picture.bars
        [(claimed, start, length), (proven, *_)] = first.stretches
        assert (claimed, proven, start) == (Grade.CLAIMED, Grade.PROVEN, 0)
        assert first.x == pytest.approx(length) == pytest.approx(WIDTH / 3, rel=0.01)
        assert first.width == pytest.approx(WIDTH / 3, rel=0.01)
        assert last.x + last.width == pytest.approx(WIDTH)
        assert picture.mark == pytest.approx(WIDTH / 2, rel=0.01)

    def test_each_grade_has_its_stretch(self) -> None:
        """Bytes prove, a strong 304 confirms, what else a server says is claimed."""
        evidence = tuple(
            Evidence(Proof.NOT_MODIFIED, at(f"2026-01-{day}"), "r", grade)
            for day, grade in (
                ("01", Grade.PROVEN),
                ("11", Grade.PROVEN),
                ("21", Grade.CONFIRMED),
                ("31", Grade.CLAIMED),
            )
        )
        known = Validity("http://a/", "c", 200, at("2026-01-01"), at("2026-01-31"), evidence)
        picture = timeline([Arrival(known)], None)
        assert picture is not None
        found = {grade: (x, width) for grade, x, width in picture.bars[0].stretches}
        assert list(found) == [Grade.CLAIMED, Grade.CONFIRMED, Grade.PROVEN]
        third = pytest.approx(WIDTH / 3, rel=0.01)
        assert [width for _, width in found.values()] == [third] * 3
        assert found[Grade.PROVEN][0] == 0
        assert found[Grade.CONFIRMED][0] == third

    def test_one_moment_is_a_bar_too(self) -> None:
        picture = timeline([Arrival(self.validity("2026-01-11", "2026-01-11"))], None)
        assert picture is not None
        assert picture.bars[0].width > 0

    def test_a_mark_far_away_does_not_squeeze_the_bars(self) -> None:
        history = [self.validity("2026-01-01", "2026-01-02")]
        picture = timeline([*map(Arrival, history)], at("2036-01-01"))
        assert picture is not None
        assert picture.mark is None
        assert picture.end == at("2026-01-02")

    def test_ten_thousand_contents_make_a_picture_of_bounded_size(self) -> None:
        start = at("2026-01-01")
        history = [
            Validity("u", str(n), 200, start + n * SECOND, start + n * SECOND, ())
            for n in range(10_000)
        ]
        came = [Arrival(each, Category.MINOR) for each in history]
        came[5_000] = Arrival(history[5_000], Category.REMOVED)
        picture = timeline(came, None)
        assert picture is not None
        assert 60 < len(picture.bars) <= 240
        # The one that was gone for a moment is seen among so many.
        assert [bar.kind for bar in picture.bars].count(Kind.GONE) == 1


class TestHeaders:
    def test_values_stay_on_one_line(self) -> None:
        assert field_value("a\r\n b\0\x7fc") == "a  b c"
        assert field_value("ü€") == "ü?"

    def test_names_that_are_none_are_left_out(self) -> None:
        kept = original_headers((("Good", "1"), ("Bad Name", "2"), ("", "3"), ("Ü", "4")))
        assert kept == [("X-Archive-Orig-Good", "1")]

    def test_too_many_are_cut_off(self) -> None:
        kept = original_headers(tuple((f"N{n}", "x" * 1000) for n in range(1000)))
        assert 50 < len(kept) < 70
