"""Private rows by insensitive groups: ICMD-DP made sound, for comparison with what is better.

Privacy
-------
Released: for each block of k rows along a public total order one centroid, its mean of every number and a value of every
category. Neighbours: replace-one alone, where the number of rows is public. Sensitivity: a replaced row changes at most one row
of each block, but it may change every block (`kernels.ranked_blocks`), so the sums of all blocks move by up to (n / k) times the
widths of the columns in L1. Budget: divided by columns, numbers by the Laplace (Gaussian) mechanism as one release, categories
by the exponential mechanism, one draw a block and column, all of which add up. Post-processing: division by the public size of a
block, clipping into the bounds, each centroid written as often as its block has rows, in a public random order.

The paper's own form is not private: its total order depends on the farthest record, and parallel composition does not apply to
blocks that can all change at once. What is left after that correction is mostly noise, unless k is far above the root of n; the
plan says how much before a row is read.

References
----------
Ding and Li, "A differential privacy protection method for mixed-attribute data tables" (ICMD-DP). Soria-Comas, Domingo-Ferrer,
Sanchez and Martinez, "Enhancing data utility in differential privacy via microaggregation-based k-anonymity", VLDB Journal 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.terms import buy_size
from cloister.encode import Encoding
from cloister.errors import UsageError, by_door
from cloister.kernels.ranked_blocks import BlockSums, CornerOrder, RankedBlocks
from cloister.microdata.private.row_task import MadeRows, Progress, RowTask
from cloister.privacy.events import Event
from cloister.privacy.mechanisms import Gaussian, Mechanism, Spend, calibrate, explain_noise, whole_spend
from cloister.privacy.mechanisms.block_modes import BlockModes
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.vault import Vault

__all__ = ["InsensitiveRows", "best_group"]

UNIFORM = 1 / 12  # the variance of a column that is spread evenly over its bounds, in squared widths
STEPS_OF_K = 2 ** (1 / 4)  # between the sizes of groups that are compared
MOST_BLOCKS = 1_000_000


class InsensitiveRows:
    """Averages of groups along a public order."""

    name = "insensitive"
    counts_first = True

    def check(self, task: RowTask) -> None:
        """Only replace-one; a budget whose noise cannot be drawn is refused with the plan."""
        if task.terms.neighbours is not Neighbours.REPLACE_ONE:
            raise UsageError(
                'method "insensitive" protects a row that is replaced, not one that is added or removed: groups move with every '
                "row before them. Give "
                + by_door('neighbours="replace-one"', "--neighbours replace-one")
                + ', or use method "clusters", which is better too.'
            )

    def encoding(self, task: RowTask) -> Encoding:
        """Numbers on a grid of their bounds, categories as codes."""
        return task.domain.encoding

    def plan(self, task: RowTask, rows: float) -> Plan:
        """The plan for a table of so many rows."""
        return self._steps(task, int(rows)).as_plan(task)

    def make(self, vault: Vault, task: RowTask, random: PublicChance, progress: Progress) -> MadeRows:
        """Centroids of the blocks, each written as often as its block has rows."""
        rows = int(buy_size(vault, None, progress))
        steps = self._steps(task, rows)
        plan = steps.as_plan(task)
        vault.follow(plan)
        blocks, domain = steps.blocks, task.domain
        values: dict[str, NDArray[np.float64] | NDArray[np.int64]] = {}
        if steps.modes is not None:
            progress("modes")
            codes = vault.select_ranked(blocks, steps.modes, "modes").value
            values |= dict(zip((column.name for column in domain.categories), codes.T, strict=True))
        if steps.means is not None:
            progress("means")
            sums = vault.measure_ranked(steps.sums, steps.means, "means").value["sums"]
            centroids = domain.decode(domain.put(sums / blocks.lengths[:, None]))
            values |= dict(zip(task.columns.numbers, centroids.T, strict=True))
        times = blocks.lengths
        return MadeRows(
            {name: np.repeat(column, times) for name, column in values.items()},
            float(rows),
            plan.choices,
            {"groups": blocks.blocks, "k": blocks.size},
        )

    def _steps(self, task: RowTask, rows: int) -> BlockSteps:
        if rows < 1:
            raise UsageError("the table has no rows, so there is nothing to average.")
        size = task.group if task.group is not None else best_group(task, rows)
        if size > rows:
            raise UsageError(f"k is {size:,}, and the table has fewer rows. Lower {by_door('k', '--k')}.")
        return block_steps(task, rows, size)


@dataclass(frozen=True, slots=True)
class BlockSteps:
    """The blocks of a table of a public size, and what is released of them."""

    blocks: RankedBlocks
    sums: BlockSums
    means: Mechanism | None  # None: there are no numbers
    modes: BlockModes | None  # None: there are no categories

    def as_plan(self, task: RowTask) -> Plan:
        """What it spends, with the noise as a part of each column's range, and which k would be best."""
        terms, blocks = task.terms, self.blocks
        steps: list[Event] = []
        expect: dict[str, str] = {}
        if self.modes is not None:
            steps.append(self.modes.event("modes"))
            expect["modes"] = f"a value passes another of {tenfold(self.modes.scale):,.0f} rows more once in ten times"
        if self.means is not None:
            steps.append(self.means.event("means", self.sums.sensitivity(terms.neighbours)))
            expect["means"] = f"every mean +-{self.noise(task):.3g} of its column's range"
        facts = {"rows": blocks.rows, "k": blocks.size, "groups": blocks.blocks, **columns_fact(task)}
        return Plan(terms.budget, terms.neighbours, tuple(steps), expect, facts, self._choices(task), terms.protected)

    def noise(self, task: RowTask) -> float:
        """The deviation of a mean's noise, in widths of its column."""
        assert self.means is not None
        return self.means.deviation()["sums"] / self.blocks.size / (2 * float(task.domain.halves.max()))

    def _choices(self, task: RowTask) -> dict[str, str]:
        best = best_group(task, self.blocks.rows)
        choices = {
            "method": "insensitive: averages of groups along a public order",
            "noise": explain_noise(task.terms.budget),
        }
        choices["group size"] = (
            f"{best:,} would be best, as far as public facts say"
            if best != self.blocks.size
            else ("the best, as far as public facts say")
        )
        if self.means is not None:
            noise, rows = self.noise(task), self.blocks.rows
            choices["means"] = f"noise of {noise:.3g} of a column's range" + (
                ", more than a column that is spread evenly varies (0.29)" if noise > sqrt(UNIFORM) else ""
            )
            other = self.noise_of_clusters(task)
            if other < noise:
                choices["better"] = (
                    f'method "clusters": in {self.blocks.blocks:,} clusters of {rows // self.blocks.blocks:,} rows its means '
                    f"would have noise of about {other:.3g} of a range, since a row is in one cluster alone"
                )
        return choices

    def noise_of_clusters(self, task: RowTask) -> float:
        """About the noise of the means of as many clusters for half of the budget: a row moves one sum, or two, and not all."""
        return 4 * self.noise(task) / spread_of_noise(self.means, self.blocks.blocks)


def tenfold(scale: Fraction) -> float:
    """How many rows more a value needs so that another is drawn in its place a tenth as often."""
    return float(scale) * log(10)


def columns_fact(task: RowTask) -> dict[str, int]:
    """How many columns of either kind there are."""
    numbers, categories = len(task.columns.numbers), len(task.columns.categories)
    return {**({"numbers": numbers} if numbers else {}), **({"categories": categories} if categories else {})}


def block_steps(task: RowTask, rows: int, size: int) -> BlockSteps:
    """The blocks of so many rows, and the mechanisms that the budget buys: each column has an equal part of the epsilon."""
    domain, budget = task.domain, task.terms.budget
    numbers, categories = len(domain.halves), len(domain.sizes)
    if not numbers + categories:
        raise UsageError("every column has a single value, which is public: there is nothing to release.")
    differs = 2 * int(domain.halves.max()) if numbers else 1
    order = CornerOrder(differs, tuple(values - 1 for values in domain.sizes))
    blocks = RankedBlocks(order, rows, size, numbers, domain.sizes)
    if blocks.blocks > MOST_BLOCKS:
        raise UsageError(f"{blocks.blocks:,} groups are more than {MOST_BLOCKS:,}. Raise {by_door('k', '--k')}.")
    sums = BlockSums(blocks, tuple(int(half) for half in domain.halves))
    for_modes = budget.epsilon * Fraction(categories, numbers + categories)
    modes = BlockModes.spending(for_modes, blocks.blocks, categories) if categories else None
    means = None
    if numbers:
        spend: Spend = whole_spend(budget, budget.epsilon - for_modes)
        means = calibrate(sums.sensitivity(task.terms.neighbours), spend)
    return BlockSteps(blocks, sums, means, modes)


def spread_of_noise(mechanism: Mechanism | None, blocks: int) -> float:
    """By what the noise of a sum grows with the blocks that a row can move: their number in L1, its root in L2."""
    return sqrt(blocks) if isinstance(mechanism, Gaussian) else float(blocks)


def best_group(task: RowTask, rows: int) -> int:
    """The k with the least error to expect of the numbers, from public facts: noise, and what groups average away.

    g groups along one order of d columns that are spread evenly leave about 1 - (1 - 1/g^2) / d of a column's variance; noise is
    clipped into the bounds, so that it never costs more than about a quarter of a squared range. Without numbers: two groups.
    """
    numbers = len(task.columns.numbers)
    largest = max(1, rows // 2)
    if not numbers:
        return largest
    whole = block_steps(task, rows, rows)

    def expected(size: int) -> float:
        groups = max(1, rows // size)
        noise = whole.noise(task) * spread_of_noise(whole.means, groups) * rows / size
        return min(noise**2, 0.25) + UNIFORM * (1 - (1 - 1 / groups**2) / numbers)

    return min(candidates(largest, rows), key=lambda size: (expected(size), -size))


def candidates(largest: int, rows: int) -> list[int]:
    """Sizes of groups to compare, from 1 to half of the rows, and all of them in one group."""
    sizes = {largest, rows}
    size = 1.0
    while size < largest:
        if rows / size <= MOST_BLOCKS:
            sizes.add(round(size))
        size *= STEPS_OF_K
    return sorted(sizes)
