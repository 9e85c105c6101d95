"""The crash tests use the rig of the acceptance tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "acceptance"))
pytest.register_assert_rewrite("rig")
