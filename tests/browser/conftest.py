"""The browser that the tests of a file share, if the file has none of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.chromium import Chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium.fresh() as running:
        yield running
