"""HOW a URL is asked for: HTTP on the wire, byte for byte.

`wire` (with `head`, `chunked`, `anomaly`) is pure: bytes in, events out. `entity` undoes codings.
`http` is the client over real sockets; the small files beside it hold one subject each.
"""
