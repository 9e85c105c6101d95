"""Our readers beside libraries for the same formats: workbooks, RTF, messages of Outlook (ADR 14).

    .venv/bin/pip install python-calamine striprtf python-oxmsg
    python bench/conversion_peers.py FOLDER [--referee FOLDER] [--most N]

FOLDER and `--referee` are those of conversion.py. Each document is read whole, cut at seven tenths,
and with 20 bytes changed, by both, each time in a process of its own with 10 s and 700 MB. `share`
is the mean share of the referee's words, `words` counts different words of each document. What a
library leaves out by design (comments, notes, links, titles) is not in the count.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from asof.text.convert import CONVERTERS, Refused
from conversion import referee, words

try:
    import oxmsg
    import python_calamine
    from striprtf.striprtf import rtf_to_text
except ImportError as missing:
    sys.exit(f"{missing.name} is not installed: see the top of this file.")

Read = Callable[[bytes], str]
SECONDS, MEMORY = 10, 700 << 20


def ours(data: bytes) -> str:
    try:
        return CONVERTERS["application/msword"](data).text
    except Refused as refused:
        return refused.page.text if refused.page else ""


def calamine(data: bytes) -> str:
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    lines = []
    for name in book.sheet_names:
        lines.append(name)
        rows = book.get_sheet_by_name(name).iter_rows()
        lines += ("\t".join(_shown(cell) for cell in row if cell != "") for row in rows)
    return "\n".join(lines)


def _shown(cell: object) -> str:
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def striprtf(data: bytes) -> str:
    return str(rtf_to_text(data.decode("latin-1"), errors="replace"))


def message(data: bytes) -> str:
    read = oxmsg.Message.load(data)
    parts = [read.sender, *(each.name for each in read.recipients), read.subject, read.body]
    parts += [each.file_name for each in read.attachments]
    return "\n".join(part or "" for part in parts)


PEERS: dict[str, Read] = {
    **dict.fromkeys(("xls", "xlsx", "xlsb", "ods"), calamine),
    "rtf": striprtf,
    "msg": message,
}


def apart(read: Read, data: bytes) -> tuple[str, float]:
    """What a reader finds, in a process of its own, and its CPU time; nothing if it fails."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(into, "wb") as pipe:
            start = time.process_time()
            try:
                text = read(data)
            except BaseException:  # noqa: BLE001 - of libraries in Rust, too
                text = ""
            pipe.write(json.dumps([text, time.process_time() - start]).encode())
        os._exit(0)
    os.close(into)
    start = time.perf_counter()
    with os.fdopen(out, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    try:
        text, spent = json.loads(answer)
    except ValueError:  # killed
        return "", time.perf_counter() - start
    return text, spent


def forms(data: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    yield "whole", data
    yield "cut", data[: len(data) * 7 // 10]
    hurt = bytearray(data)
    for _ in range(20):
        hurt[chance.randrange(len(hurt))] = chance.randrange(256)
    yield "changed", bytes(hurt)


@dataclass
class Sum:
    read: int = 0
    words: int = 0
    share: float = 0.0
    seconds: float = 0.0


def measure(folder: Path, answers: Path, most: int) -> None:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    files = files[:: max(1, len(files) // most)]
    referee(files, folder.name, answers)
    for file in files[:3]:  # loads what is loaded late, before any child is made
        ours(file.read_bytes())
    sums: dict[tuple[str, str], Sum] = {}
    judged, chance = 0, random.Random(1)
    for file in files:
        answer = answers / f"{file.name}.txt"
        known = words(answer.read_text("utf-8", "replace")) if answer.exists() else set()
        judged += bool(known)
        for form, data in forms(file.read_bytes(), chance):
            for who, read in (("asof", ours), ("library", PEERS[folder.name])):
                text, spent = apart(read, data)
                found, each = words(text), sums.setdefault((form, who), Sum())
                each.read += bool(found)
                each.words += len(found)
                each.share += len(known & found) / len(known) if known else 0.0
                each.seconds += spent
    for (form, who), each in sums.items():
        share = f"{each.share / judged:.3f}" if judged else "-"
        print(
            f"{folder.name:6}{len(files):>6}  {form:9}{who:9}{each.read:>7}{each.words:>9}"
            f"{share:>8}{each.seconds:>9.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--referee", type=Path, help="where the texts of the referees are kept")
    parser.add_argument("--most", type=int, default=200, help="documents of each format")
    options = parser.parse_args()
    answers = options.referee or Path(tempfile.gettempdir(), "asof-referee")
    print(f"{'format':6}{'files':>6}  {'form':9}{'who':9}{'read':>7}{'words':>9}", end="")
    print(f"{'share':>8}{'CPU s':>9}")
    for folder in sorted(options.folder.iterdir()):
        if folder.name in PEERS:
            measure(folder, answers / folder.name, options.most)


if __name__ == "__main__":
    main()
