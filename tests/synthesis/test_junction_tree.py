"""Junction trees hold every table, and what two clusters share, all between them have."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.synthesis.junction_tree import JunctionTree, cells_of_model, make_junction_tree

COLUMNS = 6
tables = st.frozensets(
    st.frozensets(st.integers(0, COLUMNS - 1), min_size=1, max_size=3).map(lambda kept: tuple(sorted(kept))), max_size=8
)


def path(tree: JunctionTree, place: int) -> list[int]:
    """From a cluster up to the first."""
    steps = [place]
    while (parent := tree.clusters[steps[-1]].parent) is not None:
        steps.append(parent)
    return steps


@given(sizes=st.tuples(*[st.integers(1, 4)] * COLUMNS), kept=tables)
def test_every_table_is_held_and_shared_columns_hang_together(sizes: tuple[int, ...], kept: frozenset) -> None:
    """The two laws of a junction tree; every column is somewhere, and axes are those that they say."""
    tree = make_junction_tree(sizes, kept)
    for table in kept:
        place, others = tree.home(table)
        left = [column for axis, column in enumerate(tree.clusters[place].columns) if axis not in others]
        assert tuple(left) == table
    assert {column for cluster in tree.clusters for column in cluster.columns} == set(range(COLUMNS))
    for one, other in combinations(range(len(tree.clusters)), 2):
        up, down = path(tree, one), path(tree, other)
        top = next(place for place in up if place in down)
        between = {*up[: up.index(top) + 1], *down[: down.index(top) + 1]}
        shared = set(tree.clusters[one].columns) & set(tree.clusters[other].columns)
        assert all(shared <= set(tree.clusters[place].columns) for place in between)
    for place, cluster in enumerate(tree.clusters[1:], 1):
        assert cluster.parent is not None
        assert cluster.parent < place
        above = tree.clusters[cluster.parent].columns
        assert [cluster.columns[axis] for axis in cluster.own] == [c for c in cluster.columns if c not in above]
        assert [above[axis] for axis in cluster.beyond] == [c for c in above if c not in cluster.columns]


@pytest.mark.parametrize(
    ("kept", "cells"),
    [
        (frozenset(), 2 + 3 + 4 + 5),
        (frozenset({(0, 1), (1, 2), (2, 3)}), 6 + 12 + 20),
        (frozenset({(0, 1), (1, 2), (2, 3), (0, 3)}), 2 * 3 * 4 + 2 * 4 * 5),  # a ring needs one chord
    ],
    ids=["none", "chain", "ring"],
)
def test_cells_are_counted(kept: frozenset, cells: int) -> None:
    """What a model costs is known before it is fitted."""
    assert make_junction_tree((2, 3, 4, 5), kept).cells == cells_of_model((2, 3, 4, 5), kept) == cells
