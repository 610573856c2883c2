"""A schema by questions and answers: for people who do not write TOML. No terminal here, see `cloister schema --ask`.

Privacy
-------
What is shown as a default is a draft's guess of kinds, roles and formats, or what a schema says already. Bounds and domains are
never proposed: taken from the rows they would publish values that somebody has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cloister.errors import SchemaError
from cloister.schema.column import Column, Role
from cloister.schema.kinds import Category, Date, Kind, Number, Text
from cloister.schema.table import Schema
from cloister.schema.typed_answers import (
    read_date_format,
    read_flag,
    read_name,
    read_number,
    read_number_style,
    read_pair,
    read_texts,
    read_whole,
    read_word,
    show,
    show_date_format,
    show_number_style,
)

__all__ = ["Interview", "SchemaQuestion"]

Key = tuple[str, str]  # a column, or "" for the table; and what is asked of it
FRESH: Mapping[str, Kind] = {"number": Number(), "category": Category(other=True), "date": Date(), "text": Text()}
NOT_FROM_ROWS = (
    "Take them from what the column means, never from the rows: the largest value of a column is somebody's value, and a "
    "schema is public. Type none to leave it out; private releases of the column then ask for it."
)


@dataclass(frozen=True, slots=True)
class SchemaQuestion:
    """What is asked, what Enter takes, what "?" tells, and how an answer is read."""

    key: Key
    text: str
    default: str  # as it would be typed
    more: str
    read: Callable[[str], Any]  # refuses with a SchemaError


class Interview:
    """Questions one after another, each of which depends on the answers before it.

    Parameters
    ----------
    start : Schema
        What is known or guessed already: the defaults.
    is_typed : bool
        Whether the data says itself how numbers and dates are stored, so that nobody need say how they are written.
    likely_unit : str, optional
        A column that may say whose a row is.

    Examples
    --------
    >>> talk = Interview(Schema((Column("age", Number(), Role.QUASI),)))
    >>> for text in ("", "", "0 110", "1"):
    ...     talk.answer(text)
    >>> talk.question.text[:40]
    'age: write the number 1234.5 as this col'
    >>> talk.skip_all()
    >>> talk.schema()["age"].kind
    Number(bounds=(0.0, 110.0), step=1.0, default=None, decimal='.', thousands=None, missing=())
    """

    def __init__(self, start: Schema, *, is_typed: bool = False, likely_unit: str | None = None) -> None:
        self.start = start
        self.is_typed = is_typed
        self.likely_unit = likely_unit
        self._answers: dict[Key, Any] = {}  # in the order of the questions
        self._typed: dict[Key, str] = {}  # what was typed last, also before going back

    @property
    def question(self) -> SchemaQuestion | None:
        """The next question; None: there is none left."""
        asked = next((question for question in self._questions() if question.key not in self._answers), None)
        if asked is None or asked.key not in self._typed:
            return asked
        return replace(asked, default=self._typed[asked.key])

    def answer(self, text: str) -> None:
        """Answer the question; nothing is the default. What cannot be read is refused, and the question stays."""
        question = self.question
        assert question is not None, "nothing is asked"
        typed = text.strip() or question.default
        self._answers[question.key] = question.read(typed)
        self._typed[question.key] = typed

    def back(self) -> bool:
        """Take the last answer back; False: there is none."""
        if self._answers:
            self._answers.popitem()
            return True
        return False

    def skip(self) -> None:
        """Take the defaults of the rest of this column."""
        of = self.question.key[0] if self.question else ""
        while self.question is not None and self.question.key[0] == of:
            self.answer("")

    def skip_all(self) -> None:
        """Take the defaults of all that is left."""
        while self.question is not None:
            self.answer("")

    def schema(self) -> Schema:
        """The schema that the answers make; what was not asked yet is as it was."""
        columns = tuple(
            replace(self._column(column), guessed=False) if (column.name, "kind") in self._answers else column
            for column in self.start.columns
        )
        unit = self._answers.get(("", "unit"), self.start.unit)
        return replace(
            self.start,
            columns=columns,
            table=self._answers.get(("", "table"), self.start.table),
            unit=unit,
            max_rows=None if unit is None else self._answers.get(("", "max_rows"), self.start.max_rows),
        )

    def _questions(self) -> Iterator[SchemaQuestion]:
        for column in self.start.columns:
            yield from self._of_column(column)
        yield self._ask(
            "table",
            "the table: what is it called in the ledger, which adds up all that leaves it?",
            show(self.start.table),
            "A name of your own. Releases of a table with a name are charged to its account, which `cloister ledger create` "
            "opens; none: they are not.",
            read_name,
        )
        yield from self._of_unit()

    def _of_unit(self) -> Iterator[SchemaQuestion]:
        hint = f'; the values of "{self.likely_unit}" repeat' if self.likely_unit else ""
        yield self._ask(
            "unit",
            f"the table: if people have several rows, which column says whose a row is{hint}?",
            show(self.start.unit),
            "With a unit a guarantee is per person instead of per row. none: everybody has one row.",
            lambda text: self._read_unit(text),
        )
        if self._answers.get(("", "unit")) is not None:
            yield self._ask(
                "max_rows",
                "the table: how many rows of a person may count at most?",
                show(self.start.max_rows or 5),
                "Further rows of the same person are left out. More rows need more noise. Choose it from what is usual, not "
                "from the rows.",
                read_whole,
            )

    def _read_unit(self, text: str) -> str | None:
        unit = read_name(text)
        replace(self.start, unit=unit, max_rows=None)
        return unit

    def _ask(self, what: str, text: str, default: str, more: str, read: Callable[[str], Any]) -> SchemaQuestion:
        return SchemaQuestion(("", what), text, default, more, read)

    def _of_column(self, column: Column) -> Iterator[SchemaQuestion]:
        name = column.name

        def ask(what: str, text: str, default: str, more: str, read: Callable[[str], Any]) -> SchemaQuestion:
            return SchemaQuestion((name, what), f"{name}: {text}", default, more, read)

        word = type(column.kind).__name__.lower()
        yield ask(
            "kind",
            "what does it hold: number, category, date or text?",
            word,
            "number: something to add or average. category: one of a list of values, also codes such as postcodes. date: a "
            "day. text: anything else. Private releases leave text behind; anonymize publishes it as it is, unless its role is "
            "identifier.",
            lambda text: read_word(text, FRESH),
        )
        yield ask(
            "role",
            "what does it tell of a person: identifier, quasi, sensitive or other?",
            str(self._likely_role(column)),
            "identifier: names somebody (name, number, address, remarks); it is dropped. quasi: others may know it (age, sex, "
            "postcode). sensitive: nobody should learn it (diagnosis, pay). other: none of these; anonymize publishes it as it "
            "is.",
            lambda text: Role(read_word(text, list(Role))),
        )
        if self._answers.get((name, "role")) is Role.IDENTIFIER:
            return
        yield from self._of_kind(column, ask)

    def _likely_role(self, column: Column) -> Role:
        """The role that is proposed: text that was guessed to be nothing special may name people, and is dropped."""
        is_text = isinstance(self._column(column).kind, Text)
        return Role.IDENTIFIER if is_text and column.role is Role.OTHER and column.guessed else column.role

    def _of_kind(self, column: Column, ask: Callable[..., SchemaQuestion]) -> Iterator[SchemaQuestion]:
        kind = self._column(column).kind

        def fits(key: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
            def read_and_fit(text: str) -> Any:
                value = read(text)
                changes = value if isinstance(value, dict) else {key: value}
                replace(self._column(column).kind, **changes)  # refuses what does not fit together
                return value

            return read_and_fit

        if isinstance(kind, Number):
            yield ask(
                "bounds",
                "lowest and highest value that make sense, such as 0 100? Not from the rows.",
                show(kind.bounds),
                NOT_FROM_ROWS,
                fits("bounds", lambda text: read_pair(text, read_number)),
            )
            yield ask(
                "step",
                "how finely are values told apart, such as 1 for whole numbers?",
                show(kind.step),
                "Rows that are made up, and tables of values, lie on this grid. none: not stated.",
                fits("step", read_number),
            )
            if not self.is_typed:
                yield ask(
                    "style",
                    "write the number 1234.5 as this column does",
                    show_number_style(kind),
                    "For example 1234.5, 1,234.5, 1234,5, 1.234,5 or 1 234,5. A cell that is written otherwise is not read.",
                    fits("style", read_number_style),
                )
        elif isinstance(kind, Date):
            yield ask(
                "bounds",
                "first and last day that make sense, such as 1900-01-01 2030-12-31? Not from the rows.",
                show(kind.bounds),
                NOT_FROM_ROWS,
                fits("bounds", lambda text: read_pair(text)),
            )
            if not self.is_typed:
                yield ask(
                    "format",
                    "write the day 2024-12-31 as this column does",
                    show_date_format(kind.format),
                    "For example 31.12.2024 or 12/31/2024; or in the words of strptime, such as %d.%m.%Y.",
                    fits("format", read_date_format),
                )
        elif isinstance(kind, Category):
            yield ask(
                "domain",
                "every value that may occur, with commas between them? Not from the rows.",
                show(kind.domain),
                NOT_FROM_ROWS,
                fits("domain", read_texts),
            )
            yield ask(
                "other",
                'are missing and unseen values counted in a cell of their own, "(other)": yes or no?',
                show(kind.other),
                "no: they count as the first value of the list, or as the default that the schema states.",
                fits("other", read_flag),
            )
        if not isinstance(kind, Text):
            yield ask(
                "missing",
                "which texts stand for no value, with commas between them? An empty cell always does.",
                show(kind.missing),
                "For example ?, NA, -, 999. none: there are none.",
                fits("missing", lambda text: read_texts(text) or ()),
            )

    def _column(self, column: Column) -> Column:
        """The column as far as it was answered."""
        answers = {what: value for (name, what), value in self._answers.items() if name == column.name}
        word = answers.pop("kind", None)
        role = answers.pop("role", column.role)
        kind = column.kind if word in (None, type(column.kind).__name__.lower()) else FRESH[word]
        style = answers.pop("style", {})
        try:
            return replace(column, kind=replace(kind, **answers, **style), role=role)
        except SchemaError as error:  # a default of the schema that lies outside new bounds
            raise SchemaError(f'column "{column.name}": {error}') from None
