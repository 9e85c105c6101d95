"""The `surt` package, which cdxj-indexer uses, referees our keys on URLs built to be nasty."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.url import surt
from support.laws import examples

with warnings.catch_warnings():  # its source has escapes that newer Pythons warn about
    warnings.simplefilter("ignore")
    import surt as referee


@pytest.fixture(autouse=True, scope="module")
def no_dns() -> Iterator[None]:
    """The referee asks the resolver about odd numbers; answer from inet_aton, as glibc would."""

    def numbers_only(name: bytes) -> tuple[str, list[str], list[str]]:
        try:
            packed = socket.inet_aton(name.decode("ascii"))
        except OSError as error:
            raise socket.gaierror from error
        if name != name.strip():  # inet_aton tolerates white space after it, getaddrinfo does not
            raise socket.gaierror
        return "", [], [socket.inet_ntoa(packed)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "gethostbyname_ex", numbers_only)
        yield


def expected(url: str) -> str:
    try:
        return referee.surt(url)
    except Exception:  # noqa: BLE001 - cdxj-indexer falls back to the URL whatever the package raises
        return url


def pieces(words: str, *more: str) -> list[str]:
    """The words, and further pieces that white space cannot separate."""
    return [*words.split(), *more]


SESSION = "0123456789abcdefABCDEF0123456789"
TOKEN = "abcdefghijklmnopqrstuvwx"
SCHEMES = pieces(
    "http:// https:// HTTP:// hTTps:// http: http:/ http:/// ftp:// dns: dns:// mailto: urn: x: 1: "
    "warcinfo: httpx:// http://http:// http://https:// https://http:// filedesc:// // data: a.b:",
    "",
    " ",
)
LABELS = pieces(
    "www WWW www2 w example Example com co uk bücher BÜCHER ß xn--bcher-kva %62 %C3%BC %ff . .. 1 "
    "0 127 010 09 256 4294967296 0x7f a_b - %20 %2e %00 %0a \u3002 [::1] [ ] ( ) , \\",
    "",
    "a b",
    "a" * 64,
)
PORTS = pieces(": :: :80 :443 :8080 :0 :00080 :65535 :65536 :a :-1 :٣ :80:", "", ": 80")
USERS = ["", "u@", "u:p@", "@", "a@b@", "u:@", "%40@"]
SEGMENTS = pieces(
    ". .. a A b.html index.aspx x.ASPX %2e %2E%2e %2f %3f %23 %25 %2525 %252e %zz % %4 é %E9 "
    f"%C3%A9 a\\b (S({TOKEN})) ({TOKEN}) (A({TOKEN.upper()})F({TOKEN})) ({TOKEN[1:]}) "
    ";jsessionid=1 ~ <> {} \" ' | ^ ` + @ : www.x.com",
    "",
    " ",
    "\t",
    "a b",
    "\x00",
    "\x7f",
)
PARAMETERS = pieces(
    f"a a= a=1 A=1 a-=1 b=2 B = == a==b %26 %3d=%26 x%2526 é=ü + ? # / jsessionid={SESSION} "
    f"JSESSIONID={SESSION} xjsessionid={SESSION} jsessionid={SESSION}0 phpsessid={SESSION} "
    f"sid={SESSION} Sid={SESSION[1:]} cfid=1 cftoken=2 cfid= cftoken= xcfid=1 cfid=cfid=1 "
    f"cftoken=a=b ASPSESSIONIDabcdefgh={TOKEN} aspsessionidabcdefg1={TOKEN}",
    "",
    " ",
)
INSERTS = pieces("% %25 / // . .. ? & = # : @ é %2F www.", "", "\t")
REAL = [
    "http://www.fedoa.unina.it/1305/01/seminar%5FMSU%5F07.pdf",
    "https://en.wikipedia.org/w/index.php?title=Web_archiving&action=history",
    "http://www.example.co.uk:8080/a/b/c.html?z=1&y=2&x=3#top",
    "https://www.google.com/search?q=%22web+archive%22&hl=en&sid=0123456789abcdef0123456789abcdef",
    "http://bbs.example.jp/%E3%83%86%E3%82%B9%E3%83%88/?page=1",
    "http://192.0.2.7/~user/(x)/index.aspx",
]


def joined(separator: str, parts: list[str], size: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=size).map(separator.join)


built = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(SCHEMES),
        st.sampled_from(USERS),
        joined(".", LABELS, 5),
        st.sampled_from(PORTS),
        st.sampled_from(["", "/", "//", "?", "/?", "#"]),
        joined("/", SEGMENTS, 6),
        st.sampled_from(["", "?", "??", "#", "?#", "/?"]),
        joined("&", PARAMETERS, 6),
        st.sampled_from(["", "#f", " ", "?", "\n", "/"]),
    ),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A real URL with a few characters put in, taken out or doubled."""
    url = draw(st.sampled_from(REAL))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(url)))
        cut = draw(st.integers(0, 3))
        new = draw(st.sampled_from(INSERTS))
        url = url[:at] + new + url[at + cut :]
    return url


@settings(max_examples=examples(1500), deadline=None)
@given(st.one_of(built, mutated(), st.text(max_size=60)))
@example("")
@example("\ud800")
@example("http://" + "1" * 5000 + "/")
def test_the_key_is_the_one_that_the_surt_package_gives(url: str) -> None:
    assert surt(url) == expected(url)


@settings(max_examples=examples(500), deadline=None)
@given(
    st.lists(st.sampled_from(["%", "25", "4", "1", "2", "5", "a", "%25", "%41"]), max_size=40).map(
        "".join
    )
)
def test_repeated_escapes_end_where_the_package_ends(tail: str) -> None:
    url = f"http://example.org/{tail}?{tail}"
    assert surt(url) == expected(url)
