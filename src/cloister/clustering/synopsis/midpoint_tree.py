"""A midpoint tree: fine where rows are, coarse where they are not, in any number of columns.

Privacy
-------
Released: the shape of the tree (which ranges of the Morton order are split), then noisy counts and centred sums of its
leaves. Neighbours: both relations. Sensitivity: a row has one key, lies on one path and in one leaf; inside the leaf it adds
at most `UNIT` a column to the sums. Budget: a sixth for the splits, in pure epsilon (the proof is in
`privacy.mechanisms.split_tree`); the rest for the leaves, counts and sums as 1 to half the number of columns.
Post-processing: a leaf's mean is shrunk towards the leaf's middle by the noise of its sums and kept inside the leaf.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.progress import Progress
from cloister.clustering.synopsis.noisy_cells import Built, Cells, edges, inside_domain
from cloister.clustering.synopsis.shapes import ShapeOptions
from cloister.clustering.terms import Terms
from cloister.errors import UsageError, by_door
from cloister.kernels.morton import UNIT, LeafSums, MortonKeys, leaf_boxes
from cloister.privacy.budgets import Number, split
from cloister.privacy.mechanisms import Spend, cut, whole_spend
from cloister.privacy.mechanisms.split_tree import SplitTree
from cloister.privacy.plan import Plan, Step, make_step
from cloister.vault import Vault

__all__ = ["MidpointTree", "shrunk_offsets"]

TREE_SHARE, LEAVES_SHARE = 1, 5  # of a tree's budget: for its shape, and for what is in its leaves
WHOLE = TREE_SHARE + LEAVES_SHARE
SUMS_WEIGHT = Fraction(1, 2)  # a column, of a leaf's budget; its count has 1
MOST_BITS = 20  # binary digits of a column in a Morton key
KEY_BITS = 62


class TreeSteps(NamedTuple):
    """The keys, the splits and the leaves of a tree."""

    order: MortonKeys
    splits: SplitTree
    leaves: Step


@dataclass(frozen=True, slots=True)
class MidpointTree:
    """Ranges of the Morton order, halved where rows are. It needs no number of rows, and buys none."""

    options: ShapeOptions

    def parameters(self) -> Mapping[str, object]:
        """None that the released leaves do not show."""
        return {}

    def check(self, domain: Domain, terms: Terms) -> None:
        """Refuse more columns than a key has binary digits, and noise that cannot be drawn."""
        columns = len(domain.halves)
        if columns > KEY_BITS:
            raise UsageError(
                f"the tree takes up to {KEY_BITS} columns, and there are {columns}. Choose some with "
                f"{by_door('columns=', '--columns')}."
            )
        self.steps(domain, terms)

    def steps(self, domain: Domain, terms: Terms) -> TreeSteps:
        """What is bought: the splits, then the leaves."""
        columns = len(domain.halves)
        order = MortonKeys(tuple(int(half) for half in domain.halves), min(MOST_BITS, KEY_BITS // columns))
        spends = spends_of(terms)
        assert isinstance(spends["tree"], Fraction)
        splits = SplitTree.spending(spends["tree"], terms.counting(), order.levels, self.options.most_cells)
        leaves = LeafSums(order, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
        weights: dict[str, Number] = {"counts": 1, "sums": SUMS_WEIGHT * columns}
        return TreeSteps(order, splits, make_step("leaves", terms.sensitivity(leaves), spends["leaves"], weights))

    def plan(self, domain: Domain, terms: Terms, rows: float) -> Plan:
        """What the tree would spend, on any number of rows."""
        steps = self.steps(domain, terms)
        noise = steps.leaves.mechanism.deviation()
        mean = min(1, noise["sums"] / UNIT / 100)
        expect = {
            "tree": f"ranges of more than about {steps.splits.decay} rows a level are cut",
            "leaves": f"counts +-{noise['counts']:.3g} rows, a mean of 100 rows +-{mean:.1%} of half a leaf",
        }
        facts = {"rows": round(rows), "columns": len(domain.halves), "method": "tree"}
        events = (steps.splits.event("tree", terms.counting()), steps.leaves.event)
        return Plan(terms.budget, terms.neighbours, events, expect, facts, unit=terms.protected)

    def build(self, vault: Vault, domain: Domain, terms: Terms, progress: Progress) -> Built:
        """Grow and fill a tree inside an open vault."""
        steps = self.steps(domain, terms)
        order = steps.order
        progress("tree")
        tree = vault.measure_keyed(order, steps.splits, "tree").value
        progress("leaves")
        leaves = vault.measure(LeafSums(order, tree.starts, tree.depths), steps.leaves.mechanism, "leaves")
        counts = leaves.value["counts"].astype(np.float64)
        low, high = leaf_boxes(tree.starts, tree.depths, order)
        lower, upper = edges(low, 2**order.bits, domain.halves), edges(high, 2**order.bits, domain.halves)
        offsets = shrunk_offsets(counts, leaves.value["sums"] / UNIT, leaves.deviation["sums"] / UNIT)
        points = (lower + upper) / 2 + offsets * (upper - lower) / 2
        variance = np.full(len(counts), leaves.deviation["counts"] ** 2)
        cells = Cells(lower, upper, points, counts, variance, np.zeros(len(counts)), np.arange(len(counts)))
        total = max(1.0, float(counts.sum())) if terms.buys_size else vault.size(None)
        return Built(inside_domain(cells, domain), total)

    def rest(self, terms: Terms) -> Spend:
        """What is left for the rounds that follow."""
        return spends_of(terms)["rest"]


def spends_of(terms: Terms) -> dict[str, Spend]:
    """The parts of a tree: its splits in pure epsilon; of an (epsilon, delta) the others get the Gaussian that is left."""
    parts = split(terms.budget.epsilon, {"tree": TREE_SHARE, "others": LEAVES_SHARE + WHOLE * terms.rest_weight})
    others = whole_spend(terms.budget, parts["others"])
    weights: dict[str, Number] = {"leaves": LEAVES_SHARE}
    if terms.rest:
        weights["rest"] = WHOLE * terms.rest_weight
    return {"tree": parts["tree"], **cut(others, weights)}


def shrunk_offsets(counts: NDArray[np.float64], sums: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """Where in its leaf the rows lie on average, from -1 to 1 a column, shrunk by 1 - E|noise|^2 / |sums|^2, not below 0."""
    lengths = (sums**2).sum(axis=1)
    noise = sums.shape[1] * deviation**2
    kept = np.maximum(0.0, 1 - noise / np.maximum(lengths, 1e-300))
    offsets: NDArray[np.float64] = np.clip(kept[:, None] * sums / np.maximum(counts, 1.0)[:, None], -1.0, 1.0)
    return offsets
