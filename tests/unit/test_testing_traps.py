from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest

from asof.errors import UsageError
from asof.testing import START, Kind, SiteSpec, SyntheticSite
from asof.testing.__main__ import _parser, _spec
from asof.testing.spec import TRAPS

DAY = 86_400_000_000
SPEC = SiteSpec(seed=4, pages=40, traps=TRAPS)
STARTS = {
    "calendar": "/calendar/2025/03/",
    "path": "/guide/page",
    "session": "/harbour/?sid=" + "0" * 32,
    "parameters": "/classifieds/",
    "nonsense": "/library/00000000000000aa",
}


def links(site: SyntheticSite, path: str) -> list[str]:
    """The paths, with queries, that a page links to, in order."""
    response = site.respond("GET", path, (), START)
    assert response.status == 200
    found = re.findall(r'<a href="([^"]+)"', response.content.decode())
    urls = [urlsplit(urljoin(site.origins[0] + path, unescape(href))) for href in found]
    return [url.path + (f"?{url.query}" if url.query else "") for url in urls]


def traps_on(site: SyntheticSite, path: str) -> list[str]:
    known = [*site.expected(START), *site.forbidden()]
    return [link for link in links(site, path) if link not in known]


@pytest.mark.parametrize("kind", TRAPS)
def test_a_trap_goes_on_for_ever(kind: str) -> None:
    """From its entrance, a hundred pages deep: each leads to one that was not met before."""
    site = SyntheticSite(replace(SPEC, traps=(kind,)))
    path = STARTS[kind]
    met = {path}
    for _ in range(100 if kind != "parameters" else 15):
        onward = [link for link in traps_on(site, path) if link not in met]
        assert onward, path
        path = onward[-1] if kind == "calendar" else onward[0]
        assert site.kind(path) is Kind.TRAP
        met.add(path)


@pytest.mark.parametrize("kind", TRAPS)
def test_real_pages_lead_into_it(kind: str) -> None:
    """From the front page and two others."""
    site = SyntheticSite(replace(SPEC, traps=(kind,)))
    doors = [path for path in site.paths(START) if traps_on(site, path)]
    assert len(doors) == 3
    assert doors[0] == "/"
    for path in doors:
        (door,) = traps_on(site, path)
        assert door in site.links(path, START)
        assert site.kind(door) is Kind.TRAP


def test_the_real_site_is_the_same_with_and_without() -> None:
    """What is expected, its paths and their history do not know of traps."""
    site, plain = SyntheticSite(SPEC), SyntheticSite(replace(SPEC, traps=()))
    for t in (START, START + 9 * DAY):
        assert site.expected(t) == plain.expected(t)
        assert site.paths(t) == plain.paths(t)
    assert not any(site.kind(path) is Kind.TRAP for path in site.expected(START))
    inner = site.paths(START)[20]
    asked = [each.respond("GET", inner, (), START).body for each in (site, plain)]
    assert asked[0] == asked[1]


def test_without_traps_nothing_is_there() -> None:
    """Nobody meets them who did not ask for them."""
    site = SyntheticSite(replace(SPEC, traps=()))
    for path in STARTS.values():
        assert site.respond("GET", path, (), START).status == 404
        with pytest.raises(UsageError, match="has nothing at"):
            site.kind(path)


def test_traps_are_functions_of_seed_and_address() -> None:
    """The same again, whenever it is asked; another seed, another text."""
    one, other = SyntheticSite(SPEC), SyntheticSite(SPEC)
    far = replace(SPEC, seed=5)
    for kind, path in STARTS.items():
        body = one.respond("GET", path, (), START).body
        assert body == other.respond("GET", path, (), START).body
        if kind != "session":
            assert body == one.respond("GET", path, (), START + 9 * DAY).body
    path = STARTS["nonsense"]
    there = SyntheticSite(far).respond("GET", path, (), START)
    assert there.body != one.respond("GET", path, (), START).body


def test_a_page_under_a_session_id_is_the_page() -> None:
    """Only its links differ: they carry an id that no other answer has."""
    site = SyntheticSite(SPEC)
    strip = re.compile(rb"\?sid=[0-9a-f]{32}")
    plain = site.respond("GET", "/harbour/", (), START).body
    met = set()
    for k in range(20):
        body = site.respond("GET", f"/harbour/?sid={k:032x}", (), START).body
        assert strip.sub(b"", body) == strip.sub(b"", plain)
        met.add(strip.findall(body)[0])
    assert len(met) == 20
    assert site.respond("GET", f"/nothing?sid={'0' * 32}", (), START).status == 404


def test_calendars_end_where_the_years_do() -> None:
    """Four digits: no link leads to the year 0 or 10,000."""
    site = SyntheticSite(SPEC)
    assert traps_on(site, "/calendar/9999/12/") == ["/calendar/9999/11/"]
    assert traps_on(site, "/calendar/0001/01/") == ["/calendar/0001/02/"]
    assert site.respond("GET", "/calendar/2025/13/", (), START).status == 404


def test_filters_shorten_the_list_and_add_no_line() -> None:
    """A list under filters is a part of the whole one."""
    site = SyntheticSite(SPEC)

    def lines(query: str) -> set[str]:
        body = site.respond("GET", f"/classifieds/{query}", (), START).content.decode()
        return set(re.findall(r"<p>(.*?)</p>", body))

    whole, some, fewer = lines(""), lines("?price=low"), lines("?price=low&age=old")
    assert fewer < some < whole
    assert lines("?sort=name") == whole


def test_a_kind_that_does_not_exist_is_refused() -> None:
    """With the kinds that do."""
    with pytest.raises(UsageError, match="traps") as caught:
        SiteSpec(traps=("tar",))
    assert "calendar" in str(caught.value)


@pytest.mark.parametrize(
    ("option", "kinds"), [("all", TRAPS), ("path,nonsense", ("path", "nonsense")), ("", ())]
)
def test_traps_are_switched_on_from_the_command_line(option: str, kinds: tuple[str, ...]) -> None:
    """`python -m asof.testing --traps all`."""
    assert _spec(_parser().parse_args(["--traps", option])).traps == kinds
