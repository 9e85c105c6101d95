"""What stands between us and a terminal: whatever we print, nothing in it acts.

URLs, titles, file names, robots lines and archived bytes are words of strangers. On their way to a
terminal, and in what is written for people wherever that leads, all characters that would act are
shown as pictures of themselves. Into a file or a pipe bytes stay exact, and so does what goes to
`data`. Colours and bars are rich's, which writes past this: what it shows of strangers goes through
`shown_safely`.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO, cast

from asof.report.terminal import without_controls

if TYPE_CHECKING:
    from rich.console import (
        Console,
        ConsoleOptions,
        ConsoleRenderable,
        RenderableType,
        RenderHook,
        RenderResult,
    )


class Screen(io.TextIOBase):
    """A stream on which nothing acts. `painted` is the stream itself, for what we colour; bytes
    are `exact`, or shown as text is.
    """

    def __init__(self, painted: TextIO, *, exact: bool = False) -> None:
        self.painted = painted
        self.buffer = painted.buffer if exact else _Bytes(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a property in all but the stubs
        return self.painted.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.painted.errors

    def write(self, text: str) -> int:
        self.painted.write(without_controls(text))
        return len(text)

    def flush(self) -> None:
        self.painted.flush()

    def isatty(self) -> bool:
        return self.painted.isatty()

    def fileno(self) -> int:
        return self.painted.fileno()

    def writable(self) -> bool:
        return True


class _Bytes(io.BufferedIOBase):
    """Bytes for a screen, read as UTF-8."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: bytes) -> int:  # type: ignore[override]  # nobody gives arrays
        self._screen.write(self._decoder.decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._screen.flush()

    def writable(self) -> bool:
        return True


def guard() -> None:
    """Put a screen before stdout and stderr."""
    out = painted(sys.stdout)
    sys.stdout = cast("TextIO", Screen(out, exact=not out.isatty()))
    sys.stderr = cast("TextIO", Screen(painted(sys.stderr)))


def painted(stream: TextIO) -> TextIO:
    """Where to write what is safe already and has colours."""
    found: TextIO = getattr(stream, "painted", stream)
    return found


def data() -> TextIO:
    """stdout for what programs read: it acts on no terminal, and is exact elsewhere."""
    return sys.stdout if sys.stdout.isatty() else painted(sys.stdout)


def has_colours(stream: TextIO) -> bool:
    """Whether it is a terminal whose reader takes colours (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def console(*, err: bool = False) -> Console:
    """For tables and bars: as wide as the terminal; in a file, wide enough for everything."""
    # Here, for loading rich takes longer than most commands.
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    made = Console(
        file=painted(stream), width=None if stream.isatty() else 200,
        markup=False, emoji=False, highlight=False,
    )  # fmt: skip
    made.push_render_hook(cast("RenderHook", _Hook()))
    return made


class _Hook:
    """Of all that a console prints; what is drawn again and again takes `shown_safely` itself."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [shown_safely(each) for each in renderables]


def shown_safely(drawn: RenderableType) -> _Shown:
    return _Shown(drawn)


class _Shown:
    def __init__(self, drawn: RenderableType) -> None:
        self._drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._drawn, options):
            text = segment.text if segment.control else without_controls(segment.text)
            yield segment._replace(text=text)
