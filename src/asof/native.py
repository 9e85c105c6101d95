"""The compiled part of asof, where there was a C compiler when it was installed; else None (ADR 7).

Whoever uses it has the same in Python, slower, and a property test that compares the two.
"""

try:
    import asof._native as _native
except ImportError:
    _native = None  # type: ignore[assignment]

compiled = _native

# End of the head, status, reason, headers, length of the body, whether the connection stays open.
PlainHead = tuple[int, int, str, tuple[tuple[str, str], ...], int, int]
