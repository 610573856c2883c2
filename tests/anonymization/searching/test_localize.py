"""Local recoding: every class holds every guard, no row is lost while k remain, and Adult loses little."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.scale import CutBins, Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.guards import Closeness, Diversity, Guard, passing
from cloister.anonymization.searching.lattice import binary_tree, vectors_by_cost
from cloister.anonymization.searching.localize import localize
from cloister.errors import UsageError
from cloister.risks.fingerprints import spans
from cloister.schema.hierarchies import Hierarchy, flat
from tests.anonymization.adult import adult
from tests.anonymization.searching import guards_by_hand as counting
from tests.anonymization.searching.guards_by_hand import GUARD_SETS, guards_hold
from tests.anonymization.tables import Table, labels_of_rows, tables


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 8), st.sampled_from([0.0, 0.003, 0.2]), GUARD_SETS)
def test_any_output_holds_every_guard(table: Table, k: int, share: float, guards: tuple[Guard, ...]) -> None:
    """Any table gives an output that passes an independent count of every guard, or a refusal."""
    n = len(table.codes)
    try:
        found = localize(CountedTable(table.histogram(), table.columns, table.names), k, guards=guards, share=share)
    except UsageError:
        assert not guards_hold([("*",)] * n, table.sensitive, k, guards)
        return
    shown = found.recoding.published(table.classify(found.recoding))
    assert guards_hold(shown, table.sensitive, k, guards)


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(1, 6), GUARD_SETS)
def test_no_row_is_lost(table: Table, k: int, guards: tuple[Guard, ...]) -> None:
    """Whatever the guards, every row has a class."""
    try:
        found = localize(CountedTable(table.histogram(), table.columns, table.names), k, guards=guards)
    except UsageError:
        return
    assert table.classify(found.recoding).min() >= 0


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5))
def test_classes_hold_k_persons(table: Table, k: int) -> None:
    """With several rows a person, every class holds at least k persons."""
    try:
        found = localize(CountedTable(table.histogram(persons=True), table.columns, table.names), k)
    except UsageError:
        assert len(set(table.persons)) < k
        return
    shown = found.recoding.published(table.classify(found.recoding))
    assert counting.fewest_persons(shown, table.persons) >= k


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), GUARD_SETS)
def test_every_label_covers_its_rows(table: Table, k: int, guards: tuple[Guard, ...]) -> None:
    """A row is published as labels that its values lie under."""
    rows = table.histogram()
    try:
        found = localize(CountedTable(rows, table.columns, table.names), k, guards=guards)
    except UsageError:
        return
    labels = table.classify(found.recoding)
    assert labels_of_rows(table, rows, found.labels) == labels.tolist()
    for j, column in enumerate(table.columns):
        if isinstance(column, Scale):
            shown = [found.recoding.columns[j].labels[at] for at in found.recoding.classes[labels, j].tolist()]
            cells = np.append(column.values, np.nan)[table.codes[:, j]]
            low, high = spans(pa.array(shown))
            assert all(a <= cell <= b or text == "*" or (np.isnan(cell) and text == "")
                       for a, cell, b, text in zip(low, cells, high, shown, strict=True))  # fmt: skip
            continue
        for row, label in enumerate(labels.tolist()):
            node, target = int(table.codes[row, j]), int(found.recoding.classes[label, j])
            while node != target and column.parent[node] >= 0:
                node = int(column.parent[node])
            assert node == target


def test_left_over_rows_join_the_nearest_class() -> None:
    """Two rows that no round can finish join the class where they cost least."""
    rows = TupleCounts(np.array([[0], [1], [2]], np.int32), np.array([10, 10, 2]))
    tree = flat(["a", "b", "c"])
    found = localize(CountedTable(rows, [tree], ["x"]), 5)
    assert sorted(found.recoding.published(found.labels)) == [("*",), ("*",), ("b",)]


def test_what_no_class_can_take_joins_several() -> None:
    """Rows that would break t-closeness wherever they joined are published with several classes in one."""
    codes = [[0, 0], [1, 0], [1, 1], [1, 2], [1, 2], [2, 0], [2, 1], [2, 2]]
    sensitive = [[3], [2], [0], [2], [3], [3], [2], [3]]
    rows = TupleCounts(
        np.array(codes, np.int32), np.array([1, 5, 2, 2, 3, 3, 3, 1]), sensitive=np.array(sensitive, np.int32)
    )
    found = localize(CountedTable(rows, [flat(["a", "b", "c"])] * 2, ["x", "y"]), 4, guards=[Closeness(0.2)])
    whole = np.repeat(np.arange(len(codes)), rows.counts)
    shown = found.recoding.published(found.labels)
    far = counting.farthest([shown[i] for i in whole], [sensitive[i][0] for i in whole], is_ordered=False)
    assert found.labels.min() >= 0
    assert far <= 0.2 + 1e-9


def test_refined_inside() -> None:
    """A class whose parts all hold k is published in parts."""
    rows = TupleCounts(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32), np.array([5, 5, 5, 5]))
    found = localize(CountedTable(rows, [flat(["a", "b"]), flat(["c", "d"])], ["x", "y"]), 5, share=0.99)
    assert len(set(found.recoding.published(found.labels))) == 4


def test_vectors_rise_in_cost_and_end_in_the_root() -> None:
    """Every vector comes after all that it lies above, and the last one is the root of every column."""
    costs = [np.array([0.0, 0.3, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 0.1, 0.5, 1.0])]
    vectors = vectors_by_cost(costs)
    total = sum(cost[vectors[:, j]] for j, cost in enumerate(costs))
    assert len(vectors) == 24
    assert (np.diff(total) >= 0).all()
    assert vectors[-1].tolist() == [2, 1, 3]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=24))
def test_too_many_vectors_are_thinned(levels: list[int]) -> None:
    """However many columns and levels, the vectors stay within the limit and end in the root."""
    costs = [np.linspace(0, 1, count) for count in levels]
    vectors = vectors_by_cost(costs, limit=500)
    assert len(vectors) <= 500
    assert vectors[0].tolist() == [0] * len(levels)
    assert vectors[-1].tolist() == [count - 1 for count in levels]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=20, unique=True), st.integers(0, 1000), st.booleans())
def test_binary_trees(values: list[int], seed: int, has_null: bool) -> None:
    """A tree over ordered values has every value as a leaf, at most two children a node (nulls apart), and one root."""
    cells = np.array(sorted(values), np.float64)
    bins = CutBins(cells[1:], np.ones(len(cells), np.int64), (-np.inf, np.inf), has_null)
    tree = binary_tree(bins, np.random.default_rng(seed).integers(0, 9, bins.leaves).astype(float))
    inner = tree.parent[tree.parent >= 0]
    assert tree.leaves == bins.leaves
    assert tree.size[-1] == tree.leaves
    assert np.bincount(inner, minlength=1).max() <= 2 + has_null
    assert (np.flatnonzero(tree.parent < 0) == [len(tree.nodes) - 1]).all()


@pytest.mark.parametrize(("k", "bar"), [(5, 0.055), (10, 0.078), (50, 0.148)])
def test_adult_loses_no_more_than_the_bar(k: int, bar: float) -> None:
    """Adult, without a row lost, loses less than the local recoding that it is measured against."""
    table = adult()
    found = localize(CountedTable(table.rows, table.trees, table.names), k)
    shown = counting.classes(found.recoding.published(found.labels))
    assert min(int(table.rows.counts[rows].sum()) for rows in shown.values()) >= k
    assert found.loss <= bar


def test_what_is_published_alike_holds_the_guards_of_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two classes that hold l-diversity of people break it together: published alike, they are one, and joined to others."""
    # {0, 1} and {2, 3} meet in "*": each has three values for three people, and of both together two name everybody
    leaves, people, values = [0, 0, 1, 2, 2, 3, 4, 4, 4], [1, 2, 3, 1, 2, 3, 4, 5, 6], [0, 1, 2, 1, 2, 0, 3, 4, 5]
    apart = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    rows = TupleCounts(
        np.array(leaves, np.int32)[:, None],
        np.ones(9, np.int64),
        sensitive=np.array(values, np.int32)[:, None],
        persons=np.array(people),
        meanings=(tuple(range(7)),),
    )
    tree = Hierarchy.from_paths([(str(i), "ab"[i in (1, 3)], "*") for i in range(5)])
    guards = [Diversity(3)]
    assert passing(guards, apart, 3, rows).all()
    monkeypatch.setattr("cloister.anonymization.searching.localize._Classes.refined", lambda *_: apart)
    found = localize(CountedTable(rows, [tree], ["q"]), 3, guards=guards)
    shown = [found.recoding.columns[0].labels[found.recoding.classes[at, 0]] for at in found.labels]
    class_of = np.unique(shown, return_inverse=True)[1]
    assert passing(guards, class_of, int(class_of.max()) + 1, rows).all()


def test_a_bound_that_fails_is_called_one() -> None:
    """Values enough, but people have several: the refusal does not say that the table lacks them."""
    persons = np.repeat(np.arange(20), 4)
    rows = TupleCounts(
        np.zeros((80, 1), np.int32), np.ones(80, np.int64), sensitive=np.tile(np.arange(4, dtype=np.int32), 20)[:, None],
        persons=persons, meanings=(tuple(range(5)),),
    )  # fmt: skip
    with pytest.raises(UsageError, match="cannot be shown for people"):
        localize(CountedTable(rows, [flat(["x"])], ["q"]), 2, guards=[Diversity(4)])
