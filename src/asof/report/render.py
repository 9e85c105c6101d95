"""The one environment of templates, and the one style, of all pages that asof writes or serves.

What strangers wrote cannot act on any of them: whatever a template puts in is escaped, stands on
one line, and has no signs that would act (see `asof.report.terminal`). Jinja2 takes longer to load
than most commands: this module is imported only where a page is made.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import cast

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from asof.clock import iso
from asof.report import words

_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)


def environment(package: str = "", **names: object) -> Environment:
    """The templates of the reports and, on top of them, of another package; `names` are global."""
    packages = ["asof.report", package] if package else ["asof.report"]
    env = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in packages]),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: tuple[Callable[..., object], ...] = (
        words.number, words.bounded, words.percent, words.human_bytes, words.day, words.clock,
        words.moment, words.stretch, words.span, words.readable, iso,
    )  # fmt: skip
    # What is sent back as it came, as in a form, is escaped and nothing else.
    env.filters |= {each.__name__: each for each in filters} | {"as_written": escape}
    env.globals |= {"style": style(), **names}
    return env


_reports = cache(environment)


def render(template: str, **values: object) -> str:
    """A report as one file that needs nothing else."""
    return _reports().get_template(template).render(values)


@cache
def macros(template: str) -> Mapping[str, Callable[..., Markup]]:
    """The parts that a template defines, to be rendered one by one."""
    return cast(
        "Mapping[str, Callable[..., Markup]]", vars(_reports().get_template(template).module)
    )


@cache
def style() -> Markup:
    """The style sheet, to be put into a file that is sent around on its own."""
    text = files("asof.report").joinpath("static/asof.css").read_text(encoding="utf-8")
    return Markup(_COMMENT.sub("", text))


def _harmless(value: object) -> object:
    return words.plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value
