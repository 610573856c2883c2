"""One keyed fold over a table: how many rows hold each tuple of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.leaf_coder import LeafCoder, StepCoder, coder_of
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.encode import Encoding
from cloister.errors import SchemaError, UsageError
from cloister.kernels.keyed import Keyed, RowKeys
from cloister.schema.hierarchies import MISSING, UNKNOWN, Hierarchy
from cloister.vault import Holder

__all__ = [
    "CountedTable",
    "add_population",
    "count_holders",
    "count_on_step",
    "count_range",
    "count_table",
    "number_persons",
]


@dataclass(frozen=True, slots=True, eq=False)
class CountedTable:
    """A table as a search sees it: its tuples with their counts, and how each quasi-identifier generalises.

    Parameters
    ----------
    rows : TupleCounts
    columns : sequence of Hierarchy or Scale
        One for each quasi-identifier, with a leaf for nulls where there are some. The values of a Scale are joined
        to bins between public cuts before a search (`put_on_grid`).
    names : sequence of str
        The quasi-identifiers.
    sensitive : sequence of LeafCoder
        How the sensitive values of `rows` were coded.
    """

    rows: TupleCounts
    columns: Sequence[Hierarchy | Scale]
    names: Sequence[str]
    sensitive: Sequence[LeafCoder] = ()


def count_table(
    table: Holder,
    columns: Mapping[str, Hierarchy | Scale],
    sensitive: Sequence[LeafCoder] = (),
    target: LeafCoder | None = None,
    person: str | None = None,
) -> CountedTable:
    """Count a table; a value that a hierarchy lacks is refused, with its column and how many rows hold one."""
    coders = [coder_of(name, column) for name, column in columns.items()]
    compared = [*sensitive, *([target] if target else [])]
    encoding = Encoding(categories=(*coders, *compared))
    keyed = table.count(encoding, RowKeys(len(coders) + len(compared)), person).value
    q, s = len(coders), len(sensitive)
    codes = keyed.keys[:, :q].astype(np.int32)
    for j, (name, column) in enumerate(columns.items()):
        if unknown := int(keyed.counts[codes[:, j] == UNKNOWN].sum()):
            raise SchemaError(_lacking(name, column, unknown))
    for j, coder in enumerate(compared, q):
        if (keyed.keys[:, j] < 0).any():  # a table that changes while it is read
            raise UsageError(
                f'column "{coder.name}" changed while it was read. Run it again on a table that stays as it is.'
            )
    complete = []
    for j, column in enumerate(columns.values()):
        is_null = codes[:, j] == MISSING
        codes[is_null, j] = len(column.values) if isinstance(column, Scale) else column.leaves
        complete.append(_with_null(column) if is_null.any() else column)
    rows = TupleCounts(
        codes,
        keyed.counts,
        sensitive=keyed.keys[:, q : q + s].astype(np.int32) if s else None,
        target=keyed.keys[:, q + s].astype(np.int32) if target else None,
        persons=None if person is None else number_persons(keyed.keys[:, -2:]),
        meanings=tuple(coder.meaning for coder in sensitive),
    )
    return CountedTable(rows, complete, tuple(columns), tuple(sensitive))


def count_range(table: Holder, name: str, k: int, person: str | None, intervals: Scale) -> tuple[int, int]:
    """The first and the last interval that are left without the k - 1 lowest and the k - 1 highest rows (people)."""
    keyed = table.count(Encoding(categories=(coder_of(name, intervals),)), RowKeys(1), person).value
    codes, counts = keyed.keys[:, 0], keyed.counts
    held = codes >= 0
    codes, counts = codes[held], counts[held]
    if person is not None:  # a person counts once, where it is outermost
        persons = number_persons(keyed.keys[held, -2:])
        number = int(persons.max(initial=-1)) + 1
        lowest, highest = np.full(number, len(intervals.values)), np.full(number, -1)
        np.minimum.at(lowest, persons, codes)
        np.maximum.at(highest, persons, codes)
        lowest, highest = np.sort(lowest), np.sort(highest)
        if number < 2 * k:
            return 0, len(intervals.values) - 1
        return int(lowest[k - 1]), int(highest[-k])
    rows = np.cumsum(np.bincount(codes, counts, len(intervals.values)))
    if rows[-1] < 2 * k:
        return 0, len(intervals.values) - 1
    return int(np.searchsorted(rows, k)), int(np.searchsorted(rows, rows[-1] - k + 1))


def count_holders(table: Holder, name: str, person: str | None, words: Sequence[str]) -> int:
    """How many rows (people) hold one of some texts in a column."""
    coder = LeafCoder(name, tuple(words), None)
    keyed = table.count(Encoding(categories=(coder,)), RowKeys(1), person).value
    return _holders(keyed, keyed.keys[:, 0] >= 0, person)


def count_on_step(table: Holder, person: str | None, coder: StepCoder) -> tuple[int, int]:
    """How many rows (people) hold numbers between two steps, and how many hold numbers on the grid."""
    keyed = table.count(Encoding(categories=(coder,)), RowKeys(1), person).value
    off, on = (_holders(keyed, keyed.keys[:, 0] == code, person) for code in (0, 1))
    return off, on


def _holders(keyed: Keyed, mask: NDArray[np.bool_], person: str | None) -> int:
    if person is None:
        return int(keyed.counts[mask].sum())
    return len(np.unique(number_persons(keyed.keys[mask, -2:])))


def add_population(counted: CountedTable, population: Holder, person: str | None = None) -> CountedTable:
    """The same with how many rows of a population hold each tuple; people whom no label describes do not count.

    `person` is the column of the population that says whose a row is: then tuples say that too.
    """
    coders = [coder_of(name, column) for name, column in zip(counted.names, counted.columns, strict=True)]
    keyed = population.count(Encoding(categories=tuple(coders)), RowKeys(len(coders)), person).value
    codes = keyed.keys[:, : len(coders)].astype(np.int32)
    for j, column in enumerate(counted.columns):
        if isinstance(column, Scale) and column.has_null:
            codes[codes[:, j] == MISSING, j] = len(column.values)
    known = (codes >= 0).all(axis=1)
    rows = counted.rows
    others = {
        part: np.concatenate([values, np.zeros((known.sum(), *values.shape[1:]), values.dtype)])
        for part in ("sensitive", "target", "persons")
        if (values := getattr(rows, part)) is not None
    }
    nobody = np.zeros(len(rows.codes), np.int64)
    persons = None if person is None else np.concatenate([nobody, number_persons(keyed.keys[known, -2:])])
    extended = TupleCounts(
        np.concatenate([rows.codes, codes[known]]),
        np.concatenate([rows.counts, np.zeros(known.sum(), np.int64)]),
        **others,
        population=np.concatenate([nobody, keyed.counts[known]]),
        meanings=rows.meanings,
        population_persons=persons,
    )
    return replace(counted, rows=extended)


def number_persons(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the persons from 0 on; in a key each is a hash of 128 bits, in two columns."""
    whole = np.ascontiguousarray(pairs).view([("high", np.int64), ("low", np.int64)]).ravel()
    return np.unique(whole, return_inverse=True)[1].astype(np.int64)


def _with_null(column: Hierarchy | Scale) -> Hierarchy | Scale:
    return replace(column, has_null=True) if isinstance(column, Scale) else column.with_null()


def _lacking(name: str, column: Hierarchy | Scale, rows: int) -> str:
    held = "1 row holds" if rows == 1 else f"{rows:,} rows hold"
    if isinstance(column, Scale) and column.bounds is not None:
        return f'column "{name}": {held} a value outside the bounds of the schema. Widen them, or correct the rows.'
    origin = column.origin if isinstance(column, Hierarchy) else "its values"
    if isinstance(column, Hierarchy) and column.is_grid:
        return (
            f'column "{name}": {held} a number that is none of the steps of {origin}. Correct the rows, or leave out step: '
            "then labels are intervals."
        )
    return (
        f'column "{name}": {held} a value that {origin} lacks. Add what is missing to the hierarchy, or correct the rows '
        "(blanks need no line: they are a value of their own)."
    )
