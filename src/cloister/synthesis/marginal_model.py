"""One distribution from noisy tables of a few columns at a time, and rows of it.

Among all distributions of all columns, that one is looked for whose tables are nearest to the noisy ones in weighted least
squares; it is a product of factors, one a table, and a junction tree holds its marginals. Nothing but noisy tables and the size
of their noise comes in, so all of this is free.

References
----------
R. McKenna, D. Sheldon and G. Miklau, "Graphical-model based estimation and inference for differential privacy", ICML 2019 (the
objective, and mirror descent on it).
A. Auslender and M. Teboulle, "Interior gradient and proximal methods for convex and conic optimization", 2006 (its acceleration).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.synthesis.cell_rows import whole_counts
from cloister.synthesis.junction_tree import Cluster, JunctionTree, Kept, make_junction_tree

__all__ = ["MarginalModel", "NoisyMarginal", "combined_total", "fit_marginals"]

Table = NDArray[np.float64]
PAUSE, ENOUGH = 20, 1e-5  # descent ends when so many steps move no marginal by more than this total variation
WILDEST = (-1.0, 2.0)  # shares that noise can pretend
SMALLEST = 1e-300  # a share below has lost digits, and what is divided by it may be anything


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMarginal:
    """A noisy table of counts: its columns in rising order, one axis each, and the standard deviation of the noise of a cell.

    A table of deviations has one for each cell.
    """

    kept: Kept
    counts: Table
    deviation: float | Table

    @property
    def total(self) -> tuple[float, float]:
        """The sum of all cells, and its deviation when their noise is independent."""
        return float(self.counts.sum()), sqrt(float(np.broadcast_to(np.square(self.deviation), self.counts.shape).sum()))

    def joined(self, other: NoisyMarginal) -> NoisyMarginal:
        """What two noisy tables of the same columns say together, each weighted by its precision."""
        one, two = self.deviation**-2, other.deviation**-2
        return NoisyMarginal(self.kept, (one * self.counts + two * other.counts) / (one + two), (one + two) ** -0.5)


def combined_total(totals: Sequence[tuple[float, float]]) -> float:
    """The best estimate of a number from several noisy ones with their deviations; a deviation of 0 is exact.

    >>> combined_total([(10.0, 1.0), (16.0, 2.0)])
    11.2
    """
    for total, deviation in totals:
        if deviation == 0:
            return total
    weights = [deviation**-2 for _, deviation in totals]
    return sum(total * weight for (total, _), weight in zip(totals, weights, strict=True)) / sum(weights)


@dataclass(frozen=True, slots=True, eq=False)
class MarginalModel:
    """A distribution over all columns.

    Attributes
    ----------
    tree : which columns are kept together
    marginals : the shares of the cells of each cluster; clusters agree on what they share
    factors : the logarithm of the factor of each table, from which another fit may go on
    """

    tree: JunctionTree
    marginals: tuple[Table, ...]
    factors: Mapping[Kept, Table] = field(repr=False)

    def table(self, kept: Kept) -> Table:
        """The shares of the cells of some columns that one cluster has."""
        place, others = self.tree.home(kept)
        return np.asarray(self.marginals[place].sum(axis=others))

    def pairs(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Table]:
        """The shares of pairs of columns, wherever they lie in the tree."""
        missing: dict[int, set[int]] = {}
        for one, other in wanted:
            missing.setdefault(one, set()).add(other)
        return {(one, other): table for one, others in missing.items() for other, table in self._with(one, others).items()}

    def _with(self, column: int, others: set[int]) -> dict[int, Table]:
        """The tables of a column with some others: what is known of it is handed on from cluster to cluster."""
        start, _ = self.tree.home((column,))
        axis = self.tree.clusters[start].columns.index(column)
        first = np.zeros((self.tree.sizes[column], *self.tree.clusters[start].shape))
        values = np.arange(self.tree.sizes[column])
        np.moveaxis(first, axis + 1, 1)[values, values] = np.moveaxis(self.marginals[start], axis, 0)
        tables: dict[int, Table] = {}
        waiting = [(start, -1, first)]
        while waiting and len(tables) < len(others):
            place, before, joint = waiting.pop()
            columns = self.tree.clusters[place].columns
            for at, other in enumerate(columns):
                if other in others and other not in tables:
                    tables[other] = joint.sum(axis=tuple(i + 1 for i in range(len(columns)) if i != at))
            for near, here, there in neighbours(self.tree, place):
                if near != before:
                    shared = joint.sum(axis=tuple(i + 1 for i in here))
                    given = shared / positive(self.marginals[near].sum(axis=there))
                    waiting.append((near, place, np.expand_dims(given, tuple(i + 1 for i in there)) * self.marginals[near]))
        return tables

    def rows(self, count: int, random: np.random.Generator) -> NDArray[np.int32]:  # public
        """So many rows, (count, columns); in every cluster the cells have their shares as nearly as whole rows can."""
        drawn = np.zeros((count, len(self.tree.sizes)), dtype=np.int32)
        for cluster, shares in zip(self.tree.clusters, self.marginals, strict=True):
            own = [cluster.columns[axis] for axis in cluster.own]
            known = [column for column in cluster.columns if column not in own]
            by_known = np.moveaxis(shares, cluster.own, range(-len(own), 0))
            given = by_known.reshape(-1, int(np.prod(by_known.shape[len(known) :], dtype=np.int64)))
            cells = spread_within(given, cell_numbers(drawn, known, self.tree.sizes), random)
            for column, values in zip(own, np.unravel_index(cells, by_known.shape[len(known) :]), strict=True):
                drawn[:, column] = values
        return drawn


def neighbours(tree: JunctionTree, place: int) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """The clusters beside one, each with the axes that are summed here, and there, to get what both share."""
    cluster = tree.clusters[place]
    found = [] if cluster.parent is None else [(cluster.parent, cluster.own, cluster.beyond)]
    return found + [(i, other.beyond, other.own) for i, other in enumerate(tree.clusters) if other.parent == place]


def positive(table: Table) -> Table:
    """The table with 1 where it is next to nothing: what is divided by it is next to nothing there too."""
    return np.where(table > SMALLEST, table, 1.0)


def cell_numbers(rows: NDArray[np.int32], columns: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The cell of each row in a table of some columns, the last one changing fastest, (n,)."""
    cells = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        cells = cells * sizes[column] + rows[:, column]
    return cells


def spread_within(shares: Table, groups: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:  # public
    """A cell for each row; within each group, by its row of shares (groups, cells), as nearly as whole rows can."""
    order = random.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    counts = np.bincount(groups, minlength=len(shares))
    drawn = np.zeros(len(groups), dtype=np.int64)
    start = 0
    for group in np.flatnonzero(counts):
        places = order[start : start + counts[group]]
        drawn[places] = np.repeat(np.arange(shares.shape[1]), whole_counts(shares[group], len(places), random))
        start += len(places)
    return drawn


def fit_marginals(
    sizes: Sequence[int],
    noisy: Sequence[NoisyMarginal],
    total: float,
    steps: int,
    start: MarginalModel | None = None,
) -> MarginalModel:
    """The distribution whose tables, times the total, are nearest to the noisy ones, after so many steps of descent at most.

    Parameters
    ----------
    sizes : how many values each column has
    noisy : tables of one or several columns each; those of the same columns are joined first
    total : the number of rows, above 0
    steps : more are nearer
    start : a model to go on from; its factors are taken over

    Examples
    --------
    >>> both = NoisyMarginal((0, 1), np.array([[50.0, 0.0], [0.0, 50.0]]), 1.0)
    >>> fit_marginals((2, 2), [both], 100.0, 400).table((0, 1)).round(2).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    by_columns: dict[Kept, NoisyMarginal] = {}
    for marginal in noisy:
        before = by_columns.get(marginal.kept)
        by_columns[marginal.kept] = marginal if before is None else before.joined(marginal)
    tree = make_junction_tree(tuple(sizes), frozenset(by_columns))
    return Descent(tree, by_columns, total).run(steps, start)


class Descent:
    """Accelerated interior gradient descent on shares, with entropy in place of squared distance.

    In shares the loss is half the sum of |table - noisy / total|^2 weighted by (total / deviation)^2. A share that moves by m in
    the sum of its absolute changes moves every table by at most m, so the sum of the largest weight of each table bounds how fast
    the slope changes.
    """

    def __init__(self, tree: JunctionTree, noisy: Mapping[Kept, NoisyMarginal], total: float) -> None:
        self._tree = tree
        # noise of more than all rows says no more than its sign: without a bound factors would grow until they lose their digits
        self._targets = {kept: np.clip(marginal.counts / total, *WILDEST) for kept, marginal in noisy.items()}
        self._weights = {kept: (total / marginal.deviation) ** 2 for kept, marginal in noisy.items()}
        self._homes = {kept: tree.home(kept) for kept in noisy}
        # shapes with 1 along what was summed, in which tables are added to those of their cluster, and messages handed on
        shapes = [cluster.shape for cluster in tree.clusters]
        self._wide = {kept: kept_shape(shapes[place], others) for kept, (place, others) in self._homes.items()}
        self._here = [kept_shape(cluster.shape, cluster.own) for cluster in tree.clusters]
        self._above = [kept_shape(shapes[cluster.parent or 0], cluster.beyond) for cluster in tree.clusters]
        self._steepest = sum(float(np.max(weight)) for weight in self._weights.values())

    def run(self, steps: int, start: MarginalModel | None) -> MarginalModel:
        """Go so many steps."""
        known: Mapping[Kept, Table] = {} if start is None else start.factors
        factors = {kept: known.get(kept, np.zeros(target.shape)) for kept, target in self._targets.items()}
        end = average = self._marginals(factors)
        before, left = average, 1.0
        for step in range(1, steps + 1):
            part = (sqrt(left**2 + 4 * left) - left) / 2  # part^2 = left (1 - part): it falls as 2 / step
            middle = mixed(average, end, part)
            left *= 1 - part
            for kept, target in self._targets.items():
                place, others = self._homes[kept]
                slope = self._weights[kept] / self._steepest * (middle[place].sum(axis=others) - target)
                factors[kept] = factors[kept] - part / left * slope
            end = self._marginals(factors)
            average = mixed(average, end, part)
            if step % PAUSE == 0:
                if moved(average, before) < ENOUGH:
                    break
                before = average
        return MarginalModel(self._tree, tuple(average), factors)

    def _marginals(self, factors: Mapping[Kept, Table]) -> list[Table]:
        """The marginals of the clusters of the product of all factors: up the tree, and down again, in logarithms."""
        clusters = self._tree.clusters
        logs = [np.zeros(cluster.shape) for cluster in clusters]
        for kept, factor in factors.items():
            logs[self._homes[kept][0]] += factor.reshape(self._wide[kept])
        messages: list[Table] = [np.zeros(()) for _ in clusters]
        for place in range(len(clusters) - 1, 0, -1):
            cluster = clusters[place]
            messages[place] = log_sum(logs[place], cluster.own)
            logs[parent_of(cluster)] += messages[place].reshape(self._above[place])
        logs[0] -= log_sum(logs[0], clusters[0].own)
        shares = [np.exp(logs[0])]
        for place in range(1, len(clusters)):
            cluster = clusters[place]
            shared = shares[parent_of(cluster)].sum(axis=cluster.beyond)
            given = np.exp(logs[place] - messages[place].reshape(self._here[place]))
            shares.append(given * shared.reshape(self._here[place]))
        return shares


def kept_shape(shape: tuple[int, ...], summed: tuple[int, ...]) -> tuple[int, ...]:
    """A shape with 1 along the axes that are summed."""
    return tuple(1 if axis in summed else size for axis, size in enumerate(shape))


def parent_of(cluster: Cluster) -> int:
    """The cluster that one other than the first hangs on."""
    assert cluster.parent is not None
    return cluster.parent


def log_sum(logs: Table, axes: tuple[int, ...]) -> Table:
    """The logarithm of the sum of exponentials along some axes, which then are gone."""
    top = logs.max(axis=axes, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=axes)) + np.squeeze(top, axis=axes))


def moved(one: Sequence[Table], other: Sequence[Table]) -> float:
    """The largest total variation between two sets of marginals."""
    return max(float(np.abs(a - b).sum()) / 2 for a, b in zip(one, other, strict=True))


def mixed(one: Sequence[Table], other: Sequence[Table], part: float) -> list[Table]:
    """So much of the other, the rest of the one."""
    return [(1 - part) * a + part * b for a, b in zip(one, other, strict=True)]
