"""A first draft of a schema: kinds, roles and formats are guessed, bounds and domains are left blank.

Privacy
-------
A guess looks at the first rows, so a draft is for the holder. Kinds, roles and how cells are written are facts that a holder
knows anyway and confirms by hand. Bounds and domains are never filled in: they would carry values of rows out of the building.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.schema.cell_format import PLAIN
from cloister.schema.cell_values import days, numbers, texts
from cloister.schema.format_guesses import (
    DIGITS,
    MOSTLY,
    Guess,
    are_digits_of_days,
    guess_date,
    guess_missing,
    guess_number,
    usual_style,
)
from cloister.schema.kinds import Category, Date, Kind, Number, Text
from cloister.schema.role_words import NUMBER_WORDS, RECORDS, SHARED, are_of_code, role_of_words, words_of
from cloister.schema.table import Column, Role, Schema

__all__ = ["RowSource", "draft", "draft_text", "find_likely_unit", "is_record_name", "is_repeated_by_few", "role_of_name"]

SAMPLE_ROWS = 4_096
MOST_VALUES = 100  # a column of text with more distinct values in the sample is free text
MOST_ROWS_EACH = 50  # on average: what more rows share is a group, not somebody
GENERATION = 20 * 365  # days
FEWEST = 20  # cells: of fewer many a harmless column has no value twice

_FEW_ZEROS = 0.01  # of the cells: fewer that begin with a zero are slips


class RowSource(Protocol):
    """Rows with named columns, as `cloister.sources.open_source` opens them: schema and sources do not import each other."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, with these columns."""
        ...


def draft(rows: RowSource) -> Schema:
    """Guess a schema from the names of the columns and the first few thousand rows.

    Returns
    -------
    Schema
        Every column is marked as guessed; no bounds, no domains. Categories count missing and unseen values in a cell of
        their own.
    """
    head = _head(rows)
    looks = [_Look.at(name, head.column(name).combine_chunks()) for name in rows.names]
    numbers, dates = (usual_style(getattr(look, key) for look in looks) for key in ("as_number", "as_date"))
    return Schema(tuple(look.column(numbers, dates) for look in looks))


def draft_text(schema: Schema, likely_unit: str | None = None) -> str:
    """A draft as TOML text, with comments that show how to fill in the blanks; one asks about a column that may be the unit."""
    return schema.to_toml(hints=True, likely_unit=likely_unit)


def find_likely_unit(rows: RowSource, schema: Schema) -> str | None:
    """A column that may say whose a row is: an identifier whose values repeat, each in a few rows. None: there is none.

    It is for the holder to decide: a unit makes guarantees per person, and counts people.
    """
    head = _head(rows)
    for column in schema.columns:
        if column.role is not Role.IDENTIFIER or words_of(column.name) & SHARED:
            continue
        written = _filled_texts(head.column(column.name).combine_chunks())
        distinct = _distinct(written)
        if len(written) >= FEWEST and len(written) // MOST_ROWS_EACH <= distinct < len(written):
            return column.name
    return None


def role_of_name(name: str) -> Role:
    """The role that the name of a column suggests.

    >>> role_of_name("e-mail"), role_of_name("birthDate")
    (<Role.IDENTIFIER: 'identifier'>, <Role.QUASI: 'quasi'>)
    """
    return role_of_words(words_of(name))


def is_record_name(name: str) -> bool:
    """Whether a name says that a column stands for somebody, and nothing else: ``mrn``, ``patient``, ``Patient Nr``."""
    words = words_of(name)
    return bool(words & RECORDS) and words <= NUMBER_WORDS


def is_repeated_by_few(different: int, cells: int) -> bool:
    """Whether so many different values in so many cells are those of people: many, and each in a few rows on average."""
    return different >= max(FEWEST, cells // MOST_ROWS_EACH)


def _head(rows: RowSource) -> pa.Table:
    """The first rows, as a table."""
    taken: list[pa.RecordBatch] = []
    count = 0
    for batch in rows.batches(rows.names):
        taken.append(batch.slice(0, SAMPLE_ROWS - count))
        count += taken[-1].num_rows
        # files of one source may differ in types: a sample stays within the first
        if count >= SAMPLE_ROWS or batch.schema != taken[0].schema:
            break
    if not taken:
        return pa.table({name: pa.nulls(0) for name in rows.names})
    return pa.Table.from_batches([batch for batch in taken if batch.schema == taken[0].schema])


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look at some cells of a column shows."""

    name: str
    cells: pa.Array
    missing: tuple[str, ...]
    as_number: Guess | None
    as_date: Guess | None
    is_code: bool = False  # digits that begin with zeros, such as postcodes: no quantity, and short of a digit as a number

    @classmethod
    def at(cls, name: str, cells: pa.Array) -> _Look:
        """Look at the cells of a column; an empty column is neither numbers nor dates."""
        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        written = texts(cells).fill_null("")
        missing = guess_missing(written)
        filled = cells.filter(pc.invert(pc.is_in(written, pa.array(["", *missing], written.type))))
        if pa.types.is_boolean(cells.type) or not len(filled):
            return cls(name, filled, missing, None, None)
        if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
            return cls(name, filled, missing, None, Guess(PLAIN))
        if are_digits_of_days(filled):
            return cls(name, filled, missing, None, Guess(DIGITS))
        is_code = _has_leading_zeros(filled)
        as_number = None if is_code or are_of_code(words_of(name)) else guess_number(filled)
        as_date = guess_date(filled) if as_number is None and pa.types.is_string(written.type) else None
        return cls(name, filled, missing, as_number, as_date, is_code)

    def column(self, number_style: str | None, date_style: str | None) -> Column:
        """The column that it shows, where the rest of the file writes numbers and dates in these styles."""
        kind = self._kind(number_style, date_style)
        role = self._role(kind)
        if role is Role.IDENTIFIER and (isinstance(kind, Number) or self.is_code):
            kind = Text()  # nobody adds them, and they need no bounds
        return Column(self.name, kind, role, guessed=True)

    def _role(self, kind: Kind) -> Role:
        """The role that the name suggests, unless the values of a column that is not generalised name rows.

        A sensitive role would confirm that such values may be published, and a guess is no confirmation: of numbers with
        decimals, which may be measurements, nothing is said then.
        """
        role = role_of_name(self.name)
        if role not in (Role.OTHER, Role.SENSITIVE):
            return role
        if role is Role.OTHER and self._spans_lives(kind):
            return Role.QUASI
        if _names_rows(self.cells, kind) or self._names_people(kind):
            return Role.IDENTIFIER
        return Role.OTHER if _nearly_all_differ(self.cells) else role

    def _spans_lives(self, kind: Kind) -> bool:
        """Whether days spread over generations, as days of birth do and events hardly ever."""
        if not isinstance(kind, Date):
            return False
        read = days(self.cells, kind.form)
        read = read[~np.isnan(read)]
        return len(read) >= FEWEST and bool(np.diff(np.quantile(read, [0.05, 0.95])) >= GENERATION)

    def _names_people(self, kind: Kind) -> bool:
        """Whether the name says that texts or whole numbers stand for somebody, and each for a few rows at most."""
        if not words_of(self.name) & NUMBER_WORDS:
            return False
        if isinstance(kind, (Text, Category)):
            written = _filled_texts(self.cells)
            if role_of_name(self.name) is not Role.OTHER or not is_repeated_by_few(_distinct(written), len(written)):
                return False
            has_digit = pc.match_substring_regex(written, "[0-9]")
            return is_record_name(self.name) or bool(pc.sum(has_digit).as_py() >= MOSTLY * len(written))
        if not isinstance(kind, Number):
            return False
        values = numbers(self.cells, kind.form)
        is_whole = (values == np.floor(values)).sum() >= MOSTLY * len(values)
        return bool(is_whole and len(np.unique(values)) >= max(FEWEST, len(values) // 8))

    def _kind(self, number_style: str | None, date_style: str | None) -> Kind:
        if self.as_number is not None:
            form = self.as_number.in_style(number_style)
            return Number(decimal=form.decimal, thousands=form.thousands, missing=self.missing)
        if self.as_date is not None:
            return Date(format=self.as_date.in_style(date_style).date, missing=self.missing)
        count = len(self.cells)
        distinct = int(pc.count_distinct(texts(self.cells)).as_py())
        if pa.types.is_boolean(self.cells.type) or self.is_code or 0 < distinct <= min(MOST_VALUES, max(2, count // 2)):
            return Category(other=True, missing=self.missing)
        return Text()


def _has_leading_zeros(cells: pa.Array) -> bool:
    """Whether texts are codes of digits: some begin with a zero, and all have one length, or most begin so.

    "01067" is a place, and would be another as the number 1067; "0", "0.5" and a slip here and there are numbers.
    """
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return False
    stripped = pc.utf8_trim_whitespace(cells)
    if pc.sum(pc.match_substring_regex(stripped, "^[0-9]{2,}$")).as_py() < MOSTLY * len(cells):
        return False
    zeros = pc.sum(pc.match_substring_regex(stripped, "^0[0-9]+$")).as_py()
    lengths = pc.count_distinct(pc.utf8_length(stripped)).as_py()
    return bool(zeros > len(cells) / 2 or (lengths == 1 and zeros > _FEW_ZEROS * len(cells)))


def _names_rows(cells: pa.Array, kind: Kind) -> bool:
    """Whether nearly all values differ, as those of an identifier do; a measurement with decimals is none."""
    if not _nearly_all_differ(cells):
        return False
    if not isinstance(kind, Number):
        return True
    written = _filled_texts(cells)
    values = numbers(written, kind.form)
    return bool((values == np.floor(values)).sum() >= MOSTLY * len(written))


def _nearly_all_differ(cells: pa.Array) -> bool:
    written = _filled_texts(cells)
    return len(written) >= FEWEST and pc.count_distinct(written).as_py() >= MOSTLY * len(written)


def _distinct(written: pa.Array) -> int:
    return int(pc.count_distinct(written).as_py())


def _filled_texts(cells: pa.Array) -> pa.Array:
    written = texts(cells).drop_null()
    return written.filter(pc.not_equal(written, ""))
