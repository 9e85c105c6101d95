"""How far a content is proven, confirmed and claimed, in words."""

from collections.abc import Callable

from asof.clock import Instant
from asof.model import Validity


def held(validity: Validity, when: Callable[[Instant], str]) -> str:
    """`proven 1 Feb to 3 Feb, confirmed until 5 Feb`; `seen 1 Feb` of what was seen once."""
    proven, confirmed = validity.proven_until, validity.confirmed_until
    said = [f"seen {when(validity.since)}"]
    if proven > validity.since:
        said = [f"proven {when(validity.since)} to {when(proven)}"]
    if confirmed > proven:
        said.append(f"confirmed until {when(confirmed)}")
    if validity.until > confirmed:
        said.append(f"claimed until {when(validity.until)}")
    return ", ".join(said)
