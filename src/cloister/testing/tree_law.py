"""The law of a released tree (`privacy.mechanisms.split_tree`): which nodes were split, given the counts below them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["TreeLaw", "log_tail"]

KeyedCounts = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class TreeLaw:
    """A node of count c at depth t is split with probability P(max(-decay, c - t decay) + L > 0), L discrete Laplace."""

    scale: Fraction
    decay: int
    levels: int
    most: int

    def loss(self, released: Any, exact: KeyedCounts, other: KeyedCounts) -> float:
        leaves = set(zip(released.starts.tolist(), released.depths.tolist(), strict=True))
        drawn = self.drawn_depths(released.depths)
        total = 0.0
        nodes = [(0, 0)]
        pair = Counted(exact, other)
        while nodes:
            start, depth = nodes.pop()
            width = 1 << (self.levels - depth)
            if depth == self.levels or not drawn[depth] or not pair.differ(start, width):
                continue
            is_split = (start, depth) not in leaves
            total += self.node_loss(*pair.counts(start, width), depth, is_split)
            if is_split:
                nodes += [(start, depth + 1), (start + width // 2, depth + 1)]
        return total

    def drawn_depths(self, depths: NDArray[np.int64]) -> list[bool]:
        """At which depths nodes were drawn for: not at those where more splits would have passed the cap on leaves."""
        ends = np.bincount(depths, minlength=self.levels + 1).tolist()
        drawn, nodes, leaves = [], 1, 0
        for end in ends:
            drawn.append(leaves + 2 * nodes <= self.most)
            leaves += end
            nodes = 2 * (nodes - end)
        return drawn

    def node_loss(self, one: int, two: int, depth: int, is_split: bool) -> float:
        """The loss of one decision: a node of biased count x is split where the noise is at least 1 - x."""
        scale = float(self.scale)
        x, y = (max(-self.decay, count - depth * self.decay) for count in (one, two))
        if is_split:
            return log_tail(1 - x, scale) - log_tail(1 - y, scale)
        return log_tail(x, scale) - log_tail(y, scale)

    def worst(self, exact: KeyedCounts, other: KeyedCounts) -> tuple[float, float]:
        return self.worst_below(Counted(exact, other), 0, 0), self.worst_below(Counted(other, exact), 0, 0)

    def worst_below(self, pair: Counted, start: int, depth: int) -> float:
        """The largest loss of any shape below a node: it ends here, or is split and goes on in both halves."""
        width = 1 << (self.levels - depth)
        if depth == self.levels or not pair.differ(start, width):
            return 0.0
        counts = pair.counts(start, width)
        halves = (start, start + width // 2)
        ends = self.node_loss(*counts, depth, is_split=False)
        goes_on = self.node_loss(*counts, depth, is_split=True) + sum(self.worst_below(pair, s, depth + 1) for s in halves)
        return max(ends, goes_on)

    def precision(self, exact: KeyedCounts, other: KeyedCounts) -> Fraction:
        return Fraction(0)

    def form(self, exact: KeyedCounts) -> object:
        return None  # which keys have rows is not public


class Counted:
    """The counts of two tables in ranges of keys, and whether any key of a range differs."""

    def __init__(self, exact: KeyedCounts, other: KeyedCounts) -> None:
        keys = np.union1d(exact[0], other[0])
        self._keys = keys
        counts = []
        for some_keys, some_counts in (exact, other):
            full = np.zeros(len(keys), dtype=np.int64)
            full[np.searchsorted(keys, some_keys)] = some_counts
            counts.append(full)
        self._below = [np.concatenate([[0], np.cumsum(full)]) for full in counts]
        self._changes = np.concatenate([[0], np.cumsum(counts[0] != counts[1])])

    def range_of(self, start: int, width: int) -> tuple[int, int]:
        """Where the keys of a range lie."""
        first, last = np.searchsorted(self._keys, [start, start + width])
        return int(first), int(last)

    def differ(self, start: int, width: int) -> bool:
        """Whether any key of a range has another count in the other table."""
        first, last = self.range_of(start, width)
        return bool(self._changes[last] - self._changes[first])

    def counts(self, start: int, width: int) -> tuple[int, int]:
        """How many rows each table has in a range."""
        first, last = self.range_of(start, width)
        one, two = (int(below[last] - below[first]) for below in self._below)
        return one, two


def log_tail(least: int, scale: float) -> float:
    """log P(L >= least) of discrete Laplace noise, also far out: a^m / (1 + a) for m >= 0, a = exp(-1 / scale)."""
    a = exp(-1 / scale)
    if least >= 0:
        return -least / scale - log1p(a)
    return log1p(-exp(-(1 - least) / scale) / (1 + a))
