"""How columns go together in a release and in its original: Pearson's correlation of numbers, Cramer's V of words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cloister.risks.rows.kept_shares import MOST_CELLS, MOST_COLUMNS, shares_of
from cloister.risks.rows.row_tables import RowTable

__all__ = ["STRONG", "KeptTies", "LostTie", "correlations", "cramers_v"]

STRONG = 0.3  # from here on two columns go together strongly


@dataclass(frozen=True, slots=True)
class KeptTies:
    """How much a measure of pairs differs between two tables."""

    pairs: int
    mean: float  # of absolute differences
    largest: float
    worst: tuple[str, str]
    original: float  # of the worst pair
    released: float
    lost: LostTie | None = None


@dataclass(frozen=True, slots=True)
class LostTie:
    """Of the pairs that go together strongly in the original, the one that has lost most of it."""

    pairs: int  # that are strong
    columns: tuple[str, str]
    original: float
    released: float


def correlations(original: RowTable, released: RowTable) -> KeptTies | None:
    """Differences of Pearson's correlations between number columns; None with fewer than two that vary.

    A pair of which a column does not vary in the original is left out. If it does not vary in the release, its
    correlation there is 0.
    """
    return _compared(original, released, [column.name for column in original.columns if column.is_number], _pearson)


def cramers_v(original: RowTable, released: RowTable) -> KeptTies | None:
    """Differences of Cramer's V between columns of words."""
    return _compared(original, released, [column.name for column in original.columns if not column.is_number], _cramer)


def _compared(
    original: RowTable, released: RowTable, names: list[str], measure: Callable[[RowTable, str, str], float | None]
) -> KeptTies | None:
    before = {pair: measure(original, *pair) for pair in combinations(names[:MOST_COLUMNS], 2)}
    ties = {pair: (tie, measure(released, *pair) or 0.0) for pair, tie in before.items() if tie is not None}
    if not ties:
        return None
    differences = {pair: abs(one - other) for pair, (one, other) in ties.items()}
    worst = max(differences, key=lambda pair: differences[pair])
    mean = float(np.mean(list(differences.values())))
    return KeptTies(len(ties), mean, differences[worst], worst, *ties[worst], lost=_lost(ties))


def _lost(ties: dict[tuple[str, str], tuple[float, float]]) -> LostTie | None:
    """The strong pair that lost most: a rare pair of words that became frequent is seen here, and not among impossible rows."""
    drops = {pair: abs(one) - np.sign(one) * other for pair, (one, other) in ties.items() if abs(one) >= STRONG}
    if not drops:
        return None
    columns = max(drops, key=lambda pair: drops[pair])
    return LostTie(len(drops), columns, *ties[columns])


def _pearson(table: RowTable, first: str, second: str) -> float | None:
    """The correlation over rows that have both numbers; None where one of them does not vary."""
    one, other = table.scaled(first), table.scaled(second)
    both = ~(np.isnan(one) | np.isnan(other))
    weights = table.counts[both].astype(np.float64)
    if not len(weights):
        return None
    one, other = (each[both] - np.average(each[both], weights=weights) for each in (one, other))
    spread = float(np.sqrt((one**2 @ weights) * (other**2 @ weights)))
    return None if spread < 1e-12 else float((one * other) @ weights / spread)


def _cramer(table: RowTable, first: str, second: str) -> float | None:
    """Cramer's V; None where one column has one value, or the pair too many cells."""
    i, j = table.place(first), table.place(second)
    rows, columns = table.columns[i].size, table.columns[j].size
    if rows * columns > MOST_CELLS:
        return None
    joint = shares_of(table, i, j).reshape(rows, columns)
    left, right = joint.sum(axis=1), joint.sum(axis=0)
    degrees = min((left > 0).sum(), (right > 0).sum()) - 1
    if degrees < 1:
        return None
    expected = np.outer(left, right)
    squares = np.divide((joint - expected) ** 2, expected, out=np.zeros_like(joint), where=expected > 0)
    return float(np.sqrt(squares.sum() / degrees))
