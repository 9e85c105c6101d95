"""Documents that declare entities of their own, which is how a few lines grow to gigabytes."""

from __future__ import annotations

from asof.text.convert.found import Refused

# In UTF-8 and its likes, and in both orders of UTF-16. Plain searches: a pattern for all of them
# takes a hundred times as long over a part that is full of zeros.
_DECLARATIONS = tuple("<!ENTITY".encode(codec) for codec in ("utf-8", "utf-16-le", "utf-16-be"))
LONGEST_DECLARATION = 16


def refuse_entities(data: bytes) -> None:
    """Stop at a declaration of an entity; no office format has any use for them."""
    if any(declaration in data for declaration in _DECLARATIONS):
        raise Refused("declares entities of its own, which are not read")
