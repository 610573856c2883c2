"""How `votes` spends its budget: a written rule from the noisy number of rows, the columns, the clusters and the budget.

The number of rows is bought first with a pure epsilon (a fiftieth); under replace-one it is public. What is left of epsilon
(and delta) is one whole, whichever branch the number of rows picks:

- seeding: the moments of each column (4%), then rounds of votes with clipped sums over more cells than clusters: 8, 6, 4 and 2
  cells a cluster (Gaussian) or 8 and 4 (Laplace), fewer where a cell's rows would not stand out of the noise
  (rows a cell >= 1.5 sqrt d times the noise of a sum), at most 512;
- Lloyd: two rounds or more (Laplace: one or more), as long as their noise adds less than 0.2% of a squared radius;
- 2% for the loss.

All rounds get the same. On a table of more than three times 20,000 rows (or 500 a cluster) the seeding runs on a secret sample
of about that many: its time stops growing, and the sample's privacy makes up for its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from cloister.privacy.accounting import (
    Event,
    GaussianEvent,
    LaplaceEvent,
    SampledEvent,
    epsilon_before_sampling,
    gaussian_precision,
    sampled_gaussian_precision,
)
from cloister.privacy.budgets import ApproxDP, Budget
from cloister.privacy.mechanisms import Precision, Spend
from cloister.schema import Neighbours

__all__ = ["VotesPlan", "after_size", "size_spend", "weights_of_a_round"]

SIZE_SHARE = Fraction(2, 100)
MOMENTS_SHARE = Fraction(4, 100)
LOSS_SHARE = Fraction(2, 100)
SEED_CELLS = {"gaussian": (8, 6, 4, 2), "laplace": (8, 4)}  # cells a cluster in each seeding round
LEAST_LLOYD = {"gaussian": 2, "laplace": 1}
MOST_LLOYD = 5
LLOYD_NOISE = 0.002  # more rounds while their noise adds less than this part of the squared radius
MOST_CELLS = 512
CELL_SIGNAL = 1.5
THETA, PHI = 1.0, 0.15  # precision of sums : counts : squares = sqrt d : THETA : PHI
LEAST_COUNT_SHARE = 0.04
SAMPLE_ROWS, SAMPLE_ROWS_PER_CLUSTER, SAMPLE_FROM = 20_000, 500, 3
RATE_BITS = 32


@dataclass(frozen=True, slots=True)
class SeedRound:
    """A round over more cells than clusters."""

    cells: int
    spend: Spend


@dataclass(frozen=True, slots=True)
class VotesPlan:
    """What follows the number of rows."""

    rate: Fraction  # of the secret sample that seeding runs on; 1: all rows
    moments: Spend
    seeding: tuple[SeedRound, ...]
    lloyd: tuple[Spend, ...]
    loss: Spend

    def events(self) -> tuple[Event, ...]:
        """Every step's charge."""
        seeding = (event("moments", self.moments), *(event(f"votes {i + 1}", r.spend) for i, r in enumerate(self.seeding)))
        first: tuple[Event, ...] = seeding if self.rate == 1 else (SampledEvent("seeding", self.rate, seeding),)
        return (*first, *(event(f"lloyd {i + 1}", spend) for i, spend in enumerate(self.lloyd)), event("loss", self.loss))


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

    Under replace-one a row that changes its vote moves the sums by half of what one that stays can: the counts ride free up
    to there.
    """
    sums = sqrt(columns) if gaussian else (columns / THETA) ** (2 / 3)
    counts = max(THETA, LEAST_COUNT_SHARE * (sums + THETA + PHI)) if gaussian else 1.0
    if gaussian and neighbours is Neighbours.REPLACE_ONE:
        counts = max(counts, (sums - PHI) / 2)
    return {"counts": f"{counts:.9f}", "sums": f"{sums:.9f}", "squares": f"{PHI:.9f}"}


def sum_noise(spend: Spend, columns: int, neighbours: Neighbours) -> float:
    """The deviation of one coordinate of a round's sums, in clipping radii."""
    gaussian = isinstance(spend, Precision)
    weights = {name: float(text) for name, text in weights_of_a_round(columns, gaussian, neighbours).items()}
    share = weights["sums"] / sum(weights.values())
    factor = 2.0 if neighbours is Neighbours.REPLACE_ONE else 1.0
    if isinstance(spend, Precision):
        return factor / sqrt(float(spend.value) * share)
    return factor * sqrt(2 * columns) / (float(spend) * share)


def after_size(
    rows: float, columns: int, clusters: int, budget: Budget, neighbours: Neighbours, most_lloyd: int | None = None
) -> VotesPlan:
    """The plan for this (noisy) number of rows. Whatever it is, the total is the same."""
    left = budget.epsilon - size_spend(budget, neighbours)
    gaussian = isinstance(budget, ApproxDP)
    kind = "gaussian" if gaussian else "laplace"
    cells, least = SEED_CELLS[kind], LEAST_LLOYD[kind]
    whole: Spend = Precision(gaussian_precision(left, budget.delta)) if gaussian else left
    rest = 1 - MOMENTS_SHARE - LOSS_SHARE
    seeding_share = MOMENTS_SHARE + rest * len(cells) / (len(cells) + least)
    lloyd_share = rest * least / (len(cells) + least)
    rate = sample_rate(rows, clusters, neighbours)
    on_sample = part(whole, seeding_share)
    if rate < 1 and isinstance(whole, Precision):
        on_table = whole.value * (1 - seeding_share)
        on_sample = Precision(sampled_gaussian_precision(left, budget.delta, rate, on_table))
    elif rate < 1 and isinstance(on_sample, Fraction):
        on_sample = epsilon_before_sampling(on_sample, rate)
    moments = part(on_sample, MOMENTS_SHARE / seeding_share)
    each = part(on_sample, (seeding_share - MOMENTS_SHARE) / seeding_share / len(cells))
    affordable = rows * float(rate) / (CELL_SIGNAL * sqrt(columns) * sum_noise(each, columns, neighbours))
    seeding = tuple(SeedRound(int(max(clusters, min(c * clusters, affordable, MOST_CELLS))), each) for c in cells)
    lloyd = most_lloyd or lloyd_rounds(part(whole, lloyd_share), rows, columns, clusters, least, neighbours)
    spends = (part(whole, lloyd_share / lloyd),) * lloyd
    return VotesPlan(rate, moments, seeding, spends, part(whole, LOSS_SHARE))


def sample_rate(rows: float, clusters: int, neighbours: Neighbours) -> Fraction:
    """The rate of the secret sample, a multiple of 2**-32; 1 on a small table, and under replace-one."""
    wanted = max(SAMPLE_ROWS, SAMPLE_ROWS_PER_CLUSTER * clusters)
    if rows <= SAMPLE_FROM * wanted or neighbours is Neighbours.REPLACE_ONE:
        return Fraction(1)
    return Fraction(int(wanted / rows * 2**RATE_BITS), 2**RATE_BITS)


def lloyd_rounds(whole: Spend, rows: float, columns: int, clusters: int, least: int, neighbours: Neighbours) -> int:
    """As many rounds as add little noise: a cluster's squared error d (noise k / n)^2 grows with them (squared for Laplace)."""
    once = columns * (sum_noise(whole, columns, neighbours) * clusters / rows) ** 2
    power = 1 if isinstance(whole, Precision) else 2
    fitting = [t for t in range(1, MOST_LLOYD + 1) if once * t**power <= LLOYD_NOISE]
    return max([least, *fitting])
