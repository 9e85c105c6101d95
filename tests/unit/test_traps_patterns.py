from __future__ import annotations

from collections.abc import Sequence

import pytest

from asof.model import Target
from asof.scope.patterns import Patterns, written
from asof.text.html.fingerprint import text_fingerprint, visible_blocks

A = "http://a.example"


def fingerprint(html: str) -> int:
    return text_fingerprint(visible_blocks(html.encode()))


def page(url: str, via: str = "/", hops: str = "L") -> Target:
    return Target(A + url, 1, A + via, hops)


def fed(patterns: Patterns, count: int = 40) -> Patterns:
    """A host that has given some good pages: it has more than one pattern."""
    for k in range(count):
        patterns.learn(page(f"/story-{k}/text"), 1 << k)
    return patterns


# --- texts -------------------------------------------------------------------------------------


def test_only_what_a_page_shows_is_read() -> None:
    """Scripts, styles, navigation, headers and footers are the same everywhere."""
    html = (
        "<title>A title</title><script>var a</script><style>p {}</style><nav>menu</nav>"
        "<header>name</header><p>Some <b>TEXT</b></p><aside>also</aside><footer>end</footer>"
    )
    assert [block for block in visible_blocks(html.encode()) if block] == [b"a title", b"some text"]


@pytest.mark.parametrize("junk", [b"", b"\0\xff\xfe", b"<" * 90_000, b"<div>" * 3_000, b"<p>\xe4"])
def test_junk_has_a_fingerprint(junk: bytes) -> None:
    """Whatever a server sends is read without an error."""
    assert text_fingerprint(visible_blocks(junk)) >= 0


MONTH = (
    "<title>{0} {1}</title><h1>{0} {1}</h1><p>Nothing is planned on {2}.{3}.{1}.</p><td>{2}</td>"
)


def test_one_empty_month_is_like_another() -> None:
    """Dates, and what is written with numbers, make no difference."""
    march = fingerprint(MONTH.format("March", 2025, 12, 3))
    assert march == fingerprint(MONTH.format("April", 2026, 28, 4))
    assert march != fingerprint(MONTH.format("April", 2026, 28, 4) + "<p>Concert</p>")


def test_a_list_is_the_same_in_any_order_and_holds_its_parts() -> None:
    """Sorted and filtered lists have no mark that the whole one has not."""
    lines = [f"<li>A {name} for sale by owner</li>" for name in ("lamp", "boat", "kite", "clock")]
    whole = fingerprint("".join(lines))
    assert fingerprint("".join(reversed(lines))) == whole
    assert fingerprint("".join(lines[1:3])) & ~whole == 0
    assert fingerprint("<li>A goose for sale by owner</li>") & ~whole != 0


def test_figures_in_a_table_are_content() -> None:
    """A page of measurements differs from the next by its numbers only; years do not count."""
    row = "<table><td>mm</td><td>{}</td></table>"
    assert fingerprint(row.format("1013.2")) != fingerprint(row.format("998.7"))
    assert fingerprint(row.format("2024")) == fingerprint(row.format("2025"))


# --- repetition --------------------------------------------------------------------------------


def empty_months(patterns: Patterns, count: int, text: int = 0b111) -> int:
    """Take months until the budget says no; how many were taken."""
    for k in range(count):
        target = page(f"/calendar/{2000 + k}/01/", f"/calendar/{1999 + k}/01/")
        if patterns.allows(target) is not None:
            return k
        patterns.learn(target, text, new=[page(f"/calendar/{2001 + k}/01/")])
    return count


def test_pages_that_repeat_themselves_use_up_a_budget() -> None:
    """Eight on a small host, and the reason names the pattern."""
    patterns = fed(Patterns())
    assert empty_months(patterns, 100) == 9
    reason = patterns.allows(page("/calendar/2050/01/", "/calendar/2049/01/"))
    assert reason == "trap: pages like a.example/calendar/#/#/ keep repeating themselves"


def test_the_budget_grows_with_the_host() -> None:
    """A large site is worth more doubt, up to fifty pages."""
    assert empty_months(fed(Patterns(), 2_000), 100) == 17
    assert empty_months(fed(Patterns(), 20_000), 100) == 51


def test_a_host_with_little_else_is_given_the_most() -> None:
    """A small site that is mostly a calendar is taken at its word."""
    assert empty_months(Patterns(), 100) == 51


def test_a_page_with_new_text_restores_trust() -> None:
    """One in sixteen is enough for ever."""
    patterns = fed(Patterns())
    for k in range(500):
        target = page(f"/calendar/{1500 + k}/01/", f"/calendar/{1499 + k}/01/")
        assert patterns.allows(target) is None
        patterns.learn(target, 0b111 if k % 8 else 1 << k)


def test_a_page_that_shows_a_new_picture_is_not_a_repetition() -> None:
    """A gallery says the same under every photograph."""
    patterns = fed(Patterns())
    for k in range(200):
        target = page(f"/photo/{k}", f"/photo/{k - 1}")
        assert patterns.allows(target) is None
        patterns.learn(target, 0b111, new=[page(f"/img/{k}.jpg", hops="LE")])


def test_a_page_that_leads_to_something_new_costs_an_eighth() -> None:
    """Calendars offer each month as a file, too: it takes longer, but ends."""
    patterns = fed(Patterns())
    taken = 0
    while patterns.allows(target := page(f"/month/{taken}", f"/month/{taken - 1}")) is None:
        patterns.learn(target, 0b111, new=[page(f"/file-{taken}.ics")])
        taken += 1
        assert taken < 200
    assert taken == 65


@pytest.mark.parametrize(
    "target",
    [
        Target(f"{A}/calendar/2050/01/"),
        page("/calendar/2050/01/", "/sitemap.xml", "M"),
        page("/calendar/2050/01/", "/feed.xml", "LF"),
        page("/calendar/2050/01/", "/calendar/2049/01/", "LE"),
        page("/calendar/2050/01/", "/events"),
        page("/about", "/calendar/2049/01/"),
    ],
    ids=["seed", "sitemap", "feed", "requisite", "linked from another kind", "other"],
)
def test_what_no_budget_keeps_from_a_crawl(target: Target) -> None:
    """Seeds, what the site lists, what a page needs, what sound pages of another kind link to."""
    patterns = fed(Patterns())
    empty_months(patterns, 100)
    assert patterns.allows(target) is None


def test_frames_in_frames_are_no_part_of_a_page_any_more() -> None:
    """A frame may hold the next month, and that one the next."""
    patterns = fed(Patterns())
    empty_months(patterns, 100)
    assert patterns.allows(page("/calendar/2050/01/", "/calendar/2049/01/", "LEE")) is not None


def test_sound_pages_may_link_to_four_hundred_that_say_nothing() -> None:
    """An application that shows everything by script; or a broken link on every page."""
    patterns = fed(Patterns(), 1_000)
    for k in range(1_000):
        target = page(f"/item/{k}", f"/story-{k}/text")
        if patterns.allows(target) is not None:
            break
        patterns.learn(target, 0b111)
    assert k == 401


def test_all_queries_of_a_path_count_together() -> None:
    """Each combination of filters is a pattern of its own."""
    patterns = fed(Patterns())
    names = [f"{a}{b}" for a in "abcdef" for b in "abcdef"]
    links = [page(f"/shop/?{name}=1") for name in names]
    assert patterns.wants_text(f"{A}/shop/", links)
    patterns.learn(page("/shop/"), 0b11111111, new=links)
    taken = 0
    for name in names:
        target = page(f"/shop/?{name}=1", "/shop/")
        taken += patterns.allows(target) is None
        patterns.learn(target, 0b1111)
    assert taken == 8
    reason = patterns.allows(page("/shop/?new=1", "/shop/?aa=1"))
    assert reason == "trap: pages like a.example/shop/?... keep repeating themselves"


def test_a_combination_that_has_proven_itself_is_not_judged_by_the_others() -> None:
    """One script may serve articles and a calendar."""
    patterns = fed(Patterns())
    for k in range(4):
        patterns.learn(page(f"/index.php?article={k}"), 1 << (99 + k))
    for k in range(60):
        patterns.learn(page(f"/index.php?year={k}&month=1"), 0b111)
    assert patterns.allows(page("/index.php?year=99&month=1", "/index.php?year=98&month=1"))
    assert patterns.allows(page("/index.php?article=9", "/index.php?article=8")) is None


def test_texts_are_looked_at_less_and_less() -> None:
    """Of a thousand articles with new texts, some seventy; a repetition brings attention back."""
    patterns = Patterns()
    looked = 0
    for k in range(1_000):
        target = page(f"/article/{k}")
        wanted = patterns.wants_text(target.url)
        looked += wanted
        patterns.learn(target, 1 << k % 700 if wanted else None)
    assert looked < 75
    while not patterns.wants_text(f"{A}/article/1"):
        patterns.learn(page("/article/1"))
    patterns.learn(page("/article/1"), 1)
    patterns.learn(page("/article/2"), 1)
    assert patterns.wants_text(f"{A}/article/3")
    assert not patterns.wants_text(f"{A}/about")


# --- kin ---------------------------------------------------------------------------------------


def maze(
    patterns: Patterns,
    also: Sequence[Target] = (),
    *,
    new: Sequence[Target] = (),
    links: int = 3,
    count: int = 2_000,
) -> int:
    """Walk a maze; how many pages were taken. Each links to known and to new pages beside it."""
    queue = ["/maze/100000"]
    for k in range(count):
        url = queue.pop(0)
        target = page(url, "/maze/99")
        if patterns.allows(target) is not None:
            return k
        on = [page(f"/maze/{(k + 2) * 1_000 + n}", url) for n in range(links)]
        queue += [onward.url.removeprefix(A) for onward in on]
        found = [*on, page("/", url), page("/about", url), *also, *new]
        patterns.learn(target, 1 << k, found, [*on, *new])
    return count


def test_pages_that_only_lead_to_more_of_their_kind_use_up_a_budget() -> None:
    """All texts are new, and so are all links; nothing else is ever linked to."""
    patterns = fed(Patterns(), 250)
    assert maze(patterns) == 11
    reason = patterns.allows(page("/maze/7", "/maze/6"))
    assert reason == "trap: pages like a.example/maze/# only lead to more of their kind"
    assert patterns.allows(page("/maze/7", "/")) is None


def test_a_link_to_a_known_page_of_the_kind_or_to_a_new_one_outside_shows_a_real_series() -> None:
    """A page in eight is enough."""
    assert maze(fed(Patterns(), 250), [page("/maze/55")]) == 2_000
    assert maze(fed(Patterns(), 250), new=[page("/img/1.jpg", hops="LE")]) == 2_000
    assert maze(fed(Patterns(), 250), new=[page("/else/where")]) == 2_000


def test_a_chain_has_much_more_room() -> None:
    """Next, next, next: a diary without an index."""
    assert maze(fed(Patterns(), 250), links=1) == 2_000


def test_doors_from_outside_are_worth_more_than_their_number() -> None:
    """Ten top categories of a shop stand for a hundred below them."""
    patterns = fed(Patterns(), 1_000)
    patterns.learn(page("/maze/1"), 1, new=[page("/maze/2")])
    patterns.learn(page("/"), None, new=[page(f"/maze/{k}") for k in range(10)])
    assert 100 < maze(patterns) < 150


# --- memory ------------------------------------------------------------------------------------


def test_a_restart_forgets_no_suspicion() -> None:
    """What was learnt, written down and read again, is enough to go on."""
    patterns = fed(Patterns(), 250)
    empty_months(patterns, 100)
    maze(patterns)
    for k in range(100):
        patterns.learn(page(f"/fine/{k}"), 1 << k)
    rows = patterns.take_changes()
    assert len(rows) < 6
    assert patterns.take_changes() == ()
    later = Patterns()
    later.restore((key, *written(state)) for key, state in rows if state is not None)
    for url, via in (("/calendar/2050/01/", "/calendar/2049/01/"), ("/maze/7", "/maze/6")):
        assert later.allows(page(url, via)) == patterns.allows(page(url, via)) is not None
    assert later.allows(page("/fine/1", "/fine/0")) is None
    patterns.learn(page("/maze/7"), 1 << 5)
    later.learn(page("/maze/7"), 1 << 5)
    assert later.take_changes() == patterns.take_changes() != ()


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The series that was met longest ago is forgotten."""
    monkeypatch.setattr("asof.scope.patterns._MOST_SERIES", 50)
    patterns = Patterns()
    for k in range(500):
        patterns.learn(page(f"/word{'x' * (k % 20)}/{'y' * (k // 20)}/7"), 1 << k)
    assert len(patterns._series) == 50
    changes = patterns.take_changes()
    assert sum(state is None for _, state in changes) == 450
    assert [key for key, state in changes if state is not None and "/" in key] == [
        *patterns._series
    ]
    assert patterns.wants_text(f"{A}/word/7")
