"""Noisy counts of a column's cells, and the range that nearly all of its rows lie in: post-processing of released counts.

Rows far out are believed where they stand out of the noise for sure. Beside what stands out they are likely, so less will do:
cells are taken in one after the other as long as the next few show more than noise mostly does (`ColumnCells.grown`), and each
step at most triples the width. Whatever else noise shows far out does not count.

Noise hides a tail long before its last rows. So a tail is read where noise still lets it be read, at a quarter of the rows and
at a few hundredths, and extrapolated: as that of a column whose distance from its median is A (exp(g z) - 1) / g at the normal
quantile z. A normal (g 0) and a log-normal tail (g > 0) are of that form, an exponential and a Pareto one nearly. One that ends
(g < 0) is taken for a longer one, since clipped rows are dear. A g that two quantiles near each other show is mostly noise: the
less of the tail can be read, the smaller is the largest g that is believed (`most_skew`).

References
----------
D. C. Hoaglin, "Summarizing shape numerically: the g-and-h distributions", in "Exploring data tables, trends, and shapes", 1985.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import expm1, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from cloister.privacy.mechanisms import Mechanism

__all__ = ["RUNS", "Array", "ColumnCells", "CountNoise", "range_of_tails"]

BEYOND = 0.0005  # the part of the rows beyond a bound, on each side, that is aimed at: 99.9% lie between
QUARTER = 0.25
NEAREST_TAIL, FARTHEST_TAIL = 0.1, 0.02  # between these parts of the rows lies the quantile that a tail starts from
TAIL_CELLS, TAIL_EXPONENT = 8, 10.0  # noise of so many cells passes for that part with a chance of exp(-10) / 2
NEXT_EXPONENT = 2.0  # noise passes for rows in the next cells with a chance of exp(-2) / 2
REACH, BESIDE = 2.0, 8  # widths of what stands out, and cells, beyond it, in which a tail's rows are still counted
WIDER, UNSURE, MOST_WIDER = 1.2, 0.04, 2.0  # times as far; more where noise passes for more than 4% of the rows
RUNS = (1, 2, 4, 8, 16, 32)  # how many cells are tested together
TAIL_RUNS = RUNS[:3]
APART_RUN, LIKELY_EXPONENT, APART_EXPONENT = 4, 6.0, 10.0  # for about 200 runs of so many cells
MISSED = 5.0  # standard deviations of noise, from which on missing rows are looked for
LEAST_SKEW, MOST_SKEW = -0.3, 1.6  # of g: a tail that ends is taken for a longer one, since clipped rows are dear
MOST_NOISY_SKEW = 0.5  # of g, where the tail is read at `NEAREST_TAIL`
LIKE_GROUPS = 1.4  # a larger g is that of rows in groups as well: many in one place, the others apart
UNKNOWN = (-1.0, 1.0)  # the range of a column of which nothing is seen

Array = NDArray[np.float64]
normal = NormalDist()


@dataclass(frozen=True, slots=True)
class CountNoise:
    """What is public about the noise of every count of a step."""

    deviation: float
    thresholds: Mapping[int, float]  # by the length of a run of cells: what its noise hardly ever passes
    beside: Mapping[int, float]  # the same beside rows that stand out: what noise mostly does not pass
    tail: float  # what the noise of a tail's cells seldom passes
    likely: float  # what the noise of `APART_RUN` cells passes somewhere in about every fourth column
    apart: float  # and in about one of 200

    @classmethod
    def of(cls, mechanism: Mechanism, exponent: float) -> CountNoise:
        """The noise of a mechanism, of which a run of cells stands out with a chance of at most exp(-exponent) / 2."""
        thresholds = {run: mechanism.tail("counts", exponent, run) for run in RUNS}
        beside = {run: mechanism.tail("counts", NEXT_EXPONENT, run) for run in TAIL_RUNS}
        tail, likely, apart = (
            mechanism.tail("counts", exponent, run)
            for exponent, run in ((TAIL_EXPONENT, TAIL_CELLS), (LIKELY_EXPONENT, APART_RUN), (APART_EXPONENT, APART_RUN))
        )
        return cls(mechanism.deviation()["counts"], thresholds, beside, tail, likely, apart)


@dataclass(frozen=True, slots=True)
class ColumnCells:
    """The noisy counts of one column between its edges."""

    edges: Array  # (m + 1,)
    counts: Array  # (m,)
    noise: CountNoise

    def sums(self, run: int) -> Array:
        """The sum of every run of so many cells, by its first."""
        before = np.concatenate([[0.0], np.cumsum(self.counts)])
        return np.asarray(before[run:] - before[:-run])

    def standing_out(self, run: int) -> tuple[int, int] | None:
        """The first and the last run that hold rows for sure, by their first cells."""
        full = np.flatnonzero(self.sums(run) > self.noise.thresholds[run])
        return (int(full[0]), int(full[-1])) if len(full) else None

    def around(self, first: int, last: int) -> ColumnCells:
        """The cells from first to before last, and at most `BESIDE` beside them on each side, up to `REACH` times as far."""
        low, high = self.edges[first], self.edges[last]
        far = REACH * (high - low)
        first = max(int(np.searchsorted(self.edges, low - far, side="right")) - 1, first - BESIDE, 0)
        last = min(int(np.searchsorted(self.edges, high + far, side="left")), last + BESIDE, len(self.counts))
        return ColumnCells(self.edges[first : last + 1], self.counts[first:last], self.noise)

    def grown(self, first: int, last: int) -> tuple[int, int]:
        """The cells from first to before last, and those beside them as long as the next few show rows."""
        last = self.grown_upwards(first, last)
        cells = len(self.counts)
        return cells - self.flipped().grown_upwards(cells - last, cells - first), last

    def grown_upwards(self, first: int, last: int) -> int:
        """Where the cells above that show rows end; no step reaches farther than `REACH` widths."""
        while True:
            reach = self.edges[last] + REACH * (self.edges[last] - self.edges[first])
            room = int(np.searchsorted(self.edges, reach, side="right")) - 1 - last
            runs = (run for run, mark in self.noise.beside.items() if self.counts[last : last + run].sum() > mark)
            step = next(runs, None)
            if step is None or step > room:
                return last
            last += step

    def flipped(self) -> ColumnCells:
        """The column with its sign turned."""
        return ColumnCells(-self.edges[::-1], self.counts[::-1], self.noise)

    def quantile(self, part: float) -> float:
        """Where this part of the rows lies above, rows spread evenly within a cell."""
        above = np.concatenate([np.cumsum(self.counts[::-1])[::-1], [0.0]])
        wanted = part * max(above[0], 1.0)
        above = np.maximum.accumulate(above[::-1])[::-1]  # counts below zero are noise
        cell = int(np.flatnonzero(above > wanted).max(initial=0))
        fraction = (above[cell] - wanted) / max(above[cell] - above[cell + 1], 1e-9)
        return float(self.edges[cell] + min(max(fraction, 0.0), 1.0) * (self.edges[cell + 1] - self.edges[cell]))


def range_of_tails(cells: ColumnCells, rows: float) -> tuple[float, float]:
    """The range that all but a thousandth of the rows lie in, or a wider one; of a table of about so many rows."""
    seen = extent(cells)
    if seen is None:
        return UNKNOWN
    shown = cells.around(*with_rows_apart(cells, *cells.grown(*seen), rows))
    middle = shown.quantile(0.5)
    holding = int(np.searchsorted(shown.edges[1:-1], middle))
    least = float(shown.edges[holding + 1] - shown.edges[holding]) / 2
    upper = max(tail_length(shown, middle), least)
    lower = max(tail_length(shown.flipped(), -middle), least)
    return middle - lower, middle + upper


def extent(cells: ColumnCells) -> tuple[int, int] | None:
    """From the first to the last cell beyond which rows stand out; where none do the likeliest place, None if it is noise's."""
    runs = [(found, run) for run in TAIL_RUNS if (found := cells.standing_out(run))]
    if runs:
        return min(found[0] for found, _ in runs), max(found[1] + run for found, run in runs)
    first = int(cells.sums(APART_RUN).argmax())
    last = first + APART_RUN
    return (first, last) if cells.counts[first:last].sum() > cells.noise.likely else None


def with_rows_apart(cells: ColumnCells, first: int, last: int, rows: float) -> tuple[int, int]:
    """The cells from first to before last, and as far as where rows that are missing there are likeliest, if anywhere."""
    shown = cells.around(first, last)
    missing = rows - shown.counts.sum()
    apart = cells.sums(APART_RUN)
    apart[max(first - APART_RUN + 1, 0) : last] = -np.inf
    surely = MISSED * cells.noise.deviation * sqrt(len(shown.counts) + 1)
    if missing > surely and apart.max() > max(missing / 2, cells.noise.apart):
        place = int(apart.argmax())
        return min(first, place), max(last, place + APART_RUN)
    return first, last


def tail_length(cells: ColumnCells, middle: float) -> float:
    """How far the upper tail reaches from the median, extrapolated to `BEYOND`."""
    rows = max(float(cells.counts.sum()), 1.0)
    part = min(max(cells.noise.tail / rows, FARTHEST_TAIL), NEAREST_TAIL)
    far = max(cells.quantile(part) - middle, 0.0)
    z_far, z_end = -normal.inv_cdf(part), -normal.inv_cdf(BEYOND)
    g = skew_from(cells, middle, QUARTER, far, z_far)
    if g > LIKE_GROUPS:
        g = min(g, skew_from(cells, middle, sqrt(QUARTER * part), far, z_far))
    g = min(g, most_skew(part))
    unsure = min(max(cells.noise.tail / (UNSURE * rows), WIDER), MOST_WIDER)
    return unsure * far * stretch(g, z_end) / stretch(g, z_far)


def most_skew(part: float) -> float:
    """The largest g that is believed where a tail is read at this part of the rows."""
    noisy = max(part - UNSURE, 0.0) / (NEAREST_TAIL - UNSURE)
    return MOST_SKEW + noisy * (MOST_NOISY_SKEW - MOST_SKEW)


def skew_from(cells: ColumnCells, middle: float, part: float, far: float, z_far: float) -> float:
    """The g of a tail of which this part of the rows begins where the cells show it."""
    return skew(far, max(cells.quantile(part) - middle, 0.0), z_far, -normal.inv_cdf(part))


def stretch(g: float, z: float) -> float:
    """The distance from the median at a normal quantile z: (exp(g z) - 1) / g."""
    return z if abs(g) < 1e-9 else expm1(g * z) / g


def skew(far: float, near: float, z_far: float, z_near: float) -> float:
    """The g at which two quantiles lie at these distances from the median, between `LEAST_SKEW` and `MOST_SKEW`."""
    low, high = LEAST_SKEW, MOST_SKEW
    for _ in range(40):
        g = (low + high) / 2
        if far * stretch(g, z_near) > near * stretch(g, z_far):
            low = g
        else:
            high = g
    return (low + high) / 2
