"""Columns whose values nearly all differ: published as they are, each value would name its row, whatever k says.

Privacy
-------
Exact counts, for the holder. They decide what a syntactic publication refuses; a private release must not look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.column_names import flag_hint
from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.risks.fingerprints import NULL, CellKeys, Fingerprints
from cloister.sources.source import nested_names
from cloister.vault import Holder

__all__ = ["NONE_UNIQUE", "UniqueColumns", "check_confirmed", "nearly_unique"]

NEARLY = Fraction(9, 10)  # of the values: as many are different
FEWEST = 20  # filled cells: in a smaller table many a harmless column has no value twice
_SAMPLED = 250_000  # rows up to which every value is looked at; beyond, a sample of the values
_ELSEWHERE = np.int64(1)  # the key of a value that is not in the sample
_CAP = 10  # people of one value that an estimate counts at most: a frequent word in the sample does not decide it
_DEVIATIONS = 4  # standard deviations by which an estimate may fall short: one in 30,000 does


@dataclass(frozen=True, slots=True)
class UniqueColumns:
    """Columns that may name single rows: of nearly unique values, and of lists or structs, which nobody counts."""

    counted: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()


NONE_UNIQUE = UniqueColumns()


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


def nearly_unique(table: Holder, columns: Sequence[str], rows: int, person: str | None) -> UniqueColumns:
    """Which columns have at least 90% different values; where people count, a value counts once a person.

    Parameters
    ----------
    table : Holder
    columns : sequence of str
        Those that are looked at. Lists and structs are not counted, but named.
    rows : int
        How many the table has.
    person : str, optional
        The column that says whose a row is.
    """
    nested = nested_names(table.types(columns)) if columns else ()
    single = [name for name in columns if name not in nested]
    if not single or rows < FEWEST:
        return UniqueColumns((), nested)
    encoding = Fingerprints.over(single)
    one_in = max(1, rows // _SAMPLED)
    keyed = table.count(encoding, SampledValues(encoding.width, one_in), person).value
    found = []
    for name, lane in encoding.lanes.items():
        is_filled = keyed.keys[:, lane] != NULL
        values, counts = keyed.keys[is_filled, lane], keyed.counts[is_filled]
        people = None if person is None else keyed.keys[is_filled, -2:]
        held = int(counts.sum()) if people is None else _pairs(values, people, one_in)
        sampled = len(np.unique(values)) - (one_in > 1 and bool((values == _ELSEWHERE).any()))
        slack = _DEVIATIONS * math.sqrt(sampled) if one_in > 1 else 0.0
        if held >= FEWEST and (sampled + slack) * one_in >= NEARLY * held:
            found.append(name)
    return UniqueColumns(tuple(found), nested)


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


def check_confirmed(unique: UniqueColumns, confirmed: Sequence[str]) -> None:
    """Refuse columns that may name single rows and that nobody named, all at once."""
    if uncounted := [name for name in unique.nested if name not in confirmed]:
        listed, one = ", ".join(f'"{name}"' for name in uncounted), len(uncounted) == 1
        raise UsageError(
            f"column{'' if one else 's'} {listed} hold{'s' if one else ''} lists or structs, which are not counted and may name "
            f"single rows whatever k is. Drop {'it' if one else 'them'} ({flag_hint('--identifiers', uncounted)}), or confirm "
            f"that {'it is' if one else 'they are'} to be published ({flag_hint('--keep-unique', uncounted)})."
        )
    suspects = [name for name in unique.counted if name not in confirmed]
    if not suspects:
        return
    listed = ", ".join(f'"{name}"' for name in suspects)
    one = len(suspects) == 1
    raise UsageError(
        f"at least {int(100 * NEARLY)}% of the values of column{'' if one else 's'} {listed} are different, so that "
        f"{'it names' if one else 'they name'} single rows whatever k is. Drop {'it' if one else 'them'} "
        f"({flag_hint('--identifiers', suspects)}), or confirm that {'it is' if one else 'they are'} to be published "
        f"({flag_hint('--keep-unique', suspects)})."
    )
