from collections.abc import Callable, Mapping, Sequence

from asof.text.html.blocks import Block, Mark

def prepare(
    elements: Mapping[str, tuple[int, int, int, int]],
    words: Sequence[tuple[str, int, int]],
    roles: Sequence[tuple[str, int]],
    /,
) -> None: ...
def read(
    markup: str,
    most: int,
    block: type[Block],
    mark: type[Mark],
    settle: Callable[[str, int], str],
    attributes: tuple[int, Callable[[str], int]],
    /,
) -> tuple[list[Block], list[Mark], int, bool] | None: ...
