"""Blocks of rows in a public order: one replaced row changes at most one row of each, and no sum by more than is promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import PlanError
from cloister.kernels.keyed import InOrder, Keyed, distinct
from cloister.kernels.ranked_blocks import BlockSums, CornerOrder, RankedBlocks
from cloister.schema import Neighbours

HALF = 8
SIZES = (3, 2)
Rows = NDArray[np.int32]  # (n, 4): two numbers and two categories
Groups = Callable[[Rows, int], list[Counter[tuple[int, ...]]]]

ROW = st.tuples(st.integers(-HALF, HALF), st.integers(-HALF, HALF), st.integers(0, 2), st.integers(0, 1))


def rank(rows: Rows, blocks: RankedBlocks) -> Keyed:
    """The rows as an engine ranks them."""
    encoded = Encoded(np.ascontiguousarray(rows[:, :2]), np.ascontiguousarray(rows[:, 2:]))
    return distinct(InOrder(blocks.order, 4).keys(encoded))


def blocks_of(rows: Rows, size: int) -> RankedBlocks:
    return RankedBlocks(CornerOrder(2 * HALF, tuple(values - 1 for values in SIZES)), len(rows), size, 2, SIZES)


def insensitive_groups(rows: Rows, size: int) -> list[Counter[tuple[int, ...]]]:
    """The rows of each block."""
    blocks = blocks_of(rows, size)
    ordered, places = blocks.assign(rank(rows, blocks))
    whole = np.concatenate([ordered.numbers, ordered.codes], axis=1)
    return [Counter(map(tuple, whole[places == block].tolist())) for block in range(blocks.blocks)]


def mdav_groups(rows: Rows, size: int) -> list[Counter[tuple[int, ...]]]:
    """Plain MDAV, as it is printed: the order follows from the mean and the farthest rows."""
    left, groups = rows.astype(np.float64), []
    while len(left) >= 2 * size:
        for _ in range(2):
            far = left[np.argmax(((left - left.mean(axis=0)) ** 2).sum(axis=1))]
            nearest = np.argsort(((left - far) ** 2).sum(axis=1), kind="stable")[:size]
            groups.append(Counter(map(tuple, left[nearest].astype(int).tolist())))
            left = np.delete(left, nearest, axis=0)
            if len(left) < size:
                break
    if len(left):
        groups.append(Counter(map(tuple, left.astype(int).tolist())))
    return groups


def most_changed(groups: Groups, rows: Rows, other: Rows, size: int) -> int:
    """How many rows of a group were exchanged, in the group where they are most."""
    pairs = zip(groups(rows, size), groups(other, size), strict=False)
    return max((max((one - two).total(), (two - one).total()) for one, two in pairs), default=0)


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=40), place=st.integers(0, 39), stranger=ROW, size=st.integers(1, 10))
def test_a_replaced_row_changes_one_row_of_each_block(
    rows: list[tuple[int, ...]], place: int, stranger: tuple[int, ...], size: int
) -> None:
    """Whatever row is replaced by whatever other, in every block at most one row is another."""
    table = np.array(rows, dtype=np.int32)
    other = table.copy()
    other[place % len(rows)] = stranger
    assert most_changed(insensitive_groups, table, other, size) <= 1


def test_the_same_law_catches_plain_mdav() -> None:
    """Planted: groups that are found by looking at the rows change in more than one row."""
    random = np.random.default_rng(0)
    changed = []
    for _ in range(20):
        rows = np.column_stack([random.integers(-HALF, HALF + 1, (30, 2)), random.integers(0, 2, (30, 2))]).astype(np.int32)
        other = rows.copy()
        other[random.integers(30)] = (HALF, HALF, 0, 0)
        changed.append(most_changed(mdav_groups, rows, other, 4))
    assert max(changed) > 1


def moved(rows: Rows, other: Rows, size: int) -> tuple[int, int, int]:
    """How far the sums of all blocks move, in L1 and squared L2, and the value counts in L1."""
    blocks = blocks_of(rows, size)
    sums = BlockSums(blocks, (HALF, HALF))
    one, two = (sums.summary(rank(table, blocks))["sums"] for table in (rows, other))
    values = [blocks.value_counts(rank(table, blocks)) for table in (rows, other)]
    by_value = sum(int(np.abs(a - b).sum()) for a, b in zip(*values, strict=True))
    return int(np.abs(one - two).sum()), int(((one - two) ** 2).sum()), by_value


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=40), place=st.integers(0, 39), stranger=ROW, size=st.integers(1, 10))
def test_sums_move_no_farther_than_is_promised(
    rows: list[tuple[int, ...]], place: int, stranger: tuple[int, ...], size: int
) -> None:
    """L1 at most blocks times the widths, squared L2 blocks times their squares, value counts 2 a block and column."""
    table = np.array(rows, dtype=np.int32)
    other = table.copy()
    other[place % len(rows)] = stranger
    blocks = blocks_of(table, size)
    promised = BlockSums(blocks, (HALF, HALF)).sensitivity(Neighbours.REPLACE_ONE)
    l1, l2_squared, values = moved(table, other, size)
    assert l1 <= promised.l1("sums")
    assert l2_squared <= promised.l2_squared("sums")
    assert values <= 2 * blocks.blocks * len(SIZES)


def test_an_adversarial_table_nearly_attains_the_bound() -> None:
    """Rows that alternate along the order move every block at once: a bound of one block alone would be wrong by far."""
    # along the order the first number goes up and down by its whole width, and a wider second column makes the order
    count, wide = 17, 40 * HALF
    first = np.where(np.arange(count) % 2, HALF, -HALF)
    rows = np.column_stack([first, np.linspace(-wide, wide, count), np.zeros((count, 2))]).astype(np.int32)
    order = CornerOrder(0, (2, 1))
    blocks = RankedBlocks(order, len(rows), 1, 2, SIZES)
    other = rows.copy()
    other[0] = (HALF, wide, 0, 0)
    sums = BlockSums(blocks, (HALF, wide))
    one, two = (sums.summary(rank(table, blocks))["sums"] for table in (rows, other))
    attained = int(np.abs(one[:, 0] - two[:, 0]).sum())
    assert attained >= 0.9 * len(rows) * 2 * HALF
    assert attained <= sums.sensitivity(Neighbours.REPLACE_ONE).l1("sums")


def test_the_rest_joins_the_last_block() -> None:
    """Eleven rows in blocks of four: four and seven."""
    rows = np.column_stack([np.arange(11), np.arange(11), np.zeros((11, 2))]).astype(np.int32)
    assert blocks_of(rows, 4).lengths.tolist() == [4, 7]
    assert [group.total() for group in insensitive_groups(rows, 4)] == [4, 7]


def test_nothing_is_promised_under_add_remove() -> None:
    """A row more moves every row after it by one place."""
    rows = np.zeros((9, 4), dtype=np.int32)
    with pytest.raises(PlanError, match="replace-one"):
        BlockSums(blocks_of(rows, 3), (HALF, HALF)).sensitivity(Neighbours.ADD_REMOVE)
