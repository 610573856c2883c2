"""The order in which local recoding tries its recodings: the finest first.

A recoding of full domains is a vector of levels, one a column; its cost is the mean loss of the table under it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.searching.bin_reach import bin_reach
from cloister.schema.hierarchies import Hierarchy

__all__ = ["binary_tree", "level_costs", "limit_for", "loss_by_places", "loss_by_values", "vectors_by_cost"]

LIMIT = 16_384  # recodings that are tried at most
FEWEST = 256  # of a very large table

_Bundle: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], tuple[int, ...]]


def level_costs(loss: NDArray[np.float64], levels: NDArray[np.int32], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean loss of the rows at each level; `loss` is that of each node, `counts` counts the rows of each leaf."""
    share = counts / max(float(counts.sum()), 1.0)
    costs: NDArray[np.float64] = (loss[levels] * share).sum(axis=1)
    return costs


def limit_for(tuples: int) -> int:
    """How many recodings are tried of so many tuples: each goes over all of them, so half as many for twice the tuples.

    >>> limit_for(18_109), limit_for(100_000), limit_for(10**6), limit_for(10**9)
    (16384, 4096, 512, 256)
    """
    return max(LIMIT >> max((tuples - 1).bit_length() - 15, 0), FEWEST)


def vectors_by_cost(costs: Sequence[NDArray[np.float64]], limit: int = LIMIT) -> NDArray[np.int16]:
    """Vectors of levels, the cheapest first.

    Where there are too many, levels that hardly differ in cost from their neighbours are left out; if that is not enough,
    columns are bundled and go up together. The last vector is always the root of every column.

    >>> vectors_by_cost([np.array([0.0, 1.0]), np.array([0.0, 0.4, 1.0])]).tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    """
    # a bundle of columns that go up together: one row of levels a step, and what the step costs
    bundles: list[_Bundle] = [(np.arange(len(cost))[:, None], cost, (j,)) for j, cost in enumerate(costs)]
    while np.prod([float(len(steps)) for steps, _, _ in bundles]) > limit:
        widest = max(range(len(bundles)), key=lambda b: len(bundles[b][0]))
        steps, cost, members = bundles[widest]
        if len(steps) > 2:
            inner = 1 + int(np.argmin(cost[2:] - cost[:-2]))
            bundles[widest] = (np.delete(steps, inner, axis=0), np.delete(cost, inner), members)
            continue
        bundles.sort(key=lambda bundle: (float(bundle[1][-1]), bundle[2]))
        (a, cost_a, of_a), (b, cost_b, of_b) = bundles[:2]
        rows = [0, -1]
        bundles[:2] = [(np.hstack([a[rows], b[rows]]), cost_a[rows] + cost_b[rows], of_a + of_b)]
    grid = np.stack(np.meshgrid(*[np.arange(len(steps)) for steps, _, _ in bundles], indexing="ij"), -1)
    grid = grid.reshape(-1, len(bundles))
    total = np.zeros(len(grid))
    vectors = np.empty((len(grid), len(costs)), np.int16)
    for at, (steps, cost, members) in zip(grid.T, bundles, strict=True):
        total += cost[at]
        vectors[:, members] = steps[at]
    return vectors[np.argsort(total, kind="stable")]


def binary_tree(bins: CutBins, counts: NDArray[np.float64], borders: Sequence[int] = ()) -> Hierarchy:
    """A tree over bins: every interval is halved where its rows are, until single bins are left; first between `borders`."""
    m = bins.count
    spans = [(code, code + 1) for code in range(m)]
    above: dict[tuple[int, int], tuple[int, int]] = {}
    below = np.concatenate([[0.0], np.cumsum(counts[:m])])
    open_spans = [(0, m)] if m > 1 else []
    inner: list[tuple[int, int]] = []
    while open_spans:
        low, high = span = open_spans.pop(0)
        inner.append(span)
        half = (below[low] + below[high]) / 2
        places = np.array([at for at in borders if low < at < high] or range(low + 1, high))
        cut = int(places[np.argmin(np.abs(below[places] - half))])
        for part in ((low, cut), (cut, high)):
            above[part] = span
            if part[1] - part[0] > 1:
                open_spans.append(part)
    spans += inner[::-1]  # found from the root down: parents go after their children
    index = {span: i for i, span in enumerate(spans)}
    parent = np.array([index[above[span]] if span in above else -1 for span in spans], np.int32)
    labels = [*(bins.label(*span) for span in spans[:-1]), "*"]  # whether there are blanks or not
    tree = Hierarchy(tuple(labels), parent, m, bins.edges, bins.is_date, form=bins.form)
    return tree.with_null() if bins.has_null else tree


def loss_by_places(tree: Hierarchy, bins: CutBins) -> NDArray[np.float64]:
    """What each node of a tree over bins loses by the public places that it reaches over: this is what a search follows."""
    low, high = np.full(len(tree.nodes), np.inf), np.full(len(tree.nodes), -np.inf)  # blanks reach nowhere
    low[: bins.count], high[: bins.count] = bin_reach(bins)
    for node, above in enumerate(tree.parent[:-1].tolist()):  # a parent comes after its children
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    loss: NDArray[np.float64] = np.maximum(high - low, 0) / (float(high[-1] - low[-1]) or 1.0)
    loss[-1] = 1.0
    return loss


def loss_by_values(tree: Hierarchy, bins: CutBins) -> NDArray[np.float64]:
    """What publishing each node of a tree over bins loses: (values under it - 1) / (values - 1).

    An exact fact of the holder's table, to be told and not to be followed: how many values a bin holds may hang on one row.
    """
    under = np.zeros(len(tree.nodes))
    under[: tree.leaves] = np.append(bins.held, 1)[: tree.leaves]  # blanks are one value
    for node, above in enumerate(tree.parent[:-1].tolist()):  # a parent comes after its children
        under[above] += under[node]
    loss: NDArray[np.float64] = (under - 1) / max(1.0, float(under[-1]) - 1)
    return loss
