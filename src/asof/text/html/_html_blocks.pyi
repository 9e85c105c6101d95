from collections.abc import Callable, Mapping, Sequence

from asof.text.html.blocks import Block, Mark
from asof.text.html.tag_row import Token

def prepare(
    elements: Mapping[str, tuple[int, int, int, int]],
    words: Sequence[tuple[str, int, int]],
    /,
) -> None: ...
def tag_row(markup: str, most: int, /) -> list[Token]: ...
def read(
    markup: str,
    most: int,
    block: type[Block],
    mark: type[Mark],
    settle: Callable[[str, int], str],
    attributes: int,
    /,
) -> tuple[list[Block], list[Mark], int, bool] | None: ...
