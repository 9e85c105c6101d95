"""The compiled reader of plainly written records; see _plain.c."""

def response(
    content: bytes | bytearray, /
) -> (
    tuple[int, str, str, int, str | None, str, int, str | None, int | None, str | None]
    | tuple[()]
    | None
): ...
def digests(content: bytes | bytearray, /) -> tuple[bytes, int, int, bytes, bytes] | None: ...
def find_member(data: bytes, start: int, /) -> int: ...
