"""A first draft of a schema: kinds and roles are guessed, bounds and domains are left blank.

Privacy
-------
A guess looks at the first rows, so a draft is for the holder. Kinds and roles are facts that a holder knows anyway and
confirms by hand. Bounds and domains are never filled in: they would carry values of rows out of the building.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.schema.cell_values import days, numbers, texts
from cloister.schema.kinds import Category, Date, Kind, Number, Text
from cloister.schema.table import Column, Role, Schema

__all__ = ["RowSource", "draft", "draft_text", "role_of_name"]

SAMPLE_ROWS = 4_096
MOST_VALUES = 100  # a column of text with more distinct values in the sample is free text
FEWEST = 20  # cells: of fewer many a harmless column has no value twice
MOSTLY = 0.9  # a few cells that cannot be read do not change what a column is

_WORDS = {
    Role.IDENTIFIER: """id uid uuid guid ssn nin passport name firstname lastname surname forename email mail phone tel
        telephone mobile address street iban account license licence plate ip mac username login url""",
    Role.QUASI: """age sex gender birth birthday birthdate dob born zip zipcode postcode postal plz city town county state
        region country nationality citizenship race ethnicity ethnic marital education school degree occupation job
        profession workclass employer height weight language""",
    Role.SENSITIVE: """salary income wage wages pay earnings diagnosis disease illness condition treatment medication drug
        hiv religion faith party vote orientation disability crime conviction debt credit balance grade grades score gpa""",
}
_ROLES = {role: frozenset(words.split()) for role, words in _WORDS.items()}
# numbers that are names: nobody adds postcodes or averages telephones
_NOT_QUANTITIES = frozenset(("id", "uid", "uuid", "guid", "ssn", "zip", "zipcode", "postcode", "postal", "plz", "phone"))


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
        Every column is marked as guessed; no bounds, no domains.
    """
    head = _head(rows)
    return Schema(tuple(_column(name, head.column(name).combine_chunks()) for name in rows.names))


def draft_text(schema: Schema) -> str:
    """A draft as TOML text, with comments that show how to fill in the blanks."""
    return schema.to_toml(hints=True)


def role_of_name(name: str) -> Role:
    """The role that the name of a column suggests.

    >>> role_of_name("e-mail"), role_of_name("birthDate")
    (<Role.IDENTIFIER: 'identifier'>, <Role.QUASI: 'quasi'>)
    """
    words = _words(name)
    return next((role for role, known in _ROLES.items() if known & words), Role.OTHER)


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


def _column(name: str, cells: pa.Array) -> Column:
    words = _words(name)
    kind = _kind(cells, words)
    role = role_of_name(name)
    if role is Role.OTHER and _names_rows(cells, kind):
        role = Role.IDENTIFIER
    return Column(name, kind, role, guessed=True)


def _kind(cells: pa.Array, words: frozenset[str]) -> Kind:
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if pa.types.is_boolean(cells.type):
        return Category()
    if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
        return Date()
    written = texts(cells).fill_null("")
    filled = pc.not_equal(written, "")
    count = int(pc.sum(filled).as_py() or 0)  # of the cells that hold something
    if count == 0:
        return Text()
    if not words & _NOT_QUANTITIES and np.isfinite(numbers(cells)).sum() >= MOSTLY * count:
        return Number()
    if pa.types.is_string(written.type) and np.isfinite(days(written)).sum() >= MOSTLY * count:
        return Date()
    distinct = int(pc.count_distinct(written).as_py())
    return Category() if distinct <= min(MOST_VALUES, max(2, count // 2)) else Text()


def _names_rows(cells: pa.Array, kind: Kind) -> bool:
    """Whether nearly all values differ, as those of an identifier do; a measurement with decimals is none."""
    written = texts(cells).drop_null()
    written = written.filter(pc.not_equal(written, ""))
    if len(written) < FEWEST or pc.count_distinct(written).as_py() < MOSTLY * len(written):
        return False
    whole = numbers(written)
    return not isinstance(kind, Number) or bool((whole == np.floor(whole)).sum() >= MOSTLY * len(written))


def _words(name: str) -> frozenset[str]:
    """The words of a name: "birthDate", "birth_date" and "Birth date" are alike."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+", parted.lower()))
