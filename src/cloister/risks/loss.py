"""What an anonymized table no longer says, against its original.

References
----------
Iyengar, Transforming data to satisfy privacy constraints, 2002 (LM). Xu et al., Utility-based anonymization using local
recoding, 2006 (NCP); Ghinita et al., Fast data anonymization with low information loss, 2007 (GCP). Bayardo and Agrawal,
Data privacy through optimal k-anonymization, 2005 (discernibility). LeFevre et al., Mondrian multidimensional k-anonymity,
2006 (average class size). De Waal and Willenborg, Information loss through global recoding and local suppression, 1999, and
Gionis and Tassa, k-anonymization with minimal loss of information, 2009 (entropy).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.risks.label_domains import LabelDomain
from cloister.risks.tuples import Tuples

__all__ = ["FORMULAS", "ColumnLoss", "InformationLoss", "information_loss"]

FORMULAS = {
    "lm": "mean over rows and columns of (leaves under the label - 1) / (leaves - 1); a removed row counts 1",
    "gcp": "mean over rows and columns of NCP: width / width of all for numbers, leaves under the label / leaves for words "
    "(0 for one leaf); a removed row counts 1",
    "entropy": "bits that the labels leave open, sum over cells of H(value | label) under the original's frequencies, over "
    "the bits that * would; a removed row counts as *",
    "discernibility": "sum_j f_j^2 + removed rows x original rows",
    "average_class": "n / J / k: 1 is the best there is",
}


@dataclass(frozen=True, slots=True)
class ColumnLoss:
    """The losses of one column."""

    column: str
    labels: int
    lm: float
    ncp: float
    entropy: float


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """What was lost: 0 nothing, 1 everything (but for discernibility and class sizes). `FORMULAS` says what each is."""

    rows: int
    original_rows: int
    removed: int
    lm: float
    gcp: float
    entropy: float
    discernibility: int
    average_class: float
    columns: tuple[ColumnLoss, ...]


def information_loss(published: Tuples, original: Tuples, domains: Sequence[LabelDomain]) -> InformationLoss:
    """Compare a published table with its original; `domains` has one entry a quasi-identifier, in the order of both."""
    n, before = published.rows, original.rows
    removed = max(0, before - n)
    whole = max(n + removed, 1)
    columns = []
    for domain in domains:
        published_column, original_column = published.column(domain.name), original.column(domain.name)
        ranges = domain.ranges(published.values[published_column])
        tally = np.bincount(published.codes[:, published_column], published.counts, len(ranges))
        leaves = domain.leaves_of(original.values[original_column])
        weights = np.bincount(original.codes[:, original_column], original.counts, len(leaves)).astype(np.float64)
        bits, most = left_open(domain, ranges, leaves, weights)
        columns.append(
            ColumnLoss(
                domain.name,
                len(ranges),
                float((domain.loss(ranges) @ tally + removed) / whole),
                float((domain.penalty(ranges) @ tally + removed) / whole),
                float((bits @ tally + removed * most) / (whole * most)) if most else 0.0,
            )
        )
    names = [domain.name for domain in domains]
    labels, number = published.classes(names)
    sizes = published.sizes(labels, number)
    rows = np.bincount(labels, published.counts, number)
    return InformationLoss(
        n,
        before,
        removed,
        float(np.mean([column.lm for column in columns])),
        float(np.mean([column.ncp for column in columns])),
        float(np.mean([column.entropy for column in columns])),
        int((rows.astype(object) ** 2).sum()) + removed * before,
        float(sizes.sum() / number / sizes.min()),
        tuple(columns),
    )


def left_open(
    domain: LabelDomain, ranges: NDArray[np.int64], leaves: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """The bits that each label leaves open about the value, given how often values occur; and those that * leaves open.

    H(value | label) = log2 W - (sum w log2 w) / W over the weights w of the leaves under the label, W their sum.
    """
    # a value of the original that is itself a range counts at its first leaf
    mass = np.bincount(leaves[:, 0], weights, domain.leaves)
    times = mass * np.log2(np.maximum(mass, 1))
    total, inner = (np.concatenate([[0.0], np.cumsum(part)]) for part in (mass, times))

    def bits(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.float64]:
        W, S = total[end] - total[start], inner[end] - inner[start]
        open_bits: NDArray[np.float64] = np.where(W > 0, np.log2(np.maximum(W, 1)) - S / np.maximum(W, 1), 0.0)
        return np.maximum(open_bits, 0.0)

    every = bits(np.array([0]), np.array([domain.leaves]))
    return bits(ranges[:, 0], ranges[:, 1]), float(every[0])
