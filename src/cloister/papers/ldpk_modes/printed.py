"""LDPK-modes as printed (algorithms 1, 2 and 4 of the paper), and the randomized response that it is compared with in figure 2.

What is printed of the perturbation is right: drawing how many answers lie, then which, is randomized response of each answer by
itself (`distance_law`, `answer_law`). Its guarantee is epsilon for each attribute in which two people differ, and so m epsilon
for any two people. What is printed of the estimate is unbiased before negative counts are cut off, and biased after. Algorithm 3,
which writes rows, is in `local_misprints`: here cells have weights in place of rows.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.seeding.points_prototypes import lloyd_prototypes
from cloister.collect.estimating.inversion import invert
from cloister.collect.estimating.nonnegative import clip_and_renormalise
from cloister.collect.local_kmodes import frequent_centers, heaviest_cells
from cloister.collect.protocols.channel import channel_for
from cloister.papers.ldpk_modes.cut_tables import HeldCells
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed
from cloister.vault import Unprotected

__all__ = [
    "answer_law",
    "cluster_cells",
    "distance_law",
    "estimate_cells",
    "estimate_by_one_response",
    "perturb_rows",
]

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
PAPER = "002"


def distance_law(attributes: int, values: int, epsilon: float) -> Numbers:
    """Equation 4: the probability that z of the attributes of a report are not the true ones, for z = 0, 1, ..., m.

    >>> distance_law(2, 2, 1.0).round(5).tolist()  # table 1: one cell of distance 0, two of distance 1, one of distance 2
    [0.53445, 0.39322, 0.07233]
    """
    lies = np.arange(attributes + 1)
    ways = np.array([comb(attributes, z) for z in lies], dtype=np.float64) * float(values - 1) ** lies
    weights = np.exp(epsilon * (attributes - lies)) * ways
    return np.asarray(weights / weights.sum())


def answer_law(sizes: tuple[int, ...], epsilon: float) -> Numbers:
    """The probability of each report (columns) from each cell (rows), if every answer is perturbed by itself: equation 8's P.

    The paper has attributes of one size; here each has its own.
    """
    law: Numbers = np.ones((1, 1))
    for size in sizes:
        lie = 1 / (np.exp(epsilon) + size - 1)
        law = np.kron(law, np.full((size, size), lie) + (1 - size * lie) * np.eye(size))
    return law


def perturb_rows(rows: Unprotected[Numbers], values: int, epsilon: float, seed: int) -> PrintedResult[Codes]:
    """Algorithm 1: draw how many attributes change, then which, then into which other value, uniformly. Rows are (n, m).

    Privacy
    -------
    Claimed and proved: epsilon for each attribute in which two people differ. Nothing in it keeps a second report of the same
    person from being drawn anew.
    """
    random = np.random.default_rng(seed)
    codes = rows.value.astype(np.int64)
    people, attributes = codes.shape
    steps = np.cumsum(distance_law(attributes, values, epsilon))
    distance = np.minimum(np.searchsorted(steps, random.random(people)), attributes)  # (n,)
    order = random.random((people, attributes)).argsort(axis=1).argsort(axis=1)  # each attribute's place in a random order
    changes = order < distance[:, None]
    others = (codes + 1 + random.integers(0, max(1, values - 1), codes.shape)) % values
    return stamp(np.where(changes, others, codes), _local(epsilon, attributes), epsilon=epsilon, values=values)


def estimate_cells(held: HeldCells, epsilon: Fraction, seed: int) -> PrintedResult[Numbers]:
    """Algorithms 1 and 2 on everybody: reports are drawn, P is inverted, negative counts become 0, the rest is scaled.

    The scaled counts are rounded up, so that they sum to more people than there are. How many reports fall into each cell is
    drawn at once, cell by cell: the law is that of algorithm 1 for each person. P is a Kronecker product and is inverted axis by
    axis; the paper writes it out.

    Privacy
    -------
    Claimed and proved: epsilon for each attribute in which two people differ.
    """
    sizes = held.value.shape
    reports = _reports(held.value, answer_law(sizes, float(epsilon)), seed)
    unbiased = invert(reports, [channel_for(epsilon, size) for size in sizes])
    counts = clip_and_renormalise(unbiased, float(reports.sum()))
    return stamp(counts, _local(float(epsilon), len(sizes)), epsilon=float(epsilon))


def estimate_by_one_response(held: HeldCells, epsilon: Fraction, seed: int) -> PrintedResult[Numbers]:
    """What figure 2 calls GRR: all attributes are one answer, kept or replaced by any other cell; cleaned as in algorithm 2.

    Privacy
    -------
    Claimed and proved: epsilon for any two people.
    """
    cells = prod(held.value.shape)
    flat = held.value.reshape(cells)
    reports = _reports(flat, answer_law((cells,), float(epsilon)), seed)
    counts = clip_and_renormalise(invert(reports, [channel_for(epsilon, cells)]), float(reports.sum()))
    claimed = Claimed(PAPER, f"epsilon {float(epsilon):g}", "the same", unit="person")
    return stamp(counts.reshape(held.value.shape), claimed, epsilon=float(epsilon))


def cluster_cells(estimate: Numbers, clusters: int, rounds: int, seed: int) -> NDArray[np.int32]:
    """Algorithm 4 on an estimate, (clusters, attributes): k-modes from starts that are made of frequent values.

    With f = ceil(K^(1/m)) and starts drawn while there are fewer than K: as printed it would not end (`local_misprints`). A
    cluster without rows stays where it is, which the paper leaves open. It reads the estimate alone: post-processing.
    """
    tuples, _ = heaviest_cells(estimate)
    start = frequent_centers(estimate, clusters, np.random.default_rng(seed))
    return lloyd_prototypes(tuples, np.zeros((clusters, 0), np.int32), start, rounds).modes.codes


def _reports(cells: Codes, law: Numbers, seed: int) -> Codes:
    """How many reports fall into each cell if everybody sends one."""
    random = np.random.default_rng(seed)
    drawn = random.multinomial(cells.ravel(), law)  # (true cell, reported cell)
    return np.asarray(drawn.sum(axis=0), dtype=np.int64).reshape(cells.shape)


def _local(epsilon: float, attributes: int) -> Claimed:
    return Claimed(
        PAPER,
        f"epsilon {epsilon:g} for each attribute in which two people differ",
        f"the same, which is {attributes * epsilon:g} for any two people",
        unit="person",
    )
