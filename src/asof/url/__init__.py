"""URLs: what a reference means, which URLs are one target, and where a URL sorts in an index.

`whatwg` resolves and canonicalises as browsers do; `sortkey` makes the SURT keys of CDX indexes;
`prefix` says which part of the web, or of an index, is meant; `domain` whose a host is.
"""

from asof.url.domain import is_public_suffix, registered_domain
from asof.url.prefix import LAST, key_ranges
from asof.url.sortkey import surt
from asof.url.whatwg import (
    canonical,
    fault,
    host_of,
    is_web,
    one_address,
    origin,
    resolve,
    typed,
    unknown,
)

__all__ = [
    "LAST", "canonical", "fault", "host_of", "is_public_suffix", "is_web", "key_ranges",
    "one_address", "origin", "registered_domain", "resolve", "surt", "typed", "unknown",
]  # fmt: skip
