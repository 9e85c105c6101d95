"""How many real documents we can read, format by format, against referees that know them well.

    python bench/conversion.py FOLDER [--referee FOLDER] [--most N] [--misses]

FOLDER holds documents, sorted into folders by the ends of their names (doc, docx, pdf ...).
Referees are LibreOffice for what offices write and poppler's pdftotext for PDF (Debian:
libreoffice-writer-nogui, -calc-nogui, -impress-nogui, poppler-utils). Their texts are kept in the
folder `--referee` and made where they are missing. A document counts as found if half of the
referee's different words are in our text (`some`: if we have any); referees draw numbers of lists
and pages and dates of today, which nobody wrote.
All is read in a child process with its limits of 10 s and 500 MB, as an archive reads it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from asof.text.document import Document
from asof.text.sandbox import SandboxedReader

WORDS = re.compile(r"\w+")
WRITER = {"doc", "docx", "docm", "dot", "dotm", "dotx", "odt", "ott", "sxw", "rtf", "fodt"}
CALC = {"xls", "xlsx", "xlsm", "xlsb", "xlt", "xltm", "xltx", "ods", "ots", "fods", "sxc"}
IMPRESS = {"ppt", "pptx", "pptm", "pps", "ppsx", "ppsm", "potx", "odp", "otp", "odg", "fodp", "sxi"}
# All sheets, in UTF-8, as they are shown.
CSV = "csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,false,false,false,-1"
BATCH = 10


@dataclass
class Tally:
    files: int = 0
    with_text: int = 0
    some: int = 0
    found: int = 0
    share: float = 0.0
    seconds: float = 0.0
    slowest: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    misses: list[tuple[float, str, str]] = field(default_factory=list)


def run(command: list[str], seconds: float) -> None:
    child = subprocess.Popen(
        ["nice", "-n", "19", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def by_libreoffice(files: list[Path], kind: str, into: Path) -> None:
    """The texts of some documents: one office for all, then one each for what is missing."""
    form = "txt:Text (encoded):UTF8" if kind in WRITER else CSV if kind in CALC else "pdf"
    with tempfile.TemporaryDirectory() as scratch:
        profile = f"-env:UserInstallation=file://{scratch}/profile"
        inside, out = Path(scratch, "in"), Path(scratch, "out")
        inside.mkdir()
        out.mkdir()
        copies = [Path(shutil.copy(file, inside / f"{n}.{kind}")) for n, file in enumerate(files)]
        convert = ["soffice", profile, "--headless", "--norestore", "--convert-to", form]
        run([*convert, "--outdir", str(out), *map(str, copies)], 60)
        for number, file in enumerate(files):
            if not made(out, number):
                run([*convert, "--outdir", str(out), str(copies[number])], 20)
            text = ""
            for path in made(out, number):
                if path.suffix == ".pdf":
                    run(["pdftotext", "-enc", "UTF-8", str(path), f"{path}.txt"], 20)
                    path = Path(f"{path}.txt")
                if path.exists():
                    text += path.read_text(encoding="utf-8", errors="replace") + "\n"
            (into / f"{file.name}.txt").write_text(text, encoding="utf-8")


def made(folder: Path, number: int) -> list[Path]:
    return sorted([*folder.glob(f"{number}.*"), *folder.glob(f"{number}-*")])


def referee(files: list[Path], kind: str, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    missing = [file for file in files if not (into / f"{file.name}.txt").exists()]
    if kind == "pdf":
        for file in missing:
            target = into / f"{file.name}.txt"
            run(["pdftotext", "-enc", "UTF-8", str(file), str(target)], 20)
            target.touch()
    elif kind in WRITER | CALC | IMPRESS:
        for start in range(0, len(missing), BATCH):
            by_libreoffice(missing[start : start + BATCH], kind, into)


def words(text: str) -> set[str]:
    return set(WORDS.findall(text.lower()))


def judge(tally: Tally, file: Path, document: Document, answer: Path) -> None:
    tally.files += 1
    if document.error:
        tally.reasons[document.error[:60]] += 1
    text = answer.read_text(encoding="utf-8", errors="replace") if answer.exists() else ""
    theirs, ours = words(text), words(document.text)
    if not theirs:
        return
    share = len(theirs & ours) / len(theirs)
    tally.with_text += 1
    tally.some += bool(ours)
    tally.found += share >= 0.5
    tally.share += share
    if share < 0.5:
        tally.misses.append((share, file.name, document.error or ""))


def measure(folder: Path, answers: Path, most: int) -> Tally:
    kind = folder.name
    files = sorted(path for path in folder.iterdir() if path.is_file())
    files = files[:: max(1, len(files) // most)]
    referee(files, kind, answers / kind)
    tally = Tally()
    with SandboxedReader() as apart:
        apart.read(b"warm", "text/plain")
        for file in files:
            data = file.read_bytes()
            start = time.perf_counter()
            document = apart.read(data, name=file.name)
            spent = time.perf_counter() - start
            tally.seconds += spent
            tally.slowest = max(tally.slowest, spent)
            judge(tally, file, document, answers / kind / f"{file.name}.txt")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--referee", type=Path, help="where the texts of the referees are kept")
    parser.add_argument("--most", type=int, default=10_000, help="documents of each format")
    parser.add_argument("--misses", action="store_true", help="name what was not found")
    options = parser.parse_args()
    folders = sorted(path for path in options.folder.glob("*") if path.is_dir())
    if not folders:
        sys.exit(f"{options.folder} holds no folders of documents (doc, docx, pdf ...).")
    lacking = [name for name in ("soffice", "pdftotext") if shutil.which(name) is None]
    if lacking:
        sys.exit(f"The referees are missing: {', '.join(lacking)}. Install them, see the top.")
    answers = options.referee or Path(tempfile.gettempdir(), "asof-referee")
    print(
        f"{'format':8}{'files':>7}{'with text':>11}{'some':>7}{'found':>7}{'share':>8}"
        f"{'words':>8}{'reasons':>9}{'files/s':>9}{'slowest s':>11}"
    )
    total = Tally()
    for folder in folders:
        tally = measure(folder, answers, options.most)
        show(folder.name, tally)
        for name in ("files", "with_text", "some", "found", "share", "seconds"):
            setattr(total, name, getattr(total, name) + getattr(tally, name))
        total.slowest = max(total.slowest, tally.slowest)
        total.reasons += tally.reasons
        if options.misses:
            for share, name, reason in sorted(tally.misses):
                print(f"    {share:.2f} {name} {reason}")
    show("all", total)
    for reason, count in total.reasons.most_common(12):
        print(f"  {count:5} {reason}")


def show(name: str, tally: Tally) -> None:
    judged = max(1, tally.with_text)
    print(
        f"{name:8}{tally.files:>7}{tally.with_text:>11}{tally.some:>7}{tally.found:>7}"
        f"{tally.found / judged:>8.3f}{tally.share / judged:>8.3f}{sum(tally.reasons.values()):>9}"
        f"{tally.files / max(tally.seconds, 1e-9):>9.0f}{tally.slowest:>11.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
