"""What a published label may stand for: a range of a column's leaves, laid out so that every label is one range.

The leaves of a hierarchy are laid out branch by branch, those of numbers without one in their order. Then a label, be it a
value, ``[20, 30)``, a node of the hierarchy or ``*``, covers the leaves from `start` up to `end`, and every measure of
information loss is a function of the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import SchemaError, by_door
from cloister.risks.cell_words import plain_words
from cloister.risks.fingerprints import EVERYTHING, NULL, fingerprint, fingerprints_of, spans
from cloister.risks.tuples import Values
from cloister.schema import Category, Kind
from cloister.schema.hierarchies import Hierarchy
from cloister.schema.kinds import OTHER

__all__ = ["NOTHING", "LabelDomain", "make_label_domain", "other_label", "wants_spans"]

NOTHING = np.array([np.iinfo(np.int64).max, -2])  # a range that no other lies in

_NO_NODES = np.zeros((0, 2), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class LabelDomain:
    """The leaves of a column, in an order in which every label covers a range.

    Parameters
    ----------
    name : str
    leaves : int
    numbers : array of float64, (leaves,), optional
        The number of each leaf; NaN for a null. None: the leaves are words.
    is_scaled : bool
        Whether the column has no hierarchy and holds numbers: their differences are distances.
    known : mapping
        The range of each label, by its fingerprint.
    nodes : array of int64, (nodes, 2)
        The ranges of the labels of the hierarchy, leaves among them; none without a hierarchy.
    """

    name: str
    leaves: int
    numbers: NDArray[np.float64] | None
    is_scaled: bool
    known: Mapping[int, tuple[int, int]] = field(repr=False)
    nodes: NDArray[np.int64] = field(repr=False)
    edges: NDArray[np.float64] | None = field(default=None, repr=False)  # (leaves + 1,) of leaves that are intervals
    is_grid: bool = False  # leaves are single numbers in the middle of their edges
    may_be_rows: bool = False  # what is no label may be averaged or made up: no certificate says what was published

    def leaves_of(self, original: Values) -> NDArray[np.int64]:
        """The leaf of each cell of the original, as a range; a cell without one is an error."""  # (v, 2)
        ranges = self.ranges(original, strict=False)
        if unknown := int((ranges[:, 0] < 0).sum()):
            raise SchemaError(
                f'column "{self.name}": the hierarchy lacks {unknown:,} of {len(original):,} different values of the original. '
                "Add what is missing to it or to its bounds, or correct the rows."
            )
        return ranges

    def ranges(self, values: Values, *, strict: bool = True) -> NDArray[np.int64]:
        """The leaves from start up to end that each label covers; one that covers none is an error, or (-1, -1)."""  # (v, 2)
        ranges = np.array([self.known.get(int(mark), (-1, -1)) for mark in values.fingerprints], np.int64).reshape(-1, 2)
        unlisted = ranges[:, 0] < 0
        if unlisted.any() and self.numbers is not None and values.low is not None and values.high is not None:
            ranges[unlisted] = self._between(values.low[unlisted], values.high[unlisted])
        unknown = int((ranges[:, 0] < 0).sum())
        if unknown and strict:
            raise SchemaError(
                f'column "{self.name}": {unknown} of {len(values)} different labels are neither values of the original, nor '
                f"intervals of its numbers, nor *. {_give_facts()}{_compare_rows() if self.may_be_rows else ''}"
            )
        return ranges

    def meant(self, values: Values, of: str) -> NDArray[np.int64]:
        """The same for labels that may mean nobody: an interval without a leaf is `NOTHING`, any other such label an error."""
        ranges = self.ranges(values, strict=False)
        is_empty = ranges[:, 0] < 0
        is_read = np.zeros(len(values), bool)
        if self.numbers is not None and values.low is not None and values.high is not None:
            is_read = values.low <= values.high  # NaN is no number
        if unknown := int((is_empty & ~is_read).sum()):
            raise SchemaError(
                f'column "{self.name}": {unknown} of {len(values)} different labels are neither values nor intervals of numbers '
                f"that can be compared with {of}. {_give_facts()}"
            )
        return np.where(is_empty[:, None], NOTHING, ranges)

    def _between(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
        assert self.numbers is not None
        if self.edges is not None:  # leaves are intervals: a number lies in one of them
            last = len(self.edges) - 1
            low, high = np.where(low == -np.inf, self.edges[0], low), np.where(high == np.inf, self.edges[-1], high)
            start = np.searchsorted(self.edges, low, side="right") - 1
            end = np.searchsorted(self.edges, high, side="right")
            start, end = np.where(low == self.edges[-1], last - 1, start), np.minimum(end, last)
            if self.is_grid:  # [6, 10) ends before the leaf 10, not before the edge beside it
                is_wide = low < high
                start[is_wide] = np.searchsorted(self.numbers[:last], low[is_wide], side="left")
                end[is_wide] = np.searchsorted(self.numbers[:last], high[is_wide], side="right")
        else:
            finite = self.numbers[np.isfinite(self.numbers)]
            last = len(finite)
            start, end = np.searchsorted(finite, low, side="left"), np.searchsorted(finite, high, side="right")
        outside = ~(low <= high) | (start < 0) | (start >= last) | (start >= end)  # NaN is no number
        return np.where(outside[:, None], -1, np.stack([start, end], axis=1))

    def loss(self, ranges: NDArray[np.int64]) -> NDArray[np.float64]:
        """LM: (leaves covered - 1) / (leaves - 1)."""
        lost: NDArray[np.float64] = (ranges[:, 1] - ranges[:, 0] - 1) / max(1, self.leaves - 1)
        return lost

    def penalty(self, ranges: NDArray[np.int64]) -> NDArray[np.float64]:
        """NCP: of numbers the width over the whole width; of words leaves covered / leaves, and 0 for a single one."""
        if self.numbers is not None:
            return self._width(ranges)
        covered = ranges[:, 1] - ranges[:, 0]
        return np.where(covered == 1, 0.0, covered / self.leaves)

    def middles(self, ranges: NDArray[np.int64]) -> NDArray[np.float64]:
        """The middle of each range on a scale from 0 to 1: of its numbers, or of its places."""
        if self.numbers is None:
            middles: NDArray[np.float64] = (ranges.sum(axis=1) - 1) / 2 / max(1, self.leaves - 1)
            return middles
        low, high, least, most = self._ends(ranges)
        return np.where(np.isfinite(low), ((low + high) / 2 - least) / ((most - least) or 1.0), 0.5)

    def _width(self, ranges: NDArray[np.int64]) -> NDArray[np.float64]:
        low, high, least, most = self._ends(ranges)
        width = np.where(np.isfinite(low), (high - low) / ((most - least) or 1.0), 0.0)
        # a label over numbers and null alike does not even say whether there is a number
        return np.where(ranges[:, 1] - ranges[:, 0] == self.leaves, float(self.leaves > 1), width)

    def _ends(self, ranges: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
        """The least and the largest number of each range (NaN for a null alone), and of all."""
        assert self.numbers is not None
        real = int(np.isfinite(self.numbers).sum())
        if not real:
            nothing = np.full(len(ranges), np.nan)
            return nothing, nothing, 0.0, 0.0
        finite = self.numbers[:real]
        low = np.where(ranges[:, 0] < real, finite[np.minimum(ranges[:, 0], real - 1)], np.nan)
        return low, finite[np.minimum(ranges[:, 1], real) - 1], float(finite[0]), float(finite[-1])


def _give_facts() -> str:
    """What says what labels stand for."""
    flags = by_door("schema=, hierarchies=", "--schema, --hierarchies")
    return f"Give the schema and the hierarchies that the table was made with ({flags})."


def _compare_rows() -> str:
    """What else may be done about them."""
    return f" Rows that were averaged or made up are compared with {by_door('as_rows=True', '--as-rows')}."


def other_label(kind: Kind | None) -> int | None:
    """The fingerprint of the label "(other)", where the schema gives it to missing and unseen values of the column."""
    return fingerprint(OTHER) if isinstance(kind, Category) and kind.other else None


def wants_spans(tree: Hierarchy | None) -> bool:
    """Whether the cells of a column must be read as numbers: where its labels are not all listed."""
    return tree is None or tree.edges is not None


def make_label_domain(
    name: str,
    tree: Hierarchy | None,
    original: Values,
    published: Values | None = None,
    kind: Kind | None = None,
) -> LabelDomain:
    """The domain of a column: its hierarchy, whose labels are read as cells of its kind, or else what its original holds.

    Without a hierarchy "(other)" is what is missing: the original's own values are all that there are.
    """
    other = other_label(kind) if tree is None else None
    blanks = [int(NULL)] if other is None else [int(NULL), other]
    marks = [original.fingerprints, *([] if published is None else [published.fingerprints])]
    has_null = any(np.isin(each, blanks).any() for each in marks)
    if tree is not None and tree.has_other:
        return _with_other(_of_tree(name, tree, kind), tree, original)
    if tree is not None:
        return _of_tree(name, tree.with_null() if has_null else tree, kind)
    real = ~np.isin(original.fingerprints, blanks)
    if original.order is not None and original.low is not None:
        domain = _of_numbers(name, original.fingerprints[real], original.low[real], has_null)
    else:
        domain = _of_words(name, original.fingerprints[real], has_null)
    return replace(domain, known={**domain.known, **{mark: domain.known[int(NULL)] for mark in blanks}})


def _with_other(domain: LabelDomain, tree: Hierarchy, original: Values) -> LabelDomain:
    """The same with blanks, and with the cells of the original that the hierarchy lacks, in the leaf "(other)".

    Only the original's: a label that neither of the two knows is still an error.
    """
    known = dict(domain.known)
    leaf = known[fingerprint(OTHER)]
    known.setdefault(int(NULL), leaf)
    lacking = domain.ranges(original, strict=False)[:, 0] < 0
    return replace(
        domain, known=known | dict.fromkeys(original.fingerprints[lacking & (original.fingerprints != NULL)].tolist(), leaf)
    )


def _of_numbers(name: str, marks: NDArray[np.int64], values: NDArray[np.float64], has_null: bool) -> LabelDomain:
    numbers, place = np.unique(values, return_inverse=True)  # 7 and 7.0 are one leaf
    real, leaves = len(numbers), len(numbers) + has_null
    known = {int(mark): (int(at), int(at) + 1) for mark, at in zip(marks, place, strict=True)}
    known[int(NULL)] = (real, real + 1)
    known[int(EVERYTHING)] = (0, leaves)
    return LabelDomain(name, leaves, np.append(numbers, [np.nan] * has_null), True, known, _NO_NODES)


def _of_words(name: str, marks: NDArray[np.int64], has_null: bool) -> LabelDomain:
    leaves = len(marks) + has_null
    known = {int(mark): (at, at + 1) for at, mark in enumerate(marks)}
    known[int(NULL)] = (len(marks), len(marks) + 1)
    known[int(EVERYTHING)] = (0, leaves)
    return LabelDomain(name, leaves, None, False, known, _NO_NODES)


def _of_tree(name: str, tree: Hierarchy, kind: Kind | None) -> LabelDomain:
    words = plain_words(pa.array(tree.nodes, pa.string()), kind)
    numbers = _leaf_numbers(tree, words)
    order = _layout(tree, numbers)
    if numbers is not None:
        numbers = numbers[order]
        real = numbers[np.isfinite(numbers)]
        if (np.diff(real) < 0).any():  # branches are not in the order of the numbers: leaves count as words
            order, numbers = _layout(tree, None), None
    start = np.full(len(tree.nodes), tree.leaves, np.int64)
    start[order] = np.arange(tree.leaves)
    for node, above in enumerate(tree.parent[:-1].tolist()):
        start[above] = min(start[above], start[node])
    nodes = np.stack([start, start + tree.size], axis=1)
    known = {int(EVERYTHING): (0, tree.leaves)}
    for mark, (first, last) in zip(fingerprints_of(words).tolist(), nodes.tolist(), strict=True):
        known[mark] = (first, last)  # of two nodes with the same label the more general wins: it comes later
    return LabelDomain(name, tree.leaves, numbers, False, known, nodes, tree.edges, tree.is_grid)


def _leaf_numbers(tree: Hierarchy, words: pa.Array) -> NDArray[np.float64] | None:
    """The number that each leaf stands for, NaN for a null; None if the leaves are words."""
    if tree.edges is not None:
        middles = (tree.edges[:-1] + tree.edges[1:]) / 2
        if tree.is_grid:
            middles = np.array(tree.nodes[: len(middles)], np.float64)  # as their labels read, without rounding
        return np.append(middles, np.nan)[: tree.leaves] if tree.leaves > len(middles) else middles
    leaves = words.slice(0, tree.leaves)
    low, high = spans(leaves)
    is_null = np.array([leaf == "" for leaf in tree.nodes[: tree.leaves]])
    if is_null.all() or not (np.isfinite(low) & (low == high))[~is_null].all():
        return None
    return np.where(is_null, np.nan, low)


def _layout(tree: Hierarchy, numbers: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """The leaves branch by branch, numbers rising as far as branches allow, a null at the end."""
    key = np.arange(len(tree.nodes), dtype=np.float64)
    key[: tree.leaves] = np.arange(tree.leaves) if numbers is None else numbers
    for leaf in range(tree.leaves):
        if tree.nodes[leaf] == "":
            key[leaf] = np.inf
    key[tree.leaves :] = np.inf
    for node, above in enumerate(tree.parent[:-1].tolist()):
        key[above] = min(key[above], key[node])
    rank = np.empty(len(key), np.int64)
    rank[np.argsort(key, kind="stable")] = np.arange(len(key))
    return np.lexsort(rank[tree.levels])  # the root is the first thing to sort by
