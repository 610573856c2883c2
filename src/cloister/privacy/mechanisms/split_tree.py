"""Which nodes of a midpoint tree are split: PrivTree in integers, with its proof beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.kernels import Sensitivity
from cloister.privacy import noise
from cloister.privacy.events import LaplaceEvent
from cloister.privacy.mechanisms.base import checked_scale
from cloister.privacy.observing import observable
from cloister.schema.numerals import decimal_context

__all__ = ["SplitTree", "TreeShape", "least_decay"]

DIGITS = 200  # decimal digits of ln 2
FANOUT = 2


@dataclass(frozen=True, slots=True, eq=False)
class TreeShape:
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
    Let b = 2 children, a = exp(-1/lambda), and s(x) = P(x + L > 0) for a whole number x. One more row raises by 1 the counts
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
        object.__setattr__(self, "scale", max(checked_scale(self.scale), noise.SMALLEST_SCALE))
        if self.decay < least_decay(self.scale):
            raise UsageError("the bias of a tree's splits must be at least scale * ln 2 a level, or they are not private.")
        if not 0 <= self.levels <= 62:
            raise UsageError("a tree has between 0 and 62 levels.")

    @classmethod
    def spending(cls, epsilon: Fraction, sensitivity: Sensitivity, levels: int, most: int = 2**22) -> SplitTree:
        """The tree that this epsilon buys."""
        scale = Fraction(2 * FANOUT - 1, FANOUT - 1) * sensitivity.l1("counts") / epsilon
        return cls(scale, least_decay(max(scale, noise.SMALLEST_SCALE)), levels, most)

    def event(self, step: str, sensitivity: Sensitivity) -> LaplaceEvent:
        """What growing the tree costs."""
        return LaplaceEvent(step, Fraction(2 * FANOUT - 1, FANOUT - 1) * sensitivity.l1("counts") / self.scale)

    def deviation(self) -> Mapping[str, float]:
        """Nothing that carries noise is handed out."""
        return {}

    @observable
    def apply(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> TreeShape:
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
                draws = noise.laplace(self.scale, len(nodes), size_is_secret=True)
                split = self.biased(below[last] - below[first], depth) + draws > 0
            ends = nodes[~split]
            starts.append(ends)
            depths.append(np.full(len(ends), depth, dtype=np.int64))
            leaves += len(ends)
            nodes = np.concatenate([nodes[split], nodes[split] + width // 2])
            if not len(nodes):
                break
        order = np.argsort(np.concatenate(starts), kind="stable")
        return TreeShape(np.concatenate(starts)[order], np.concatenate(depths)[order])

    def biased(self, counts: NDArray[np.int64], depth: int) -> NDArray[np.int64]:
        """What is compared with 0 once noise is added: the bias grows with the depth, and ends at -decay."""
        return np.maximum(-self.decay, counts - depth * self.decay)


def least_decay(scale: Fraction) -> int:
    """The least whole number that is at least scale * ln 2.

    >>> least_decay(Fraction(3))
    3
    """
    context = decimal_context(DIGITS)
    product = context.divide(context.multiply(Decimal(scale.numerator), Decimal(FANOUT).ln(context)), scale.denominator)
    return int(product.to_integral_value(ROUND_CEILING, context))
