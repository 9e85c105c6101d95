"""What labels of character encodings mean to a browser, and which codec of Python reads each.

The table of the WHATWG Encoding standard, section 4.2 (40 encodings, 228 labels), is that of
`webencodings`. Labels mean supersets, mostly: what calls itself ISO-8859-1 is read as windows-1252.
"""

import codecs
import re
from functools import lru_cache

from webencodings import LABELS

# Where Python's name for the closest codec is another. They differ in details: see `decoders`.
_CODECS = {
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "ibm866": "cp866",
    "iso-2022-jp": "iso2022_jp",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "shift_jis": "cp932",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
# No encodings at all: one hides what browsers refuse to read, the other passes bytes through.
_WITHOUT_CODEC = ("replacement", "x-user-defined")


def _codec_of_name(name: str) -> str:
    if name.startswith("windows-12"):
        return name.replace("windows-", "cp")
    return _CODECS.get(name) or name.replace("iso-8859", "iso8859")


# name of the encoding -> codec of Python
CODECS = {name: _codec_of_name(name) for name in LABELS.values() if name not in _WITHOUT_CODEC}


def encoding_named(label: str) -> str | None:
    """The encoding that a label names in a browser; None if it names none."""
    # Only ASCII letters have another case here: a Kelvin sign is no K.
    return LABELS.get(label.strip("\t\n\f\r ").lower()) if label.isascii() else None


@lru_cache(maxsize=256)
def codec_named(label: str, known: re.Pattern[str]) -> str | None:
    """The codec of Python for a label, if it is one of those that are known to be of documents."""
    if not label.isascii() or len(label) > 64:
        return None
    try:
        codec = codecs.lookup(label.strip().lower()).name
    except (LookupError, ValueError):  # ValueError: a NUL in the label
        return None
    return codec if known.fullmatch(codec) else None
