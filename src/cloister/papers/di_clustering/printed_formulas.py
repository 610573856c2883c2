"""The formulas of paper 000, as printed: noise, both compositions, the schedule, and what its complexity counts.

Nothing here sees a row. What is wrong with each is said beside it, and shown by the items that run it.

References
----------
T. Shang et al., "Differential identifiability clustering algorithms for big data analysis", 2021, sections 3 to 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.privacy.identifiability import printed_composition

__all__ = [
    "composed_in_parallel",
    "composed_in_sequence",
    "halved_epsilons",
    "noise_scale",
    "posteriors",
    "printed_epsilon",
    "printed_operations",
    "rho_of",
    "scheduled_rhos",
    "tight_posterior",
]


def printed_epsilon(rho: float, worlds: int) -> float:
    """ln((m-1) rho / (1-rho)): what a rho is worth in epsilon (section 4). True, under replace-one neighbours.

    >>> round(printed_epsilon(0.05, 10_001), 4), round(printed_epsilon(0.7, 2), 4)
    (6.2659, 0.8473)
    """
    odds = (worlds - 1) * rho / (1 - rho)
    return math.log(odds) if odds > 0 else math.nan


def rho_of(epsilon: float, worlds: int) -> float:
    """The way back: 1 / (1 + (m-1) e^-epsilon)."""
    return 1 / (1 + (worlds - 1) * math.exp(-epsilon))


def noise_scale(sensitivity: float, rho: float, worlds: int) -> float:
    """Theorem 1: lambda = Delta f / ln((m-1) rho / (1-rho)); not a number where rho is above 1, infinite at rho = 1/m.

    True of one query. As Delta f the paper takes d for the sums of *all* clusters: a replaced row that changes its cluster
    moves sums that are not centred by up to 2 d.
    """
    epsilon = printed_epsilon(rho, worlds)
    return math.inf if epsilon == 0 else sensitivity / epsilon


def composed_in_sequence(rhos: Sequence[float], worlds: int) -> float:
    """Proposition 2: m^(n-1) times the product. No bound for posteriors in general; loose where they come from epsilons."""
    return float(printed_composition(rhos, worlds))


def tight_posterior(epsilons: Sequence[float], worlds: int) -> float:
    """What holds in its place: Bayes factors multiply, so that epsilons add."""
    return rho_of(math.fsum(epsilons), worlds)


def composed_in_parallel(rhos: Sequence[float]) -> float:
    """Proposition 3: the smallest. Its proof multiplies the posteriors of unknown rows in every part; one row is unknown."""
    return min(rhos)


def halved_epsilons(epsilon: float, rounds: int) -> tuple[float, ...]:
    """epsilon / 2^i in round i (Dwork 2011): the one reading of the paper's schedule that can be run.

    >>> halved_epsilons(8.0, 3)
    (4.0, 2.0, 1.0)
    """
    return tuple(epsilon / 2**i for i in range(1, rounds + 1))


def scheduled_rhos(rho: float, worlds: int, rounds: int, minimum_from: int) -> tuple[float, ...]:
    """rho_i = min(epsilon / 2^i, rho / (m^(i-1) rho_1 ... rho_(i-1))), the minimum from some round on.

    Section 6.2 takes it from round 2 on: rho_1 = epsilon / 2 is an epsilon where a probability should stand, above 1 in the
    paper's setting. Section 7.2 takes it from round 1 on: then the first round has all, and the others 1/m, which is no
    information at all.

    >>> [round(each, 4) for each in scheduled_rhos(0.05, 10_001, 2, 1)], scheduled_rhos(0.05, 10_001, 1, 2)[0] > 1
    ([0.05, 0.0001], True)
    """
    epsilon, found, product = Fraction(printed_epsilon(rho, worlds)), list[Fraction](), Fraction(1)
    for i in range(1, rounds + 1):
        half = epsilon / 2**i
        left = Fraction(rho) / (worlds ** (i - 1) * product)
        found.append(min(half, left) if i >= minimum_from else half)
        product *= found[-1]
    return tuple(map(float, found))


def posteriors(likelihoods: NDArray[np.float64]) -> NDArray[np.float64]:
    """What an adversary believes after each output, (outputs, worlds), whose worlds were equally likely; Bayes.

    `likelihoods` has a line an output and a column a world. An output that no world gives has posterior 0.
    """
    totals = likelihoods.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(likelihoods, totals, out=np.zeros_like(likelihoods), where=totals > 0))


def printed_operations(rows: int, clusters: int, rounds: int, columns: int, chunks: int, largest: int) -> int:
    """Section 6.2: T d max(k max n_i, max |U_p|), for equal chunks and a largest cluster of so many rows.

    It leaves out the start (a pass over all rows for each centre after the first), and the rows that are sent to the reducers.
    """
    return rounds * columns * max(clusters * -(-rows // chunks), largest)
