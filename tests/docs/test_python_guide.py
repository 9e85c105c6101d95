"""The guide to `asof.Archive`: its blocks run, and what is public is pinned."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import asof
from support.served_archive import Page, build

GUIDE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
_NOTE = " ".join(f"word{number}" for number in range(60))

# What Python users rely on. A name goes only with a word in CHANGELOG.md.
PUBLIC = {
    "Answer", "Archive", "Capture", "Category", "Change", "Comparison", "CoverAnswer", "Crawl",
    "Document", "Evidence", "Hit", "Memento", "Near", "NearDuplicates", "Proof", "Quality",
    "Validity", "capture", "import_files", "index",
}  # fmt: skip
ARCHIVE = {
    "open": "(path, *, clock=None)",
    "write": "(path, *, purpose, clock=None)",
    "close": "(self)",
    "captures": "(self, *, url=None, prefix=None, since=None, until=None, crawl=None)",
    "as_of": "(self, url, moment='now')",
    "captured": "(self, url, moment='now', *, use='--at')",
    "history": "(self, url)",
    "read": "(self, capture)",
    "crawl": "(self, name=None)",
    "crawls": "(self)",
    "text": "(self, url, moment='now')",
    "diff": "(self, url, before=None, after=None, *, full=False)",
    "similar": "(self, url, moment='now', *, threshold=0.8, measure='jaccard', versions=False)",
    "near_duplicates": "(self, moment='now', *, threshold=0.8, versions=False)",
    "search": "(self, words, *, as_of=None, since=None, until=None, prefix=None, media_type=None,"
    " language=None, order='relevance', fold=True, limit=10, offset=0)",
    "cover": "(self, relation, *, where=None, at_least=None, prefer=None)",
    "quality": "(self, *crawls, prefix=None, moment=None)",
}


def page(title: str, text: str) -> bytes:
    return f"<title>{title}</title><article><h1>{title}</h1><p>{text}</p></article>".encode()


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    front, later = (
        page("Harbour news", f"The ferry {verb} every hour. {_NOTE}") for verb in ("sails", "rests")
    )
    note = page("Note", _NOTE)
    pages = [
        Page("https://example.org/", "2026-03-01T00:00:00Z", front),
        Page("https://example.org/", "2026-03-08T00:00:00Z", later),
        Page("https://example.org/note", "2026-03-01T00:00:01Z", note),
        Page("https://example.org/copy", "2026-03-01T00:00:02Z", page("Note", f"{_NOTE} once")),
    ]
    return build(tmp_path / "archive", pages)


def test_the_blocks_of_the_guide_run(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```python run\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {})  # our own page
    told = capsys.readouterr().out
    assert "https://example.org/copy" in told, "what is alike was found"


def test_public_names_are_pinned() -> None:
    assert set(asof.__all__) == PUBLIC
    for name in asof.__all__:
        assert getattr(asof, name).__doc__, name


def test_signatures_of_the_archive_are_pinned() -> None:
    for name, expected in ARCHIVE.items():
        method = getattr(asof.Archive, name)
        assert method.__doc__, name
        signature = inspect.signature(method)
        bare = [
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in signature.parameters.values()
        ]
        shown = str(inspect.Signature(bare))
        assert shown == expected, name
        assert signature.return_annotation is not inspect.Signature.empty, name


def test_what_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'archives'"):
        asof.archives  # noqa: B018
