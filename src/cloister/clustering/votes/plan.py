"""How `votes` spends its budget: a written rule from the noisy number of rows, the columns, the clusters and the budget.

The number of rows is bought first with a pure epsilon (a fiftieth); under replace-one it is public. What is left of epsilon
(and delta) is one whole, whichever branch the number of rows picks:

- bounds: 15%, only where they are not public (`bounds`);
- seeding: the moments of each column (4%), then rounds of votes with clipped sums over more cells than clusters: 8, 6, 4
  and 2 cells a cluster (Gaussian) or 8 and 4 (Laplace), fewer where a cell's rows would not stand out of the noise
  (rows a cell >= 1.5 sqrt d times the noise of a sum), at most 512 or 4 a cluster;
- Lloyd: two rounds or more (Laplace: one or more), up to five while their noise stays far below the loss;
- 2% for the loss.

All seeding rounds get the same, as much as one of the fewest rounds of Lloyd. On a table of more than three times 20,000
rows (or 500 a cluster) seeding runs on a secret sample of about that many: its time stops growing, and the sample's privacy
makes up for its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.votes.bounds import BOUNDS_STEPS
from cloister.kernels import BoxClip, Clip, ClippedSums, Euclidean, Taxicab
from cloister.privacy.accounting import epsilon_before_sampling, gaussian_precision, sampled_gaussian_precision
from cloister.privacy.budgets import ApproxDP, Budget
from cloister.privacy.events import Event, GaussianEvent, LaplaceEvent, SampledEvent
from cloister.privacy.mechanisms import Precision, Spend, calibrate
from cloister.schema import Neighbours

__all__ = ["VotesPlan", "after_size", "lloyd_rounds", "round_kernel", "size_spend", "sum_noise", "weights_of_a_round"]

SIZE_SHARE = Fraction(2, 100)
BOUNDS_SHARE = Fraction(15, 100)
MOMENTS_SHARE = Fraction(4, 100)
LOSS_SHARE = Fraction(2, 100)
SEED_CELLS = {"gaussian": (8, 6, 4, 2), "laplace": (8, 4)}  # cells a cluster in each seeding round
LEAST_LLOYD = {"gaussian": 2, "laplace": 1}
MOST_LLOYD = 5
QUIET = 0.0005  # more rounds while their noise, at three times the usual radius, adds less than this part of the loss
MOST_CELLS = 512
CELL_SIGNAL = 1.5
THETA, PHI = 1.0, 0.15  # precision of sums : counts : squares = sqrt d : THETA : PHI
REPLACED_SQUARES = 0.03  # of the precision under replace-one
LEAST_COUNT_SHARE = 0.04
SAMPLE_ROWS, SAMPLE_ROWS_PER_CLUSTER, SAMPLE_FROM = 20_000, 500, 3
RATE_BITS = 32
MOST_AUTO = 32  # clusters that are looked for when their number is not given
UNIT_RADIUS = 1 << 20


@dataclass(frozen=True, slots=True)
class VotesPlan:
    """What follows the number of rows."""

    rate: Fraction  # of the secret sample that seeding runs on; 1: all rows
    bounds: Spend | None  # of each of the steps that find the bounds
    moments: Spend
    cells: tuple[int, ...]  # in each seeding round
    seeding: Spend  # of each seeding round
    lloyd: Spend  # of all rounds of Lloyd together
    loss: Spend

    def events(self, lloyd_rounds: int, bounds_steps: int = 0) -> tuple[Event, ...]:
        """Every step's charge."""
        seeding = (
            event("moments", self.moments),
            *(event(f"votes {i + 1}", self.seeding) for i in range(len(self.cells))),
        )
        bounds = [event(f"bounds {i + 1}", self.bounds) for i in range(bounds_steps)] if self.bounds is not None else []
        first: tuple[Event, ...] = seeding if self.rate == 1 else (SampledEvent("seeding", self.rate, seeding),)
        each = part(self.lloyd, Fraction(1, lloyd_rounds))
        last = (*(event(f"lloyd {i + 1}", each) for i in range(lloyd_rounds)), event("loss", self.loss))
        return (*bounds, *first, *last)


def event(step: str, spend: Spend) -> LaplaceEvent | GaussianEvent:
    """The event of a step that spends all it may."""
    return GaussianEvent(step, spend.value) if isinstance(spend, Precision) else LaplaceEvent(step, spend)


def part(spend: Spend, share: Fraction) -> Spend:
    """A share of a spend: of epsilon, or of precision."""
    return Precision(spend.value * share) if isinstance(spend, Precision) else spend * share


def size_spend(budget: Budget, neighbours: Neighbours) -> Fraction:
    """The pure epsilon that the number of rows costs."""
    return budget.epsilon * SIZE_SHARE if neighbours is Neighbours.ADD_REMOVE else Fraction(0)


def weights_of_a_round(columns: int, gaussian: bool, neighbours: Neighbours) -> dict[str, str]:
    """How the sums, counts and squares of a round share its spend.

    Under replace-one with Gaussian noise a row that changes its vote moves the sums by half (squared) of what one that stays
    can, so the counts ride free up to there: stays costs sums + squares / 2, changes costs sums / 2 + counts + squares.
    """
    if gaussian and neighbours is Neighbours.REPLACE_ONE:
        sums, counts, squares = 1 - REPLACED_SQUARES, (1 - 3 * REPLACED_SQUARES) / 2, 2 * REPLACED_SQUARES
    elif gaussian:
        sums, squares = sqrt(columns), PHI
        counts = max(THETA, LEAST_COUNT_SHARE * (sums + THETA + squares))
    else:
        sums, counts, squares = (columns / THETA) ** (2 / 3), 1.0, PHI
    return {"counts": f"{counts:.9f}", "sums": f"{sums:.9f}", "squares": f"{squares:.9f}"}


def round_kernel(candidates: NDArray[np.int32], move: float, square: float, gaussian: bool, within: Clip) -> ClippedSums:
    """The kernel of a round: moves clipped in L2 for Gaussian noise, in L1 for Laplace noise: what each is calibrated to."""
    if gaussian:
        return ClippedSums(candidates, Euclidean(max(1, round(move))), max(1, round(square)), within)
    length = max(1, round(move * sqrt(candidates.shape[1])))
    return ClippedSums(candidates, Taxicab(length), max(1, round(square)), within)


def sum_noise(spend: Spend, columns: int, neighbours: Neighbours) -> float:
    """The deviation of one coordinate of a round's sums, in clipping radii."""
    gaussian = isinstance(spend, Precision)
    origin, within = np.zeros((1, columns), dtype=np.int32), BoxClip((1,) * columns)
    kernel = round_kernel(origin, UNIT_RADIUS, UNIT_RADIUS, gaussian, within)
    mechanism = calibrate(kernel.sensitivity(neighbours), spend, weights_of_a_round(columns, gaussian, neighbours))
    return mechanism.deviation()["sums"] / UNIT_RADIUS


def after_size(
    rows: float,
    columns: int,
    clusters: int | None,
    budget: Budget,
    neighbours: Neighbours,
    rows_each: int = 1,
    find_bounds: bool = False,
) -> VotesPlan:
    """The plan for this (noisy) number of rows. Whatever it is, the total is the same.

    `rows_each` rows of a person count where the guarantee is per person: noise grows with them. Without a number of clusters
    there are as many cells as for the most that can be told apart.
    """
    left = budget.epsilon - size_spend(budget, neighbours)
    gaussian = isinstance(budget, ApproxDP)
    kind = "gaussian" if gaussian else "laplace"
    cells, least = SEED_CELLS[kind], LEAST_LLOYD[kind]
    whole: Spend = Precision(gaussian_precision(left, budget.delta)) if gaussian else left
    bounds_share = BOUNDS_SHARE if find_bounds else Fraction(0)
    kept = 1 - bounds_share
    rest = kept * (1 - MOMENTS_SHARE - LOSS_SHARE)
    seeding_share = kept * MOMENTS_SHARE + rest * len(cells) / (len(cells) + least)
    lloyd_share = rest * least / (len(cells) + least)
    rate = sample_rate(rows, clusters or MOST_AUTO, neighbours)
    on_sample = part(whole, seeding_share)
    if rate < 1 and isinstance(whole, Precision):
        on_table = whole.value * (1 - seeding_share)
        on_sample = Precision(sampled_gaussian_precision(left, budget.delta, rate, on_table))
    elif rate < 1 and isinstance(on_sample, Fraction):
        on_sample = epsilon_before_sampling(on_sample, rate)
    moments_part = kept * MOMENTS_SHARE / seeding_share
    each = part(on_sample, (1 - moments_part) / len(cells))
    affordable = affordable_cells(rows * float(rate) / rows_each, columns, each, neighbours)
    most = clusters or most_clusters(affordable)
    return VotesPlan(
        rate,
        part(whole, bounds_share / BOUNDS_STEPS) if find_bounds else None,
        part(on_sample, moments_part),
        tuple(int(max(most, min(c * most, affordable, max(MOST_CELLS, 4 * most)))) for c in cells),
        each,
        part(whole, lloyd_share),
        part(whole, kept * LOSS_SHARE),
    )


def affordable_cells(rows: float, columns: int, spend: Spend, neighbours: Neighbours) -> float:
    """Cells for which a clipped sum still stands out of its noise."""
    return rows / (CELL_SIGNAL * sqrt(columns) * sum_noise(spend, columns, neighbours))


def most_clusters(affordable: float) -> int:
    """How many clusters are looked for when their number is not given: half of the affordable cells, 2 to 32."""
    return int(min(MOST_AUTO, max(2, affordable / 2)))


def sample_rate(rows: float, clusters: int, neighbours: Neighbours) -> Fraction:
    """The rate of the secret sample, a multiple of 2**-32; 1 on a small table, and under replace-one."""
    wanted = max(SAMPLE_ROWS, SAMPLE_ROWS_PER_CLUSTER * clusters)
    if rows <= SAMPLE_FROM * wanted or neighbours is Neighbours.REPLACE_ONE:
        return Fraction(1)
    return Fraction(int(wanted / rows * 2**RATE_BITS), 2**RATE_BITS)


def lloyd_rounds(whole: Spend, rows: float, columns: int, clusters: int, neighbours: Neighbours) -> int:
    """As many rounds as add little noise: a cluster's squared error d (3 noise k / n)^2 grows with them, or their square."""
    gaussian = isinstance(whole, Precision)
    once = columns * (3 * sum_noise(whole, columns, neighbours) * clusters / rows) ** 2
    fitting = [t for t in range(1, MOST_LLOYD + 1) if once * t ** (1 if gaussian else 2) <= QUIET]
    return max([LEAST_LLOYD["gaussian" if gaussian else "laplace"], *fitting])
