"""Private rows by noisy marginals: values of single columns, then pairs that are chosen and measured round by round.

Privacy
-------
Every table is measured in the vault, and every pair chosen there; the model sees what was released and how large its noise is.
Released, in this order:

1. the number of rows (add-remove only; under replace-one it is public);
2. in two passes how many rows lie in each bin of the number and date columns that have neither stated bins nor few values, the
   bins of the second following from the first;
3. the values of every column by itself: of those columns in fine bins that follow from the passes (`ColumnPasses`);
4. in rounds, which pair of columns lies farthest from the model, and the counts of this pair. A column of fine bins has coarse
   ones here, joined by released counts alone.

The plan is frozen once the number of rows is known: how many rounds there are, kinds and spends of all steps are fixed, and only
which pair is measured, and in which cells, follows from earlier steps. It is made with the most coarse bins that a column can get
(`most_coarse`), a public number, so that what was planned still fits whatever is released.

Sensitivity: bins are public or released by the time they are counted in, and a row is in one cell of each table, whatever its
cells are. Choices are pure epsilons, taken off epsilon first; the tables are one Gaussian under a delta. Post-processing: where
bins are cut, the model, rows of it, and numbers within bins; the random numbers in it are public.

References
----------
R. McKenna, G. Miklau and D. Sheldon, "Winning the NIST contest", JPC 2021 (MST: a tree of pairs).
R. McKenna, B. Mullins, D. Sheldon and G. Miklau, "AIM: an adaptive and iterative mechanism for differentially private synthetic
data", VLDB 2022 (rounds of choosing and measuring; here their number and their spends are fixed beforehand).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from cloister.clustering.chance import PublicChance
from cloister.clustering.terms import buy_size
from cloister.encode import Encoding
from cloister.kernels import LowOrderMarginals
from cloister.kernels.low_order import MarginalDistances, part_name
from cloister.microdata.private.marginals.binned_columns import COARSE_BINS, BinnedColumns, bin_columns
from cloister.microdata.private.marginals.pair_plan import (
    FEWEST_ROWS,
    MEAN_SIZE,
    Pair,
    PairPlan,
    PlannedColumns,
    fits,
    plan_pairs,
)
from cloister.microdata.private.row_task import MOST_ROWS, MadeRows, Progress, RowTask, check_size
from cloister.microdata.private.single_columns.column_marginals import ColumnMarginals
from cloister.microdata.private.single_columns.column_passes import CountedColumns
from cloister.microdata.private.single_columns.number_places import Ends
from cloister.privacy.mechanisms.base import checked_scale
from cloister.privacy.mechanisms.farthest_marginal import FarthestMarginal
from cloister.privacy.plan import Plan
from cloister.synthesis.marginal_model import NoisyMarginal, combined_total, fit_marginals
from cloister.vault import Vault

__all__ = ["MarginalRows"]

MANY_ROWS = 1e12  # a plan for so many has the most rounds
FIRST_STEPS, ROUND_STEPS, LAST_STEPS = 200, 60, 300  # of descent
HANDICAP = 0.25  # of the noise that a pair would be measured with: a large table has to be farther away to be chosen
LIKELY = 2.0  # deviations: a pair that differs from the model by no more than its noise explains is left out
SPREAD = 5.0  # the variance of a squared draw of Laplace noise, in squared variances; Gaussian noise has 2


class MarginalRows:
    """Rows of one model of noisy low-order marginals."""

    name = "marginals"
    counts_first = False

    def check(self, task: RowTask) -> None:
        """Refuse too many columns or values, and a budget whose noise cannot be drawn."""
        columns = planned_columns(bin_columns(task))
        check_size(task.terms)
        for rows in (FEWEST_ROWS, MANY_ROWS):
            planned = plan_pairs(task.terms, columns, rows)
            planned.as_plan()
            if planned.choice is not None:
                checked_scale(planned.reach / planned.choice)

    def encoding(self, task: RowTask) -> Encoding:
        """Numbers and dates on a grid or as their bins, categories as codes."""
        return bin_columns(task).encoding

    def plan(self, task: RowTask, rows: float) -> Plan:
        """The plan for a table of about so many rows."""
        return plan_pairs(task.terms, planned_columns(bin_columns(task)), rows).as_plan()

    def make(self, vault: Vault, task: RowTask, random: PublicChance, progress: Progress) -> MadeRows:
        """Measure, round by round; then rows of the model."""
        binned = bin_columns(task)
        step = task.terms.size_step(task.terms.size_epsilon)
        size = buy_size(vault, step, progress)
        planned = plan_pairs(task.terms, planned_columns(binned), size)
        plan = planned.as_plan()
        vault.follow(plan)
        deviation = step.mechanism.deviation()["counts"] if step is not None else 0.0
        rounds = PairRounds(vault, planned, binned, (size, deviation), progress)
        rounds.run()
        count = min(round(rounds.total), MOST_ROWS)
        places = rounds.model.rows(count, random)
        names = binned.names
        choices = dict(plan.choices)
        if count == MOST_ROWS:
            choices["rows"] = f"{MOST_ROWS:,}, the most that are made up at once: the table has about {rounds.total:,.0f}"
        result = {
            "pairs": [[names[one], names[other]] for one, other in rounds.used],
            "left_out": [[names[one], names[other]] for one, other in rounds.measured if (one, other) not in rounds.used],
        }
        return MadeRows(binned.values(places, rounds.alone, random), size, choices, result)


class PairRounds:
    """What was released so far, and the model of it."""

    def __init__(
        self, vault: Vault, planned: PairPlan, binned: BinnedColumns, size: tuple[float, float], progress: Progress
    ) -> None:
        self._vault = vault
        self._planned = planned
        self._progress = progress
        self.measured: list[Pair] = []
        self.used: list[Pair] = []
        counted = planned.passes.run(vault, binned.followed, binned.fixed, planned.rows, progress)
        self.alone = ColumnMarginals.of(counted.numbers, (), planned.rows, COARSE_BINS)
        self._cells = binned.cells(self.alone.coarse)
        self._sizes = self._cells.shape
        self._noisy = noisy_columns(counted, self.alone.coarse)
        self.total = max(1.0, combined_total([size, *(column.total for column in self._noisy)]))
        self.model = fit_marginals(self._sizes, self._noisy, self.total, FIRST_STEPS)

    def run(self) -> None:
        """All rounds, and a last fit."""
        for i in range(1, self._planned.rounds + 1):
            self._progress(f"pair {i} of {self._planned.rounds}")
            pair = self._planned.candidates[i - 1] if self._planned.choice is None else self._choose(i)
            if self._measure(pair, i):
                self.model = fit_marginals(self._sizes, self._noisy, self.total, ROUND_STEPS, self.model)
        self.model = fit_marginals(self._sizes, self._noisy, self.total, LAST_STEPS, self.model)

    def _choose(self, place: int) -> Pair:
        """The pair that lies farthest from the model, privately."""
        pairs = self._open_pairs()
        expected = self.model.pairs(pairs)
        references = tuple(np.rint(expected[pair] * self.total).astype(np.int64) for pair in pairs)
        cell = HANDICAP * MEAN_SIZE * self._planned.deviation
        handicaps = tuple(round(cell * table.size) for table in references)
        distances = MarginalDistances(LowOrderMarginals(self._cells, pairs), references, handicaps)
        assert self._planned.choice is not None
        mechanism = FarthestMarginal(distances, self._planned.reach / self._planned.choice)
        return pairs[self._vault.select_marginal(mechanism, f"choice {place}").value]

    def _open_pairs(self) -> tuple[Pair, ...]:
        """The pairs that may come next: new ones that keep the model small; where there are none, those that it has."""
        tables = frozenset(self.used)
        new = [pair for pair in self._planned.candidates if pair not in self.measured and fits(self._sizes, tables | {pair})]
        return tuple(new or self.used or self._planned.candidates)

    def _measure(self, pair: Pair, place: int) -> bool:
        """Measure a pair; whether it says something that the model does not, beyond its noise."""
        kernel = LowOrderMarginals(self._cells, (pair,))
        released = self._vault.measure(kernel, self._planned.pair_noise(), f"pair {place}")
        counts, deviation = released.value[part_name(0)].astype(np.float64), released.deviation[part_name(0)]
        if pair not in self.measured:
            self.measured.append(pair)
        away = ((counts - self.model.pairs([pair])[pair] * self.total) ** 2).sum() / deviation**2
        says_more = away > counts.size + LIKELY * sqrt(SPREAD * counts.size)
        if pair in self.used or (says_more and fits(self._sizes, frozenset({*self.used, pair}))):
            self._noisy.append(NoisyMarginal(pair, counts, deviation))
            if pair not in self.used:
                self.used.append(pair)
            return True
        return False


def planned_columns(binned: BinnedColumns) -> PlannedColumns:
    """What the plan may know of the columns."""
    return PlannedColumns(binned.most_cells, binned.usual_cells, len(binned.followed))


def noisy_columns(counted: CountedColumns, coarse: Sequence[Ends]) -> list[NoisyMarginal]:
    """Every column by itself, as the model has it: numbers in their coarse bins, each with the deviation of its sum."""
    joined = [column.joined(ends) for column, ends in zip(counted.numbers, coarse, strict=True)]
    tables = [(column.counts, np.sqrt(column.variances)) for column in joined]
    tables += [(counts, np.full(counts.shape, counted.deviation)) for counts in counted.fixed]
    return [NoisyMarginal((i,), counts, deviation) for i, (counts, deviation) in enumerate(tables)]
