"""Junction trees: which columns a model must keep together so that tables of a few columns at a time make one distribution.

References
----------
S. L. Lauritzen and D. J. Spiegelhalter, "Local computations with probabilities on graphical structures", JRSS-B 1988.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from math import prod

__all__ = ["Cluster", "JunctionTree", "Kept", "cells_of_model", "make_junction_tree"]

Kept = tuple[int, ...]
"""The columns of a table, in rising order."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Columns that are kept together, and how they hang on the cluster before.

    Attributes
    ----------
    columns : in rising order
    shape : how many values each has
    parent : the place of the cluster that it hangs on; None for the first
    own : the axes that the parent does not have
    beyond : the axes of the parent that this one does not have
    """

    columns: Kept
    shape: tuple[int, ...]
    parent: int | None
    own: tuple[int, ...]
    beyond: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many cells its table has."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Clusters of columns, each after the one that it hangs on; what two of them share, all between them have.

    Every cluster but the first hangs on one, if only by no column at all.
    """

    sizes: tuple[int, ...]
    clusters: tuple[Cluster, ...]

    @property
    def cells(self) -> int:
        """How many cells all clusters have together: what memory and time grow with."""
        return sum(cluster.cells for cluster in self.clusters)

    def home(self, kept: Kept) -> tuple[int, tuple[int, ...]]:
        """The smallest cluster that has these columns, and its axes over which a table of them adds up."""
        wanted = set(kept)
        holding = [i for i, cluster in enumerate(self.clusters) if wanted <= set(cluster.columns)]
        place = min(holding, key=lambda i: (self.clusters[i].cells, i))
        return place, tuple(axis for axis, column in enumerate(self.clusters[place].columns) if column not in wanted)


@lru_cache(maxsize=4096)
def make_junction_tree(sizes: tuple[int, ...], tables: frozenset[Kept]) -> JunctionTree:
    """A tree whose clusters hold every table, found by eliminating the column whose neighbours have the fewest cells together.

    Parameters
    ----------
    sizes : how many values each column has
    tables : the columns of each table

    Examples
    --------
    >>> tree = make_junction_tree((2, 3, 4), frozenset({(0, 1), (1, 2)}))
    >>> [cluster.columns for cluster in tree.clusters], tree.cells
    ([(0, 1), (1, 2)], 18)
    """
    found = largest_clusters(sizes, tables)
    return JunctionTree(sizes, tuple(hang(found, sizes)))


@lru_cache(maxsize=4096)
def cells_of_model(sizes: tuple[int, ...], tables: frozenset[Kept]) -> int:
    """How many cells the junction tree of these tables has, without making it.

    >>> cells_of_model((2, 3, 4), frozenset({(0, 1), (1, 2)}))
    18
    """
    return sum(prod(sizes[column] for column in cluster) for cluster in largest_clusters(sizes, tables))


def largest_clusters(sizes: Sequence[int], tables: Iterable[Kept]) -> list[Kept]:
    """The clusters of the graph in which the columns of a table are neighbours, once it has no hole."""
    near: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
    for table in tables:
        for one, other in permutations(table, 2):
            near[one].add(other)
    cells = {column: sizes[column] * prod(sizes[other] for other in near[column]) for column in near}
    found: list[frozenset[int]] = []
    while near:
        column = min(near, key=lambda left: (cells[left], left))
        neighbours = near.pop(column)
        cluster = frozenset({column, *neighbours})
        if not any(cluster <= other for other in found):
            found.append(cluster)
        for one, other in combinations(neighbours, 2):
            near[one].add(other)
            near[other].add(one)
        for other in neighbours:
            near[other].discard(column)
            cells[other] = sizes[other] * prod(sizes[each] for each in near[other])
    return [tuple(sorted(cluster)) for cluster in found]


def hang(found: Sequence[Kept], sizes: Sequence[int]) -> Iterable[Cluster]:
    """The clusters along a tree of the most shared columns (Prim's algorithm)."""
    order = [0]
    left = dict.fromkeys(
        range(1, len(found)), 0
    )  # of each cluster that is left: the place in `order` that it shares most with
    yield Cluster(found[0], tuple(sizes[column] for column in found[0]), None, tuple(range(len(found[0]))), ())
    while left:
        place = max(left, key=lambda i: (len(set(found[i]) & set(found[order[left[i]]])), -i))
        parent, columns = left.pop(place), found[place]
        above = found[order[parent]]
        own = tuple(axis for axis, column in enumerate(columns) if column not in above)
        beyond = tuple(axis for axis, column in enumerate(above) if column not in columns)
        yield Cluster(columns, tuple(sizes[column] for column in columns), parent, own, beyond)
        order.append(place)
        for other, best in left.items():
            if len(set(found[other]) & set(columns)) > len(set(found[other]) & set(found[order[best]])):
                left[other] = len(order) - 1
