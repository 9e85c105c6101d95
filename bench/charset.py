"""Exact text on collections of files of known encoding, against peers in the same run.

    python bench/charset.py FOLDER...

A file's encoding is that which a folder or the file is named after, as in the tests of chardet
(`iso-8859-2-czech/x.xml`), of charset-normalizer's dataset (`big5/x.txt`) and of uchardet
(`cs/windows-1250.txt`). A text is right if it is that which a browser gets by the true encoding,
whatever the encoding was called. Peers are measured if they are installed. Three rows of ours more:
the true label declared, and a false one of the two kinds that servers send most.
"""

from __future__ import annotations

import codecs
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module, util
from pathlib import Path

from asof.text.encoding.charset import Charset, charset_of, decoded
from asof.text.encoding.detection import name_of
from asof.text.encoding.labels import CODECS, encoding_named

# Names of folders that are names of encodings to people only.
_OTHER_NAMES = {
    "cp949": "euc-kr",
    "mac-centraleurope": "mac-latin2",
    "maccentraleurope": "mac-latin2",
    "maccyrillic": "x-mac-cyrillic",
    "macroman": "macintosh",
    "uhc": "euc-kr",
    "utf-8-sig": "utf-8",
}
_SUPERSETS = {"shift-jis": "shift_jis", "gb2312": "gbk", "tis-620": "windows-874"}
_NO_TEXT = re.compile(r"base64|bz2|hex|zip|rot|quopri|uu|idna|punycode|.*escape|mbcs|oem|undefined")

Peer = Callable[[bytes], str | None]


def encoding_of(name: str) -> str | None:
    """The encoding that a folder or file is named after, in the standard's name or Python's."""
    for candidate in (name, re.sub(r"[-_.][a-z]{2,}$", "", name)):
        label = candidate.lower().replace("_", "-")
        label = _OTHER_NAMES.get(label, _SUPERSETS.get(label, label))
        label = re.sub(r"^iso8859-?", "iso-8859-", label)
        known = encoding_named(label)
        if known is not None and known != "replacement":
            return known
        try:
            codec = codecs.lookup(label).name
        except (LookupError, ValueError):
            continue
        if not _NO_TEXT.match(codec):
            return name_of(codec)
    return None


def files(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files whose path names an encoding."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.parts):
            parts = [*reversed(path.relative_to(folder).parts[:-1]), path.stem, path.name]
            named = next((found for part in parts if (found := encoding_of(part))), None)
            if named is not None:
                yield path, named


def as_browser(data: bytes, name: str) -> str:
    """The text by an encoding of which the name is known; a mark tells the order of bytes."""
    marked = charset_of(data[:4])
    if marked.source == "bom" and name.startswith("utf"):
        return decoded(data, marked)
    codec = CODECS.get(name) or codecs.lookup(name).name
    return decoded(data, Charset(codec, name, 1.0, "known"))


def peers() -> dict[str, Peer]:
    """What is installed of the detectors that people use."""
    found: dict[str, Peer] = {}
    if util.find_spec("chardet"):
        chardet = import_module("chardet")
        found["chardet " + chardet.__version__] = lambda data: chardet.detect(data)["encoding"]
    if util.find_spec("charset_normalizer"):
        normalizer = import_module("charset_normalizer")

        def normalized(data: bytes) -> str | None:
            best = normalizer.from_bytes(data).best()
            return best.encoding if best else None

        found["charset-normalizer " + normalizer.__version__] = normalized
    if util.find_spec("cchardet"):
        cchardet = import_module("cchardet")
        found["cchardet"] = lambda data: cchardet.detect(data)["encoding"]
    if util.find_spec("chardetng_py"):
        chardetng = import_module("chardetng_py")

        def firefox(data: bytes) -> str | None:
            detector = chardetng.EncodingDetector()
            detector.feed(data, last=True)
            return str(detector.guess(tld=None, allow_utf8=True))

        found["chardetng"] = firefox
    if util.find_spec("resiliparse"):
        resiliparse = import_module("resiliparse.parse.encoding")
        found["resiliparse"] = lambda data: resiliparse.detect_encoding(data)
    return found


def text_by_peer(data: bytes, label: str | None) -> str | None:
    """What a peer's answer makes of the bytes, decoded as a browser would."""
    name = encoding_of(label) if label else None
    return as_browser(data, name) if name else None


def ways() -> dict[str, Callable[[bytes, str], str | None]]:
    """All that is compared: a name, and from bytes and the true encoding to a text."""
    found: dict[str, Callable[[bytes, str], str | None]] = {
        "asof": lambda data, _: decoded(data, charset_of(data)),
        "asof, no look at markup": lambda data, _: decoded(data, charset_of(data, markup=False)),
        "asof, true label": lambda data, name: decoded(data, charset_of(data, name)),
        "asof, says iso-8859-1": lambda data, _: decoded(data, charset_of(data, "iso-8859-1")),
        "asof, says utf-8": lambda data, _: decoded(data, charset_of(data, "utf-8")),
    }
    for name, peer in peers().items():
        found[name] = lambda data, _, peer=peer: text_by_peer(data, peer(data))  # type: ignore[misc]
    return found


def main(folders: list[str]) -> None:
    if not folders:
        sys.exit("Name one or more folders with files of known encoding.")
    compared = ways()
    right: Counter[tuple[str, str]] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    total: Counter[str] = Counter()
    for folder in folders:
        if not Path(folder).is_dir():
            sys.exit(f"There is no folder {folder}: fetch the collection first.")
        for path, name in files(Path(folder)):
            data = path.read_bytes()
            truth = as_browser(data, name)
            total[folder] += 1
            for way, read in compared.items():
                start = time.perf_counter()
                text = read(data, name)
                seconds[way] += time.perf_counter() - start
                right[way, folder] += text == truth
    everything = total.total()
    if not everything:
        sys.exit("No file in these folders is named after an encoding.")
    short = [Path(folder).resolve().name[:14] for folder in folders]
    print(f"{'exact text, %':26}", *(f"{name:>14}" for name in short), f"{'all':>7} {'files/s':>8}")
    print(f"{'files':26}", *(f"{total[folder]:14}" for folder in folders), f"{everything:7}")
    for way in compared:
        shares = (100 * right[way, folder] / max(1, total[folder]) for folder in folders)
        overall = 100 * sum(right[way, folder] for folder in folders) / everything
        row = " ".join(f"{share:14.1f}" for share in shares)
        print(f"{way:26} {row} {overall:7.2f} {everything / seconds[way]:8.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
