"""What loss to expect of a fit, from public facts and the number of rows: said in a plan, before a row is read.

The last round moves each of k centres by the mean of its rows' clipped moves. Its noise shifts a coordinate of a centre by e =
s r k / n, where s is the deviation of a sum in clipping radii r, and n / k rows are taken to be in each cluster. A centre that
is off by v adds |v|^2 to the mean squared distance of its rows, so noise adds d e^2 on average. The radius is where four
fifths of a cluster's rows lie: of a normal cluster with mean squared distance W at r^2 = q W, q the 0.8 quantile of a chi-
squared with d degrees over d. So the loss over that without privacy is about

    1 + x,    x = d q (s k / n)^2,

if the clusters are found, normal and of about equal size. The k d squared draws make it random: about a gamma variable with
relative variance 2 / (k d) for normal noise and 5 / (k d) for Laplace. An interval for nine fits of ten goes from its 5% to
its 95% quantile, widened by what was measured on made-up tables: shrinking a move by its noise saves up to 70% of x, and the
error that the seeds leave to the last rounds adds half of x (Laplace: twice x, since there are fewer rounds) and half a
percent of the loss.

A cluster is found if it stands out of the noise: n / k rows against sqrt(d) deviations of a sum of the seeding rounds. On made-up
tables clusters are lost, and losses double, below three times that (four with Laplace noise, where seeding has fewer rounds).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

from cloister.privacy.budgets import Budget
from cloister.privacy.mechanisms import Norm, amount_of, whole_spend

__all__ = ["TOO_LITTLE", "NoisyRound", "Ratio", "added_by_noise", "lost_clusters", "said_ratio"]

TOO_LITTLE = "too little"  # the choice of a plan, and of a certificate, that says so
NEAR = 0.8416  # normal quantile of 0.8: rows within the clipping radius
TAIL = 1.6449  # normal quantile of 0.95
SQUARES = {"L2": 2.0, "L1": 5.0}  # relative variance of the square of a draw, by the norm of its noise: normal, Laplace
LEAST = 0.0005  # radii grow until noise adds this part of the loss
SAVED, SEARCHED = 0.7, 0.005  # by shrinking moves; by the search, of the loss
SEEDS = {"L2": 1.5, "L1": 3.0}  # noise and what is left of the seeds' error, over noise alone
MOST_EPSILON = 1000.0  # looked for
MOST_TOLD_EPSILON, MOST_TOLD_ROWS = 20.0, 1e10  # more is no advice
MOSTLY_LOST = 4 / 3  # times too much noise, from where fits of made-up tables had several times the loss (docs/kmeans.md)
STANDS_OUT = {"L2": 3.0, "L1": 4.0}  # rows of a cluster over sqrt(d) deviations of a sum: fewer are lost


@dataclass(frozen=True, slots=True)
class Ratio:
    """The loss over that without privacy, in nine fits of ten."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class NoisyRound:
    """A round of clipped sums over clusters of equal size.

    Attributes
    ----------
    rows
        How many there are; of people with several rows each, how many people.
    columns, clusters
        How many there are.
    noise
        The deviation of one coordinate of a sum, in clipping radii.
    norm
        That its noise is calibrated to.
    """

    rows: float
    columns: int
    clusters: int
    noise: float
    norm: Norm

    @property
    def excess(self) -> float:
        """What noise adds to the loss on average, as a part of it."""
        wide = gamma_quantile(self.columns / 2, NEAR)
        return max(LEAST, self.columns * wide * (self.noise * self.clusters / self.rows) ** 2)

    @property
    def ratio(self) -> Ratio:
        """The loss to expect, over that without privacy."""
        shape = self.clusters * self.columns / SQUARES[self.norm]
        low = (1 - SAVED) * self.excess * gamma_quantile(shape, -TAIL)
        return Ratio(1 + low, 1 + SEARCHED + SEEDS[self.norm] * self.excess * gamma_quantile(shape, TAIL))

    @property
    def missing(self) -> float:
        """How many times smaller the noise would have to be for clusters to stand out; at most 1 where they do."""
        return STANDS_OUT[self.norm] * self.clusters * sqrt(self.columns) * self.noise / self.rows


def gamma_quantile(shape: float, z: float) -> float:
    """A quantile of a gamma variable of mean 1 (Wilson and Hilferty 1931), z the normal one.

    >>> round(gamma_quantile(1.0, 0.8416), 2)  # exact: ln 5 = 1.609
    1.6
    """
    spread = 1 / (9 * shape)
    return float(max(0.0, 1 - spread + z * sqrt(spread)) ** 3)


def said_ratio(last: NoisyRound, is_found: bool, smallest: float) -> str:
    """The loss to expect, in the words of a plan; `smallest`: the rows at which a cluster stands out of the noise."""
    if not is_found:
        return "several times the non-private loss: clusters are lost in the noise"
    ratio = last.ratio
    digits = 3 if ratio.high < 1.02 else 2
    return (
        f"{ratio.low:.{digits}f} to {ratio.high:.{digits}f} times the non-private loss, if all clusters are found "
        f"(those of fewer than about {rounded_up(smallest)} rows may be missed)"
    )


def lost_clusters(missing: float, clusters: int, rows: float, budget: Budget) -> str | None:
    """That clusters of average size do not stand out of noise that would have to be so many times smaller; None where they do.

    With what would make them: all but epsilon with a delta in proportion.
    """
    if missing <= 1:
        return None
    wish = "1 cluster is too much" if clusters == 1 else f"{clusters:,} clusters are too many"
    size = max(1, int(rounded(rows)))
    lost = "most centres will be noise" if missing > MOSTLY_LOST else "some clusters will be lost in the noise"
    ways = enough(missing, clusters, rows, budget)
    said = f"{wish} for about {size:,} {'row' if size == 1 else 'rows'} at {budget}: {lost}."
    if not ways:
        return said
    return f"{said} Enough would be: {' or '.join(filter(None, [', '.join(ways[:-1]), ways[-1]]))}."


def enough(missing: float, clusters: int, rows: float, budget: Budget) -> list[str]:
    """What would make clusters stand out, each by itself and rounded away from what there is; none that nobody would do."""
    ways = []
    if (epsilon := epsilon_for(budget, missing)) <= MOST_TOLD_EPSILON:
        ways.append(f"epsilon {rounded_up(epsilon)}")
    if (more := rows * missing) <= MOST_TOLD_ROWS:
        told = rounded_up(more)
        ways.append(f"{rounded_up(more * 1.1) if told == rounded_up(rounded(rows)) else told} rows")
    if fewer := int(clusters / missing):
        ways.append("1 cluster" if fewer == 1 else f"{fewer:,} clusters")
    return ways


def rounded(number: float) -> float:
    """The nearest number of two digits."""
    return float(f"{number:.1e}")


def epsilon_for(budget: Budget, times: float) -> float:
    """The epsilon, with the same delta, whose noise is so many times smaller: found by halving, to a thousandth."""
    least = float(budget.epsilon)
    if not budget.delta:
        return least * times
    wanted = float(amount_of(whole_spend(budget, budget.epsilon))) * times**2  # a precision is one over a variance
    most = least * times
    while not reaches(budget, most, wanted):
        least, most = most, 2 * most
    while most > 1.001 * least:
        middle = (least + most) / 2
        least, most = (least, middle) if reaches(budget, middle, wanted) else (middle, most)
    return most


def reaches(budget: Budget, epsilon: float, precision: float) -> bool:
    """Whether this epsilon with the budget's delta is worth this precision."""
    return epsilon > MOST_EPSILON or float(amount_of(whole_spend(budget, Fraction(epsilon)))) >= precision


def rounded_up(number: float) -> str:
    """Two digits, not below the number."""
    unit = 10.0 ** (len(f"{int(number)}") - 2) if number >= 1 else 0.01
    whole = ceil(number / unit - 1e-9) * unit
    return f"{whole:,.0f}" if whole >= 10 else f"{whole:.2g}"


def added_by_noise(error: float, columns: int, clusters: int, norm: Norm) -> tuple[float, float]:
    """What centres off by this deviation a coordinate add to the loss: on average, and in 19 fits of 20 at most."""
    mean = columns * error**2
    return mean, mean * gamma_quantile(clusters * columns / SQUARES[norm], TAIL)
