"""JSON that all readers take alike. Apart, for it is of use without the library for keys."""


def members_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object in which every name occurs once: of two, readers would choose differently."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found
