"""Impossible rows: released rows with two words together that no row of the original has, or fewer than one in 10,000.

A fresh row of the same kind may hold a rare pair that the original happens to lack. So the share is read beside a natural
rate: that of the control or, without one, the share of original rows that have a pair which (hardly) no other original row has,
which is what the original would find impossible of itself, one row left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cloister.risks.rows.kept_shares import MOST_CELLS, MOST_COLUMNS
from cloister.risks.rows.row_tables import RowTable

__all__ = ["ImpossibleRows", "impossible_rows"]

SELDOM = 1e-4  # of the original's rows: two words that meet less often hardly ever do


@dataclass(frozen=True, slots=True)
class ImpossibleRows:
    """Shares of rows with a pair of words that the original lacks."""

    share: float
    natural: float  # of original rows: with a pair that no other original row has
    worst: tuple[str, str]  # the pair of columns with most such rows
    worst_share: float


def impossible_rows(original: RowTable, other: RowTable) -> ImpossibleRows | None:
    """How many rows of another table hold two words that never meet in the original; None with fewer than two such columns."""
    columns = original.columns
    places = [j for j, column in enumerate(columns[:MOST_COLUMNS]) if not column.is_number]
    pairs = [(i, j) for i, j in combinations(places, 2) if columns[i].size * columns[j].size <= MOST_CELLS]
    if not pairs:
        return None
    never, alone = np.zeros(len(other), bool), np.zeros(len(original), bool)
    shares = {}
    for i, j in pairs:
        cells, other_cells = (_together(table, i, j) for table in (original, other))
        rows = np.bincount(cells, original.counts, columns[i].size * columns[j].size)  # (cells,) exact: whole numbers
        is_never = rows[other_cells] < SELDOM * original.rows
        shares[columns[i].name, columns[j].name] = float(other.counts[is_never].sum()) / other.rows
        never |= is_never
        alone |= rows[cells] - 1 < SELDOM * original.rows
    worst = max(shares, key=lambda pair: shares[pair])
    share, natural = (float(table.counts[rows].sum()) / table.rows for table, rows in ((other, never), (original, alone)))
    return ImpossibleRows(share, natural, worst, shares[worst])


def _together(table: RowTable, i: int, j: int) -> NDArray[np.int64]:
    """One code for the words of two columns, each row."""
    together: NDArray[np.int64] = table.cells[:, i].astype(np.int64) * table.columns[j].size + table.cells[:, j]
    return together
