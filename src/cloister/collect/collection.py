"""A collection: the public file that says what is asked, what an answer costs, when, and by whom."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass
from datetime import UTC, date, datetime, time
from math import prod
from os import PathLike
from typing import Any

from cloister.collect.collection_files import read_facts, write_facts
from cloister.collect.protocols import AnswerProtocol, Channel
from cloister.collect.protocols.randomized_response import RandomizedResponse
from cloister.collect.questions import Question, check_shown, read_question
from cloister.column_names import nearest_name
from cloister.errors import SchemaError, UsageError
from cloister.privacy.guarantees import Local
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, Sentence, TextTable
from cloister.schema import Schema
from cloister.schema.kinds import Category, repeated
from cloister.schema.numerals import amount_text

__all__ = ["Collection"]

ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
MOST_QUESTIONS = 1000
ID_RULE = (
    "the id of a collection has small letters, digits, dots, hyphens and underlines, at most 64, such as students-2026."
)


@dataclass(frozen=True, slots=True)
class Collection:
    """What is asked, of whom nothing is learned but a perturbed answer to each question.

    Parameters
    ----------
    id : str
        Small letters, digits, ``.``, ``-`` and ``_``.
    questions : dict of name to domain, or to a dict with text, domain, other, missing, epsilon, protocol; or a `Schema`
        A domain is the list of all values that a question may be answered with. One that lists ``""`` takes no answer for a
        value; ``other = true`` adds "(other)" for whatever is not listed.
    epsilon : number, optional
        What an answer to each question costs that does not say it itself.
    collector : str
        Who collects: people should know.
    title : str
    opens, closes : datetime with a time zone, date, or text of one, optional
        Reports are made from the first until before the second; a day is counted in UTC.
    protocol : "randomized-response", "unary" or "auto"
        Of each question that does not say it itself. "auto" takes what has the smaller error for one question alone; answers in
        unary encoding are not joined with others.

    Privacy
    -------
    All of it is public, and the same for everybody. In the local model the guarantee is that of each person's own report: epsilon
    for each question whose answer differs, and the sum over all questions for any two answers whatsoever.

    Examples
    --------
    >>> survey = Collection("students-2026", {"smokes": ["no", "yes"], "year": ["1", "2", "3"]}, epsilon=1)
    >>> survey.guarantee.epsilon, survey.cells
    (Fraction(2, 1), 6)
    """

    id: str
    questions: Any  # given as a dict or a Schema, kept as a tuple of Question
    epsilon: InitVar[Any] = None
    collector: str = ""
    title: str = ""
    opens: Any = None  # kept as datetime in UTC, or None
    closes: Any = None
    protocol: InitVar[str] = RandomizedResponse.name

    def __post_init__(self, epsilon: Any, protocol: str) -> None:
        if not isinstance(self.id, str) or not ID.fullmatch(self.id):
            raise UsageError(ID_RULE)
        for word in ("collector", "title"):
            check_shown(getattr(self, word), word)
        for word in ("opens", "closes"):
            object.__setattr__(self, word, read_moment(getattr(self, word), word))
        if self.opens and self.closes and self.opens >= self.closes:
            raise UsageError("a collection closes after it opens. Change opens or closes.")
        object.__setattr__(self, "questions", read_questions(self.questions, epsilon, protocol))

    # What it costs.

    @property
    def guarantee(self) -> Local:
        """The local guarantee of one report."""
        return Local(tuple(question.epsilon for question in self.questions))

    @property
    def names(self) -> tuple[str, ...]:
        """The questions by name."""
        return tuple(question.name for question in self.questions)

    @property
    def joined(self) -> tuple[Question, ...]:
        """The questions whose answers give a joint distribution."""
        return tuple(question for question in self.questions if question.answering().joins)

    @property
    def cells(self) -> int:
        """How many cells the joint distribution of those has."""
        return prod(len(question.values) for question in self.joined)

    def question(self, name: str) -> Question:
        """A question by its name."""
        for question in self.questions:
            if question.name == name:
                return question  # type: ignore[no-any-return]
        hint = nearest_name(name, self.names) if isinstance(name, str) else ""
        raise UsageError(f"the collection has no question of that name.{hint} Its questions: {', '.join(self.names)}.")

    def answering(self) -> dict[str, AnswerProtocol]:
        """The protocol of each question."""
        return {question.name: question.answering() for question in self.questions}

    def channels(self, names: Iterable[str]) -> tuple[Channel, ...]:
        """The channels of some questions that are joined."""
        protocols = [self.question(name).answering() for name in names]
        channels = [protocol.channel for protocol in protocols if isinstance(protocol, RandomizedResponse)]
        if len(channels) < len(protocols):
            raise UsageError(
                "answers in unary encoding are not joined with others. Leave such questions out, or give them "
                'protocol = "randomized-response" in a new collection.'
            )
        return tuple(channels)

    def is_open(self, moment: datetime) -> bool:
        """Whether reports may be made at a moment."""
        return not ((self.opens and moment < self.opens) or (self.closes and moment >= self.closes))

    # Files.

    def facts(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "id": self.id,
            **{word: value for word in ("title", "collector") if (value := getattr(self, word))},
            **{word: moment.isoformat() for word in ("opens", "closes") if (moment := getattr(self, word))},
            "questions": {question.name: question.facts() for question in self.questions},
        }

    @property
    def terms(self) -> str:
        """A hash of what an answer means and costs: the id, the questions, values, epsilons and protocols.

        It stands in each report, so that an answer is never counted under other terms than those that it was given under.
        """
        meant = [
            [question.name, list(question.values), str(question.epsilon), question.protocol] for question in self.questions
        ]
        written = json.dumps([self.id, meant], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(written.encode()).hexdigest()[:32]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Collection:
        """Read a collection from a TOML or JSON file."""
        return cls(**read_facts(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write a new TOML or JSON file, by the ending of its name."""
        write_facts(self.facts(), path)

    # Words.

    def describe(self) -> Document:
        """What is asked and what it costs, for whoever thinks of answering."""
        rows = []
        for question in self.questions:
            protocol = question.answering()
            sent = f"{float(protocol.channel.truth):.1%}" if isinstance(protocol, RandomizedResponse) else "-"
            shown = list(question.values[:6]) + (["..."] if len(question.values) > 6 else [])
            rows.append(
                [question.name, str(len(question.values)), ", ".join(value or '""' for value in shown),
                 amount_text(question.epsilon), protocol.name, sent]
            )  # fmt: skip
        table = TextTable.of(["question", "values", "which", "epsilon", "protocol", "sent as it is"], rows)
        texts = [Sentence(f"{question.name}: {question.text}") for question in self.questions if question.text]
        facts = [
            Fact("collection", self.id),
            *(Fact(word, str(getattr(self, word))) for word in ("title", "collector") if getattr(self, word)),
        ]
        facts += [Fact(word, moment.isoformat()) for word in ("opens", "closes") if (moment := getattr(self, word))]
        facts += [Fact("terms", self.terms), Fact("guarantee", str(self.guarantee))]
        words = Sentence(
            "Answers are perturbed before they leave whoever gives them: nobody else ever has the true ones, and no report "
            "says for sure what somebody answered."
        )
        return Document((Section((*facts, table, *texts, words)),), title=f"Collection {self.id}")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def read_questions(questions: Any, epsilon: Any, protocol: str) -> tuple[Question, ...]:
    """Questions from what a user gives."""
    if isinstance(questions, Schema):
        columns = {column.name: column.kind for column in questions.columns}
        if unlisted := [name for name, kind in columns.items() if not (isinstance(kind, Category) and kind.domain)]:
            raise SchemaError(
                f'column "{unlisted[0]}" is no category with a domain, so it cannot be a question. Name the questions in a dict.'
            )
        questions = columns
    if isinstance(questions, tuple) and all(isinstance(question, Question) for question in questions):
        questions = {question.name: question for question in questions}
    if not isinstance(questions, Mapping) or not questions:
        raise UsageError('questions must be a dict of names and domains, such as {"smokes": ["no", "yes"]}.')
    if len(questions) > MOST_QUESTIONS:
        raise UsageError(f"a collection has at most {MOST_QUESTIONS:,} questions.")
    if not isinstance(protocol, str):
        raise UsageError("protocol must be a text.")
    read = tuple(read_question(name, facts, epsilon, protocol) for name, facts in questions.items())
    if twice := repeated(question.name.lower() for question in read):
        raise SchemaError(f'two questions are called "{twice[0]}", if capitals do not count. Rename one of them.')
    return read


def read_moment(value: Any, what: str) -> datetime | None:
    """A moment in UTC: a datetime with its zone, or a day, which begins at midnight in UTC; or a text of one."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
        except ValueError:
            raise UsageError(
                f"{what} must be a day such as 2026-12-01, or a moment such as 2026-12-01T09:00:00+01:00."
            ) from None
    if isinstance(value, datetime):
        if value.tzinfo is None or value.utcoffset() is None:
            raise UsageError(f"{what} needs a time zone, such as 2026-12-01T09:00:00+01:00 or 2026-12-01T08:00:00Z.")
        try:
            return value.astimezone(UTC)
        except OverflowError:
            raise UsageError(f"{what} is out of reach.") from None
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    raise UsageError(f"{what} must be a day or a moment with a time zone.")
