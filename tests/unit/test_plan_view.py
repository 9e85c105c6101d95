"""How a plan is shown to people."""

from __future__ import annotations

import numpy as np
import pytest

from asof.coherence.plan import Plan
from asof.coherence.survival import Poisson
from asof.coherence.verdict import Mode
from asof.crawl.plan import HostPlan, Itinerary
from asof.model import CoherencePlan, Target
from asof.report.plan_text import plan_lines


@pytest.mark.parametrize(
    ("mode", "told"),
    [(Mode.INDUCIBLE, "around the turning point"), (Mode.MEASURABLE, "from the first download on")],
)
def test_slots_are_said_to_begin_where_they_do(mode: Mode, told: str) -> None:
    plan = Plan("optimal", np.zeros(1, np.intp), np.zeros(1), 1.0)
    host = HostPlan("a.example", (Target("http://a.example/"),), Poisson(np.ones(1)), 1.0, plan)
    lines = plan_lines(Itinerary(CoherencePlan(mode, "optimal", 1.0, 1), (host,), {"optimal": 1.0}))
    assert f"  {told}, the shortest slots first" in list(lines)
