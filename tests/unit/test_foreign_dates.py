"""Dates in records as tools have written them."""

import pytest

from asof.catalog.dates import warc_date
from asof.clock import iso


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2008-10-294T05:21:46-0700", "2008-10-20T12:21:46"),  # ClueWeb09
        ("2009-03-65T08:43:19-0800", "2009-03-06T16:43:19"),
        ("2009-01-05T00:00:00-0800", "2009-01-05T08:00:00"),
        ("2021-03-04T05:06:07", "2021-03-04T05:06:07"),
        ("2021-03-04 05:06:07", "2021-03-04T05:06:07"),
        ("2021-03-04 05:06:07 UTC", "2021-03-04T05:06:07"),
        ("2021/03/04 05:06:07", "2021-03-04T05:06:07"),
        ("2021-03-04T05:06:07z", "2021-03-04T05:06:07"),
        ("2021-03-04T05:06:07,25Z", "2021-03-04T05:06:07.25"),
        ("2021-03-04T05:06:07.123456789+02:00", "2021-03-04T03:06:07.123456"),
        ("Thu, 04 Mar 2021 05:06:07 GMT", "2021-03-04T05:06:07"),
        ("20210304050607", "2021-03-04T05:06:07"),
        ("20210304050607123", "2021-03-04T05:06:07"),
    ],
)
def test_what_can_be_read_is(text: str, meant: str) -> None:
    found = warc_date(text)
    assert found is not None
    assert iso(found).startswith(meant)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2021-13-45T99:99:99Z", "2009-04-65T08:43:19Z", "2009-03-400T08:43:19Z",
     "2021-02-30T00:00:00Z", "2021-11-0999", "0000-01-32T00:00:00Z"],
)  # fmt: skip
def test_what_cannot_is_not_made_up(text: str) -> None:
    assert warc_date(text) is None
