"""Plans to compare those of the planner with: given orders, and revisits after forced visits."""

from __future__ import annotations

import numpy as np

from asof.coherence.optimal import revisit_order
from asof.coherence.plan import Plan, expected_c, slots
from asof.coherence.survival import Floats, Pages, Survival
from asof.coherence.verdict import Mode


def revisits_of(plan: Plan) -> Pages:
    """Inducible: the pages in the order of the second phase."""
    again = plan.order[(plan.lengths > 0) & np.isfinite(plan.lengths)]
    return again[::-1] if plan.name == "fifo" else again


def lifo_of(survival: Survival, order: Pages, lengths: Floats) -> Plan:
    """A given order, by ascending slot length, as a plan: visits reversed, revisits in order."""
    return Plan("lifo", order, lengths, expected_c(survival, order, lengths))


def fifo_of(survival: Survival, order: Pages, step: float = 1.0) -> Plan:
    """Visits in reversed `order`, revisits likewise: all but `order[0]`, the joker, last long."""
    lengths = np.full(len(order), len(order) * step)
    lengths[:1] = 0.0
    return Plan("fifo", order, lengths, expected_c(survival, order, lengths))


def forced_visits(
    survival: Survival, before: Floats, step: float = 1.0, *, revisits: int | None = None
) -> Plan:
    """The best revisits after visits in an order that discovery forced (see `revisit_order`).

    `visits` of this plan means nothing, as they are over; its lengths need not ascend.
    """
    order = revisit_order(survival, before, step, revisits)
    jokers = int((before == 0).any())
    lengths = before[order] + slots(len(order), Mode.MEASURABLE, step) + step * (1 - jokers)
    if revisits is not None:
        lengths[revisits + int(len(lengths) > 0 and lengths[0] == 0) :] = np.inf
    return Plan("revisit", order, lengths, expected_c(survival, order, lengths))
