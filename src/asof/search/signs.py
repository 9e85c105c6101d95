"""What a question is written with: words, what stands in quotes, parentheses, operators."""

import re
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import OSA

from asof.caret import Misread, Span, clipped, plain
from asof.search.asked import Field
from asof.search.words import folded, words_of

SignKind = Literal["word", "quoted", "(", ")", "or", "and", "not", "end"]

# Keyboards of Chinese, Japanese and Korean write these; each is one character, so spans hold.
_WIDE = str.maketrans("（）＂＊：｜－", '()"*:|-')  # noqa: RUF001
_CLOSING = dict.fromkeys('"“”„‟', '"“”‟') | {"«": "»", "»": "«", "「": "」", "『": "』"}
_OPENING = re.escape("".join(_CLOSING))
_SPACE = re.compile(r"\s+")
_OPERATORS: dict[str, SignKind] = {"OR": "or", "AND": "and", "NOT": "not"}
# צה"ל is one word: between Hebrew letters the sign is a gershayim.
_GERSHAYIM = re.compile(r'(?<=[א-ת])"(?=[א-ת])')
_BARE = re.compile(rf'(?:(?<=[א-ת])"(?=[א-ת])|[^\s()|{_OPENING}])+')
_FIELD = re.compile(r"([^\W\d_]{2,12}):(?![\s|)]|$)")
_NEARLY = re.compile(r"~([0-9]*)$")
_INNER_STAR = re.compile(r"\w\*\w")


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign of a question, and where it stands; a word or a group may be of one field."""

    kind: SignKind
    text: str
    span: Span
    field: Field | None = None
    prefix: bool = False
    fuzzy: int = 0


def signs(text: str) -> list[Sign]:
    """All signs of a question, then one of kind `end`."""
    text = text.translate(_WIDE)
    found: list[Sign] = []
    at = 0
    while at < len(text):
        if space := _SPACE.match(text, at):
            at = space.end()
            continue
        found.append(_sign(text, at))
        at = found[-1].span[1]
    found.append(Sign("end", "", (len(text), len(text))))
    return found


def _sign(text: str, at: int) -> Sign:
    if text[at] == "|":
        end = at + len(text[at:]) - len(text[at:].lstrip("|"))
        return Sign("or", text[at:end], (at, end))
    if text[at] == ")":
        return Sign(")", ")", (at, at + 1))
    if _excludes(text, at):
        return Sign("not", "-", (at, at + 1))
    field, start = _field(text, at)
    if text[start] == "(":
        return Sign("(", "(", (at, start + 1), field)
    if text[start] in _CLOSING:
        return _quoted(text, at, start, field)
    return _word(text, at, start, field)


def _excludes(text: str, at: int) -> bool:
    """Whether a hyphen begins something: one before a space, and one of several, do not."""
    after = text[at + 1 : at + 2]
    begins = at == 0 or text[at - 1].isspace() or text[at - 1] in "(|"
    return text[at] == "-" and begins and bool(after.strip(" -|)")) and not after.isspace()


def _field(text: str, at: int) -> tuple[Field | None, int]:
    """The field that is named here, and where what it is asked for begins."""
    match = _FIELD.match(text, at)
    if match is None:
        _check_something_follows(text, at)
        return None, at
    name = plain(match[1]).lower()
    for field in Field:
        if name == field:
            return field, match.end()
        # One letter off, or two that changed places: `time:12:30` and `site:` are neither.
        if OSA.distance(name, field, score_cutoff=1) <= 1:
            raise Misread(
                match.span(1),
                f"{clipped(match[1])} is not a part of documents that can be asked for",
                f"Did you mean {field}: ? To find both words, write a space between them.",
            )
    return None, at


def _check_something_follows(text: str, at: int) -> None:
    word = _BARE.match(text, at)
    if word and word[0].lower() in {f"{field}:" for field in Field}:
        raise Misread(
            word.span(),
            f"nothing stands directly after {word[0]}",
            f"Write {word[0].lower()}word, without a space.",
        )


def _quoted(text: str, at: int, start: int, field: Field | None) -> Sign:
    closing = _CLOSING[text[start]]
    end = start + 1
    while end < len(text) and (text[end] not in closing or _GERSHAYIM.match(text, end)):
        end += 1
    if end == len(text):
        raise Misread(
            (start, len(text)),
            f"the quotation that begins with {text[start]} does not end",
            f"Write {closing[0]} where it ends.",
        )
    stop = end + 2 if text[end + 1 : end + 2] == "*" else end + 1
    prefix = stop == end + 2
    return Sign("quoted", text[start + 1 : end], (at, stop), field, prefix)


def _word(text: str, at: int, start: int, field: Field | None) -> Sign:
    match = _BARE.match(text, start)
    assert match is not None  # spaces and all that is left out there were read before
    bare, span = match[0], (at, match.end())
    if bare in _OPERATORS and field is None:
        return Sign(_OPERATORS[bare], bare, span)
    if star := _INNER_STAR.search(bare):
        raise Misread(
            (start + star.start() + 1, start + star.start() + 2),
            "a * can only stand at the end of a word",
            "Write the beginning of the word and the * after it.",
        )
    fuzzy = 0
    if (nearly := _NEARLY.search(bare)) and words_of(folded(bare[: nearly.start()])):
        if nearly[1] not in ("", "1", "2"):
            raise Misread(
                (start + nearly.start(), match.end()),
                "a word may differ in one letter or in two",
                "Write ~ or ~2 after it.",
            )
        fuzzy = int(nearly[1] or 1)
        bare = bare[: nearly.start()]
        if bare.endswith("*"):
            raise Misread(
                (start + len(bare) - 1, match.end()),
                "most words begin nearly so",
                "Write either * or ~ after a word.",
            )
    return Sign("word", bare, span, field, bare.endswith("*"), fuzzy)
