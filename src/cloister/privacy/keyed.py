"""Mechanisms for summaries with too many keys for an array of all: survivors of a threshold, and a tree.

A keyed mechanism is a pure function from the exact sparse histogram (keys in rising order, counts) to a released value.
It runs inside the vault (`Vault.measure_keyed`) and never sees a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.kernels import Sensitivity
from cloister.privacy import noise
from cloister.privacy.accounting import LaplaceEvent
from cloister.privacy.expansions import PLACES, UNIT
from cloister.privacy.mechanisms import Laplace

__all__ = ["KeyedMechanism", "Leaves", "SplitTree", "SurvivingCells", "Survivors"]

T_co = TypeVar("T_co", covariant=True)
DIGITS = 200  # decimal digits of the probabilities below, of which 77 are used
FANOUT = 2
MOST_CELLS = 2**52  # ranks of cells stay exact in float64
RAREST = 27  # a threshold of so many scales is passed with probability 2**-40


class KeyedMechanism(Protocol[T_co]):
    """What the vault asks of a keyed mechanism."""

    def event(self, step: str, sensitivity: Sensitivity) -> LaplaceEvent: ...
    def deviation(self) -> Mapping[str, float]: ...
    def apply(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> T_co: ...


@dataclass(frozen=True, slots=True, eq=False)
class SurvivingCells:
    """The cells whose noisy count reached the threshold, in rising order, with that count."""

    cells: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Survivors:
    """Discrete Laplace noise on every cell of a grid, of which only counts of at least `threshold` are written down.

    Privacy: exactly the noisy histogram of all cells, empty ones too, with the counts below a public threshold left out,
    which is post-processing. An empty cell survives with probability P(L >= t) = a^t / (1 + a), a = exp(-1/scale), each by
    itself; how many empty cells lie before the next survivor is therefore geometric, and is drawn as such, exactly to
    2**-256 a digit. Given that it survives, its count is t plus a geometric draw of ratio a. So the cost is that of the
    dense release, and the time grows with the survivors, not with the cells.
    """

    scale: Fraction
    threshold: int
    cells: int

    def __post_init__(self) -> None:
        # below that the draw of the empty cells would need more than 63 binary digits; more noise than asked is safe
        object.__setattr__(self, "scale", max(self.scale, Fraction(1, RAREST)))
        if self.threshold < 1:
            raise UsageError("the threshold of a sparse grid must be at least 1.")
        if not 1 <= self.cells <= MOST_CELLS:
            raise UsageError("a sparse grid has at most 2**52 cells. Use fewer columns, or the tree.")

    def event(self, step: str, sensitivity: Sensitivity) -> LaplaceEvent:
        """What one release costs."""
        return LaplaceEvent(step, sensitivity.l1("counts") / self.scale)

    def deviation(self) -> Mapping[str, float]:
        """The standard deviation of the noise of a count."""
        return Laplace({"counts": self.scale}).deviation()

    def apply(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> SurvivingCells:
        """keys : distinct cells that hold rows, in rising order; counts : how many."""
        noisy = counts + noise.laplace(self.scale, len(counts))
        kept = noisy >= self.threshold
        ranks, values = self.empty_survivors(self.cells - len(keys))
        # The empty cell of rank r (counted among empty cells) lies behind as many full ones as are no farther than it.
        ahead = np.searchsorted(keys - np.arange(len(keys)), ranks, side="right")
        cells = np.concatenate([keys[kept], ranks + ahead])
        order = np.argsort(cells, kind="stable")
        return SurvivingCells(cells[order], np.concatenate([noisy[kept], values])[order])

    def empty_survivors(self, empty: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ranks, among so many empty cells, of those that survive, in rising order, and their counts.

        A survivor of a high threshold is a survivor of a lower one whose count reaches the higher: drawing it in two steps
        keeps the digits of the skips few.
        """
        from cloister.privacy import samplers

        lower = min(self.threshold, max(1, int(RAREST * self.scale)))
        expansion = skip_expansion(self.scale, lower)
        chance = float(np.exp(-lower / float(self.scale)) / (1 + np.exp(-1 / float(self.scale))))
        found = [np.empty(0, dtype=np.int64)]
        at = -1
        while at < empty:
            wanted = int(min(2**20, 16 + 1.1 * chance * (empty - at)))
            skips = noise._draw(partial(samplers.geometric, expansion), wanted, 1.01 * len(expansion))
            # A skip past the end says no more than that none is left. Cut there, what matters stays exact in float64.
            places = at + np.cumsum(np.minimum(skips, empty) + 1, dtype=np.float64)
            found.append(places[places < empty].astype(np.int64))
            at = int(min(places[-1], empty))
        ranks = np.concatenate(found)
        values = lower + noise.geometric(self.scale, len(ranks))
        kept = values >= self.threshold
        return ranks[kept], values[kept]


@lru_cache(maxsize=64)
def skip_expansion(scale: Fraction, threshold: int) -> NDArray[np.uint8]:
    """Binary expansions of what a geometric draw of ratio r = 1 - a^t / (1 + a) is made of, as `samplers` wants them.

    Row i: the probability r^(2^i) / (1 + r^(2^i)) that binary digit i is 1; last: r^(2^digits), below 2**-32. Rounded down
    to a multiple of 2**-256.
    """
    context = Context(prec=DIGITS)
    step = context.divide(Decimal(scale.denominator), Decimal(scale.numerator))
    a = context.exp(-step)
    survives = context.divide(context.exp(context.multiply(Decimal(-threshold), step)), context.add(Decimal(1), a))
    digits = max(1, int(context.divide(Decimal(23), survives)).bit_length())  # (1 - p)^(23/p) < exp(-23) < 2**-32
    assert digits <= 62, "a skip fits into 63 bits"
    ratio = context.subtract(Decimal(1), survives)
    rows = []
    for _ in range(digits):
        rows.append(places_of(context.divide(ratio, context.add(Decimal(1), ratio)), context))
        ratio = context.multiply(ratio, ratio)
    rows.append(places_of(ratio, context))
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(digits + 1, PLACES // 8)


def places_of(probability: Decimal, context: Context) -> bytes:
    """The first 256 binary places."""
    whole = int(context.multiply(probability, Decimal(UNIT)))
    return min(whole, UNIT - 1).to_bytes(PLACES // 8, "big")


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """A released tree: the first key of each leaf in rising order, and how deep each leaf lies."""

    starts: NDArray[np.int64]
    depths: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SplitTree:
    """Which nodes of a binary midpoint tree are split: PrivTree in integers.

    A node of count c at depth t is split when max(-decay, c - t decay) + L > 0, L discrete Laplace of this scale. Empty
    ranges draw like any other. Nothing but the shape of the tree is handed out; counts are bought separately.

    Attributes
    ----------
    scale
        lambda, the same at every depth.
    decay
        A whole number of at least lambda ln 2: what is taken off a count for every level.
    levels
        The public depth at which splitting ends.
    most
        When the tree would have more leaves than this, it is not split further: a function of released decisions.

    Privacy
    -------
    Let b = 2 children, a = exp(-1/lambda), and s(x) = P(x + L > 0) for a whole number x. A row more raises by 1 the counts
    of the nodes on one path, hence x by 1 or (where it was cut off at -decay) by 0. For x <= 1, s(x) / s(x-1) = 1/a, so such
    a node costs at most 1/lambda. For x = 1 + j the ratio is 1 + a^j (1-a) / (1 + a - a^j), so it costs at most
    a^j / lambda. Along the path c - t decay falls by at least `decay` a level, and everything is a whole number: at most one
    node of those that move has x in 1-decay..0, the next above it has x >= 1, the next x >= 1 + decay, and so on. With
    exp(-decay/lambda) <= 1/b the costs add up to at most (1 + 1 + 1/b + 1/b^2 + ...) / lambda
    = (2b-1) / ((b-1) lambda), which is 3 / lambda. The other way round only the path's unsplit end counts, 1/lambda.
    Replacing a row is removing one and adding one: twice that. A bias that did not grow with the depth would leave as many
    nodes at x near 0 as the path is long.

    References
    ----------
    J. Zhang, X. Xiao and X. Xie, "PrivTree: a differentially private algorithm for hierarchical decompositions", SIGMOD 2016.
    """

    scale: Fraction
    decay: int
    levels: int
    most: int = 2**22

    def __post_init__(self) -> None:
        if self.decay < least_decay(self.scale):
            raise UsageError("the bias of a tree's splits must be at least scale * ln 2 a level, or they are not private.")
        if not 0 <= self.levels <= 62:
            raise UsageError("a tree has between 0 and 62 levels.")

    @classmethod
    def spending(cls, epsilon: Fraction, sensitivity: Sensitivity, levels: int, most: int = 2**22) -> SplitTree:
        """The tree that this epsilon buys."""
        scale = Fraction(2 * FANOUT - 1, FANOUT - 1) * sensitivity.l1("counts") / epsilon
        return cls(scale, least_decay(scale), levels, most)

    def event(self, step: str, sensitivity: Sensitivity) -> LaplaceEvent:
        """What growing the tree costs."""
        return LaplaceEvent(step, Fraction(2 * FANOUT - 1, FANOUT - 1) * sensitivity.l1("counts") / self.scale)

    def deviation(self) -> Mapping[str, float]:
        """Nothing that carries noise is handed out."""
        return {}

    def apply(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> Leaves:
        """Grow the tree level by level over the sorted keys; each node is a range of them."""
        below = np.concatenate([[0], np.cumsum(counts)])
        nodes = np.zeros(1, dtype=np.int64)  # the first key of each node at this depth
        starts, depths = [], []
        leaves = 0
        for depth in range(self.levels + 1):
            width = np.int64(1) << (self.levels - depth)
            if depth == self.levels or leaves + 2 * len(nodes) > self.most:
                split = np.zeros(len(nodes), dtype=bool)
            else:
                first, last = np.searchsorted(keys, nodes), np.searchsorted(keys, nodes + width)
                split = self.biased(below[last] - below[first], depth) + noise.laplace(self.scale, len(nodes)) > 0
            ends = nodes[~split]
            starts.append(ends)
            depths.append(np.full(len(ends), depth, dtype=np.int64))
            leaves += len(ends)
            nodes = np.concatenate([nodes[split], nodes[split] + width // 2])
            if not len(nodes):
                break
        order = np.argsort(np.concatenate(starts), kind="stable")
        return Leaves(np.concatenate(starts)[order], np.concatenate(depths)[order])

    def biased(self, counts: NDArray[np.int64], depth: int) -> NDArray[np.int64]:
        """What is compared with 0 once noise is added: the bias grows with the depth, and ends at -decay."""
        return np.maximum(-self.decay, counts - depth * self.decay)


def least_decay(scale: Fraction) -> int:
    """The least whole number that is at least scale * ln 2.

    >>> least_decay(Fraction(3))
    3
    """
    context = Context(prec=DIGITS)
    product = context.divide(context.multiply(Decimal(scale.numerator), Decimal(FANOUT).ln(context)), scale.denominator)
    return int(product.to_integral_value(rounding=ROUND_CEILING))
