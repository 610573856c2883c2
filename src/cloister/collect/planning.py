"""What to expect of a collection before anybody answers: errors, and the epsilon or the number of people that reach a wanted one.

Public facts alone. Errors of one question are exact for the unbiased estimate; that of the joint distribution is what noise alone
does to it, an upper bound for what expectation maximisation makes of it (`simulate` shows that on a table like the real one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, sqrt
from os import PathLike
from typing import Any

from cloister.collect.collection import Collection
from cloister.collect.counting import MOST_CELLS, expected_distance
from cloister.collect.protocols import MOST_BITS, PROTOCOLS, UnaryEncoding, protocol_of, why_protocol
from cloister.collect.questions import LARGEST, SMALLEST, Question
from cloister.errors import UsageError, by_door
from cloister.parameters import check_whole
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, Sentence, TextTable
from cloister.schema.numerals import amount_text, exact_number

__all__ = ["CollectionPlan", "QuestionPlan", "plan"]

MOST_PEOPLE = 10**12
SMALLEST_ERROR = 1e-9
SHARES = 100  # at which the worst one is looked for
EPSILON_PLACES = 100  # epsilons are proposed in steps of 0.01


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """What to expect of one question.

    Attributes
    ----------
    name, values, epsilon, protocol : of the question
    error : the standard error of the share of a value, at the share where it is largest
    rare : the same for a value that nobody holds: the noise floor
    one_report : how many honest reports one that lies can outweigh
    why : why the protocol, and what another would give
    """

    name: str
    values: int
    epsilon: Fraction
    protocol: str
    error: float
    rare: float
    one_report: float
    why: str


@dataclass(frozen=True, slots=True)
class CollectionPlan:
    """What to expect of a collection with so many people.

    Attributes
    ----------
    collection : Collection; people : int
    questions : a `QuestionPlan` each
    cells : of the joint distribution; None: no question is joined
    joint_error : about the total variation that noise alone gives the unbiased joint, at most 1; None: it has too many cells
    wanted : the largest standard error that was asked for; None: none was
    people_needed : how many people reach it at these epsilons
    epsilon_needed : which epsilon a question reaches it with so many people, the same for all; None: none does
    """

    collection: Collection
    people: int
    questions: tuple[QuestionPlan, ...]
    cells: int | None
    joint_error: float | None
    wanted: float | None = None
    people_needed: int | None = None
    epsilon_needed: Fraction | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "collection": self.collection.id,
            "people": self.people,
            "guarantee": str(self.collection.guarantee),
            "epsilon": str(self.collection.guarantee.epsilon),
            "questions": [
                {
                    "name": each.name,
                    "values": each.values,
                    "epsilon": str(each.epsilon),
                    "protocol": each.protocol,
                    "why": each.why,
                    "standard_error": each.error,
                    "standard_error_of_rare": each.rare,
                    "one_report_outweighs": each.one_report,
                }
                for each in self.questions
            ],
            "joint": {"cells": self.cells, "total_variation_of_noise": self.joint_error},
            "wanted": self.wanted,
            "people_needed": self.people_needed,
            "epsilon_needed": None if self.epsilon_needed is None else str(self.epsilon_needed),
        }

    def describe(self) -> Document:
        """For a person."""
        rows = [
            [each.name, str(each.values), amount_text(each.epsilon), each.protocol, f"{each.error:.2%}", f"{each.rare:.2%}",
             f"{each.one_report:.1f}"]
            for each in self.questions
        ]  # fmt: skip
        heads = ["question", "values", "epsilon", "protocol", "std. error at most", "of a rare value", "a liar outweighs"]
        facts: list[Any] = [
            Fact("guarantee", str(self.collection.guarantee)),
            TextTable.of(
                heads,
                rows,
                title=f"with {self.people:,} people (one standard error of a share; two to either side hold 95%)",
            ),
            *(Sentence(f"{each.name}: {each.why}.") for each in self.questions if each.why),
        ]
        if self.cells is not None and self.joint_error is not None:
            facts.append(
                Fact(
                    f"joint distribution of {self.cells:,} cells",
                    f"noise alone moves {self.joint_error:.0%} of the unbiased estimate"
                    + (" or more" if self.joint_error >= 1 else "")
                    + "; see what the default makes of it with: cloister collect simulate",
                )
            )
        elif self.cells is not None:
            facts.append(
                Fact(
                    "joint distribution",
                    f"{self.cells:,} cells are too many; marginals and rows made from them are estimated",
                )
            )
        if self.wanted is not None:
            reached = (
                "no epsilon up to 100"
                if self.epsilon_needed is None
                else f"epsilon {amount_text(self.epsilon_needed)} a question"
            )
            facts.append(
                Fact(
                    f"a standard error of at most {self.wanted:.2%} in every question",
                    f"needs {self.people_needed:,} people, or {reached}",
                )
            )
        return Document((Section(tuple(facts)),), title=f"Plan of {self.collection.id}")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def plan(collection: Collection | str | PathLike[str], people: int | None = None, *, error: Any = None) -> CollectionPlan:
    """What to expect of a collection with so many people.

    Parameters
    ----------
    collection : Collection, or the path of its file
    people : int, optional
        How many reports are expected. None: as many as the wanted error needs.
    error : number, optional
        The largest standard error of a share that is wanted, such as 0.01: how many people, or which epsilon, reach it in every
        question?

    Examples
    --------
    >>> survey = Collection("students", {"smokes": ["no", "yes"]}, epsilon=1)
    >>> found = plan(survey, 10_000, error=0.01)
    >>> round(found.questions[0].error, 4), found.people_needed
    (0.0108, 11707)
    """
    chosen = collection if isinstance(collection, Collection) else Collection.load(collection)
    if people is None and error is None:
        raise UsageError(f"how many people? Give {by_door('people=N', '--people N')}, or an error that is wanted.")
    if people is None:
        people = min(MOST_PEOPLE, ceil(max(map(spread, chosen.questions)) / read_error(error) ** 2))
    count = check_whole(people, "people", 1, MOST_PEOPLE)
    questions = tuple(plan_question(question, count) for question in chosen.questions)
    joined = chosen.joined
    cells = chosen.cells if joined else None
    names = tuple(question.name for question in joined)
    distance = expected_distance(chosen, names, count) if cells is not None and cells <= MOST_CELLS else None
    planned = CollectionPlan(chosen, count, questions, cells, distance)
    if error is None:
        return planned
    wanted = read_error(error)
    return replace(
        planned,
        wanted=wanted,
        people_needed=ceil(max(spread(question) for question in chosen.questions) / wanted**2),
        epsilon_needed=least_epsilon(chosen.questions, count, wanted),
    )


def read_error(error: Any) -> float:
    """The standard error that is wanted."""
    try:
        wanted = float(exact_number(error))
    except ValueError:
        wanted = 0.0
    if not SMALLEST_ERROR <= wanted < 1:
        raise UsageError(f"error must be a share between {SMALLEST_ERROR:g} and 1, such as 0.01 for one percentage point.")
    return wanted


def spread(question: Question) -> float:
    """The variance of the share of a value that is as hard to estimate as any, times the number of reports."""
    protocol = question.answering()
    return max(protocol.share_variance(share / SHARES) for share in range(SHARES + 1))


def plan_question(question: Question, people: int) -> QuestionPlan:
    """What to expect of one question."""
    protocol = question.answering()
    able = [name for name in PROTOCOLS if name != UnaryEncoding.name or len(question.values) <= MOST_BITS]
    others = [protocol_of(question.values, question.epsilon, name) for name in able if name != protocol.name]
    better = [other for other in others if other.share_variance(0.0) < protocol.share_variance(0.0)]
    why = ""
    if better:
        error = sqrt(better[0].share_variance(0.0) / people)
        why = f"{better[0].name} would have an error of {error:.2%} for a rare value"
        why += ", but its answers are not joined with others" if not better[0].joins else ", and its answers can be joined"
    elif not protocol.joins:
        why = why_protocol(question.values, question.epsilon, protocol.name)
    return QuestionPlan(
        question.name,
        len(question.values),
        question.epsilon,
        protocol.name,
        sqrt(spread(question) / people),
        sqrt(protocol.share_variance(0.0) / people),
        protocol.one_report(),
        why,
    )


def least_epsilon(questions: tuple[Question, ...], people: int, wanted: float) -> Fraction | None:
    """The least epsilon, in steps of 0.01, at which every question has at most this error; None: none does."""

    def reaches(step: int) -> bool:
        epsilon = max(SMALLEST, Fraction(step, EPSILON_PLACES))
        return all(sqrt(spread(replace(question, epsilon=epsilon)) / people) <= wanted for question in questions)

    return first_step(reaches, int(LARGEST * EPSILON_PLACES))


def first_step(holds: Callable[[int], bool], last: int) -> Fraction | None:
    """The least step from 1 to the last that holds, all above it holding too; None: not even the last does."""
    if not holds(last):
        return None
    low, high = 0, last  # low does not hold, high does
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return Fraction(high, EPSILON_PLACES)
