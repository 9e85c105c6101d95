"""The compiled twin of some Python; see _native.c."""

from typing import TypeVar

_Item = TypeVar("_Item", bound=tuple[object, ...])
_Link = TypeVar("_Link", bound=tuple[object, ...])

def response(
    content: bytes | bytearray, /
) -> (
    tuple[str, str, str, int, str | None, str, int, str | None, str | None, str | None, str | None]
    | tuple[()]
    | None
): ...
def digests(content: bytes | bytearray, /) -> tuple[str, str, int, int, str, str] | None: ...
def find_member(data: bytes, start: int, /) -> int: ...
def base32(digest: bytes, /) -> str: ...
def unknown(
    items: tuple[_Item, ...], server: str, folder: str, known: dict[str, None], /
) -> list[tuple[str | None, _Item]]: ...
def plain_head(
    data: bytes, /
) -> tuple[int, int, str, tuple[tuple[str, str], ...], int, int] | None: ...
def tags(
    view: str, most: int, link: _Link, /
) -> list[_Link | str | tuple[str, str, bool, str]]: ...
