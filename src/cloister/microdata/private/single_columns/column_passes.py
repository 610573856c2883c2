"""The passes that count every column by itself: where numbers lie first, then all columns at once.

Privacy
-------
Every pass is one `kernels.ClassCounts` of a single class with noise on every count, of empty bins too. A row adds 1 to one count
of each column that a pass counts, so the counts of c columns move by c in L1 and in squared L2 when a row is added or removed, by
twice that when one is replaced, and by as many times that as a person may have rows: whatever the bins are, and however many.
Bins of a pass follow from public facts and from what was released before it. How many passes there are, and what each may spend,
is the caller's plan, which is frozen by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cloister.clustering.terms import Terms
from cloister.kernels import ClassCounts, ValueBins
from cloister.microdata.private.row_task import Progress
from cloister.microdata.private.single_columns.column_marginals import Array, NumberCounts
from cloister.microdata.private.single_columns.number_places import Ends, MarginalPlaces
from cloister.privacy.events import Event
from cloister.privacy.mechanisms import Mechanism, Spend, calibrate, event_of
from cloister.vault import Vault

__all__ = ["FIRST_BINS", "RANGES_SHARE", "RANGE_PASSES", "ColumnPasses", "CountedColumns", "count_noise", "range_events"]

RANGES_SHARE = Fraction(75, 1000)  # of what is left after the number of rows, in all passes over ranges
RANGE_PASSES = 2
FIRST_BINS = 32  # of a number column at first; one that has no more values needs no ranges
RANGE_SIGNAL, MARGINAL_SIGNAL = 4.0, 6.0  # rows of a bin's pieces at least, in deviations of the pass that counts them
SMALLEST_DEVIATION = 1e-6  # of counts whose noise is next to nothing


@dataclass(frozen=True, slots=True, eq=False)
class CountedColumns:
    """What is known of each column: numbers in fine bins, then the noisy counts of the columns whose cells are fixed."""

    numbers: tuple[NumberCounts, ...]
    fixed: tuple[Array, ...]
    deviation: float  # of a count of the fixed ones


@dataclass(frozen=True, slots=True)
class ColumnPasses:
    """What is spent on the passes, and under which name the last of them is charged."""

    terms: Terms
    ranges: Spend | None  # of each pass over ranges; None: there is none
    last: Spend
    step: str  # the last pass, in the plan

    def run(
        self, vault: Vault, places: Sequence[MarginalPlaces], fixed: ValueBins, rows: float, progress: Progress
    ) -> CountedColumns:
        """Count a table of about so many rows.

        Parameters
        ----------
        places : of the first number columns of the rows as they are read: their bins follow the rows
        fixed : the cells of the number columns after those, and of the categories
        """
        known = [NumberCounts.unknown(column, rows) for column in places]
        ends = [column.first_bins(FIRST_BINS) for column in places]
        if self.ranges is not None:
            for_ranges = RANGE_SIGNAL * count_noise(self.terms, len(places), self.ranges)
            for_last = MARGINAL_SIGNAL * count_noise(self.terms, len(places) + len(fixed.widths), self.last)
            for i, least in enumerate([*[for_ranges] * (RANGE_PASSES - 1), for_last]):
                bins = bins_of(places, ends, ValueBins())
                counted, deviation = counted_columns(vault, bins, self.ranges, range_step(i), progress)
                known = refined(known, ends, counted, deviation)
                ends = [column.pieces(rows, least) for column in known]
        counted, deviation = counted_columns(vault, bins_of(places, ends, fixed), self.last, self.step, progress)
        known = refined(known, ends, counted, deviation)
        return CountedColumns(tuple(known), tuple(counted[len(places) :]), deviation)


def range_step(place: int) -> str:
    """The name of a pass over ranges."""
    return f"ranges {place + 1}"


def range_events(spend: Spend | None) -> list[Event]:
    """What the passes over ranges are charged, in order."""
    return [event_of(range_step(i), spend) for i in range(RANGE_PASSES)] if spend is not None else []


def count_mechanism(terms: Terms, columns: int, spend: Spend) -> Mechanism:
    """The noise of value counts of so many columns: how many values or clusters they have plays no part in it."""
    kernel = ClassCounts(ValueBins((), (1,) * columns), np.zeros((1, columns), dtype=np.int32))
    return calibrate(terms.sensitivity(kernel), spend)


def count_noise(terms: Terms, columns: int, spend: Spend) -> float:
    """The deviation of one of those counts."""
    return count_mechanism(terms, columns, spend).deviation()["counts"]


def measure_counts(vault: Vault, kernel: ClassCounts, spend: Spend, step: str) -> tuple[Array, float]:
    """Noisy counts, (classes, bins), and the deviation of their noise."""
    released = vault.measure(kernel, calibrate(vault.sensitivity(kernel), spend), step)
    return released.value["counts"].astype(np.float64), max(released.deviation["counts"], SMALLEST_DEVIATION)


def counted_columns(vault: Vault, bins: ValueBins, spend: Spend, step: str, progress: Progress) -> tuple[list[Array], float]:
    """Noisy value counts of the whole table, column by column, and the deviation of their noise."""
    progress(step)
    kernel = ClassCounts(bins, np.zeros((1, bins.total), dtype=np.int32))
    counts, deviation = measure_counts(vault, kernel, spend, step)
    return np.split(counts[0], bins.offsets[1:]), deviation


def bins_of(places: Sequence[MarginalPlaces], ends: Sequence[Ends], fixed: ValueBins) -> ValueBins:
    """Bins of numbers that end there, and the cells of the other columns."""
    return ValueBins((*(column.cuts(own) for column, own in zip(places, ends, strict=True)), *fixed.cuts), fixed.sizes)


def refined(
    known: Sequence[NumberCounts], ends: Sequence[Ends], counted: Sequence[Array], deviation: float
) -> list[NumberCounts]:
    """What is known of each number column after a pass; the counts of the other columns come after those of numbers."""
    return [column.refined(own, counts, deviation) for column, own, counts in zip(known, ends, counted, strict=False)]
