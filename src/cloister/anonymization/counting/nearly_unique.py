"""Columns whose values nearly all differ: published as they are, each value would name its row, whatever k says.

Privacy
-------
Exact counts, for the holder. They decide what a syntactic publication refuses; a private release must not look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.column_names import flag_hint
from cloister.encode import Encoded, Encoding
from cloister.errors import UsageError
from cloister.kernels.keyed import Keyed
from cloister.risks.fingerprints import NULL, CellKeys, Fingerprints, fingerprints_of
from cloister.schema import Date, Kind, Number, Schema
from cloister.schema.arrow_numpy import to_numbers
from cloister.schema.cell_values import are_missing, days, numbers
from cloister.schema.drafts import is_repeated_by_few
from cloister.sources.source import nested_names
from cloister.vault import Holder

__all__ = ["NONE_UNIQUE", "PublishedRows", "UniqueColumns", "check_confirmed", "check_nested", "nearly_unique"]

NEARLY = Fraction(9, 10)  # of the values: as many are different
FEWEST = 20  # filled cells: in a smaller table many a harmless column has no value twice
_SAMPLED = 250_000  # rows (filled cells) up to which every value is looked at; beyond, a sample of the values
_ELSEWHERE = np.int64(1)  # the key of a value that is not in the sample
_CAP = 10  # people of one value that an estimate counts at most: a frequent word in the sample does not decide it
_ERROR = 1 / 30_000  # how often at most a sample of a nearly unique column passes for one of another


@dataclass(frozen=True, slots=True)
class UniqueColumns:
    """Columns that may name single rows or people.

    Those of nearly unique values, those of lists or structs, which nobody counts, and those that are named like numbers of
    people and of whose values each is in few rows.
    """

    counted: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    records: tuple[str, ...] = ()


NONE_UNIQUE = UniqueColumns()


class PublishedRows(Protocol):
    """Which rows of a table are published, by some of its columns: a recoding knows."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that decide it."""
        ...

    def publishes(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Which rows of a batch are published."""
        ...


@dataclass(frozen=True, slots=True)
class PublishedCells(Encoding):
    """Fingerprints of cells; what the schema says is missing is a blank, and so is every cell of a row that is not published."""

    cells: Fingerprints = field(default_factory=Fingerprints)
    kinds: tuple[tuple[str, Kind], ...] = ()  # of the columns that list what is missing
    published: PublishedRows | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys([*self.cells.columns, *(() if self.published is None else self.published.names)]))

    def encode(self, batch: pa.RecordBatch) -> Encoded:
        """Rows -> integers."""
        rows = self.cells.encode(batch)
        marks = CellKeys(self.cells.width).keys(rows).copy()
        for name, lane in self.cells.lanes.items():
            written = written_texts(batch.column(batch.schema.get_field_index(name)))
            if written is not None:  # two texts that differ in blanks alone are published as two
                marks[:, lane] = np.where(marks[:, lane] == NULL, NULL, written)
        for name, kind in self.kinds:
            read = numbers if isinstance(kind, Number) else days if isinstance(kind, Date) else None
            is_missing = are_missing(batch.column(batch.schema.get_field_index(name)), kind.form, read)
            marks[is_missing, self.cells.lanes[name]] = NULL
        if self.published is not None:
            marks[~self.published.publishes(batch)] = NULL
        return Encoded(rows.numbers, marks.view(np.int32).reshape(rows.codes.shape))


def written_texts(values: pa.Array) -> NDArray[np.int64] | None:
    """Fingerprints of texts with the blanks around them, as they are published, (n,); None: the column is not of texts."""
    if pa.types.is_dictionary(values.type):
        listed = written_texts(values.dictionary)
        places = to_numbers(values.indices.cast(pa.int64()), null=-1)
        return None if listed is None else np.append(listed, NULL)[places]
    return fingerprints_of(values) if values.type in (pa.string(), pa.large_string()) else None


@dataclass(frozen=True, slots=True)
class SampledValues:
    """The fingerprint of each cell as its key, NULL for a blank and _ELSEWHERE for a value that is not in the sample.

    A value is in the sample or not with all its rows: the different values in it are one in so many of all.
    """

    width: int
    one_in: int

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        """The keys of rows that `Fingerprints` encoded."""
        marks = CellKeys(self.width).keys(rows)
        return np.where((marks == NULL) | (marks % self.one_in == 0), marks, _ELSEWHERE)


def nearly_unique(
    table: Holder,
    columns: Sequence[str],
    rows: int,
    person: str | None = None,
    schema: Schema | None = None,
    published: PublishedRows | None = None,
    record_names: Sequence[str] = (),
) -> UniqueColumns:
    """Which columns have at least 90% different values; where people count, a value counts once a person.

    Parameters
    ----------
    table : Holder
        What is published; or what it is published from, where people count, whose names are not published.
    columns : sequence of str
        Those that are looked at. Lists and structs are not counted, but named.
    rows : int
        How many the table has.
    person : str, optional
        The column that says whose a row is.
    schema : Schema, optional
        What stands for a missing value.
    published : PublishedRows, optional
        Which rows count. Default: all.
    record_names : sequence of str
        Columns that are named like numbers of people, for which fewer different values are enough.
    """
    nested = nested_names(table.types(columns)) if columns else ()
    single = [name for name in columns if name not in nested]
    if not single or rows < FEWEST:
        return UniqueColumns((), nested)
    listed = {} if schema is None else {name: schema[name].kind for name in single if name in schema}
    kinds = {name: kind for name, kind in listed.items() if kind.form.missing}

    def count(names: Sequence[str], one_in: int) -> dict[str, _Counted]:
        cells = Fingerprints.over(names)
        described = tuple((name, kinds[name]) for name in names if name in kinds)
        encoding = PublishedCells((), cells.categories, None, cells, described, published)
        keyed = table.count(encoding, SampledValues(cells.width, one_in), person).value
        return {name: _counted(keyed, lane, one_in, person is not None) for name, lane in cells.lanes.items()}

    one_in = max(1, rows // _SAMPLED)
    counted = count(single, one_in)
    records = [name for name in single if name in record_names and _names_people(counted[name], one_in)]

    def found(unique: Sequence[str]) -> UniqueColumns:
        return UniqueColumns(tuple(unique), nested, tuple(name for name in records if name not in unique))

    if one_in > 1:
        suspects = [name for name in single if not _surely_repeats(counted[name], one_in)]
        counted = {name: counted[name] for name in suspects}
        # a sample of a few cells tells nothing: all of them are looked at
        few = [name for name in suspects if counted[name].held <= _SAMPLED]
        if few:
            exact = count(few, 1)
            counted = {name: each for name, each in counted.items() if name not in exact or _is_unique(exact[name])}
        return found([name for name, each in counted.items() if each.held >= FEWEST])
    return found([name for name in single if _is_unique(counted[name])])


@dataclass(frozen=True, slots=True)
class _Counted:
    """A column: its filled cells, each value once a person where people count, and its different values in the sample."""

    held: int
    different: int


def _counted(keyed: Keyed, lane: int, one_in: int, by_people: bool) -> _Counted:
    is_filled = keyed.keys[:, lane] != NULL
    values, counts = keyed.keys[is_filled, lane], keyed.counts[is_filled]
    held = _pairs(values, keyed.keys[is_filled, -2:], one_in) if by_people else int(counts.sum())
    return _Counted(held, len(np.unique(values)) - (one_in > 1 and bool((values == _ELSEWHERE).any())))


def _is_unique(counted: _Counted) -> bool:
    return counted.held >= FEWEST and counted.different >= NEARLY * counted.held


def _names_people(counted: _Counted, one_in: int) -> bool:
    return is_repeated_by_few(counted.different * one_in, counted.held)


def _surely_repeats(counted: _Counted, one_in: int) -> bool:
    """Whether a nearly unique column would hardly ever have so few values in the sample: by Chernoff's bound.

    Of m values or more that are each in the sample with probability p, at most mp - t are with probability exp(-t^2 / 2mp).
    """
    expected = float(NEARLY) * counted.held / one_in
    return counted.different < expected - math.sqrt(2 * math.log(1 / _ERROR) * expected)


def _pairs(values: NDArray[np.int64], people: NDArray[np.int64], one_in: int) -> int:
    """How many different pairs of a value and a person there are; of a sample a number that is hardly above.

    Two such numbers are known: those of the sample, and for each person one for all that is not in it; and those of the
    sample as many times as it is small, a frequent value counted as `_CAP` people.
    """
    pairs = np.unique(np.column_stack([values, people]), axis=0)
    if one_in == 1:
        return len(pairs)
    _, holders = np.unique(pairs[pairs[:, 0] != _ELSEWHERE, 0], return_counts=True)
    return max(len(pairs), one_in * int(np.minimum(holders, _CAP).sum()))


def check_nested(table: Holder, columns: Sequence[str], confirmed: Sequence[str]) -> None:
    """Refuse columns of lists or structs that nobody named: before a row is written, their types say so."""
    check_confirmed(UniqueColumns((), nested_names(table.types(columns)) if columns else ()), confirmed)


def check_confirmed(unique: UniqueColumns, confirmed: Sequence[str]) -> None:
    """Refuse columns that may name single rows and that nobody named, all at once."""
    if uncounted := [name for name in unique.nested if name not in confirmed]:
        listed, one = ", ".join(f'"{name}"' for name in uncounted), len(uncounted) == 1
        raise UsageError(
            f"column{'' if one else 's'} {listed} hold{'s' if one else ''} lists or structs, which are not counted and may name "
            f"single rows whatever k is. Drop {'it' if one else 'them'} ({flag_hint('--identifiers', uncounted)}), or confirm "
            f"that {'it is' if one else 'they are'} to be published ({flag_hint('--keep-unique', uncounted)})."
        )
    if named := [name for name in unique.records if name not in confirmed]:
        listed, one = ", ".join(f'"{name}"' for name in named), len(named) == 1
        raise UsageError(
            f"column{'' if one else 's'} {listed} {'is' if one else 'are'} named like numbers of people, and each of "
            f"{'its' if one else 'their'} many values is in a few rows. Drop {'it' if one else 'them'} "
            f"({flag_hint('--identifiers', named)}), or confirm that {'it is' if one else 'they are'} to be published "
            f"({flag_hint('--keep-unique', named)})."
        )
    suspects = [name for name in unique.counted if name not in confirmed]
    if not suspects:
        return
    listed = ", ".join(f'"{name}"' for name in suspects)
    one = len(suspects) == 1
    raise UsageError(
        f"at least {int(100 * NEARLY)}% of the values of column{'' if one else 's'} {listed} are different, so that "
        f"{'it names' if one else 'they name'} single rows whatever k is. Drop {'it' if one else 'them'} "
        f"({flag_hint('--identifiers', suspects)}); generalise {'it' if one else 'them'}, where others may know "
        f"{'it' if one else 'them'} (--quasi), or guard {'it' if one else 'them'}, where nobody should learn "
        f"{'it' if one else 'them'} (--sensitive, with --l-diversity or --t-closeness); or confirm that "
        f"{'it is' if one else 'they are'} to be published ({flag_hint('--keep-unique', suspects)})."
    )
