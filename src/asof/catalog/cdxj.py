"""CDXJ: the sorted index of lines that replay tools look captures up in.

What `cdxj-indexer --sort` writes for the same WARC files, but for the status of a 304: so an index
by asof and one by other tools can be merged and compared.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from asof.catalog.referents import is_304
from asof.catalog.rows import APART
from asof.clock import stamp
from asof.model import Capture

_LINE_ENDS = 4
_METHOD = re.compile(r"[?&]__wb_method=([^&]+)")


def cdxj_lines(captures: Iterable[Capture]) -> Iterator[str]:
    """A line with its line end for each capture. They must come by key and time, as listed.

    Lines of one key and second sort by their text, as in an index that knows no finer dates.
    """
    pairs = (
        (f"{capture.surt.removeprefix(APART)} {stamp(capture.at)}", capture) for capture in captures
    )
    for key, together in groupby(pairs, key=lambda pair: pair[0]):
        yield from sorted(f"{key} {json.dumps(entry(each))}\n" for _, each in together)


def entry(capture: Capture) -> dict[str, str]:
    """What an index says of a capture, beside its key and stamp; what is not known is left out."""
    where = capture.where
    # In a file that is not compressed, cdxj-indexer does not count the line ends after a record.
    length = where.length - _LINE_ENDS if where.file.endswith(".warc") else where.length
    is_revisit = capture.kind == "revisit"
    # The status of a 304 is not that of what it stands for: replay tools would show an empty page.
    status = None if is_revisit and is_304(capture) else capture.status
    method = _METHOD.search(capture.surt) if capture.surt.startswith(APART) else None
    told = {
        "url": capture.url,
        "mime": "warc/revisit" if is_revisit else capture.media_type,
        "status": None if status is None else str(status),
        "digest": capture.digest,
        "length": str(length),
        "offset": str(where.offset),
        "filename": where.file,
        "method": method[1].upper() if method is not None else None,
    }
    return {name: value for name, value in told.items() if value is not None}
