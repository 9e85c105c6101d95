"""Whether a text contains a word, or some in a row: the terms that shingles are made of."""

from __future__ import annotations

import re

_TERM = re.compile(r"\w+")


def terms(text: str) -> list[str]:
    return _TERM.findall(text.lower())


def contains(text: str, phrase: str) -> bool:
    """Whether the terms of the phrase come in the text, in a row.

    `expense` is in "Expense claims" and not in "expenses": Paudel 2013 has terms (section 4.2).
    """
    wanted = terms(phrase)
    if not wanted:
        return True
    return f" {' '.join(wanted)} " in f" {' '.join(terms(text))} "
