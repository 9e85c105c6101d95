"""Texts on their shelf: what is put comes back, by its key, whatever happens in between."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asof.errors import ArchiveError
from asof.text import database as shelf_module
from asof.text.database import TextDatabase
from asof.text.document import Document
from asof.text.store import BLOCK, TextStore, hashed
from support.laws import examples

# Texts as readers give them: decoded, so without lone surrogates.
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)  # type: ignore[arg-type]
maybe = st.none() | texts
documents = st.builds(
    Document,
    media_type=texts,
    charset=maybe,
    title=maybe,
    language=maybe,
    date=maybe,
    main=texts,
    text=texts,
    links=st.lists(texts, max_size=3).map(tuple),
    method=texts,
    error=maybe,
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[TextDatabase]:
    made = TextDatabase(tmp_path / "derived" / "text.db", writable=True)
    yield made
    made.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50))
@given(st.dictionaries(st.integers(-(2**63), 2**63 - 1), documents, max_size=5))
def test_what_is_put_comes_back(
    database: TextDatabase, given_documents: dict[int, Document]
) -> None:
    store = TextStore(database)
    store.put(list(given_documents.items()))
    for key, document in given_documents.items():
        assert key in store
        assert store.get(key) == document


def test_what_was_never_put_is_not_there(database: TextDatabase) -> None:
    store = TextStore(database)
    assert store.get(7) is None
    assert 7 not in store
    assert len(store) == 0


def test_long_documents_have_blocks_of_their_own(database: TextDatabase) -> None:
    """Reading a short one must not unpack its long neighbours."""
    store = TextStore(database)
    long = Document("text/plain", text="word " * (BLOCK // 4))
    store.put([(1, Document("text/plain", text="a")), (2, long), (3, Document("x", text="c"))])
    blocks = [no for (no,) in database.db.execute("SELECT block FROM documents ORDER BY key")]
    assert len(set(blocks)) == 3
    assert store.get(2) == long


def test_texts_are_packed(database: TextDatabase) -> None:
    """Main content that is all of the text is not kept twice, and much of the rest is packed."""
    words = " ".join(f"word{n % 100}" for n in range(50_000))
    TextStore(database).put([(1, Document("text/plain", main=words, text=words))])
    ((size,),) = database.db.execute("SELECT sum(length(data)) FROM blocks")
    assert size < len(words) / 10


def test_a_later_reading_replaces_an_earlier_one(database: TextDatabase) -> None:
    store = TextStore(database)
    store.put([(1, Document("text/plain", text="old"))])
    store.put([(1, Document("text/plain", text="new"))])
    assert store.get(1) == Document("text/plain", text="new", main="")
    assert len(store) == 1


def test_other_readers_read_everything_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts of two kinds of readers would differ for no reason of the documents."""
    path = tmp_path / "text.db"
    first = TextDatabase(path, writable=True)
    TextStore(first).put([(1, Document("text/plain", text="x"))])
    first.close()
    form = replace(shelf_module._FORM, version=shelf_module.VERSION + 1)
    monkeypatch.setattr(shelf_module, "_FORM", form)
    looking = TextDatabase(path, writable=False)
    assert not looking.is_current
    looking.close()
    second = TextDatabase(path, writable=True)
    assert second.is_current
    assert len(TextStore(second)) == 0
    second.close()


def test_one_writes_and_many_read(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    writer = TextDatabase(path, writable=True)
    TextStore(writer).put([(1, Document("text/plain", text="x"))])
    with pytest.raises(ArchiveError, match="another process"):
        TextDatabase(path, writable=True)
    reader = TextDatabase(path, writable=False)
    assert 1 in TextStore(reader)
    reader.close()
    writer.close()
    TextDatabase(path, writable=True).close()


def test_a_failed_put_leaves_nothing(database: TextDatabase) -> None:
    store = TextStore(database)
    good, bad = Document("text/plain", text="x"), Document("text/plain", text="y")
    with pytest.raises((sqlite3.Error, OverflowError)):
        store.put([(1, good), (1 << 70, bad)])
    assert len(store) == 0


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_bytes(b"no database at all " * 100)
    with pytest.raises(ArchiveError, match=r"text\.db"):
        TextDatabase(path, writable=True)


@given(texts, texts, maybe, texts)
def test_keys_tell_urls_contents_and_types_apart(
    url: str, content: str, media_type: str | None, other: str
) -> None:
    key = hashed(url, content, media_type or "")
    assert -(2**63) <= key < 2**63
    assert hashed(url, content, media_type or "") == key
    if other != content:
        assert hashed(url, other, media_type or "") != key
