"""SIGKILL at 140 more random moments, of a longer crawl than that of test_sigkill.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import kills


@pytest.mark.long
def test_140_kills(tmp_path: Path) -> None:
    kills.survives(140, tmp_path, seed=1_400_140)
