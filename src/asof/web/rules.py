"""Rules of covers as they are written: what is wrong with one, what it does, what it comes to."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from asof.caret import clipped
from asof.cover.ask import prepare
from asof.cover.question import Question, parse_at_least
from asof.errors import AsofError, UsageError
from asof.report.cover_words import estimate_lines
from asof.report.relation_words import explain
from asof.web.machine import json_answer
from asof.web.pages import Pages
from asof.web.questions import Questions, Waiting

# What a question is made of, by the names of its options on the terminal.
PARTS = ("relation", "where", "k", "terms", "text", "at-least", "prefer")
_AGAIN = 2  # seconds until a page that waits is asked for again
_USUAL = Question("")


@dataclass(frozen=True, slots=True)
class Checked:
    """A question as it was written: what it means, or what is wrong with it, as a terminal says."""

    question: Question | None = None
    explained: str = ""
    problem: str = ""


class Rules:
    """Its public methods are endpoints; they run in a thread. Nothing is run or changed."""

    def __init__(self, pages: Pages, questions: Questions) -> None:
        self._pages = pages
        self._questions = questions

    def page(self, request: Request) -> Response:
        """The desk where a rule is written, checked and estimated."""
        asked = asked_in(request.query_params)
        checked = self.checked(asked) if asked["relation"] else Checked()
        estimate: list[str] = []
        waits = problem = ""
        if checked.question is not None and request.query_params.get("estimate"):
            try:
                found = self._estimated(checked.question)
            except AsofError as error:
                problem = self._pages.inside(str(error))
            else:
                estimate = [] if isinstance(found, Waiting) else [*estimate_lines(found)]
                waits = found.said if isinstance(found, Waiting) else ""
        response = self._pages.live(
            "rule.html", 400 if checked.problem else 200, scripts=["rule.js"], asked=asked,
            checked=checked, estimate=estimate, waits=waits, no_estimate=problem,
            usual=_USUAL, command=checked.question and command(checked.question),
        )  # fmt: skip
        if waits:
            response.headers["refresh"] = str(_AGAIN)
        return response

    def check(self, request: Request) -> Response:
        """What is wrong with a question, if anything is; else as `asof cover --explain --json`."""
        asked = asked_in(request.query_params)
        checked, question = self.checked(asked), None
        if (question := checked.question) is None:
            told = {"relation": asked["relation"], "where": asked["where"] or None}
            return json_answer({**told, "explained": None, "problem": checked.problem})
        told = {"relation": question.relation, "where": question.where}
        return json_answer({**told, "explained": checked.explained, "problem": None})

    def estimate(self, request: Request) -> Response:
        """As `asof cover --estimate --json` prints it."""
        checked = self.checked(asked_in(request.query_params))
        if checked.question is None:
            raise UsageError(checked.problem)
        found = self._estimated(checked.question)
        if isinstance(found, Waiting):
            raise found.refusal()
        return json_answer(found)

    def checked(self, asked: Mapping[str, str]) -> Checked:
        """A question, if it can be asked of this archive."""
        try:
            prepared = prepare(self._pages.archive.folder.root, question_of(asked))
            told = explain(prepared.relation, prepared.where)
        except UsageError as error:
            return Checked(problem=self._pages.inside(str(error)))
        return Checked(prepared.question, told)

    def _estimated(self, question: Question) -> dict[str, Any] | Waiting:
        words = ["cover", "--estimate", "--json", *words_of(question)]
        found = self._questions.ask(words, self._pages.listing.committed())
        if isinstance(found, Waiting):
            return found
        told: dict[str, Any] = json.loads(found.text())
        return told


def asked_in(fields: Mapping[str, str]) -> dict[str, str]:
    """The parts of a question as a form has them; lines end as they do in a file."""
    return {name: fields.get(name, "").replace("\r\n", "\n").strip() for name in PARTS}


def question_of(asked: Mapping[str, str]) -> Question:
    """What is asked; of documents of the archive, never of a file that a reader names."""
    k = asked["k"] or str(_USUAL.k)
    if not (k.isascii() and k.isdigit() and len(k) <= 5 and 1 <= int(k) <= 10_000):
        raise UsageError(f"-k {clipped(k)} is no number of terms.", hint="Write 1 to 10,000.")
    return Question(
        asked["relation"],
        where=asked["where"] or None,
        k=int(k),
        text=_one_of(asked, "text", ("main", "full")),
        at_least=parse_at_least(asked["at-least"]) if asked["at-least"] else None,
        prefer=asked["prefer"] or None,
        terms=_one_of(asked, "terms", ("words", "characters")),
    )


def fields_of(question: Question) -> dict[str, str]:
    """A question as a form has it: the other way round."""
    told = {name: getattr(question, name) for name in ("relation", "where", "terms", "text", "k")}
    told |= {"prefer": question.prefer}
    if question.at_least is not None:
        told["at-least"] = "{} per {}".format(*question.at_least)
    usual = {name: getattr(_USUAL, name, None) for name in told}
    return {name: str(value) for name, value in told.items() if value and value != usual[name]}


def _one_of(
    asked: Mapping[str, str], name: Literal["text", "terms"], known: tuple[str, str]
) -> str:
    if (value := asked[name] or known[0]) not in known:
        hint = f"There are {known[0]} and {known[1]}."
        raise UsageError(f"--{name} {clipped(value)} is not known.", hint=hint)
    return value


def words_of(question: Question) -> Iterator[str]:
    """A question as the terminal is told; no value can be taken for an option."""
    yield from options_of(question)
    yield "--"
    yield question.relation


def options_of(question: Question) -> Iterator[str]:
    """The options that are not the usual ones."""
    for name in ("k", "terms", "text", "where", "prefer"):
        if (value := getattr(question, name)) != getattr(_USUAL, name):
            yield f"-k{value}" if name == "k" else f"--{name}={value}"
    if question.at_least is not None:
        yield "--at-least={} per {}".format(*question.at_least)


def command(question: Question) -> str:
    """What runs it on a terminal."""
    return shlex.join(["asof", "cover", question.relation, *options_of(question), "--save", "NAME"])
