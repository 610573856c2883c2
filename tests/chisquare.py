"""Statistical checks that tests of random things share.

Each returns whether the draws may be what they should be. Right draws fail a check with probability about 1e-6, its
level. Cells are pooled until 50 draws are expected in each, which keeps the chi-square law close that far out.
Use one of these only beside a planted bug that it catches: a check without power passes everything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

LEVEL = 1e-6
LEAST = 50  # draws expected in a cell

Law = Callable[[NDArray[np.float64]], NDArray[np.float64]]  # P(X <= x), of an integer X

# Even cells in the middle, and finer and finer ones in the tails, where noise that is too small shows first.
TAIL = np.array([1e-4, 3e-4, 1e-3, 3e-3])
QUANTILES = np.concatenate([TAIL, np.arange(1, 64) / 64, 1 - TAIL[::-1]])


def chi_square_ok(observed: ArrayLike, probabilities: ArrayLike, level: float = LEVEL) -> bool:
    """Check counts of cells against the probabilities of the cells, which add up to 1."""
    counts = np.asarray(observed, dtype=np.float64)
    expected = counts.sum() * np.asarray(probabilities, dtype=np.float64)
    if counts[expected == 0].any():
        return False
    cells = _pooled(expected)
    seen = np.bincount(cells, weights=counts)
    wanted = np.bincount(cells, weights=expected)
    if seen.size == 1:
        raise ValueError(f"too few draws to check: all cells together expect {wanted[0]:.0f}")
    return bool(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), seen.size - 1) >= level)


def draws_ok(draws: NDArray[np.int64], law: Law, level: float = LEVEL) -> bool:
    """Check integer draws against a distribution function. The cells follow from the law, not from the draws."""
    low = np.full(QUANTILES.size, -(2.0**52))
    high = np.full(QUANTILES.size, 2.0**52)
    while (high - low > 1).any():  # the least x with P(X <= x) at or above each quantile, by bisection
        middle = np.floor((low + high) / 2)
        reached = law(middle) >= QUANTILES
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    edges = np.unique(high)
    observed = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
    probabilities = np.diff(law(edges), prepend=0.0, append=1.0)
    return chi_square_ok(observed, probabilities, level)


def each_column_ok(draws: NDArray[np.int64], law: Law, level: float = LEVEL) -> bool:
    """Check every column of draws (n, d) by itself against one law, at this level for all columns together."""
    return all(draws_ok(column, law, level / draws.shape[1]) for column in draws.T)


def two_sample_ok(first: NDArray[np.int64], second: NDArray[np.int64], level: float = LEVEL) -> bool:
    """Check whether two samples come from one distribution, whatever it is. The cells follow from both together."""
    edges = np.unique(np.quantile(np.concatenate([first, second]), QUANTILES, method="inverted_cdf"))
    table = np.stack(
        [np.bincount(np.searchsorted(edges, s, side="left"), minlength=edges.size + 1) for s in (first, second)]
    )
    return _table_ok(table, level)


def independent_ok(first: NDArray[np.int64], second: NDArray[np.int64], level: float = LEVEL) -> bool:
    """Check whether pairs (first[i], second[i]) are independent, with both cut at their eighths."""
    eighths = np.arange(1, 8) / 8
    row, column = (
        np.searchsorted(np.unique(np.quantile(s, eighths, method="inverted_cdf")), s, side="left") for s in (first, second)
    )
    table = np.zeros((8, 8))
    np.add.at(table, (row, column), 1)
    return _table_ok(table, level)


def _table_ok(table: NDArray[np.float64] | NDArray[np.int64], level: float) -> bool:
    """Check a table of counts for rows and columns that do not depend on each other."""
    least = LEAST * table.sum() / table.sum(axis=1)[table.sum(axis=1) > 0].min()
    columns = _pooled(table.sum(axis=0).astype(np.float64), least)
    table = np.stack([np.bincount(columns, weights=row) for row in table if row.sum() > 0])
    if min(table.shape) < 2:
        raise ValueError(f"too few draws to check: the table shrinks to {table.shape}")
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return bool(chi2.sf(((table - expected) ** 2 / expected).sum(), freedom) >= level)


def _pooled(expected: NDArray[np.float64], least: float = LEAST) -> NDArray[np.int64]:
    """Number the cells so that neighbours share a number until each number expects enough; the rest joins the last."""
    cells = np.empty(expected.size, dtype=np.int64)
    cell, gathered = 0, 0.0
    for i, value in enumerate(expected):
        cells[i] = cell
        gathered += value
        if gathered >= least:
            cell, gathered = cell + 1, 0.0
    return np.minimum(cells, max(cell - 1, 0))
