"""How `marginals` spends its budget: a written rule from the noisy number of rows, the columns and the budget.

- The number of rows is bought first with a pure epsilon, a fiftieth; under replace-one it is public.
- Ranges: 7.5% of what is left in two passes that find where numbers and dates lie; nothing where all of them have stated bins or
  few values.
- The values of each column by itself, then pairs: every table, of one column or of two, has the same noise.
- Rounds: in each a pair of columns is chosen, by the exponential mechanism, that lies farthest from what the model of everything
  released so far says of it; then this pair is measured. All choices together have an eighth of epsilon at most, and no more
  than they need to tell apart pairs that differ by half a percent of the rows.

There are as many rounds as keep the noise of a usual pair below `NOISE` of the rows, at least as many as a tree of pairs over all
columns has (fewer, or none, where even these would be noise: `MOST_NOISE`) and at most twice as many as columns. Where that is
every pair there is, and one model holds them all, nothing is chosen: all are measured. How many rounds there are, their kinds and
their spends are fixed before the first of them, and before the ranges: a column whose bins follow the rows is planned with the
most cells that it can get, and the noise of its pairs judged by as many as it is expected to have. Which pair is measured, and
how many cells it has, follows from what was released.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

from cloister.clustering.terms import Terms
from cloister.errors import UsageError
from cloister.kernels import Histogram, LowOrderMarginals
from cloister.microdata.private.single_columns.column_passes import (
    RANGE_PASSES,
    RANGES_SHARE,
    ColumnPasses,
    count_noise,
    range_events,
)
from cloister.privacy.events import Event, ExponentialEvent
from cloister.privacy.mechanisms import Mechanism, Spend, calibrate, event_of, explain_noise, part_of, whole_spend
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.synthesis.junction_tree import cells_of_model

__all__ = ["MOST_COLUMNS", "MOST_MODEL_CELLS", "Pair", "PairPlan", "PlannedColumns", "candidate_pairs", "plan_pairs"]

Pair = tuple[int, int]

CHOICE_SHARE = Fraction(1, 8)
TELL_APART = 200  # one of so many rows: choices need not tell pairs apart whose distances differ by less
NOISE = 0.05  # of the rows: the noise of a usual pair, cell by cell, up to which rounds are added
MEAN_SIZE = 0.8  # of the absolute noise of a cell, in standard deviations: between Laplace's 0.71 and Gauss' 0.80
MOST_NOISE = 0.35  # the same for the rounds of a tree: beyond, columns by themselves are worth more
ROUNDS_A_COLUMN = 2
FEWEST_ROWS = 10.0  # a smaller noisy number of rows is raised to this
MOST_COLUMNS = 40
MOST_MODEL_CELLS = 2**14
MOST_PAIR_CELLS = 2**22  # of all candidates together


@dataclass(frozen=True, slots=True)
class PlannedColumns:
    """What is public of the cells of all columns.

    Attributes
    ----------
    most_cells : how many each has at most
    usual_cells : how many each is expected to have: what the noise of pairs is judged by
    followed : of how many columns the bins follow the rows
    """

    most_cells: tuple[int, ...]
    usual_cells: tuple[int, ...]
    followed: int


@dataclass(frozen=True, slots=True)
class PairPlan:
    """What is spent on what. Spends of choices and pairs are those of one round."""

    terms: Terms
    columns: PlannedColumns
    rows: float
    candidates: tuple[Pair, ...]
    rounds: int
    ranges: Spend | None  # of each pass; None: there is none
    values: Spend
    pair: Spend
    choice: Fraction | None  # None: all candidates are measured, and nothing is chosen
    reach: int

    @property
    def passes(self) -> ColumnPasses:
        """The passes over every column by itself."""
        return ColumnPasses(self.terms, self.ranges, self.values, "values")

    def pair_noise(self) -> Mechanism:
        """The noise of any one pair; how many cells it has plays no part in it."""
        return calibrate(self.terms.sensitivity(LowOrderMarginals(Histogram((), (1, 1)), ((0, 1),))), self.pair)

    @property
    def deviation(self) -> float:
        """The standard deviation of a cell of a pair."""
        return next(iter(self.pair_noise().deviation().values())) if self.rounds else 0.0

    def steps(self) -> Iterator[Event]:
        """Every step's charge, in order."""
        size = self.terms.size_step(self.terms.size_epsilon)
        if size is not None:
            yield size.event
        yield from range_events(self.ranges)
        yield event_of("values", self.values)
        for i in range(1, self.rounds + 1):
            if self.choice is not None:
                yield ExponentialEvent(f"choice {i}", self.choice)
            yield event_of(f"pair {i}", self.pair)

    def as_plan(self) -> Plan:
        """What it spends, and what to expect of it."""
        terms = self.terms
        columns = len(self.columns.most_cells)
        expect: dict[str, str] = {}
        if self.ranges is not None:
            noise = count_noise(terms, self.columns.followed, self.ranges)
            expect |= {event.step: f"counts of bins +-{noise:.3g} rows" for event in range_events(self.ranges)}
        expect["values"] = f"the count of a value +-{count_noise(terms, columns, self.values):.3g} rows"
        expect |= {f"pair {i}": f"cells +-{self.deviation:.3g} rows" for i in range(1, self.rounds + 1)}
        facts = {"rows": f"about {self.rows:,.0f}", "columns": columns, "pairs": len(self.candidates)}
        chosen = "chosen privately, one a round" if self.choice is not None else "every pair there is"
        choices = {
            "method": "marginals: noisy counts of single columns and of pairs of them, and one model of all",
            "noise": explain_noise(terms.budget),
            "pairs": f"{self.rounds}, {chosen}",
        }
        if self.ranges is not None:
            choices["numbers"] = "in bins that follow from the passes over their ranges, narrow where many rows are"
        return Plan(terms.budget, terms.neighbours, tuple(self.steps()), expect, facts, choices, terms.protected)


def candidate_pairs(sizes: tuple[int, ...]) -> tuple[Pair, ...]:
    """The pairs of columns that may be measured: those of the fewest cells, as many as can be counted in one pass."""
    by_cells = sorted(combinations(range(len(sizes)), 2), key=lambda pair: (sizes[pair[0]] * sizes[pair[1]], pair))
    kept: list[Pair] = []
    total = 0
    for pair in by_cells:
        cells = sizes[pair[0]] * sizes[pair[1]]
        total += cells
        if total <= MOST_PAIR_CELLS and fits(sizes, frozenset({pair})):
            kept.append(pair)
    return tuple(sorted(kept))


def fits(sizes: tuple[int, ...], tables: frozenset[tuple[int, ...]]) -> bool:
    """Whether a model of these tables is small enough; every column by itself always is."""
    return cells_of_model(sizes, tables) <= max(MOST_MODEL_CELLS, 2 * sum(sizes))


def plan_pairs(terms: Terms, columns: PlannedColumns, rows: float) -> PairPlan:
    """The plan for a table of about so many rows; no row is read."""
    sizes = columns.most_cells
    if len(sizes) > MOST_COLUMNS:
        raise UsageError(
            f'method "marginals" takes at most {MOST_COLUMNS} columns of more than one value, and {len(sizes)} were given. '
            "Name fewer."
        )
    rows = max(rows, FEWEST_ROWS)
    candidates = candidate_pairs(sizes)
    most = min(len(candidates), ROUNDS_A_COLUMN * len(sizes))
    least = min(most, len(sizes) - 1)
    takes_all = most == len(candidates) and fits(sizes, frozenset(candidates))
    usual = usual_pair(columns.usual_cells, candidates)
    for rounds in range(most, 0, -1):
        planned = share_out(terms, columns, rows, candidates, rounds, takes_all and rounds == most)
        if MEAN_SIZE * planned.deviation * usual / 2 <= (NOISE if rounds > least else MOST_NOISE) * rows:
            return planned
    return share_out(terms, columns, rows, candidates, 0, False)


def usual_pair(cells: tuple[int, ...], candidates: tuple[Pair, ...]) -> int:
    """How many cells a pair has, by the median."""
    return sorted(prod(cells[axis] for axis in pair) for pair in candidates)[len(candidates) // 2] if candidates else 0


def share_out(
    terms: Terms, columns: PlannedColumns, rows: float, candidates: tuple[Pair, ...], rounds: int, takes_all: bool
) -> PairPlan:
    """The spends of a plan of so many rounds; all steps together spend the budget."""
    left = terms.budget.epsilon - (terms.size_epsilon or 0)
    reach = (2 if terms.neighbours is Neighbours.ADD_REMOVE else 4) * terms.rows_each
    choice = None
    if rounds and not takes_all:
        choice = min(left * CHOICE_SHARE / rounds, Fraction(reach, max(1, int(rows / TELL_APART))))
    whole = whole_spend(terms.budget, left - rounds * (choice or 0))
    for_ranges = RANGES_SHARE if columns.followed else Fraction(0)
    ranges = part_of(whole, for_ranges / RANGE_PASSES) if columns.followed else None
    alone = len(columns.most_cells)
    values, pair = (part_of(whole, (1 - for_ranges) * Fraction(tables, alone + rounds)) for tables in (alone, 1))
    return PairPlan(terms, columns, rows, candidates, rounds, ranges, values, pair, choice, reach)
