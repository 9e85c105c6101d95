from __future__ import annotations

import doctest

import pytest

from asof.clock import parse_iso
from asof.scope import traps
from asof.scope.traps import calendar_trap, place_of, session_key, shape_trap

NOW = parse_iso("2026-03-01") or 0

# Addresses as real sites have them: none may be taken for a trap, or for one with a session.
REAL = """\
http://example.org/
https://example.org/en/en/
https://example.org/2024/2024/
https://example.org/images/images/
https://example.org/images/images/images/logo.png
https://example.org/a/b/a/b/
https://en.wikipedia.org/wiki/New_York,_New_York
https://en.wikipedia.org/wiki/Buffalo_buffalo_Buffalo_buffalo_buffalo_buffalo_Buffalo_buffalo
https://en.wikipedia.org/w/index.php?title=Special:Log&type=move&user=&page=&offset=&limit=500
https://en.wikipedia.org/w/index.php?title=Web_archive&action=edit&section=3&oldid=12345678
https://en.wikipedia.org/w/load.php?lang=en&modules=ext.cite.styles%7Cext.math.styles&only=styles
https://de.wikipedia.org/wiki/Benutzer:Beispiel/Archiv/2009/2009
https://www.wikidata.org/wiki/Special:EntityData/Q42.json
https://www.nytimes.com/1851/09/18/archives/first-issue.html
https://www.nytimes.com/2024/11/05/us/politics/election-results-live.html
https://www.theguardian.com/world/2024/nov/05/live?page=with:block-672a&filterKeyEvents=false
https://www.spiegel.de/politik/deutschland/wahl-2025-alle-ergebnisse-a-0d9e8f7a-1b2c-4d3e-8f4a
https://www.lemonde.fr/archives-du-monde/14-07-1989/
https://timesmachine.nytimes.com/timesmachine/1912/04/16/issue.html
https://chroniclingamerica.loc.gov/lccn/sn83030214/1898-02-17/ed-1/seq-1/
https://www.bbc.co.uk/programmes/b006qpgr/broadcasts/2019/12
https://example.com/blog/2023/01/01/happy-new-year-2023/
https://example.com/blog/page/2/?cat=7&tag=web
https://example.com/2019/05/page/3/
https://www.amazon.com/dp/B08N5WRWNW/ref=sr_1_3?dchild=1&keywords=tea&qid=1612345678&sr=8-3
https://www.amazon.de/s?k=tee&rh=n%3A340846031%2Cp_n_feature%3A5&dc&qid=1612345678&rnid=340&ref=sr
https://www.ebay.com/sch/i.html?_from=R40&_trksid=p2380057&_nkw=lamp&_sacat=0&LH_TitleDesc=0&_pgn=2
https://shop.example/shoes?color%5B%5D=red&color%5B%5D=blue&size%5B%5D=41&size%5B%5D=42&sort=price
https://shop.example/c/12?f[]=1&f[]=2&f[]=3&f[]=4&f[]=5&f[]=6&f[]=7&f[]=8
https://shop.example/search?brand=a&brand=b&brand=c&brand=d&price=10-20&price=20-30&page=7
https://www.booking.com/hotel/de/x.html?aid=1&label=g&checkin=2026-05-01&checkout=2026-05-03&dest_id=-1&dest_type=city&dist=0&group_adults=2&group_children=0&hapos=1&hpos=1&no_rooms=1&req_adults=2&req_children=0&room1=A%2CA&sb_price_type=total&sr_order=popularity&srepoch=1&srpvid=2&type=total&ucfs=1
https://store.example/media/catalog/product/cache/1/image/9df78eab33525d08d6e5fb8d27136e95/a/a/aa.jpg
https://cdn.example/system/photos/000/000/012/original/cat.jpg
https://cdn.example/0/0/0/0/0.png
https://tile.openstreetmap.org/1/1/1.png
https://tiles.example/wmts/1.0.0/layer/default/3857/11/1099/712.png
https://img.example/00/00/00/00/12.jpg
https://docs.python.org/3/library/asyncio-task.html#coroutines
https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/lang/String.html
https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
https://learn.microsoft.com/en-us/dotnet/api/system.string.format?view=net-8.0&tabs=a
https://kubernetes.io/docs/tasks/run-application/run-single-instance-stateful-application/
https://javadoc.io/doc/org.apache.commons/commons-lang3/latest/org/apache/commons/lang3/StringUtils.html
https://doc.rust-lang.org/std/string/struct.String.html
https://pkg.go.dev/golang.org/x/tools/go/analysis/passes/asmdecl
https://github.com/requests/requests/blob/master/requests/requests.py
https://github.com/scrapy/scrapy/tree/master/scrapy/commands
https://github.com/torvalds/linux/blob/v6.1/drivers/gpu/drm/amd/display/dc/dcn10/dcn10_hubp.c
https://github.com/elastic/elasticsearch/blob/main/server/src/main/java/org/elasticsearch/index/query/functionscore/ScoreFunctionBuilders.java
https://android.googlesource.com/platform/frameworks/base/+/refs/heads/main/core/java/android/app/Activity.java
https://cs.android.com/android/platform/superproject/main/+/main:packages/modules/Bluetooth/system/stack/test/fuzzers/x.cc
https://gitlab.com/gitlab-org/gitlab/-/merge_requests/1234/diffs?commit_id=0123456789abcdef0123456789abcdef01234567
https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/commit/?h=v6.1&id=830b3c68c1fb
https://git.savannah.gnu.org/gitweb/?p=emacs.git;a=blobdiff;f=lisp/files.el;h=0123456;hp=89abcde;hb=HEAD
https://sources.debian.org/src/python3.11/3.11.2-6/Lib/test/test_importlib/source/
https://www.phpbb.com/community/viewtopic.php?f=14&t=2103285&start=45
https://forum.example/viewtopic.php?p=15&sid=7#p15
https://forum.example/showthread.php?4821-Some-title/page12
https://forum.example/thread/4821/12
https://forum.example/thread/2060/12/
https://forum.example/index.php?topic=123.45;prev_next=next
https://news.ycombinator.com/item?id=8863&p=2
https://slashdot.org/article.pl?sid=01/02/03/1234567
https://stackoverflow.com/questions/11227809/why-is-processing-a-sorted-array-faster
https://www.reddit.com/r/programming/comments/abc123/title_of_the_post/def456/?context=3
https://lists.debian.org/debian-devel/2003/12/msg00001.html
https://lore.kernel.org/lkml/20240101.123456-1-a@b.example/T/#t
https://mail.python.org/pipermail/python-list/2001-January/012345.html
https://arxiv.org/abs/2401.00001v2
https://doi.org/10.1000/182
https://www.jstor.org/stable/10.2307/2118559?seq=1
https://web.archive.org/web/20010101000000/http://www.example.org/a/http://www.example.org/
https://web.archive.org/web/20010101000000*/http://www.example.org/
https://maps.example/?ll=52.5,13.4&z=12&t=m&layers=B0000FTTT
https://www.google.com/maps/@52.5200,13.4050,12z
https://fonts.googleapis.com/css2?family=Roboto:wght@400&family=Open+Sans&family=Lato&family=Lora&display=swap
https://blog.example/wp-admin/load-scripts.php?c=0&load%5Bchunk_0%5D=jquery-core,jquery-migrate,utils&ver=6.4
https://site.example/_static/??-eJx9jUsOwjAMRC9EasIiqgvEWdLEaUPjxIodEL190w2wgeXMvHmjzcUJpkA
https://site.example/typo3conf/ext/site/Resources/Public/Css/main.css?1612345678
https://events.example/calendar/2026/03/
https://events.example/calendar/2035-12-31/
https://events.example/?year=2030&month=12
https://history.example/on-this-day/1492/10/12/
https://eclipse.example/solar/2044-08-23
https://conf.example/agenda?session=12&sessionId=345
https://conf.example/schedule?sid=42
https://example.com/?s=search+words
https://example.com/search?q=session+id&sid=web
https://parts.example/p/9876/05/
https://parts.example/p/4500-11-20-rev
https://lib.example/000/000/000/000/001/
https://www.example.org/cgi-bin/man.cgi?query=ls&apropos=0&sektion=1&manpath=FreeBSD&format=html
https://bugzilla.example/buglist.cgi?bug_status=NEW&bug_status=ASSIGNED&bug_status=REOPENED&product=A&product=B&order=bug_id
https://jira.example/secure/IssueNavigator.jspa?reset=true&jqlQuery=project+%3D+X+AND+status+%3D+Open
https://solr.example/select?fq=a:1&fq=b:2&fq=c:3&fq=d:4&fq=e:5&q=*:*&rows=10
https://example.org/login?return=%2Faccount%3Fnext%3D%252Forders%252F12
https://example.org/de/produkte/produkte/produkte-a-z/
https://example.org/foo/foo/foo/bar.html
https://example.org/news/news/news-2020/news.html
""".splitlines()


@pytest.mark.parametrize("url", REAL)
def test_real_addresses_are_no_traps(url: str) -> None:
    """No false positive on a list of addresses as wikis, papers, shops, forums and code have."""
    assert shape_trap(url) is None
    assert calendar_trap(url, NOW) is None
    assert session_key(url) is None


A = "http://a.example"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"{A}/a1a/a1a/a1a/a1a/", "repeated path"),
        (f"{A}/shop/sub/x/sub/y/sub/z/sub/page", "repeated path"),
        (f"{A}/a/b/a/b/a/b/", "repeated path"),
        (f"{A}/x/one/two/three/one/two/three/one/two/three/", "repeated path"),
        (f"{A}/1/1/1/1/1/1/", "repeated path"),
        (f"{A}//////////x", "repeated path"),
        # github.com/webrecorder/browsertrix-crawler/issues/931
        (f"{A}/de/p" + "/www.google.com/intl/de/policies/privacy" * 3, "repeated path"),
        # internetarchive/Zeno, pathloop_test.go
        (
            f"{A}/theme/styles.php/x/1770128580/all/DT-1.11.3/images/Dats/bootstrap/DT-1.11.3/"
            "fonts/fonts/fonts/bootstrap/DT-1.11.3/images/sort_asc.png",
            "repeated path",
        ),
        (f"{A}/" + "/".join(f"d{k}" for k in range(26)), "too deep"),
        (f"{A}/watch?v=1" + "&feature=applinks" * 4, "repeated parameter"),
        (f"{A}/l?" + "&".join(f"f[]={k}" for k in range(13)), "repeated parameter"),
        (f"{A}/l?" + "&".join(f"p{k}=1" for k in range(41)), "too many parameters"),
        (f"{A}/login?return=" + "x" * 40 + "%25252525252F", "encoded over and over"),
        (f"{A}/list.php?a=1&amp;b=2&amp;amp;c=3&amp;amp;amp;d=4", "encoded over and over"),
        (f"{A}/{'x' * 4_096}", "too long"),
    ],
)
def test_traps_by_their_shape(url: str, reason: str) -> None:
    """Each with a short reason that is the same for all of its kind."""
    assert shape_trap(url) == f"trap: {reason}"


@pytest.mark.parametrize(
    "path",
    [
        "/calendar/2047-01-01",
        "/events/2060/12/31/",
        "/cal?date=20990101",
        "/cal?year=2050&month=3",
        "/cal?tx_month=3&tx_year=2050",
        "/cal/0987-03-01/",
    ],
)
def test_calendars_far_from_now(path: str) -> None:
    """More than twenty years ahead, or in the first millennium: nobody has filled that in."""
    assert calendar_trap(A + path, NOW) == "trap: calendar far away"


@pytest.mark.parametrize(
    "path",
    ["/1605/07/01/", "/cal?year=1700&month=3", "/cal?year=2050", "/x/2060/12/", "/1899-12-31"],
)
def test_the_past_and_numbers_that_look_like_years_are_left_to_the_evidence(path: str) -> None:
    """Newspapers have archives; `/2060/12/` is page 12 of a thread."""
    assert calendar_trap(A + path, NOW) is None


HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (f"/x?sid={HEX}", "/x"),
        (f"/x?sid={HEX}&a=1", "/x?a=1"),
        (f"/x?a=1&sid={HEX}&b=2", "/x?a=1&b=2"),
        ("/x;jsessionid=0F3A.node1", "/x"),
        ("/x;jsessionid=0F3A.node1?a=1", "/x?a=1"),
        ("/x;JSESSIONID=0F3A/y", "/x/y"),
        ("/x?PHPSESSID=abc", "/x"),
        ("/x?a=1&amp;PHPSESSID=abc", "/x?a=1"),
        ("/x?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM", "/x"),
        ("/x?CFID=1169580&CFTOKEN=48630702&d=1", "/x?d=1"),
        ("/x?cat=3&osCsid=abc123", "/x?cat=3"),
        ("/x?zenid=abc123", "/x"),
        (f"/showthread.php?s={HEX}&t=7", "/showthread.php?t=7"),
        ("/x?session_id=k3v9d8f7s6a5q4w3e2r1t0y9u8", "/x"),
        ("/(S(lit3py55t21z5v55vlm25s55))/p.aspx?a=1", "/p.aspx?a=1"),
    ],
)
def test_session_ids_are_taken_out(path: str, key: str) -> None:
    """What stays is the address of the page, whoever asks; and it has no session."""
    assert session_key(A + path) == A + key
    assert session_key(A + key) is None


@pytest.mark.parametrize(
    "path",
    ["/x?sid=123", "/x?session=3", "/x?s=word", "/x?cfid=7", "/x;v=1", "/x?", "/x?side=left"],
)
def test_what_only_looks_like_a_session_stays(path: str) -> None:
    """Numbers of stories, sessions of conferences, searches."""
    assert session_key(A + path) is None


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", "/"),
        ("/about", "/about"),
        ("/calendar/2025/03/", "/calendar/#/#/"),
        ("/calendar/2025-03-14", "/calendar/#"),
        ("/a/12-the-quiet-lamp", "/a/*"),
        ("/img/plate-7.svg", "/img/plate-#.svg"),
        ("/wiki/%C3%9Cber", "/wiki/*"),
        ("/library/00ff00ff00ff00ff", "/library/#"),
        ("/watch/dQw4w9WgXcQ", "/watch/#"),
        ("/guide/sub/sub/sub/page", "/guide/sub/page/+"),
        ("/a/b/a/b/a/b/", "/a/b//+"),
        ("/shop?size=4&color=red&size=5", "/shop?color&size"),
        ("/shop?f[0]=a&f[12]=b", "/shop?f[#]"),
    ],
)
def test_a_pattern_keeps_words_and_forgets_names_and_numbers(path: str, pattern: str) -> None:
    """URLs of one kind have one pattern, readable enough to stand in a report."""
    assert place_of(A + path).pattern == "a.example" + pattern


def test_only_some_patterns_can_have_more_than_one_page() -> None:
    """What has neither a query nor a part that was generalised needs no budget."""
    assert not place_of(f"{A}/about/us.html").general
    assert all(place_of(A + path).general for path in ("/p/7", "/a-b-c", "/x?y", "/s/s/p"))


def test_the_examples_of_the_documentation() -> None:
    """They say what the code does."""
    assert doctest.testmod(traps).failed == 0
