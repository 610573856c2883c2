"""Log-linear models of a joint table: which pairs of questions depend on each other, and the step that fits a table to margins.

A model is the list of the margins it fits (its cliques). One-way margins alone are independence; pairs add the dependence of two
questions, with no more structure than that; the clique of all questions is the table itself, without a model.

Privacy
-------
Reads reports alone, which are public.

References
----------
Y. Bishop, S. Fienberg, P. Holland: Discrete multivariate analysis, 1975. X.-L. Meng, D. Rubin: Maximum likelihood estimation via
the ECM algorithm, 1993. H. Akaike: A new look at the statistical model identification, 1974.
"""

from __future__ import annotations

from itertools import combinations
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cloister.collect.estimating.kronecker import Table

__all__ = ["Cliques", "dependent_pairs", "fit_margins", "margin", "outer_product"]

Cliques = tuple[tuple[int, ...], ...]
Number = TypeVar("Number", np.int64, np.float64)
TINY = 1e-300


def margin(table: npt.NDArray[Number], axes: tuple[int, ...]) -> npt.NDArray[Number]:
    """The table summed over all other axes, which stay with the length 1."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    summed: npt.NDArray[Number] = table.sum(axis=others, keepdims=True) if others else table
    return summed


def dependent_pairs(counts: npt.NDArray[np.int64]) -> Cliques:
    """The pairs of questions whose dependence is worth its parameters, by Akaike's rule: G squared above 2 x degrees of freedom.

    Independent answers give independent reports, whatever the channels: the test of the reports is the test of the answers. A
    dependence too weak to show through the noise costs more as noise than it gives as structure, and is left out.
    """
    chosen = []
    for pair in combinations(range(counts.ndim), 2):
        reports = margin(counts, pair).astype(np.float64).reshape(counts.shape[pair[0]], counts.shape[pair[1]])
        expected = np.outer(reports.sum(axis=1), reports.sum(axis=0)) / max(reports.sum(), 1.0)
        here = reports > 0
        gain = 2 * float((reports[here] * np.log(reports[here] / expected[here])).sum())
        if gain > 2 * (reports.shape[0] - 1) * (reports.shape[1] - 1):
            chosen.append(pair)
    return tuple(chosen)


def fit_margins(table: Table, target: Table, cliques: Cliques) -> Table:
    """One cycle of iterative proportional fitting: scale the table to the target's margins, one clique after the other.

    The result stays within the model of the cliques if the table is in it. For the clique of all questions it is the target.
    """
    fitted = table
    for axes in cliques:
        if len(axes) == table.ndim:
            return target
        ratio = margin(target, axes) / np.maximum(margin(fitted, axes), TINY)
        fitted = fitted * ratio
    return fitted


def outer_product(vectors: list[Table]) -> Table:
    """The joint table of independent questions."""
    joint = np.ones((1,) * len(vectors))
    for axis, vector in enumerate(vectors):
        joint = joint * vector.reshape([-1 if one == axis else 1 for one in range(len(vectors))])
    return joint
