"""The client's half: answers become a report on the machine of whoever gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from cloister.collect.collection import Collection
from cloister.collect.memo import Memo, Remembered
from cloister.collect.questions import Question
from cloister.column_names import nearest_name
from cloister.errors import UsageError
from cloister.privacy import noise
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, Sentence, TextTable
from cloister.schema.numerals import amount_text

__all__ = ["REPORT_VERSION", "Client", "Report"]

REPORT_VERSION = 1
WITHOUT_MEMO = "No memo was given: the same answers sent again cost their epsilon again. Give one and keep it."
REPLACED = (
    "This collection got a report of this memo before, under the same id: whoever collects counts one of the two. A memo is one "
    "person's alone."
)
SEEDED = "The noise was seeded: this report protects nobody."


@dataclass(frozen=True, slots=True)
class Report:
    """What leaves: perturbed answers under an id that is drawn at random, and nothing else.

    Attributes
    ----------
    collection, terms : whose questions were answered, and the hash of what they meant and cost
    id : 128 random bits
    answers : the perturbed answer to each question
    seeded : made with seeded noise: it protects nobody, and no collector counts it
    loss : for whoever answered, not sent: what each answer cost
    """

    collection: str
    terms: str
    id: str
    answers: Mapping[str, str]
    seeded: bool = False
    loss: tuple[tuple[str, Remembered, Fraction], ...] = field(default=(), compare=False, repr=False)
    has_memo: bool = field(default=False, compare=False, repr=False)
    is_repeated: bool = field(default=False, compare=False, repr=False)  # to a collection that got a report before

    def as_dict(self) -> dict[str, Any]:
        """As plain data: what is sent."""
        return {
            "version": REPORT_VERSION,
            "collection": self.collection,
            "terms": self.terms,
            "report": self.id,
            "answers": dict(self.answers),
            **({"seeded": True} if self.seeded else {}),
        }

    def to_json(self) -> str:
        """The report as it is sent: JSON in one line."""
        return json.dumps(self.as_dict(), ensure_ascii=False, separators=(",", ":"))

    @property
    def epsilon(self) -> Fraction:
        """What this report costs whoever sends it, in all: answers that were sent before cost nothing again."""
        return sum((epsilon for _, remembered, epsilon in self.loss if remembered.is_new), Fraction(0))

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever answers should know, one sentence each."""
        changed = [(name, remembered.spent) for name, remembered, _ in self.loss if remembered.is_changed]
        more = [
            f'The answer to "{name}" has changed: it is new loss, and your answers to it have cost {amount_text(spent)} in all.'
            for name, spent in changed
        ]
        if self.is_repeated and changed:
            more.append(REPLACED)
        return (*more, *([] if self.has_memo else [WITHOUT_MEMO]), *([SEEDED] if self.seeded else []))

    def describe(self) -> Document:
        """What is sent and what it costs, for whoever answers."""
        rows = [
            [name, self.answers[name] or '""', amount_text(epsilon) if remembered.is_new else "0 (as before)",
             amount_text(remembered.spent)]
            for name, remembered, epsilon in self.loss
        ]  # fmt: skip
        table = TextTable.of(
            ["question", "sent", "epsilon", "spent on it"], rows, title="what is sent (not what you answered)"
        )
        facts = [Fact("epsilon of this report", amount_text(self.epsilon))]
        return Document((Section((table, *facts, *map(Sentence, self.notes))),), title=f"Report to {self.collection}")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


class Client:
    """Answers the questions of a collection, on the machine of whoever is asked.

    Parameters
    ----------
    collection : Collection, or the path of its file
    memo : path, optional
        A file in which the client remembers what it sent, so that the same answer is not perturbed anew: with repeats the noise
        would average out. One a person, for all collections; it holds true answers, so it is made for its owner alone.

    Privacy
    -------
    The true answers are read by `report` alone, and are neither kept nor sent. Every answer goes through its own channel, from
    the system's randomness (`protocols`): epsilon for each question, and their sum for the report.

    Examples
    --------
    >>> survey = Collection("lunch", {"eats": ["meat", "fish", "neither"]}, epsilon=1)
    >>> report = Client(survey).report({"eats": "fish"})
    >>> report.answers["eats"] in ("meat", "fish", "neither")
    True
    """

    def __init__(self, collection: Collection | str | PathLike[str], memo: str | PathLike[str] | None = None) -> None:
        self.collection = collection if isinstance(collection, Collection) else Collection.load(collection)
        self.memo = None if memo is None else Memo(memo)

    def report(self, answers: Mapping[str, Any]) -> Report:
        """Perturb the answers, one for each question.

        An answer is a text, a whole number, True, False or None; None is a value where the domain lists "" or the question has
        "(other)"; a question may be left out only where its domain lists "". With a memo, a second report to the same
        collection has the id of the first.
        """
        if not isinstance(answers, Mapping) or not all(isinstance(name, str) for name in answers):
            raise UsageError('answers must be a dict by question, such as {"smokes": "no"}.')
        if unknown := [name for name in answers if name not in self.collection.names]:
            hint = nearest_name(unknown[0], self.collection.names)
            raise UsageError(
                f"an answer is to no question of the collection.{hint} Its questions: {', '.join(self.collection.names)}."
            )
        if not self.collection.is_open(datetime.now(UTC)):
            opens, closes = self.collection.opens, self.collection.closes
            when = [f"opens {opens.isoformat()}" if opens else "", f"closes {closes.isoformat()}" if closes else ""]
            raise UsageError(f"the collection takes no reports now: it {' and '.join(filter(None, when))}.")
        coded = [(question, self._code(question, answers)) for question in self.collection.questions]
        mark = noise.seeding_mark()
        if self.memo is None:
            sent = [draw_anew(question, code) for question, code in coded]
            report_id, is_repeated = fresh_id(), False
        else:
            if noise.is_seeded():
                raise UsageError(
                    "seeded noise protects nobody, and a memo would send it again. Leave the memo out in tests."
                )
            sent = self.memo.recall(coded)
            fresh = fresh_id()
            report_id = self.memo.report_id(f"{self.collection.id}\0{self.collection.terms}", fresh)
            is_repeated = report_id != fresh
        return Report(
            self.collection.id,
            self.collection.terms,
            report_id,
            {question.name: remembered.sent for (question, _), remembered in zip(coded, sent, strict=True)},
            noise.seeded_since(mark),
            tuple(
                (question.name, remembered, question.epsilon) for (question, _), remembered in zip(coded, sent, strict=True)
            ),
            self.memo is not None,
            is_repeated,
        )

    def _code(self, question: Question, answers: Mapping[str, Any]) -> int:
        if question.name not in answers and "" not in question.values:
            raise UsageError(
                f'the question "{question.name}" is not answered. Leave none out but those whose domain lists "".'
            )
        if question.name not in answers:
            return question.code_of(None)
        return question.code_of(answers[question.name])


def draw_anew(question: Question, code: int) -> Remembered:
    """A perturbed answer that nobody remembers."""
    return Remembered(question.answering().perturb(np.array([code], dtype=np.int64))[0], True, question.epsilon)


def fresh_id() -> str:
    """The id of a report: 128 random bits."""
    return noise.secret()[0].hex()[:32]
