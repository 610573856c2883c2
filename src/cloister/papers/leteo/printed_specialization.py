"""Top-down specialization as LETEO prints it (section 3.2), with its gains as printed and as they are meant.

What is wrong with the print:

- equation 3.3 takes the entropy after a step from the entropy before it. A step never lowers the entropy, so that every gain is
  at most 0, and the greedy choice takes the step that tells least; divided by 1 + the anonymity lost, among steps that tell as
  much it takes the one that costs most;
- equations 3.4 and 3.5 add over all *rows*, each with the share of its tuple, so that a tuple of n rows counts n times;
- equation 3.5 is the distance that is left after a step, and not how much of it the step takes away: again the worst is taken.

k-anonymity is a property of the table that comes out, not of the process: no epsilon is claimed, and none can be proved.

References
----------
LETEO technical report, 2021, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.papers.holder_rows import holder_rows
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed
from cloister.schema.hierarchies import Hierarchy

__all__ = ["INFORMATION", "READINGS", "Information", "PrintedTable", "Reading", "specialize_as_printed"]

Information = Literal["entropy", "distance"]
Reading = Literal["as meant", "printed sign", "to the letter"]
INFORMATION: tuple[Information, ...] = get_args(Information)
READINGS: tuple[Reading, ...] = get_args(Reading)
"""As meant: what a step adds. Printed sign: the signs of 3.3 and 3.5 as printed. To the letter: their sums over rows too."""


@dataclass(frozen=True, slots=True, eq=False)
class PrintedTable:
    """What comes out: labels for the rows that are kept, what is lost, and what was done. For the holder alone."""

    names: tuple[str, ...]
    labels: NDArray[np.int32]  # (rows kept, q): the node of its taxonomy that each cell is published as
    kept: NDArray[np.int64]  # (rows kept,): which rows
    losses: dict[str, float]  # of each column, a removed row counting 1
    steps: tuple[str, ...]  # the labels that were split, in turn
    smallest: int  # rows of the smallest class
    classes: int
    removed: int  # rows

    @property
    def loss(self) -> float:
        """The mean of the columns' losses."""
        return float(np.mean(list(self.losses.values())))


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """A candidate: node `parent` of column `column` becomes its children."""

    column: int
    parent: int
    child: NDArray[np.int32]  # (leaves,): the child above each leaf, -1 beside the node
    ways: int


def specialize_as_printed(
    data: Any,
    trees: Mapping[str, Hierarchy],
    k: int,
    information: Information = "entropy",
    reading: Reading = "as meant",
    fewest: int = 1,
    *,
    counts_once: bool = True,
) -> PrintedResult[PrintedTable]:
    """Algorithm of section 3.2.2: begin with ``*`` everywhere, take the best step that keeps k, until there is none.

    Parameters
    ----------
    data
        The holder's table.
    trees
        The taxonomy of each quasi-identifier.
    k
        Rows that look alike, at least.
    information, reading
        Which G_I, and how its equation is read.
    fewest
        Rows whose tuple occurs less often are taken out first: what section 3.3 calls eliminating outliers, without saying
        which ones were.
    counts_once
        Different tuples are counted once, and steps look at these. Otherwise every step reads all rows, as the report's program
        does on Spark; the result is the same.
    """
    rows = holder_rows(data, list(trees)).value
    codes = leaf_codes_of(rows, trees)
    first, of_row, counts = _different_tuples(codes, [tree.leaves for tree in trees.values()])
    is_kept = (counts >= fewest)[of_row]
    if counts_once:
        read = np.flatnonzero(counts >= fewest)  # tuples
        search = _Search(codes[first[read]], counts[read], counts[read], tuple(trees.values()), k, information, reading)
        place = np.cumsum(counts >= fewest) - 1
        found, steps = search.run()
        labels = found[place[of_row[is_kept]]]
    else:
        ones = np.ones(int(is_kept.sum()), np.int64)
        search = _Search(codes[is_kept], ones, counts[of_row[is_kept]], tuple(trees.values()), k, information, reading)
        labels, steps = search.run()
    removed = int((~is_kept).sum())
    losses = {
        name: float((tree.loss[labels[:, j]].sum() + removed) / len(codes)) for j, (name, tree) in enumerate(trees.items())
    }
    kept, sizes = np.flatnonzero(is_kept), search.sizes
    table = PrintedTable(tuple(trees), labels, kept, losses, steps, int(sizes.min()), len(sizes), removed)
    claimed = Claimed("001", f"k = {k}: re-identified with a probability below 1/{k}", "k rows look alike; no epsilon")
    return stamp(table, claimed, k=k, information=information, reading=reading, fewest=fewest)


def leaf_codes_of(rows: pa.Table, trees: Mapping[str, Hierarchy]) -> NDArray[np.int32]:
    """The leaf of every cell, (n, q)."""
    return np.column_stack([tree.codes(rows[name].combine_chunks()) for name, tree in trees.items()])


def _different_tuples(
    codes: NDArray[np.int32], sizes: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each different tuple, which of them each row has, and how many rows each has."""
    mixed = np.zeros(len(codes), np.int64)
    for column, size in zip(codes.T, sizes, strict=True):
        mixed = mixed * size + column
    _, first, of_row, counts = np.unique(mixed, return_index=True, return_inverse=True, return_counts=True)
    return first, of_row, counts


class _Search:
    """The current partition, and the working table of section 3.2.1: rows, or different tuples with how many rows have each."""

    def __init__(
        self,
        codes: NDArray[np.int32],  # (n, q)
        counts: NDArray[np.int64],  # (n,): rows that a line of codes stands for
        alike: NDArray[np.int64],  # (n,): rows of the whole table with these codes
        trees: tuple[Hierarchy, ...],
        k: int,
        information: Information,
        reading: Reading,
    ) -> None:
        self.codes, self.counts, self.trees, self.k = codes, counts.astype(np.float64), trees, k
        self.information, self.reading = information, reading
        self.labels = np.column_stack([np.full(len(codes), len(tree.nodes) - 1, np.int32) for tree in trees])
        self.classes = np.zeros(len(codes), np.int64)
        total = counts.sum()
        self.sizes = np.array([total])
        self.weights = self.counts * (alike if reading == "to the letter" else 1) / total  # in equation 3.5
        self.squares = [tree.loss**2 / len(trees) for tree in trees]  # a label is equally far from all values under it

    def run(self) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """The labels of all rows at the end, and the steps."""
        steps: list[str] = []
        open_ = [self._split(i, len(tree.nodes) - 1) for i, tree in enumerate(self.trees)]
        while True:
            best: tuple[float, _Split, NDArray[np.int64]] | None = None
            for split in open_:
                keys, sizes = self._after(split)
                if sizes.min() < self.k:
                    continue
                gain = self._information(split, sizes) / (1 + self.sizes.min() - sizes.min())  # equation 3.1
                if best is None or gain > best[0]:
                    best = gain, split, keys
            if best is None:
                return self.labels, tuple(steps)
            split = best[1]
            tree = self.trees[split.column]
            steps.append(tree.nodes[split.parent])
            self._take(split, best[2])
            open_ = [other for other in open_ if other is not split]
            children = np.flatnonzero(tree.parent == split.parent)
            open_ += [self._split(split.column, int(node)) for node in children if node >= tree.leaves]

    def _split(self, column: int, parent: int) -> _Split:
        tree = self.trees[column]
        child = np.arange(tree.leaves, dtype=np.int32)
        beside = np.zeros(tree.leaves, bool)
        while not (done := beside | (tree.parent[child] == parent)).all():
            above = tree.parent[child]
            beside |= above < 0
            child = np.where(done | (above < 0), child, above).astype(np.int32)
        child = np.where(beside, -1, child).astype(np.int32)
        return _Split(column, parent, child, int((tree.parent == parent).sum()))

    def _after(self, split: _Split) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A key of each row's class after a step, and the sizes of the classes, in the order of their keys."""
        names = {int(node): i for i, node in enumerate(np.unique(split.child[split.child >= 0]))}
        way = np.array([names.get(int(node), 0) for node in split.child], np.int64)  # (leaves,)
        keys = self.classes * split.ways + way[self.codes[:, split.column]]
        keys = np.where(self.labels[:, split.column] == split.parent, keys, self.classes * split.ways)
        return keys, self._sizes(keys)

    def _take(self, split: _Split, keys: NDArray[np.int64]) -> None:
        at = self.labels[:, split.column] == split.parent
        self.labels[at, split.column] = split.child[self.codes[at, split.column]]
        place = np.cumsum(np.bincount(keys) > 0) - 1
        self.classes, self.sizes = place[keys], self._sizes(keys)

    def _sizes(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of each class that has some."""
        sizes = np.bincount(keys, weights=self.counts)
        return sizes[sizes > 0].astype(np.int64)

    def _information(self, split: _Split, sizes: NDArray[np.int64]) -> float:
        """G_I of a step: equation 3.3 or 3.5, as it is read."""
        is_meant = self.reading == "as meant"
        if self.information == "entropy":
            by_row = self.reading == "to the letter"
            gained = entropy(sizes, by_row=by_row) - entropy(self.sizes, by_row=by_row)
            return gained if is_meant else -gained
        column, squares = split.column, self.squares[split.column]
        at = self.labels[:, column] == split.parent
        after = float((self.weights[at] * squares[split.child[self.codes[at, column]]]).sum())
        before = float(self.weights[at].sum() * squares[split.parent])
        if is_meant:
            return before - after
        return self._distance() - before + after

    def _distance(self) -> float:
        """Equation 3.5 of the present labels."""
        return float(sum((self.weights * squares[self.labels[:, i]]).sum() for i, squares in enumerate(self.squares)))


def entropy(sizes: NDArray[np.int64], *, by_row: bool) -> float:
    """Equation 3.4 in bits: over classes as it is meant, or over all rows, where a class of n rows counts n times.

    >>> entropy(np.array([2, 2]), by_row=False), entropy(np.array([2, 2]), by_row=True)
    (1.0, 2.0)
    """
    shares = sizes / sizes.sum()
    times = sizes if by_row else 1
    return float(-(times * shares * np.log2(shares)).sum())
