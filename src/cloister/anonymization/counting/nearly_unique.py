"""Columns whose values nearly all differ: published as they are, each value would name its row, whatever k says.

Privacy
-------
Exact counts, for the holder. They decide what a syntactic publication refuses; a private release must not look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.risks.fingerprints import NULL, CellKeys, Fingerprints
from cloister.vault import Holder

__all__ = ["check_confirmed", "nearly_unique"]

NEARLY = Fraction(9, 10)  # of the values: as many are different
FEWEST = 20  # filled cells: in a smaller table many a harmless column has no value twice
_SAMPLED = 250_000  # rows up to which every value is looked at; beyond, a sample of the values


@dataclass(frozen=True, slots=True)
class SampledValues:
    """The fingerprint of each cell as its key, NULL for a blank and for a value that is not in the sample.

    A value is in the sample or not with all its rows: then the share of different values in it is that of the column.
    """

    width: int
    one_in: int

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        """The keys of rows that `Fingerprints` encoded."""
        marks = CellKeys(self.width).keys(rows)
        return np.where(marks % self.one_in == 0, marks, NULL)


def nearly_unique(table: Holder, columns: Sequence[str], rows: int, person: str | None) -> tuple[str, ...]:
    """Which columns have at least 90% different values; where people count, a value counts once a person.

    Parameters
    ----------
    table : Holder
    columns : sequence of str
        Those that are looked at. Lists and structs are passed over.
    rows : int
        How many the table has.
    person : str, optional
        The column that says whose a row is.
    """
    single = [column.name for column in table.types(columns) if not pa.types.is_nested(column.type)] if columns else []
    if not single or rows < FEWEST:
        return ()
    encoding = Fingerprints.over(single)
    kernel = SampledValues(encoding.width, max(1, rows // _SAMPLED))
    keyed = table.count(encoding, kernel, person).value
    found = []
    for name, lane in encoding.lanes.items():
        is_filled = keyed.keys[:, lane] != NULL
        values = keyed.keys[is_filled, lane]
        held = int(keyed.counts[is_filled].sum())
        if person is not None:
            held = len(np.unique(np.column_stack([values, keyed.keys[is_filled, -2:]]), axis=0))
        if held >= FEWEST and len(np.unique(values)) >= NEARLY * held:
            found.append(name)
    return tuple(found)


def check_confirmed(unique: Sequence[str], confirmed: Sequence[str]) -> None:
    """Refuse columns with nearly unique values that nobody named, all at once."""
    suspects = [name for name in unique if name not in confirmed]
    if not suspects:
        return
    listed, flag = ", ".join(f'"{name}"' for name in suspects), ",".join(suspects)
    one = len(suspects) == 1
    raise UsageError(
        f"at least {int(100 * NEARLY)}% of the values of column{'' if one else 's'} {listed} are different, so that "
        f"{'it names' if one else 'they name'} single rows whatever k is. Drop {'it' if one else 'them'} (--identifiers "
        f"{flag}), or confirm that {'it is' if one else 'they are'} to be published (--keep-unique {flag})."
    )
