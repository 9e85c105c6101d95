"""Change probabilities from a file, one a line; whatever else is there is refused with its line."""

from array import array
from typing import IO

import numpy as np

from asof.coherence.survival import Floats
from asof.errors import InputError

_MOST_RATES = 5_000_000
_MOST_BYTES = 128 << 20  # of so many lines, with digits to spare
RATES_HINT = "Write one number from 0 to 1 in each line."


def rates_in(file: IO[bytes], name: str) -> Floats:
    """The change probabilities in a file of that name."""
    data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name} is larger than {_MOST_BYTES >> 20} MB.", hint=RATES_HINT)
    data = data.removeprefix(b"\xef\xbb\xbf").rstrip()  # a mark of some editors
    if data.count(b"\n") >= _MOST_RATES:
        said = f"{name} has more than {_MOST_RATES:,} lines."
        raise InputError(said, hint="Take a sample of them.")
    if not data:
        raise InputError(f"{name} is empty.", hint=RATES_HINT)
    lines = data.split(b"\n")
    rates = array("d")
    try:
        rates.extend(map(_probability, lines))
    except ValueError:  # those before it are in already
        shown = lines[len(rates)].strip()[:40].decode("ascii", "backslashreplace")
        said = f"{shown!r} is no probability" if shown else "there is no number"
        raise InputError(f"{name}, line {len(rates) + 1:,}: {said}.", hint=RATES_HINT) from None
    return np.frombuffer(rates)


def _probability(line: bytes) -> float:
    rate = float(line)
    if not 0 <= rate <= 1 or b"_" in line:  # 1_000 is a number to Python alone
        raise ValueError
    return abs(rate)  # a negative zero is a zero
