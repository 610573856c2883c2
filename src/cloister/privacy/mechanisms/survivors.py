"""A histogram with too many cells for an array of all: the cells whose noisy counts survive a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.kernels import Sensitivity
from cloister.privacy import noise
from cloister.privacy.events import LaplaceEvent
from cloister.privacy.expansions import PLACES, UNIT
from cloister.privacy.mechanisms.base import checked_scale
from cloister.privacy.mechanisms.laplace import Laplace
from cloister.privacy.observing import observable
from cloister.schema.numerals import decimal_context

__all__ = ["MOST_CELLS", "SurvivingCells", "Survivors"]

DIGITS = 200  # decimal digits of the probabilities below, of which 77 are used
MOST_CELLS = 2**52  # ranks of cells stay exact in float64
RAREST = 27  # a threshold of so many scales is passed with probability 2**-40


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
        # at a smaller scale the draw of the empty cells would need more than 63 binary digits; more noise is safe
        object.__setattr__(self, "scale", max(checked_scale(self.scale), Fraction(1, RAREST)))
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

    @property
    def drawn_threshold(self) -> int:
        """The threshold at which empty cells are drawn first: the survivors of a higher one are among theirs."""
        return min(self.threshold, max(1, int(RAREST * self.scale)))

    def drawn_part(self) -> float:
        """Of all empty cells the part that is drawn: P(L >= t) for that threshold. Time and memory grow with it."""
        return float(np.exp(-self.drawn_threshold / float(self.scale)) / (1 + np.exp(-1 / float(self.scale))))

    @observable
    def apply(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> SurvivingCells:
        """keys : distinct cells that hold rows, in rising order; counts : how many."""
        noisy = counts + noise.laplace(self.scale, len(counts), size_is_secret=True)
        kept = noisy >= self.threshold
        ranks, values = self.empty_survivors(self.cells - len(keys))
        # Before the empty cell of rank r (counted among empty cells) lie the full cells with at most r empty ones before them.
        ahead = np.searchsorted(keys - np.arange(len(keys)), ranks, side="right")
        cells = np.concatenate([keys[kept], ranks + ahead])
        order = np.argsort(cells, kind="stable")
        return SurvivingCells(cells[order], np.concatenate([noisy[kept], values])[order])

    def empty_survivors(self, empty: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ranks, among so many empty cells, of those that survive, in rising order, and their counts.

        A survivor of a high threshold is a survivor of a lower one whose count reaches the higher: drawing it in two steps
        keeps the digits of the skips few.
        """
        lower, chance = self.drawn_threshold, self.drawn_part()
        expansion = skip_expansion(noise.widened(self.scale), lower)
        places_so_far = [np.empty(0, dtype=np.int64)]
        at = -1
        while at < empty:
            wanted = int(min(2**20, 16 + 1.1 * chance * (empty - at)))
            skips = noise.geometric_of(expansion, wanted, size_is_secret=True)
            # A skip past the end only says that no survivor is left; capped there, the sums stay exact in float64.
            places = at + np.cumsum(np.minimum(skips, empty) + 1, dtype=np.float64)
            places_so_far.append(places[places < empty].astype(np.int64))
            at = int(min(places[-1], empty))
        ranks = np.concatenate(places_so_far)
        values = lower + noise.geometric(self.scale, len(ranks), size_is_secret=True)
        kept = values >= self.threshold
        return ranks[kept], values[kept]


@lru_cache(maxsize=64)
def skip_expansion(scale: Fraction, threshold: int) -> NDArray[np.uint8]:
    """Binary expansions of what a geometric draw of ratio r = 1 - a^t / (1 + a) is made of, as `samplers` wants them.

    Row i: the probability r^(2^i) / (1 + r^(2^i)) that binary digit i is 1; last: r^(2^digits), below 2**-32. Rounded down
    to a multiple of 2**-256.
    """
    context = decimal_context(DIGITS)
    step = context.divide(Decimal(scale.denominator), Decimal(scale.numerator))
    a = context.exp(step.copy_negate())  # a minus sign would round to the thread's own precision
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
