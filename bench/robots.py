"""robots.txt as we read it against Google's own matcher, over real files.

    python bench/robots.py FOLDER PROGRAM [QUESTIONS]

FOLDER has files of robots.txt, such as the 4,231 in the tests of protego. PROGRAM is called as
that of google/robotstxt is: `PROGRAM FILE AGENT URL`, with exit status 0 for allowed and 1 for not.
Of each file at most so many QUESTIONS (24) are asked, drawn from its own rules and agents by a seed
that is its name: paths that a rule means and that it just does not, agents that are named, not
named, and that only begin like one that is.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from asof.scope.robots import MAX_BYTES, Robots, robots_from
from asof.url import canonical

_PATTERN = re.compile(r"^\W*(?:dis)?allow[ \t]*:?[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)
_AGENT = re.compile(r"^\W*user-?agent[ \t]*:?[ \t]*([a-z_-]+)", re.IGNORECASE | re.MULTILINE)
# RFC 3986 section 2.3
_UNRESERVED = re.compile(r"%(?:[46][1-9a-f]|[57][0-9a]|3\d|2[de]|5f|7e)", re.IGNORECASE)


class Question(NamedTuple):
    """Whether an agent may have a URL, by a file."""

    file: Path
    agent: str
    url: str


def questions(file: Path, most: int) -> list[Question]:
    body = file.read_bytes()
    text = body.decode("utf-16" if body[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
    text = text.replace("\r", "\n")
    rng = random.Random(file.name)
    patterns = sorted(set(_PATTERN.findall(text))) or ["/"]
    named = sorted(set(_AGENT.findall(text))) or ["Googlebot"]
    found = [Question(file, "asof", "https://h.example/")]
    while len(found) < most:
        one = rng.choice(named)
        agent = rng.choice(("asof", "asof", "web", one, one, f"{one}x", one[:-1] or "a"))
        path = rng.choice(list(_paths(rng.choice(patterns), rng)))
        url = canonical(f"https://h.example{path if path.startswith('/') else '/' + path}")
        if url is not None and "/robots.txt" not in url:
            found.append(Question(file, agent, url))
    return sorted(set(found))


def _paths(pattern: str, rng: random.Random) -> Iterator[str]:
    path = pattern.removesuffix("$").replace("*", rng.choice(("", "a", "b/c")))
    yield from (path, path, f"{path}x", path[:-1], f"{path}/index.html", f"{path}?q=1")


@lru_cache(maxsize=64)
def _robots(file: Path, agent: str) -> Robots:
    return robots_from(200, file.read_bytes(), f"{agent}/1.0 (web archive)")


def ours(question: Question) -> bool:
    return _robots(question.file, question.agent).allows(question.url)


def theirs(program: str, question: Question) -> bool:
    command = [program, str(question.file), question.agent, question.url]
    status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    if status not in (0, 1):
        raise SystemExit(f"{program} ended with {status}")
    return status == 0


def reason(question: Question) -> str:
    """Why the two may differ: what a file has that Google reads in a way of its own."""
    body = question.file.read_bytes()
    if b"\0" in body:
        return "UTF-16, which Google does not read"
    if len(body) > MAX_BYTES:
        return "longer than what is read"
    if question.url.endswith("/") and b"/index.htm" in body:
        return "Allow: /index.htm, which to Google allows / as well"
    if re.search(r"%[0-9A-F]?[a-f]", question.url):
        return "percent-encoded in small letters, which Google asks nobody to send"
    if _UNRESERVED.search(question.url + body.decode("latin-1")):
        return "percent-encoded where it need not be"
    if b"\xc2\xa0" in body:
        return "a no-break space, no white space to Google"
    return "unknown"


def main() -> None:
    folder, program = Path(sys.argv[1]), sys.argv[2]
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    files = sorted(path for path in folder.iterdir() if path.is_file())
    asked = [question for file in files for question in questions(file, most)]
    start = time.perf_counter()
    mine = [ours(question) for question in asked]
    took = time.perf_counter() - start
    with ThreadPoolExecutor(2) as pool:
        other = list(pool.map(lambda question: theirs(program, question), asked))
    differ = [(q, a) for q, a, b in zip(asked, mine, other, strict=True) if a != b]
    share = 100 * (1 - len(differ) / len(asked))
    print(f"{len(files):,} files, {len(asked):,} questions, {took * 1e6 / len(asked):.0f} us each")
    print(f"forbidden: {mine.count(False):,} by ours, {other.count(False):,} by theirs")
    files_apart = len({question.file for question, _ in differ})
    print(f"{share:.3f} % answered alike, {len(differ)} not, in {files_apart} files")
    for why, count in Counter(reason(question) for question, _ in differ).most_common():
        print(f"{count:7}  {why}")
    for question, allowed in differ:
        if reason(question) == "unknown":
            print(f"{question.file.name}: {question.agent} {question.url} ours: {allowed}")


if __name__ == "__main__":
    main()
