"""Rows from tables of pairs: a tree of the strongest dependences between columns, along which rows are drawn.

References
----------
C. K. Chow, C. N. Liu: Approximating discrete probability distributions with dependence trees, 1968.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.synthesis.cell_rows import whole_counts

__all__ = ["DependenceTree", "fit_tree", "mutual_information"]

Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DependenceTree:
    """Columns in an order in which each one depends on at most one before it.

    Attributes
    ----------
    order : the columns
    parents : of each column the one that it depends on; None: on none
    shares : of each column its values' shares, (k,), or given those of its parent, (k_parent, k)
    """

    order: tuple[int, ...]
    parents: Mapping[int, int | None]
    shares: Mapping[int, Shares]

    def rows(self, count: int, random: np.random.Generator) -> NDArray[np.int32]:  # public
        """So many rows, (count, columns); within each value of its parent a column has its shares as nearly as rows can."""
        drawn = np.zeros((count, len(self.order)), dtype=np.int32)
        for column in self.order:
            parent = self.parents[column]
            if parent is None:
                drawn[:, column] = spread(self.shares[column], count, random)
                continue
            for value, shares in enumerate(self.shares[column]):
                places = np.flatnonzero(drawn[:, parent] == value)
                drawn[places, column] = spread(shares, len(places), random)
        return drawn


def spread(shares: Shares, count: int, random: np.random.Generator) -> NDArray[np.int32]:  # public
    """So many values with these shares, in a random order."""
    values = np.repeat(np.arange(shares.size, dtype=np.int32), whole_counts(shares, count, random))
    random.shuffle(values)
    return values


def fit_tree(
    singles: Sequence[Shares], pairs: Mapping[tuple[int, int], Shares], noise: Mapping[tuple[int, int], float]
) -> DependenceTree:
    """The tree of the largest mutual information; a pair that depends no more than its noise explains is left out.

    Parameters
    ----------
    singles : the shares of each column's values
    pairs : for columns i < j the shares of their pairs of values, (k_i, k_j), not negative
    noise : for each pair about the mutual information that noise alone would show

    Examples
    --------
    >>> same = np.array([[0.5, 0.0], [0.0, 0.5]])
    >>> tree = fit_tree([np.array([0.5, 0.5])] * 2, {(0, 1): same}, {(0, 1): 0.01})
    >>> rows = tree.rows(10, np.random.default_rng(0))
    >>> bool((rows[:, 0] == rows[:, 1]).all()), int(rows[:, 0].sum())
    (True, 5)
    """
    strength = {pair: mutual_information(shares) - noise[pair] for pair, shares in pairs.items()}
    order: list[int] = []
    parents: dict[int, int | None] = {0: None}
    best = dict.fromkeys(range(len(singles)), 0.0)  # of each column that is left: its strongest pair with the tree
    while best:  # Prim's algorithm
        column = max(best, key=lambda left: (best[left], -left))
        order.append(column)
        del best[column]
        for left in best:
            gain = strength.get((min(column, left), max(column, left)), 0.0)
            if gain > best[left]:
                best[left], parents[left] = gain, column
    shares: dict[int, Shares] = {}
    for column in order:
        parent = parents.setdefault(column, None)
        if parent is None:
            shares[column] = singles[column]
            continue
        table = pairs[parent, column] if parent < column else pairs[column, parent].T
        weight = table.sum(axis=1, keepdims=True)
        shares[column] = np.where(weight > 0, table / np.where(weight > 0, weight, 1.0), singles[column])
    return DependenceTree(tuple(order), parents, shares)


def mutual_information(shares: Shares) -> float:
    """How much one of two columns says about the other, in nats.

    >>> mutual_information(np.full((2, 2), 0.25))
    0.0
    """
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    seen = shares > 0
    return float((shares[seen] * np.log(shares[seen] / expected[seen])).sum())
