"""A question of a collection: its name, the values that it may be answered with, its epsilon and its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from cloister.collect.protocols import AUTO, PROTOCOLS, AnswerProtocol, protocol_of
from cloister.collect.protocols.channel import MOST_VALUES
from cloister.collect.protocols.randomized_response import NO_ANSWER
from cloister.errors import SchemaError, UsageError
from cloister.parameters import CONTROLS, check_text, unknown_choice
from cloister.privacy.amounts import check_digits, exact
from cloister.schema import Category
from cloister.schema.numerals import amount_text

__all__ = ["Question", "read_question"]

MOST_SHOWN = 20  # values in a message
LARGEST_WHOLE = 10**100  # that an answer may be
SMALLEST, LARGEST = Fraction(1, 1000), Fraction(100)  # epsilon of a question
RESERVED = ("count", "share", "standard_error", "size")  # columns of what is estimated
ADDED_UP = "*"  # stands for a question that is added up
KEYS = ("text", "domain", "other", "missing", "epsilon", "protocol")
MISSING_EPSILON = "which epsilon does an answer cost? Give epsilon for the collection, or for each question."


@dataclass(frozen=True, slots=True)
class Question:
    """A question, as everybody may read it.

    Attributes
    ----------
    name : how answers to it are called
    category : the values that it may be answered with; one that lists "" takes no answer for a value, one with `other` takes
        whatever is not listed for "(other)"
    epsilon : what an answer costs
    protocol : "randomized-response" or "unary"
    text : what people are asked
    """

    name: str
    category: Category
    epsilon: Fraction
    protocol: str = "randomized-response"
    text: str = ""

    def __post_init__(self) -> None:
        check_shown(self.name, "the name of a question")
        if not self.name.strip() or self.name != self.name.strip():
            raise SchemaError("a question needs a name, without blanks around it.")
        where = f'question "{self.name}"'
        check_shown(self.text, f"{where}: text")
        if self.name.lower() in RESERVED:
            raise SchemaError(f"{where}: tables of estimates have a column of that name. Call it otherwise.")
        values = self.values
        if ADDED_UP in values:
            raise SchemaError(f'{where}: "{ADDED_UP}" stands for a question that is added up. Call the value otherwise.')
        for value in values:
            check_shown(value, f"{where}: a value of the domain")
        if not 2 <= len(values) <= MOST_VALUES:
            raise SchemaError(
                f"{where}: between 2 and {MOST_VALUES:,} values to answer with are needed. List them as its domain."
            )
        if not SMALLEST <= self.epsilon <= LARGEST:
            raise UsageError(f"{where}: epsilon must lie between {amount_text(SMALLEST)} and {LARGEST}.")
        check_digits(self.epsilon, "epsilon")
        object.__setattr__(self, "protocol", self._settled())

    def _settled(self) -> str:
        """The protocol's name; "auto" becomes the one that it picks."""
        if self.protocol not in (AUTO, *PROTOCOLS):
            raise unknown_choice("protocol", self.protocol, [AUTO, *PROTOCOLS])
        return protocol_of(self.values, self.epsilon, self.protocol).name

    @property
    def values(self) -> tuple[str, ...]:
        """What it may be answered with, without blanks around; "(other)" at the end where it has that."""
        return tuple(value.strip() for value in self.category.cells)

    def answering(self) -> AnswerProtocol:
        """Its protocol, with the probabilities."""
        return protocol_of(self.values, self.epsilon, self.protocol)

    def code_of(self, answer: object) -> int:
        """The place of an answer among the values.

        A text, a whole number, a truth value or None: the same rule as for a cell of a table. What is none of the values is
        refused, unless the question has "(other)".
        """
        if isinstance(answer, bool):
            answer = str(answer).lower()
        if answer is not None and not isinstance(answer, str | int):
            raise UsageError(f'the answer to "{self.name}" must be a text, a whole number, True, False or None.')
        if isinstance(answer, int) and abs(answer) > LARGEST_WHOLE:
            raise UsageError(f'the answer to "{self.name}" is a number with too many digits.')
        text = "" if answer is None else str(answer).strip()
        if text in self.category.missing:
            text = ""
        values = self.values
        if text in values:
            return values.index(text)
        lowered = [value.lower() for value in values]
        if text in ("true", "false") and text in lowered:
            return lowered.index(text)
        if self.category.other:
            return len(values) - 1
        shown = [*map(_shown, values[:MOST_SHOWN]), *(["..."] if len(values) > MOST_SHOWN else [])]
        raise UsageError(f'the answer to "{self.name}" is none of its values. It takes: {", ".join(shown)}.')

    def facts(self) -> dict[str, Any]:
        """As plain data, for files."""
        return {
            **({"text": self.text} if self.text else {}),
            "domain": list(self.category.domain or ()),
            **({"other": True} if self.category.other else {}),
            **({"missing": list(self.category.missing)} if self.category.missing else {}),
            "epsilon": epsilon_text(self.epsilon),
            "protocol": self.protocol,
        }


def read_question(name: str, facts: Any, epsilon: Any, protocol: str) -> Question:
    """A question from a domain, a `Category`, a `Question` or a dict of facts; what it does not say the collection does."""
    if isinstance(facts, Question):
        return replace(facts, name=name)
    where = f'question "{name}"' if isinstance(name, str) and len(name) <= 80 and not CONTROLS.search(name) else "a question"
    try:
        if isinstance(facts, Category):
            facts = {"domain": facts.domain, "other": facts.other, "missing": facts.missing}
        elif not isinstance(facts, Mapping):
            facts = {"domain": facts}
        if unknown := [key for key in facts if key not in KEYS]:
            raise SchemaError(_unknown(unknown[0]))
        if facts.get("domain") is None:
            raise SchemaError("a domain is needed: the list of all values that it may be answered with.")
        missing = facts.get("missing") or ()
        if not isinstance(missing, list | tuple):
            raise SchemaError('missing must be a list of texts, such as ["?", "NA"].')
        category = Category(facts["domain"], other=facts.get("other", False), missing=tuple(missing))
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None
    own = facts.get("epsilon", epsilon)
    if own is None:
        raise UsageError(f"{where}: {MISSING_EPSILON}")
    return Question(name, category, exact(own, "epsilon"), facts.get("protocol") or protocol, facts.get("text", ""))


def epsilon_text(epsilon: Fraction) -> str:
    """An epsilon as it was typed, without loss: a decimal, or a fraction such as 2/3."""
    text = amount_text(epsilon)
    return text if exact(text, "epsilon") == epsilon else str(epsilon)


def _unknown(key: object) -> str:
    is_short = isinstance(key, str) and len(key) <= 40 and key.isprintable()
    quoted = f'an unknown key "{key}"' if is_short else "an unknown key"
    return f"{quoted}. It may hold {', '.join(KEYS)}."


def _shown(value: str) -> str:
    return value or '"" (no answer)'


def check_shown(text: Any, what: str) -> str:
    """A text that everybody is shown: one line, and nothing that could not be written."""
    if CONTROLS.search(check_text(text, what)) or NO_ANSWER in text:
        raise SchemaError(f"{what} holds a line end or a control character. Type it anew.")
    return str(text)
