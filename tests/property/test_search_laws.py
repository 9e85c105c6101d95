"""Laws of the search: words are those of the index, questions are read back, passages are true."""

# ruff: noqa: RUF001 (texts in many scripts)
from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asof.errors import UsageError
from asof.search.asked import Asked, Every, Some, Term, Without
from asof.search.places import Places, levelled, words_in
from asof.search.query import parse, terms, written
from asof.search.snippet import ELLIPSIS, extract
from asof.search.words import folded, level, words_of

tantivy = pytest.importorskip("tantivy", reason="pip install 'asof[search]'")
SPLITTER = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).build()

SCRIPTS = [
    "Don’t stop e-mail Straße Łódź naïve œuvre™ 1/2 ½ ﬁne x²…",
    "Ёлка й и\u0306 подъезд",
    "Ὀδυσσεύς της Άννας",
    "مُحَمَّدٌ كتـاب ۱۲۳ می\u200cخواهم",
    'נָבִיא צה"ל ספר',
    "हिन्दी में खोज क़",
    "ภาษาไทย น้ำ ๒๕๖๐",
    "東京都は日本の首都。ｶﾞ か\u3099 々 人口1400万",
    "漢字abc中文，全文搜索",
    "한국어 검색 \u1112\u1161\u11ab ㄱㅏ ﾡￂ",
    "ខ្មែរ ລາວ မြန်မာ",
    '\u202e\u0000\t\n\u00ad\u200b\u3000 -_.:|()"„“«»「」*~',
]
# The index and the module regex know different versions of Unicode; Python's is older than both.
ASSIGNED = st.characters(exclude_categories=["Cs", "Cn"])
TEXTS = st.one_of(
    st.text(ASSIGNED, max_size=60),
    st.lists(
        st.one_of(
            st.sampled_from(re.findall(r"\S+", " ".join(SCRIPTS))), st.text(ASSIGNED, max_size=4)
        ),
        max_size=30,
    ).map(" ".join),
    st.text(st.sampled_from(sorted(set("".join(SCRIPTS)))), max_size=80),
)
SIGNS = 'a word ab* OR | AND NOT - ( ) " title: url: ~ word~2 e-mail 東京都 年 „ “ foo: क़ --'
QUESTIONS = st.one_of(
    TEXTS,
    st.lists(
        st.sampled_from([*SIGNS.split(), "anchor:", "link:a.example", " ", " ", " "]),
        max_size=30,
    ).map("".join),
)


def unchanged(word: str, words: Sequence[str]) -> list[str]:
    return []


def clipped_forms(word: str, words: Sequence[str]) -> list[str]:
    return [other for other in words if other[:4] == word[:4]]


def without_spans(asked: Asked) -> Asked:
    match asked:
        case Term():
            return replace(asked, span=(0, 0))
        case Without():
            return Without(without_spans(asked.part))
        case _:
            return type(asked)(tuple(map(without_spans, asked.parts)))


def read(text: str) -> Asked | None:
    try:
        return parse(text)
    except UsageError:
        return None


def every_script(test: object) -> object:
    for script in SCRIPTS:
        test = example(script)(test)  # type: ignore[type-var]
    return test


@every_script
@given(TEXTS)
def test_words_are_those_of_the_index(text: str) -> None:
    form = folded(text)
    assert words_of(form) == [w for w in SPLITTER.analyze(form) if len(w.encode()) <= 100]
    assert words_of(text) == [w for w in SPLITTER.analyze(text) if len(w.encode()) <= 100]


def test_each_character_is_a_word_as_the_index_has_it_and_folds_once() -> None:
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in ("Cn", "Cs"):
            continue
        assert level(level(character)) == level(character)
    some = [
        chr(code) for code in range(0x30000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")
    ]
    assert words_of(" ".join(some)) == SPLITTER.analyze(" ".join(some))


@every_script
@given(TEXTS)
def test_what_is_folded_is_what_its_normal_forms_are(text: str) -> None:
    for form in ("NFC", "NFD"):
        assert words_of(folded(unicodedata.normalize(form, text))) == words_of(folded(text))


@every_script
@given(TEXTS)
def test_places_have_the_words_of_the_folded_text(text: str) -> None:
    found = Places(*levelled(text))
    assert found.words == words_of(folded(text))
    for start, end in zip(found.starts, found.ends, strict=True):
        assert 0 <= start < end <= len(text)


@given(TEXTS, st.data())
def test_words_are_found_where_they_stand(text: str, data: st.DataObject) -> None:
    places, plain = Places(*levelled(text)), words_in(text)
    assert plain.distinct == places.distinct
    if places.words:
        first = data.draw(st.integers(0, len(places.words) - 1))
        asked = [{word} for word in places.words[first : first + data.draw(st.integers(1, 3))]]
        asked[-1] |= set(data.draw(st.lists(st.sampled_from(places.words), max_size=3)))
        found = sorted(places.rows(asked))
        assert found
        assert sorted(plain.rows(asked)) == found


@given(st.text(st.sampled_from("東京都日本ガか中한ภน้ำไ"), min_size=1, max_size=12), st.data())
def test_each_part_of_a_run_is_found_as_a_phrase(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    part = run[start : data.draw(st.integers(start + 1, len(run)))]
    asked = read(part)
    if isinstance(asked, Term) and "한" not in part:
        marked = extract(f"x {run} y", [asked], unchanged)
        assert any(piece.marked for piece in marked)


@example('"東京都 2020" title:(a OR "b c") -(d e*)')
@given(QUESTIONS)
def test_a_question_is_read_or_refused_soon_and_read_back_as_it_was(text: str) -> None:
    started = time.perf_counter()
    asked = read(text)
    assert time.perf_counter() - started < 2
    if asked is None:
        return
    again = parse(written(asked))
    assert without_spans(again) == without_spans(asked)
    assert written(again) == written(asked)
    for term in terms(asked):
        assert term.words
        assert 0 <= term.span[0] < term.span[1] <= len(text)
    _assert_sound(asked)


def _assert_sound(asked: Asked) -> None:
    match asked:
        case Every() | Some():
            assert len(asked.parts) > 1
            assert not any(type(part) is type(asked) for part in asked.parts)
            wanted = [part for part in asked.parts if not isinstance(part, Without)]
            assert wanted
            assert isinstance(asked, Every) or len(wanted) == len(asked.parts)
            for part in asked.parts:
                _assert_sound(part)
        case Without():
            assert not isinstance(asked.part, Without)
            _assert_sound(asked.part)


@given(TEXTS, QUESTIONS, st.integers(5, 60))
def test_passages_are_parts_of_the_text(text: str, question: str, width: int) -> None:
    asked = read(question)
    pieces = extract(text, list(terms(asked)) if asked else [], clipped_forms, width)
    seen = "".join(c for c in text if c.isspace() or not _turns(c))
    whole = re.sub(r"\s+", " ", seen)
    shown = "".join(piece.text for piece in pieces)
    if ELLIPSIS in [piece.text for piece in pieces]:
        at = [piece.text for piece in pieces].index(ELLIPSIS)
        for part in (pieces[:at], pieces[at + 1 :]):
            assert "".join(piece.text for piece in part) in whole
    else:
        assert shown in whole
    assert all(piece.text for piece in pieces)
    assert shown == shown.strip()


def _turns(character: str) -> bool:
    bidi = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    return (
        unicodedata.category(character) == "Cc"
        or unicodedata.bidirectional(character) in bidi
        or character in "\u200e\u200f\u061c"
    )


@given(st.lists(st.text(st.sampled_from("abcd"), min_size=1, max_size=5), min_size=1, max_size=8))
def test_fuzzy_words_are_those_of_the_index(words: list[str]) -> None:
    schema = tantivy.SchemaBuilder().add_text_field("t", tokenizer_name="raw", stored=True).build()
    index = tantivy.Index(schema)
    writer = index.writer(15_000_000, 1)
    for word in words:
        writer.add_document(tantivy.Document(t=word))
    writer.commit()
    index.reload()
    query = tantivy.Query.fuzzy_term_query(schema, "t", "abcd", 1)
    hits = index.searcher().search(query, 100).hits
    found = {index.searcher().doc(at)["t"][0] for _, at in hits}
    term = Term(("abcd",), None, False, False, 1, (0, 4))
    marked = {w for w in words if any(p.marked for p in extract(w, [term], unchanged))}
    assert marked == found
