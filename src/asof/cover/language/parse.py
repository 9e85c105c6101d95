"""The parser of relations and filters: operators by precedence, on a stack of its own.

    relation    [Cov(d1,d2) =] condition [;]
    condition   comparison | not condition | condition and condition | condition or condition
    comparison  value (= | != | < | > | <= | >=) value | text contains "words"   (filters only)
    value       number | 7d | 2010-01-31 | "text" | name(d1) | C(d1,d2) | - value
                value (+ | - | * | /) value
    (...) around a condition or a value

No recursion: however deep the parentheses of a hostile text, it ends with a sentence about them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from asof.caret import Misread, Span, clipped, pointing_into
from asof.cover.language import syntax
from asof.cover.language.calls import call
from asof.cover.language.kinds import checked_condition, joined, negative
from asof.cover.language.lexer import Word, WordKind, terms, words

# The higher binds the tighter. `not` and the minus before a value have one operand.
_RANK = {
    "or": 1, "and": 2, "not": 3, "=": 4, "!=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4,
    "+": 5, "-": 5, "*": 6, "/": 6, "negative": 7,
}  # fmt: skip
_COMPARISONS = 4
_CONSTANTS: dict[WordKind, Callable[[Any, Span], syntax.Constant]] = {
    "number": syntax.Number, "duration": syntax.Duration, "date": syntax.Moment,
    "text": syntax.TextValue,
}  # fmt: skip


def parse_condition(text: str, *, one: bool = False) -> syntax.Condition:
    """The condition a text says, over d1 and d2 or over one document; kinds as far as known."""
    with pointing_into(text):
        condition = _Reader(text, one).read()
    return checked_condition(condition, text, None)


def parse_filter(text: str) -> syntax.Filter:
    """Which documents are meant: the language of relations over one document, d.

    Raises UsageError, pointing at the place.
    """
    return syntax.Filter(parse_condition(text, one=True), text)


@dataclass(frozen=True, slots=True)
class _Operand:
    node: syntax.Node
    height: int


@dataclass(slots=True)
class _Reader:
    text: str
    one: bool
    words: list[Word] = field(default_factory=list)
    at: int = 0
    operands: list[_Operand] = field(default_factory=list)
    operators: list[Word] = field(default_factory=list)
    open: int = 0

    @property
    def what(self) -> str:
        return "filter" if self.one else "relation"

    def read(self) -> syntax.Condition:
        self.words = words(self.text, self.what)
        if self.words[0].kind == "end":
            example = '''hostname(d) = "example.org"''' if self.one else "C(d1,d2) >= 0.7"
            raise Misread((0, 0), f"the {self.what} is empty", f"Write {example}.")
        self._skip_definition()
        self._operand()
        while self._operator():
            self._operand()
        while self.operators:
            last = self.operators[-1]
            if last.text == "(":
                raise Misread(last.span, "this parenthesis is not closed", "Write ) where it ends.")
            self._reduce()
        return self._as_condition(self.operands.pop().node, f"a {self.what} is a condition")

    def _skip_definition(self) -> None:
        """`Cov(di, dj) = ... ;`, as Paudel 2013 writes relations, says no more than the rest."""
        if self.words[0].text == "Cov" and not self.one:
            texts = [word.text for word in self.words[1:7]]
            if texts[:1] + texts[2:3] + texts[4:] != ["(", ",", ")", "="]:
                raise Misread(self.words[0].span, "expected Cov(d1,d2) = here")
            head = [Word("name", "C", self.words[0].span, "C"), *self.words[1:]]
            measure, end = call(head, 0, one=False)
            if isinstance(measure, syntax.Measure) and measure.first == 2:
                raise Misread(measure.span, "expected Cov(d1,d2): d2 covers d1")
            self.at = end + 1
        last = self.words[-2]
        if last.text == ";":
            self.words[-2:] = [Word("end", "", last.span)]

    def _next(self) -> Word:
        return self.words[self.at]

    def _operand(self) -> None:
        """Read up to the end of one operand, with all that may stand before it."""
        while (sign := _keyword(word := self._next())) in ("not", "-", "+", "("):
            self._prefix(word, sign)
        if word.kind == "name" and sign not in ("and", "or", "contains"):
            node = self._name(word)
        else:
            node = self._constant(word)
            self.at += 1
        self.operands.append(_Operand(node, 1))

    def _prefix(self, word: Word, sign: str) -> None:
        self.at += 1
        if sign == "+":
            raise Misread(word.span, "expected a value or a condition, found +", "Leave the + out.")
        if sign == "(":
            self.open += 1
        if len(self.operators) >= 8 * syntax.DEPTH or self.open > syntax.DEPTH:
            raise self._too_deep(word.span)
        name = "negative" if sign == "-" else sign
        self.operators.append(Word("sign", name, word.span))

    def _constant(self, word: Word) -> syntax.Node:
        if word.kind in _CONSTANTS:
            return _CONSTANTS[word.kind](word.value, word.span)
        raise Misread(
            word.span,
            f"expected a value or a condition, found {word.shown}",
            'Write for instance timestamp(d1), 0.7, 7d, 2010-01-31 or "text".',
        )

    def _name(self, word: Word) -> syntax.Node:
        node: syntax.Node = syntax.AttributeOf(word.text, 1, word.span)
        after = self.words[self.at + 1]
        if self.one and word.text == "text" and _keyword(after) == "contains":
            self.at += 1
        else:
            node, self.at = call(self.words, self.at, one=self.one)
        text = isinstance(node, syntax.AttributeOf) and node.name == "text"
        if text and _keyword(self._next()) == "contains":
            self.at += 1
            return self._contains(word)
        return node

    def _contains(self, begin: Word) -> syntax.Contains:
        if not self.one:
            raise Misread(
                begin.span, "only a filter can ask what a text contains", "Use it in --where."
            )
        phrase = self._next()
        if phrase.kind != "text" or not terms(str(phrase.value)):
            raise Misread(
                phrase.span,
                "expected a word in quotes after contains",
                'Write text contains "expense".',
            )
        self.at += 1
        return syntax.Contains(str(phrase.value), (begin.span[0], phrase.span[1]))

    def _operator(self) -> bool:
        """Read what stands after an operand: True if another operand must follow."""
        while (sign := _keyword(word := self._next())) == ")":
            self._close(word)
        if word.kind == "end":
            return False
        if sign not in _RANK or sign == "not":
            hint = "Join conditions with and, or; values with + - * / and = != < > <= >=."
            hint = "Join conditions with and." if word.text == "," else hint
            raise Misread(word.span, f"expected an operator, found {clipped(word.text)}", hint)
        rank = _RANK[sign]
        while self.operators and _RANK.get(self.operators[-1].text, 0) >= rank:
            if rank == _COMPARISONS == _RANK[self.operators[-1].text]:
                raise Misread(
                    word.span,
                    "expected and or or, found a second comparison",
                    "Write 0.5 <= x <= 0.9 as 0.5 <= x and x <= 0.9.",
                )
            self._reduce()
        self.operators.append(Word("sign", sign, word.span))
        self.at += 1
        return True

    def _close(self, word: Word) -> None:
        while self.operators and self.operators[-1].text != "(":
            self._reduce()
        if not self.operators:
            raise Misread(word.span, "this parenthesis was not opened", "Leave it out.")
        self.operators.pop()
        self.open -= 1
        self.at += 1

    def _reduce(self) -> None:
        operator = self.operators.pop()
        right = self.operands.pop()
        if operator.text in ("not", "negative"):  # of one operand
            left, start = right, operator.span[0]
        else:
            left = self.operands.pop()
            start = left.node.span[0]
        span = (start, right.node.span[1])
        height = max(left.height, right.height) + 1
        if operator.text == "not":
            part = self._as_condition(right.node, "not stands before a condition")
            node: syntax.Node = syntax.Not(part, span)
        elif operator.text == "negative":
            node = negative(self._as_value(right.node, "-"), span)
        else:
            node = self._joined(left.node, operator.text, right.node, span)
            # A chain of one operator stays flat: only what is on its right makes it higher.
            if type(node) is type(left.node):
                height = max(left.height, right.height + 1)
        if height > syntax.DEPTH:
            raise self._too_deep(span)
        self.operands.append(_Operand(node, height))

    def _joined(
        self, left: syntax.Node, operator: str, right: syntax.Node, span: Span
    ) -> syntax.Node:
        if operator in ("and", "or"):
            why = f"{operator} joins conditions"
            every = syntax.And if operator == "and" else syntax.Or
            first = self._as_condition(left, why)
            parts = first.parts if isinstance(first, every) else (first,)
            return every((*parts, self._as_condition(right, why)), span)
        if _RANK[operator] == _COMPARISONS:
            return self._compared(left, cast(syntax.Operator, operator), right, span)
        first_value, second = self._as_value(left, operator), self._as_value(right, operator)
        whole = syntax.Sum if operator in "+-" else syntax.Product
        return joined(whole, first_value, 1 if operator in "+*" else -1, second, span)

    def _compared(
        self, left: syntax.Node, operator: syntax.Operator, right: syntax.Node, span: Span
    ) -> syntax.Condition:
        if isinstance(right, syntax.Measure) and not isinstance(left, syntax.Measure):
            left, operator, right = right, syntax.FLIPPED[operator], left
        if isinstance(left, syntax.Measure):
            return self._threshold(left, operator, right, span)
        first, second = self._as_value(left, operator), self._as_value(right, operator)
        if not syntax.attributes(first) and not syntax.attributes(second):
            raise Misread(
                span,
                "two constants are compared, which says nothing of documents",
                "Name an attribute, such as timestamp(d1).",
            )
        return syntax.CompareTest(first, operator, second, span)

    def _threshold(
        self, measure: syntax.Measure, operator: syntax.Operator, value: syntax.Node, span: Span
    ) -> syntax.ContentTest:
        if not isinstance(value, syntax.Number):
            raise Misread(
                value.span,
                f"expected a number to compare {measure.name} with",
                "Write for instance C(d1,d2) >= 0.7.",
            )
        if not 0 < value.value <= 1 or (value.value == 1 and operator == ">"):
            found = "and more than 1 is never reached" if value.value == 1 else "not this number"
            raise Misread(
                value.span,
                f"expected a threshold above 0 and up to 1, {found}",
                "Write for instance 0.7 for 70 %.",
            )
        return syntax.ContentTest(measure, operator, value.value, span)

    def _as_condition(self, node: syntax.Node, why: str) -> syntax.Condition:
        if isinstance(node, syntax.Condition):
            return node
        found = "a measure" if isinstance(node, syntax.Measure) else "a value"
        example = "C(d1,d2) >= 0.7" if isinstance(node, syntax.Measure) else 'name(d1) = "text"'
        raise Misread(node.span, f"{why}, found {found}", f"Compare it: {example}.")

    def _as_value(self, node: syntax.Node, operator: str) -> syntax.Value:
        if isinstance(node, syntax.Value):
            return node
        if isinstance(node, syntax.Measure):
            raise Misread(
                node.span,
                f"{node.name} cannot be calculated with",
                f"Compare it with a number: {node.name}(d1,d2) >= 0.7.",
            )
        raise Misread(
            node.span,
            f"expected a value beside {operator}, found a condition",
            "Join conditions with and, or, not.",
        )

    def _too_deep(self, span: Span) -> Misread:
        return Misread(
            span,
            f"the {self.what} is nested deeper than {syntax.DEPTH}",
            "Leave out parentheses that are not needed.",
        )


def _keyword(word: Word) -> str:
    """A sign, or a name that is one of the language's own words in any case."""
    if word.kind == "sign":
        return word.text
    lower = word.text.lower()
    return lower if word.kind == "name" and lower in ("and", "or", "not", "contains") else ""
