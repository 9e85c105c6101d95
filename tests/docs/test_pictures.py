"""The pictures of the documentation, as `make screenshots` takes them."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted((DOCS / "pictures").iterdir())


def test_they_are_small_and_whole() -> None:
    assert [path.name for path in PICTURES] == ["captures.webp", "compare.webp", "site.webp"]
    for path in PICTURES:
        assert path.stat().st_size <= 80_000
        with Image.open(path) as picture:
            picture.load()
            assert (picture.format, picture.size) == ("WEBP", (1280, 800))
            assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 500  # not a blank page
