"""Bounds of each column, estimated inside the budget.

Four steps find where the bulk of a column lies: a histogram over powers of two, then three over 256 equal cells of what the last
one showed. A fifth, with most of the share, counts the rows in 16 equal cells of the bulk and in cells that double in width
outwards from it, so that no row is out of sight. The bounds are read from it (`column_tails`): they aim at the range of 99.9%
of the rows, as good public bounds would.

Privacy
-------
Released: these five noisy histograms of every column. Neighbours: both relations. Sensitivity: `kernels.ValueCounts`; a row falls
into one cell of every column. Budget: the share that the plan gives to bounds, cut by `BOUNDS_PARTS`. Post-processing: which
cells stand out, the bulk, the bounds. Cells are public or follow from released counts; a value outside them falls into the
nearest, one that cannot be read into that of zero.

How sure they are
-----------------
All tests of a fit together take noise for rows with a chance of at most `DOUBT` (`CountNoise.thresholds`: the exact tails
of the noise, one test for every run of cells of every column and step). Otherwise whatever stands out holds rows, and so:

- The bulk is never an empty place. It is taken from runs of cells that stand out and show most rows; where none do, the
  cells stay as they are, at first those around zero. A bulk that is too narrow costs little, since cells double outwards,
  but splits rows into cells that noise hides, so that it must show more rows where noise is large; one that is too wide by 16
  makes bounds too wide by about as much.
- Rows that lie apart are missed only if fewer than two thresholds of them do: the noisy count of what is there passes one
  threshold when the true one passes two. Of fewer, the tail that is extrapolated holds what has the shape of a tail.
- The quantile from which a tail is extrapolated lies where at least noise's own bound of the rows is left (`column_tails`),
  so that its true part is between none and twice what it is taken for, again but for the same kind of chance.

How often the shapes of real columns are missed all the same does not follow from the noise; `bench/found_bounds.py` draws the
released histograms alone over a panel of 14 kinds of columns and counts. At epsilon 1, with and without a delta of 1e-6, 20,000
rows and 2 or 5 columns a table, none of 61,600 tables had a scale that was wrong: more than 8 times too wide, or more than 1% of
the rows clipped on a side. So the chance is below 5e-5 a fit on that panel (Clopper and Pearson, 95%).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.progress import Progress
from cloister.clustering.votes.column_tails import RUNS, Array, ColumnCells, CountNoise, range_of_tails
from cloister.encode import Bins, Encoding
from cloister.kernels import Sensitivity, ValueCounts
from cloister.privacy.mechanisms import Mechanism, Spend, calibrate, part_of
from cloister.vault import Vault

__all__ = ["BOUNDS_PARTS", "bounds_share", "estimate_bounds", "explain_bounds", "search_bounds"]

BOUNDS_PARTS = tuple(Fraction(part, 100) for part in (20, 8, 8, 8, 56))  # of the share, for each step
EXPONENTS = range(-40, 81)  # |x| from 2**e up to 2**(e+1)
SMALLEST = 2.0 ** EXPONENTS[0]  # what is nearer to zero is not told from it
CELLS = 256  # in the steps between
INNER, OUTER = 16, 100  # in the last step: equal cells of the bulk, and doubling ones on either side
LEAST_WIDTH = 2.0**-32  # of bounds, over their distance from zero
FARTHEST_BOUND = 2.0**200
FIRST_BULK, BULK = 0.9, 0.5  # the part of the rows that a bulk shows, in powers of two and in equal cells
BULK_NOISE = 30.0  # standard deviations of noise that the latter is at least, if that is not more than the former
WHOLE_RUNS = (2, 4)  # whose outer powers of two may belong to a bulk
NOISY = 0.01  # deviations of a count, over the rows, above which bounds are not to be trusted: `explain_bounds`
DOUBT = 2e-5  # chance that any run of empty cells stands out, in one fit

Histograms = Callable[[list[Array], int], tuple[list[Array], Mechanism]]
"""The edges of every column's cells and the step's number -> noisy counts, and the mechanism of their noise."""


def bounds_share(columns: int) -> Fraction:
    """What of the budget goes to bounds: noise grows with the number of columns, so 15%, 2% more a column, a third at most."""
    return min(Fraction(15 + 2 * columns, 100), Fraction(1, 3))


def explain_bounds(sensitivity: Sensitivity, spend: Spend, rows: float) -> str:
    """What a plan says about bounds that are found with this spend, from public facts alone.

    In the settings that were drawn (2,000 to 20,000 rows, 2 to 16 columns, both noises) with the noise of a count in the last
    step above a hundredth of the rows, the median width was 2.2 to 3.3 times the range of 99.9% of the rows, and a tenth passed
    3.8 times or, at 2,000 rows of 10 columns, far more; at a quarter of a hundredth 1.3 to 1.7, and a tenth passed 1.8 to 2.7.
    """
    noise = calibrate(sensitivity, part_of(spend, BOUNDS_PARTS[-1])).deviation()["counts"]
    reason = "found inside the budget, since none were given"
    if noise <= NOISY * rows:
        return reason
    return (
        f"{reason}; at this budget, for so many columns and so few rows, they may be many times too wide or leave out rows that "
        "lie apart: state them if you can"
    )


def estimate_bounds(
    vault: Vault, names: Sequence[str], spend: Spend, rows: float, progress: Progress
) -> tuple[Array, Array]:
    """The lower and upper bound of each column, for a table of about so many rows; all steps together have this spend."""

    def histograms(edges: list[Array], step: int) -> tuple[list[Array], Mechanism]:
        name = f"bounds {step + 1}"
        progress(name)
        columns = tuple(Bins(column, tuple(ends[1:-1].tolist())) for column, ends in zip(names, edges, strict=True))
        vault.recode(Encoding(categories=columns))
        kernel = ValueCounts(tuple(len(ends) - 1 for ends in edges))
        mechanism = calibrate(vault.sensitivity(kernel), part_of(spend, BOUNDS_PARTS[step]))
        released = vault.measure(kernel, mechanism, name).value["counts"].astype(np.float64)
        return np.split(released, np.cumsum(kernel.sizes)[:-1]), mechanism

    return search_bounds(len(names), rows, histograms)


def search_bounds(columns: int, rows: float, histograms: Histograms) -> tuple[Array, Array]:
    """The bounds of so many columns, from noisy histograms that are asked for one after the other."""
    exponent = log(columns * len(BOUNDS_PARTS) * CELLS * len(RUNS) / (2 * DOUBT))
    magnitudes = 2.0 ** np.array(EXPONENTS)
    places = [(-SMALLEST, SMALLEST)] * columns
    edges = [np.concatenate([-magnitudes[::-1], magnitudes])] * columns
    for step in range(len(BOUNDS_PARTS) - 1):
        counts, mechanism = histograms(edges, step)
        noise = CountNoise.of(mechanism, exponent)
        cells = [ColumnCells(*pair, noise) for pair in zip(edges, counts, strict=True)]
        places = [bulk(column, rows, step > 0) or place for column, place in zip(cells, places, strict=True)]
        edges = [np.linspace(*place, CELLS + 1) for place in places]
    edges = [doubling_edges(*place) for place in places]
    counts, mechanism = histograms(edges, len(BOUNDS_PARTS) - 1)
    noise = CountNoise.of(mechanism, exponent)
    ranges = [range_of_tails(ColumnCells(*pair, noise), rows) for pair in zip(edges, counts, strict=True)]
    low, high = np.array(ranges).T
    return set_apart(low, high)


def set_apart(low: Array, high: Array) -> tuple[Array, Array]:
    """Finite bounds with room between them, whatever was read from noise: after a charge nothing is refused.

    Cells reach to about 2**180 and are at least 2**-30 of their distance from zero wide, so rows that stand out are never
    moved; a median that noise put into an empty cell far out would have had both bounds in one number.
    """
    low, high = (np.clip(ends, -FARTHEST_BOUND, FARTHEST_BOUND) for ends in (low, high))
    least = np.maximum(np.maximum(np.abs(low), np.abs(high)) * LEAST_WIDTH, SMALLEST)
    short = np.maximum(0.0, least - (high - low)) / 2
    return low - short, high + short


def bulk(cells: ColumnCells, rows: float, equal: bool) -> tuple[float, float] | None:
    """Where most rows are seen: what all runs that stand out have in common, or span; None if it is nowhere or tiny.

    The shortest runs that show it count: they tell the place best.
    """
    shown = min(max(BULK_NOISE * cells.noise.deviation, BULK * rows), FIRST_BULK * rows) if equal else FIRST_BULK * rows
    for run in RUNS:
        found = cells.standing_out(run)
        if found is None:
            continue
        first, last = found[0], found[1] + run
        spans = [(first, last)]
        if not equal:  # the outer cells of a run may be empty, and each is as wide as all that lie further in
            inner = min(first + run - 1, last - run), max(last - run + 1, first + run)
            spans = [inner, (first, last)] if run in WHOLE_RUNS else [inner]
        for start, end in spans:
            low, high = float(cells.edges[start]), float(cells.edges[end])
            if cells.counts[start:end].sum() >= shown and high - low >= 2 * SMALLEST:
                return low, high
    return None


def doubling_edges(low: float, high: float) -> NDArray[np.float64]:
    """Equal cells from low to high, and on either side cells that double in width."""
    beyond = (high - low) / INNER * (2.0 ** np.arange(1, OUTER + 1) - 1)
    return np.concatenate([(low - beyond)[::-1], np.linspace(low, high, INNER + 1), high + beyond])
