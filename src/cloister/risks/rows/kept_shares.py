"""What shares of rows a release keeps: total variation of every column and of every pair of columns.

The total variation of two tables is half the sum, over all cells, of how much the shares of rows differ: 0 where they are equal,
1 where no value of one occurs in the other. It is also the largest error of any count over these columns, as a share of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cloister.risks.rows.row_tables import RowTable

__all__ = ["MOST_CELLS", "MOST_COLUMNS", "WORST", "KeptShares", "Variation", "kept_shares", "shares_of"]

MOST_CELLS = 100_000  # of a pair: above, nearly every row has a cell of its own, and its share says nothing
MOST_COLUMNS = 60  # of which all pairs are looked at
WORST = 8


@dataclass(frozen=True, slots=True)
class Variation:
    """The total variation of one or two columns."""

    columns: tuple[str, ...]
    variation: float


@dataclass(frozen=True, slots=True)
class KeptShares:
    """Total variation of columns, in their order, and of pairs, the worst first."""

    columns: tuple[Variation, ...]
    pairs: tuple[Variation, ...]
    skipped: int  # pairs with more than `MOST_CELLS` cells, or of more than `MOST_COLUMNS` columns

    @property
    def column_mean(self) -> float:
        """The mean over columns."""
        return float(np.mean([each.variation for each in self.columns]))

    @property
    def worst_column(self) -> Variation:
        """The column that is kept worst."""
        return max(self.columns, key=lambda each: each.variation)

    @property
    def pair_mean(self) -> float | None:
        """The mean over pairs; None without any."""
        return float(np.mean([each.variation for each in self.pairs])) if self.pairs else None

    @property
    def worst_pairs(self) -> tuple[Variation, ...]:
        """The pairs that are kept worst."""
        return self.pairs[:WORST]


def kept_shares(original: RowTable, released: RowTable) -> KeptShares:
    """Compare the shares of two tables that are laid out alike."""
    columns = original.columns
    single = tuple(
        Variation((column.name,), variation(*(shares_of(table, j) for table in (original, released))))
        for j, column in enumerate(columns)
    )
    pairs = []
    looked_at = min(len(columns), MOST_COLUMNS)
    for i, j in combinations(range(looked_at), 2):
        if columns[i].size * columns[j].size <= MOST_CELLS:
            names = (columns[i].name, columns[j].name)
            pairs.append(Variation(names, variation(*(shares_of(table, i, j) for table in (original, released)))))
    pairs.sort(key=lambda each: -each.variation)
    return KeptShares(single, tuple(pairs), len(columns) * (len(columns) - 1) // 2 - len(pairs))


def shares_of(table: RowTable, i: int, j: int | None = None) -> NDArray[np.float64]:
    """The share of rows in each cell of one or two columns."""
    cells, size = table.cells[:, i].astype(np.int64), table.columns[i].size
    if j is not None:
        cells, size = cells * table.columns[j].size + table.cells[:, j], size * table.columns[j].size
    shares: NDArray[np.float64] = np.bincount(cells, table.counts, size) / table.rows
    return shares


def variation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Half the sum of differences.

    >>> variation(np.array([0.5, 0.5, 0]), np.array([0.25, 0.5, 0.25]))
    0.25
    """
    return float(np.abs(one - other).sum() / 2)
