"""What is written with documents in parentheses: hostname(d1), C(d1,d2), C(sh(d1),sh(d2))."""

from typing import Literal

from asof.caret import Misread, clipped, suggestion
from asof.cover.language.lexer import Word
from asof.cover.language.syntax import AttributeOf, Document, Measure

_PAIR: dict[str, Document] = {
    "d1": 1, "di": 1, "d_i": 1, "d₁": 1, "dᵢ": 1, "d2": 2, "dj": 2, "d_j": 2, "d₂": 2, "dⱼ": 2,
}  # fmt: skip
_ONE: dict[str, Document] = {"d": 1}
_MEASURES: tuple[Literal["C", "J", "D"], ...] = ("C", "J", "D")
_LONG = {"containment": "C", "jaccard": "J", "dice": "D"}


def call(words: list[Word], at: int, *, one: bool) -> tuple[AttributeOf | Measure, int]:
    """The attribute or measure whose name is at `at`, and where it ends."""
    name = words[at]
    documents, end = _arguments(words, at + 1, one=one)
    span = (name.span[0], words[end - 1].span[1])
    label = str(name.value)
    measure = next((m for m in _MEASURES if m == name.text), None)
    if measure is None and len(documents) == 1:
        return AttributeOf(label, documents[0], span), end
    if one:
        raise Misread(
            span,
            "expected one document; a filter has only d",
            'Write for instance hostname(d) = "example.org".',
        )
    if measure is None:
        meant = _LONG.get(label.lower()) or next((m for m in _MEASURES if m == label.upper()), "")
        hint = f"Did you mean {meant}?" if meant else suggestion(label, _MEASURES)
        raise Misread(
            name.span,
            f"{clipped(label)} is no measure of two documents",
            f"{hint} There are C (containment), J (Jaccard) and D (Dice).".strip(),
        )
    if len(documents) != 2 or documents[0] == documents[1]:
        raise Misread(
            span,
            f"expected two different documents for {measure}",
            f"Write {measure}(d1,d2); an attribute of that name as `{measure}`(d1).",
        )
    return Measure(measure, documents[0] if measure == "C" else 1, span), end


def _arguments(words: list[Word], at: int, *, one: bool) -> tuple[list[Document], int]:
    name = words[at - 1]
    document = "d" if one else "d1"
    if words[at].text != "(":
        hint = f"Write {clipped(name.text)[1:-1]}({document}) for the attribute of a document."
        if name.text in (_ONE if one else _PAIR):
            hint = f"Write hostname({name.text}) for the attribute of a document."
        elif not one or name.text != "text":
            hint += ' Text stands in quotes: "text".'
        else:
            hint = 'Write text contains "expense".'
        raise Misread(words[at].span, f"expected ( after {clipped(name.text)}", hint)
    documents: list[Document] = []
    while True:
        at += 1
        wrapped = words[at].text == "sh" and words[at + 1].text == "("
        at += 2 if wrapped else 0
        documents.append(_document(words[at], one=one))
        at += 1
        if wrapped:
            _closed(words[at], ")")
            at += 1
        if words[at].text != ",":
            break
        if len(documents) == 2:
            raise Misread(words[at].span, "expected ), found a third document")
    _closed(words[at], ", or )" if len(documents) == 1 else ")")
    return documents, at + 1


def _document(word: Word, *, one: bool) -> Document:
    if (found := (_ONE if one else _PAIR).get(word.text)) is not None:
        return found
    expected = "d" if one else "d1 or d2"
    hint = "A filter speaks of one document, d." if one else "d2 is the document that covers d1."
    near = suggestion(word.text, ["d"] if one else ["d1", "d2"]) if word.kind == "name" else ""
    raise Misread(word.span, f"expected {expected}, found {word.shown}", f"{near} {hint}".strip())


def _closed(word: Word, expected: str) -> None:
    if word.text != ")":
        raise Misread(word.span, f"expected {expected}, found {word.shown}")
