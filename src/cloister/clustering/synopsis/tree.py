"""A midpoint tree: fine where rows are, coarse where they are not, in any number of columns.

Privacy
-------
Released: the shape of the tree (which ranges of the Morton order are split), then noisy counts and centred sums of its
leaves. Neighbours: both relations. Sensitivity: a row has one key, lies on one path and in one leaf; inside the leaf it adds
at most `UNIT` a column to the sums. Budget: a sixth for the splits, in pure epsilon (proof: `mechanisms.split_tree`);
the rest for the leaves, counts and sums as 1 to half the number of columns. Post-processing: a leaf's mean is shrunk
towards the leaf's middle by the noise of its sums and kept inside the leaf.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.synopsis.cells import Cells, edges, inside_domain
from cloister.clustering.synopsis.grids import Built
from cloister.clustering.synopsis.steps import Terms, tree_steps
from cloister.kernels.morton import UNIT, LeafSums, leaf_boxes
from cloister.schema import Neighbours
from cloister.vault import Vault

__all__ = ["grow_tree", "shrunk_offsets"]


def grow_tree(vault: Vault, domain: Domain, terms: Terms, most: int, progress: Callable[[str], None]) -> Built:
    """Grow and fill a tree inside an open vault."""
    order, splits, step = tree_steps(terms, domain, most)
    progress("tree")
    tree = vault.measure_keyed(order, splits, "tree").value
    progress("leaves")
    leaves = vault.measure(LeafSums(order, tree.starts, tree.depths), step.mechanism, "leaves")
    counts = leaves.value["counts"].astype(np.float64)
    low, high = leaf_boxes(tree.starts, tree.depths, order)
    lower, upper = edges(low, 2**order.bits, domain.halves), edges(high, 2**order.bits, domain.halves)
    offsets = shrunk_offsets(counts, leaves.value["sums"] / UNIT, leaves.deviation["sums"] / UNIT)
    points = (lower + upper) / 2 + offsets * (upper - lower) / 2
    variance = np.full(len(counts), leaves.deviation["counts"] ** 2)
    cells = Cells(lower, upper, points, counts, variance, np.zeros(len(counts)), np.arange(len(counts)))
    total = vault.size(None) if terms.neighbours is Neighbours.REPLACE_ONE else max(1.0, float(counts.sum()))
    return inside_domain(cells, domain), total


def shrunk_offsets(counts: NDArray[np.float64], sums: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """Where in its leaf the rows lie on average, from -1 to 1 a column, shrunk by 1 - E|noise|^2 / |sums|^2, not below 0."""
    lengths = (sums**2).sum(axis=1)
    noise = sums.shape[1] * deviation**2
    kept = np.maximum(0.0, 1 - noise / np.maximum(lengths, 1e-300))
    offsets: NDArray[np.float64] = np.clip(kept[:, None] * sums / np.maximum(counts, 1.0)[:, None], -1.0, 1.0)
    return offsets
