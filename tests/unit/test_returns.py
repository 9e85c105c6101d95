"""How often pages were seen to change back is said wherever C is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asof.coherence.returns import Returns
from asof.report.quality_json import report_json
from asof.report.quality_page import page
from asof.report.quality_text import report_text
from support.made_up_report import made_up


@pytest.mark.parametrize(
    ("returns", "told"),
    [
        (Returns(), "Not known: no page was seen three times"),
        (Returns(4), "Not known: no page was seen to change twice; 4 of 30 pages were seen"),
        (Returns(9, 8, 2), "2 of 8 further changes of a page went back to an earlier content"),
    ],
)
def test_it_is_said_beside_c(returns: Returns, told: str) -> None:
    report = replace(made_up(30), returns=returns)
    assert told in " ".join(" ".join(report_text(report)).split())
    assert told.removeprefix("Not known: ") in page(report)
    coherence = report_json(report)["coherence"]
    assert coherence["returns"] == {  # type: ignore[index]
        "seen_thrice": returns.seen_thrice,
        "changed_again": returns.changed_again,
        "returned": returns.returned,
    }
