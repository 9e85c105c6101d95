"""How far a content is proven, confirmed and claimed, in words."""

from collections.abc import Callable

from asof.clock import Instant
from asof.model import Validity


def held(validity: Validity, when: Callable[..., str], *, briefly: bool = False) -> str:
    """`proven 1 Feb to 3 Feb, confirmed until 5 Feb`; `seen 1 Feb` of what was seen once.

    Briefly, `when` is told beside which moment the later ones stand.
    """
    proven, confirmed = validity.proven_until, validity.confirmed_until
    beside = (validity.since,) if briefly else ()
    said = [f"seen {when(validity.since)}"]
    if proven > validity.since:
        said = [f"proven {when(validity.since)} to {when(proven, *beside)}"]
    if confirmed > proven:
        said.append(f"confirmed until {when(confirmed, *beside)}")
    if validity.until > confirmed:
        said.append(f"claimed until {when(validity.until, *beside)}")
    return ", ".join(said)


def held_and_said(validity: Validity, when: Callable[[Instant], str]) -> str:
    """The same, with what the server says of the time before."""
    since = validity.claimed_since
    claim = "" if since is None else f"; the server says since {when(since)}"
    return held(validity, when) + claim
