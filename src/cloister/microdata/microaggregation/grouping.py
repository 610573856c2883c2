"""The group of each row: block by block on every core, by the rule that was asked for.

Blanks, scales and distances are those of `row_scales`. Every group has k to 2k - 1 rows: what is left over and joins other groups
is fewer than k rows, so that even a group that takes all of them stays below 2k. Where k counts people a group has the nearest
rows of k different people, as many as that takes, and at least k people in the end.

References
----------
cmd: Ding and Li (paper 004), algorithm 1. mdav: Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity
through microaggregation, 2005.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.errors import DataError
from cloister.kernels.loops.arrays import F64, I32
from cloister.kernels.loops.choose import grouping_loops
from cloister.microdata.microaggregation.block_order import cut_blocks
from cloister.microdata.microaggregation.mixed_rows import MixedRows
from cloister.microdata.microaggregation.row_scales import RowScales, ScaledRows, scales_of

__all__ = ["Grouping", "make_groups"]

PAIRS_FROM = {"cmd": 2, "mdav": 3}  # times k: while so many are left, two groups are made at a time
_WHOLE_PAIRS = 2  # pairs of neighbouring blocks that are grouped again as one, to see what the cut cost


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The groups of a table's rows."""

    of: I32  # (n,)
    count: int
    blocks: int
    block_cost: float | None  # see `_cost_of_blocks`; None where there is one block

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The rows of each group, (count,)."""
        return np.bincount(self.of, minlength=self.count)


def make_groups(
    rows: MixedRows, k: int, distance: str, rule: str, progress: Callable[[str], None] = lambda _: None
) -> Grouping:
    """Group the rows of a table; fewer than k of what k counts are refused."""
    if rows.units < k:
        what = "people" if len(rows.people) else "rows"
        raise DataError(f"the table has fewer than k = {k:,} {what}, so that no group can be made. Choose a smaller k.")
    scales = scales_of(rows, distance)
    blocks = cut_blocks(scales, k)
    of = np.empty(rows.rows, np.int32)
    count = 0
    errors = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        grouped = pool.map(lambda at: group_block(scales, at, k, PAIRS_FROM[rule] * k), blocks)
        for done, (at, (groups, some, error)) in enumerate(zip(blocks, grouped, strict=True), 1):
            of[at] = groups + count
            count += some
            errors.append(error)
            if len(blocks) > 1:
                progress(f"grouping: block {done} of {len(blocks)}")
    cost = _cost_of_blocks(scales, blocks, errors, k, PAIRS_FROM[rule] * k) if len(blocks) > 1 else None
    return Grouping(of, count, len(blocks), cost)


def group_block(scales: RowScales, at: NDArray[np.int64], k: int, pairs_from: int) -> tuple[I32, int, float]:
    """The groups of some rows, how many there are, and how far the rows are from their centroids in all."""
    rows = scales.scaled(at)
    groups = np.empty(rows.rows, np.int32)
    numbers, codes = rows.numbers.copy(), rows.codes.copy()  # the loops overwrite what they get
    width = len(numbers) + len(codes)
    loops = grouping_loops(rows.rows * rows.rows * max(1, width) // k)
    count = loops.group_rows(
        numbers,
        codes,
        rows.offsets,
        rows.people.copy(),
        rows.persons,
        k,
        pairs_from,
        scales.is_squared,
        scales.weight,
        groups,
    )
    _join(scales, rows, groups, count)
    return groups, count, _error(scales, rows, groups, count)


def _join(scales: RowScales, rows: ScaledRows, groups: I32, count: int) -> None:
    """Let the rows that were too few for a group join, in place, the group whose centroid is nearest."""
    lonely = np.flatnonzero(groups < 0)
    if not len(lonely):
        return
    means, modes = _centroids(rows, groups, count)
    for i in lonely:
        move = np.abs(means - rows.numbers[:, i, None])
        distances = (move * move if scales.is_squared else move).sum(axis=0)
        groups[i] = np.argmin(distances + scales.weight * (modes != rows.codes[:, i, None]).sum(axis=0))


def _centroids(rows: ScaledRows, groups: I32, count: int) -> tuple[F64, I32]:
    """Means (d, groups) and modes (c, groups) of the rows that are in a group."""
    inside = groups >= 0
    of = groups[inside]
    sizes = np.bincount(of, minlength=count)
    means = np.array([np.bincount(of, values[inside], count) / sizes for values in rows.numbers])
    modes = np.array([group_modes(of, codes[inside], count)[0] for codes in rows.codes], np.int32)
    return means.reshape(len(rows.numbers), count), modes.reshape(len(rows.codes), count)


def group_modes(of: I32, codes: I32, count: int) -> tuple[I32, NDArray[np.int64]]:
    """The most common code of each group, the lowest of equally common ones, and how many rows hold it."""
    most = int(codes.max(initial=0)) + 1
    pairs, times = np.unique(of.astype(np.int64) * most + codes, return_counts=True)
    order = np.lexsort([pairs % most, -times, pairs // most])
    first = order[np.searchsorted(pairs[order] // most, np.arange(count))]
    return (pairs[first] % most).astype(np.int32), times[first]


def _error(scales: RowScales, rows: ScaledRows, groups: I32, count: int) -> float:
    """The distances of all rows from the centroids of their groups, added up."""
    means, modes = _centroids(rows, groups, count)
    total = 0.0
    for values, mean in zip(rows.numbers, means, strict=True):
        move = values - mean[groups]
        total += float((move * move).sum() if scales.is_squared else np.abs(move).sum())
    for codes, mode in zip(rows.codes, modes, strict=True):
        total += scales.weight * float((codes != mode[groups]).sum())
    return total


def _cost_of_blocks(
    scales: RowScales, blocks: list[NDArray[np.int64]], errors: list[float], k: int, pairs_from: int
) -> float:
    """How much farther rows are from their centroids than if two neighbouring blocks were one, as a share; an estimate.

    Measured on a few pairs from all over the order. It says what one cut costs, not what all cuts do.
    """
    pairs = np.unique(np.linspace(0, len(blocks) // 2 - 1, _WHOLE_PAIRS).astype(int)) * 2
    apart = sum(errors[i] + errors[i + 1] for i in pairs)
    whole = sum(group_block(scales, np.sort(np.concatenate(blocks[i : i + 2])), k, pairs_from)[2] for i in pairs)
    return apart / whole - 1 if whole > 0 else 0.0
