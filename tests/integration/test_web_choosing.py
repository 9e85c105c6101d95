"""How the server chooses: policies by address, parts as of their page, what it says of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from support.served_archive import Page, Server, build, serving

HOME = "http://site.example/"
BODY = b"<link rel=stylesheet href=s.css><img src=i.png><a href=next>on</a>"
PAGES = [
    Page(HOME, "2026-01-10T00:00:00Z", b"<title>one</title>" + BODY),
    Page(HOME, "2026-03-10T00:00:00Z", b"<title>two</title>" + BODY),
    Page(HOME, "2026-04-10T00:00:00Z", b"<title>two</title>" + BODY),
    Page(HOME + "s.css", "2026-01-10T00:00:05Z", b"a{b:url(deep.png)}", "text/css"),
    Page(HOME + "i.png", "2026-01-01T00:00:00Z", b"before", "image/png"),
    Page(HOME + "i.png", "2026-02-10T00:00:00Z", b"after", "image/png"),
    Page(HOME + "moved", "2026-01-10T00:00:00Z", status="301 Moved",
         headers=(("Location", "i.png"),)),
    Page(HOME + "err", "2026-01-10T00:00:00Z", b"good"),
    Page(HOME + "err", "2026-01-20T00:00:00Z", b"no", status="503 Busy"),
    Page(HOME + "err", "2026-01-30T00:00:00Z", b"good"),
    Page(HOME + "Logo.PNG?b=%22", "2026-01-10T00:00:00Z", b"logo", "image/png"),
    Page(HOME + "Logo.PNG?b=%22", "2026-01-20T00:00:00Z", b"logo", "image/png"),
    Page(HOME + "down", "2026-01-20T00:00:00Z", b"no", status="503 Busy"),
]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(build(tmp_path_factory.mktemp("archive"), PAGES)) as running:
        yield running


def verdict(server: Server, target: str, **headers: str) -> str:
    return server.ask(target, **headers).headers["Asof-Verdict"].partition(";")[0]


def test_parts_carry_the_moment_that_is_shown_and_links_the_one_asked_for(server: Server) -> None:
    text = server.ask(f"/20260201/{HOME}").text
    assert f'href="/20260110000000oe_/{HOME}s.css"' in text
    assert f'src="/20260110000000oe_/{HOME}i.png"' in text
    assert f'<a href="/20260201/{HOME}next">' in text
    # Where the page itself is known as of the moment, that is the moment of its parts.
    text = server.ask(f"/20260320/{HOME}").text
    assert f'src="/20260320oe_/{HOME}i.png"' in text


def test_a_style_sheet_hands_the_moment_on(server: Server) -> None:
    sheet = server.ask(f"/20260110000000oe_/{HOME}s.css")
    assert sheet.text == f"a{{b:url(/20260110000000oe_/{HOME}deep.png)}}"


def test_what_a_browser_asks_for_as_a_part_is_one(server: Server) -> None:
    asked = f"/20260110000000/{HOME}s.css"
    assert server.ask(asked).status == 404  # by itself it was not captured yet
    assert server.ask(asked, Sec_Fetch_Dest="style").status == 200
    assert verdict(server, asked, Sec_Fetch_Dest="style") == "doubtful"
    assert verdict(server, f"/-/strict{asked}", Sec_Fetch_Dest="style") == "missing"


def test_policies_have_addresses_and_stay(server: Server) -> None:
    text = server.ask(f"/-/nearest/20260201/{HOME}").text
    assert f'src="/-/nearest/20260110000000oe_/{HOME}i.png"' in text
    assert f'<a href="/-/nearest/20260201/{HOME}next">' in text
    moved = server.ask(f"/-/strict/20260201oe_/{HOME}moved")
    assert moved.headers["Location"] == f"/-/strict/20260201oe_/{HOME}i.png"
    assert server.ask(f"/-/nearest/now/{HOME}").headers["Location"].startswith("/-/nearest/2")
    # Of a page from before its first capture the nearest is the first, and says so.
    assert server.ask(f"/2025/{HOME}").status == 404
    assert b"<title>one" in server.ask(f"/-/nearest/2025/{HOME}").body


def test_the_nearer_of_two_contents_is_shown_as_doubtful(server: Server) -> None:
    assert server.ask(f"/20260105oe_/{HOME}i.png").body == b"before"
    assert server.ask(f"/20260205oe_/{HOME}i.png").body == b"after"
    assert verdict(server, f"/20260205oe_/{HOME}i.png") == "doubtful"
    strict = server.ask(f"/-/strict/20260205oe_/{HOME}i.png")
    assert strict.status == 404
    assert "Not shown, for it is doubtful" in strict.text


def test_an_error_shows_only_where_it_is_asked_for_or_nothing_else_is_known(server: Server) -> None:
    assert server.ask(f"/20260125/{HOME}err").body == b"good"
    assert verdict(server, f"/20260125/{HOME}err") == "proven"
    assert server.ask(f"/20260120000000/{HOME}err").status == 503
    assert server.ask(f"/20260125/{HOME}down").status == 503
    assert verdict(server, f"/20260125/{HOME}down") == "possible"


def test_a_verdict_is_told_in_all_forms_and_when_nothing_has_changed(server: Server) -> None:
    for form in ("", "id_", "if_", "mp_", "im_"):
        answer = server.ask(f"/20260320{form}/{HOME}")
        assert answer.headers["Asof-Verdict"].startswith("proven; shown=")
        again = server.ask(f"/20260320{form}/{HOME}", If_None_Match=answer.headers["ETag"])
        assert again.status == 304
        assert again.headers["Asof-Verdict"] == answer.headers["Asof-Verdict"]


def test_the_header_has_all_that_is_known(server: Server) -> None:
    said = server.ask(f"/20260205oe_/{HOME}i.png").headers["Asof-Verdict"].split("; ")
    assert said == [
        "doubtful", 'shown="2026-02-05T23:59:59.999999Z"', 'since="2026-02-10T00:00:00.000000Z"',
        'until="2026-02-10T00:00:00.000000Z"', "reason=other-content", "distance=345600.000",
    ]  # fmt: skip


def test_the_composition_of_a_page_for_people(server: Server) -> None:
    page = server.ask(f"/-/composition/20260205/{HOME}")
    assert page.status == 200
    assert "4 resources: 1 proven, 2 doubtful, 1 missing" in page.text
    assert "Shown as of" in page.text
    assert f'href="/-/composition/strict/20260205/{HOME}"' in page.text
    strict = server.ask(f"/-/composition/strict/20260205/{HOME}")
    assert "3 resources: 1 proven, 2 missing" in strict.text
    assert server.ask(f"/-/composition/2025/{HOME}").status == 404
    assert server.ask(f"/-/composition/{HOME}").status == 200
    assert server.ask("/-/composition").status == 404


def test_the_composition_of_a_page_for_programs(server: Server) -> None:
    answer = server.ask(f"/-/api/composition?url={HOME}&at=20260205&policy=nearest")
    assert answer.status == 200
    found = json.loads(answer.body)
    assert list(found) == ["url", "asked", "shown", "policy", "counts", "whole", "resources"]
    assert (found["asked"], found["shown"]) == (
        "2026-02-05T23:59:59.999999Z", "2026-01-10T00:00:00.999999Z",
    )  # fmt: skip
    assert found["counts"] == {"proven": 1, "doubtful": 2, "missing": 1}
    assert {each["url"]: each["verdict"] for each in found["resources"]} == {
        HOME: "proven", HOME + "s.css": "doubtful", HOME + "i.png": "doubtful",
        HOME + "deep.png": "missing",
    }  # fmt: skip
    assert found["resources"][1]["distance"] == pytest.approx(4.000001)
    assert server.ask("/-/api/composition").status == 400
    assert server.ask(f"/-/api/composition?url={HOME}&policy=x").status == 400
    assert server.ask("/-/api/composition?url=http://nowhere.example/").status == 404


def test_what_was_captured_under_another_url_says_so(server: Server) -> None:
    stored, asked = f"{HOME}Logo.PNG?b=%22", f"{HOME}logo.png?b=%22"
    answer = server.ask(f"/20260115oe_/{asked}")
    assert (answer.status, answer.body) == (200, b"logo")
    told = answer.headers["Asof-Verdict"]
    assert told.startswith("possible; ")
    assert f'; reason=other-url; captured="{stored}"' in told
    assert answer.headers["Content-Location"].endswith(stored)
    said = server.ask(f"/-/api/composition?url={quote(asked)}&at=20260115").text
    made = json.loads(said)["resources"][0]
    assert (made["url"], made["capture"]["url"]) == (asked, stored)
    assert (made["verdict"], made["reason"]) == ("possible", "other-url")
    assert f"captured as {HOME}Logo.PNG" in server.ask(f"/-/composition/20260115/{asked}").text
    banner = server.ask(f"/20260115/{asked}", Accept="text/html").text
    assert ">another URL</a>" in banner
    assert f"as {HOME}Logo.PNG" in banner
    secure = asked.replace("http:", "https:").replace("logo.png", "Logo.PNG")
    assert verdict(server, f"/20260115oe_/{secure}") == "proven"
