"""No word of a stranger acts on a terminal, whichever command shows it; into a pipe data is exact.

An archive full of escape sequences, controls of the C1 set, changes of direction and markup of
rich, in every place where an archive has words; each command runs on a terminal of its own.
"""

from __future__ import annotations

import gzip
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import rig, warm_start
from support.misbehaving import Stage, page

# A colour that we never use, the title of the window, C1's CSI and OSC, a bell, a step back, a
# change of direction; markup that would become a link, and some that is no markup.
EVIL = (
    "\x1b[31337m\x1b]0;owned\x07\x9b31337m\x9d8;;x\x9c\x08\u202eesrever[link=http://x/]l[/link][/x]"
)
ACTING = ("\x1b[31337m", "\x1b]", "\x07", "\x08", "\x9b", "\x9d", "\x9c", "\u202e", "\x1b[8m")
URL = f"http://a.example/{EVIL}"
PLAIN = "http://a.example/plain"


def record(kind: str, url: str, at: str, block: bytes, *fields: str) -> bytes:
    head = "\r\n".join(
        (
            "WARC/1.1", f"WARC-Type: {kind}", f"WARC-Date: {at}", f"WARC-Target-URI: {url}",
            f"WARC-Record-ID: <urn:x:{EVIL}{at}{len(url)}>", f"Content-Length: {len(block)}",
            *fields, "", "",
        )
    )  # fmt: skip
    return gzip.compress(head.encode() + block + b"\r\n\r\n", 1)


def answer(url: str, at: str, words: str) -> bytes:
    http = (
        f"HTTP/1.1 200 {EVIL}\r\nContent-Type: text/html; charset=utf-8\r\nX-Evil: {EVIL}\r\n"
        f'ETag: "{EVIL}"\r\n\r\n<html><title>{EVIL}</title><a href="{url}{words[:3]}">x</a>'
        f"<p>{words} {EVIL} and some more words of a page, that there is something to read.</p>"
        "<p>A second paragraph stays as it was, for as long as anybody looked at this page.</p>"
    )
    return record(
        "response", url, at, http.encode(), "Content-Type: application/http; msgtype=response",
        f"WARC-Asof-Anomalies: {EVIL}", f"WARC-Truncated: {EVIL}",
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the archive `a`, a damaged file of a hostile name, and a hostile relation."""
    home = tmp_path_factory.mktemp("terminal")
    info = f"software: asof/9 {EVIL}\r\nasof-crawl: {EVIL}\r\n".encode()
    data = record(
        "warcinfo", "", "2026-01-01T00:00:00Z", info, "Content-Type: application/warc-fields"
    )
    for url in (URL, PLAIN):
        data += answer(url, "2026-01-01T00:00:00Z", "first words")
        data += answer(url, "2026-01-02T00:00:00Z", "other words, and quite a few of them")
    name = f"{EVIL.replace('/', '')}.warc.gz"
    (home / name).write_bytes(data)
    rig.ok("import", name, "-a", "a", cwd=home)
    torn = bytearray(data)
    torn[len(torn) // 2] ^= 0xFF
    (home / f"torn{name}").write_bytes(torn)
    with Stage() as stage:
        robots = page(f"User-agent: *\nDisallow: /{EVIL}\nCrawl-delay: {EVIL}\nSitemap: {EVIL}")
        site = stage.open(
            {
                "/": page(f"<a href='/{EVIL}'>{EVIL}</a><a href='/x{EVIL}'>x</a>"),
                "/robots.txt": robots,
            }
        )
        rig.ok("crawl", f"{site.url}/", "-a", "a", "--delay", "0", "--exclude", "/x", cwd=home)
        rig.ok("reindex", "--text", "-a", "a", cwd=home)
        yield home


def on_terminal(place: Path, *words: str, **environment: str) -> tuple[int | None, str]:
    """The exit code of a command, and all that its terminal got."""
    ours, theirs = os.openpty()
    got: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 1 << 16):
                got.append(piece)
        except OSError:  # nobody has the other end any more
            pass

    reader = threading.Thread(target=read)
    reader.start()
    env = rig.clean_environment() | {"TERM": "xterm-256color", "COLUMNS": "100"}
    env.pop("NO_COLOR", None)
    env |= environment
    with os.fdopen(theirs, "wb", buffering=0) as screen:
        command = warm_start.Command(words, place, env, {}, screen, screen)
    code = command.wait(60, lambda pid: None)
    reader.join(10)
    os.close(ours)
    return code, b"".join(got).decode("utf-8", "surrogateescape")


COMMANDS = [
    *(["status"], ["status", "--json"], ["list"], ["list", "--json"], ["show", URL]),
    *(["show", URL, "--json"], ["get", URL], ["get", "--raw", URL], ["get", "--head", URL]),
    *(["get", URL, "--json"], ["text", URL], ["text", URL, "--json"], ["diff", URL]),
    *(["diff", URL, "--json"], ["diff", URL, "--html"], ["similar", URL], ["quality"]),
    *(["quality", "--json"], ["check"], ["check", "--json"], ["reindex"], ["reindex", "--text"]),
    *(["export", "--format", "cdxj", "-o", "-"], ["export", "--format", "warc", "-o", "-"]),
    *(["export", "-o", f"no/{EVIL}"], ["cover", "J(d1,d2) >= 0.5"], ["crawl", f"{EVIL}://x"]),
    *(["cover", f"nonsense {EVIL}"], ["cover", "J(d1,d2) >= 0.5", "--json"], ["scope", URL]),
    *(["pause"], ["exclude", f"({EVIL}"], [f"{EVIL}"], ["list", f"--{EVIL}"]),
    *(["get", f"http://none.example/{EVIL}"], ["status", "--crawl", EVIL]),
]  # fmt: skip


def name_of(words: list[str]) -> str:
    return re.sub(r"\W+", "-", " ".join(words), flags=re.ASCII)[:40].strip("-")


@pytest.mark.parametrize("words", COMMANDS, ids=name_of)
def test_no_command_lets_a_stranger_act(place: Path, words: list[str]) -> None:
    archive = [] if words[0] == EVIL else ["-a", "a"]
    _, shown = on_terminal(place, *words, *archive)
    assert shown.strip(), words
    assert not [each for each in ACTING if each in shown], shown
    assert "Traceback" not in shown, shown


FOR_PROGRAMS = {"get", "text", "export", "--json", "--html", EVIL}
TABLES = [each for each in COMMANDS if FOR_PROGRAMS.isdisjoint(each)]


@pytest.mark.parametrize("words", TABLES, ids=name_of)
def test_what_is_for_people_does_not_act_behind_a_pipe(place: Path, words: list[str]) -> None:
    """`asof list | grep` ends on a terminal, too."""
    told = rig.run(*words, "-a", "a", cwd=place).out.decode()
    assert not [each for each in ACTING if each in told], told


def test_names_of_files_do_not_act(place: Path) -> None:
    names = sorted(path.name for path in place.iterdir() if path.name != "a")
    for words in (
        ["import", *names, "-a", EVIL.replace("/", "")],
        ["text", *names],
        ["list", "-a", *names[:1]],
    ):
        _, shown = on_terminal(place, *words)
        assert shown.strip(), words
        assert not [each for each in ACTING if each in shown], shown
        assert "Traceback" not in shown, shown


def test_the_commands_here_do_show_what_strangers_say(place: Path) -> None:
    """Or this would prove nothing: the same words are there, as pictures of what would act."""
    for words in (["list"], ["show", URL], ["get", URL], ["text", URL], ["diff", URL]):
        _, shown = on_terminal(place, *words, "-a", "a")
        assert "31337" in shown, (words, shown)
    assert "\u241b[31337m" in on_terminal(place, "text", URL, "-a", "a")[1]


def test_our_own_colours_stay(place: Path) -> None:
    assert "\x1b[32m" in on_terminal(place, "diff", URL, "-a", "a")[1]
    assert "\x1b[1m" in on_terminal(place, "status", "-a", "a")[1]


def test_into_a_pipe_data_is_exact(place: Path) -> None:
    for words in (["get", URL], ["text", URL], ["export", "--format", "warc", "-o", "-"]):
        out = rig.ok(*words, "-a", "a", cwd=place).out
        assert out[:2] == b"\x1f\x8b" or EVIL.encode() in out, words
    rows = rig.ok("list", "--json", "-a", "a", cwd=place).rows()
    assert URL in {row["url"] for row in rows}
    for words in (["show", URL], ["get", URL], ["diff", URL], ["quality"], ["status"]):
        said = rig.ok(*words, "--json", "-a", "a", cwd=place).out
        assert "\u202e".encode() in said or words[0] in ("quality", "status"), words
        assert b"\xef\xbf\xbd31337m" not in said, words


def test_talk_does_not_act_in_a_log_either(place: Path) -> None:
    """Somebody will look at it, on a terminal."""
    said = rig.run("get", f"http://none.example/{EVIL}", "-a", "a", cwd=place).err
    assert "31337" in said
    assert not [each for each in ACTING if each in said], said


@pytest.mark.parametrize("words", [["search", "x"], ["diff", URL], ["status"]], ids=range(3))
@pytest.mark.parametrize("wish", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_who_wants_no_colours_gets_none(
    place: Path, words: list[str], wish: dict[str, str]
) -> None:
    _, got = on_terminal(place, *words, "-a", "a", **wish)
    assert got
    assert not re.search("\x1b\\[(?:[0-9]+;)*[349][0-9]", got)
