"""Limits and weights of single columns: no label passes a limit, every guard holds, a refusal is right."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.scale import CutBins, Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.guards import Guard
from cloister.anonymization.searching.limits import ColumnLimit, parts_of
from cloister.anonymization.searching.localize import localize
from cloister.anonymization.searching.specialize import specialize
from cloister.errors import Unattainable
from cloister.risks.fingerprints import spans
from cloister.schema.hierarchies import Hierarchy, flat
from tests.anonymization.searching import guards_by_hand as counting
from tests.anonymization.searching.guards_by_hand import GUARD_SETS, guards_hold
from tests.anonymization.tables import Table, tables


@st.composite
def limited(draw: st.DrawFn) -> tuple[Table, list[ColumnLimit], list[float]]:
    """Any small table with any limits and weights."""
    table = draw(tables(min_rows=4))
    limits = []
    for name, column in zip(table.names, table.columns, strict=True):
        level, width = draw(st.none() | st.integers(0, 2)), draw(st.none() | st.sampled_from([0.5, 3.0, 10.0]))
        is_tree = isinstance(column, Hierarchy)
        limits.append(ColumnLimit(name, level if is_tree else None, None if is_tree else width))
    raw = [draw(st.sampled_from([0.2, 1.0, 5.0])) for _ in limits]
    return table, limits, [weight * len(raw) / sum(raw) for weight in raw]


def level_of(tree: Hierarchy, label: str, leaf: int) -> int:
    """At which level a label stands above a value, the values at 0."""
    node = leaf
    while tree.nodes[node] != label:
        node = int(tree.parent[node])
    return 0 if node < tree.leaves else int(tree.depth.max() - tree.depth[node])


def check(table: Table, limits: list[ColumnLimit], shown: list[tuple[str, ...]]) -> None:
    """No published label passes its limit."""
    for j, (column, limit) in enumerate(zip(table.columns, limits, strict=True)):
        labels = [texts[j] for texts in shown]
        if isinstance(column, Hierarchy) and limit.most_level is not None:
            for label, leaf in zip(labels, table.codes[:, j].tolist(), strict=True):
                assert label is None or level_of(column, label, leaf) <= limit.most_level
        if limit.widest is not None:
            assert "*" not in labels
            low, high = spans(pa.array([label for label in labels if label]))
            finite = np.isfinite(low) & np.isfinite(high)
            assert (high[finite] - low[finite] <= limit.widest + 1e-9).all()


@settings(max_examples=150, deadline=None)
@given(limited(), st.integers(1, 5), GUARD_SETS)
def test_local_labels_stay_within_limits(
    asked: tuple[Table, list[ColumnLimit], list[float]], k: int, guards: tuple[Guard, ...]
) -> None:
    """Every row is published, within the limits, and every guard holds by another count; or it is refused."""
    table, limits, weights = asked
    counted = CountedTable(table.histogram(), table.columns, table.names)
    try:
        found = localize(counted, k, guards=guards, weights=weights, limits=limits)
    except Unattainable:
        assert_unattainable(table, limits, k, guards)
        return
    labels = table.classify(found.recoding)
    assert labels.min() >= 0
    shown = found.recoding.published(labels)
    assert guards_hold(shown, table.sensitive, k, guards)
    check(table, limits, shown)


@settings(max_examples=150, deadline=None)
@given(limited(), st.integers(1, 5), GUARD_SETS, st.sampled_from(["loss", "entropy", "distance", "class"]))
def test_global_labels_stay_within_limits(
    asked: tuple[Table, list[ColumnLimit], list[float]], k: int, guards: tuple[Guard, ...], gain: str
) -> None:
    """The same for one set of labels a column, by every gain."""
    table, limits, weights = asked
    counted = CountedTable(table.histogram(), table.columns, table.names)
    try:
        found = specialize(counted, k, gain=gain, guards=guards, weights=weights, limits=limits)
    except Unattainable:
        assert_unattainable(table, limits, k, guards)
        return
    shown = found.recoding.published(table.classify(found.recoding))
    assert guards_hold(shown, table.sensitive, k, guards)
    check(table, limits, shown)


@settings(max_examples=100, deadline=None)
@given(limited(), st.integers(1, 5), st.sampled_from([0.1, 0.4]))
def test_labels_stay_within_limits_where_rows_are_suppressed(
    asked: tuple[Table, list[ColumnLimit], list[float]], k: int, share: float
) -> None:
    """Labels that reach over the gaps of removed rows stay within them, too; only suppressed rows are published as *."""
    table, limits, weights = asked
    counted = CountedTable(table.histogram(), table.columns, table.names)
    try:
        found = specialize(counted, k, gain="loss", suppression=share, weights=weights, limits=limits)
    except Unattainable:
        return
    labels = table.classify(found.recoding)
    assert (labels < 0).sum() <= share * len(labels)
    kept = np.flatnonzero(labels >= 0)
    published = Table(table.columns, table.codes[kept], [], [], [])
    shown = found.recoding.published(labels[kept])
    assert counting.smallest(shown) >= k
    check(published, limits, shown)


def assert_unattainable(table: Table, limits: list[ColumnLimit], k: int, guards: tuple[Guard, ...]) -> None:
    """A refusal is right where only hierarchies are limited: even the coarsest labels that are allowed break a guard."""
    if any(limit.widest is not None for limit in limits):
        return
    shown = []
    for codes in table.codes.tolist():
        texts = []
        for column, limit, leaf in zip(table.columns, limits, codes, strict=True):
            node = leaf
            while limit.most_level is not None and isinstance(column, Hierarchy) and column.parent[node] >= 0:
                above = int(column.parent[node])
                if column.depth.max() - column.depth[above] > limit.most_level:
                    break
                node = above
            texts.append("*" if limit.most_level is None else str(node))
        shown.append(tuple(texts))
    assert not guards_hold(shown, table.sensitive, k, guards)


def test_intervals_are_parted_within_a_width() -> None:
    """Each way of parting stays within the width, and the first has the fullest of smallest intervals."""
    bins = CutBins(np.array([10.0, 20.0, 30.0, 40.0]), np.ones(5, np.int64), (0.0, 50.0))
    rows = np.array([5.0, 1.0, 1.0, 5.0, 5.0])
    ways = parts_of(bins, rows, ColumnLimit("age", widest=20))
    assert ways == [[0, 2, 4, 5], [0, 2, 4, 5], [0, 1, 3, 5]]
    with pytest.raises(Unattainable, match="Allow 10 or more"):
        parts_of(bins, rows, ColumnLimit("age", widest=5))


@pytest.mark.parametrize("scope", ["local", "global"])
def test_a_refusal_says_what_would_help(scope: str) -> None:
    """Which limit to relax, and how many rows would have to go."""
    rows = TupleCounts(np.array([[0, 0], [0, 1], [1, 0]], np.int32), np.array([40, 59, 1]))
    table = CountedTable(rows, [flat(["a", "b"]), flat(["x", "y"])], ["one", "two"])
    limits = [ColumnLimit("one", 0), ColumnLimit("two", 0)]
    search = localize if scope == "local" else specialize
    with pytest.raises(Unattainable) as refused:
        search(table, 5, limits=limits)
    for words in ('"one" at level 0', "1 of 100 rows", 'Relax the limit of "one"', "--suppress 0.01"):
        assert words in str(refused.value)


@pytest.mark.parametrize("scope", ["local", "global"])
def test_a_weight_protects_a_column(scope: str) -> None:
    """Of two columns of which one must go, the heavier stays."""
    codes = np.array([[i, j] for i in range(4) for j in range(4)], np.int32)
    table = CountedTable(TupleCounts(codes, np.full(16, 3)), [flat(list("abcd")), flat(list("wxyz"))], ["one", "two"])
    search = localize if scope == "local" else specialize
    for weights in ([1.8, 0.2], [0.2, 1.8]):
        found = search(table, 12, weights=weights, **({} if scope == "local" else {"gain": "loss"}))
        assert found.losses == ((0.0, 1.0) if weights[0] > 1 else (1.0, 0.0))


def test_a_weight_of_one_changes_nothing() -> None:
    """Equal weights give the recoding of no weights, bit for bit."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 6, (200, 2)).astype(np.int32)
    scale = Scale(np.arange(6.0))
    table = CountedTable(TupleCounts(codes, np.ones(200, np.int64)), [scale, scale], ["one", "two"])
    for search in (localize, specialize):
        assert search(table, 9, weights=[1.0, 1.0]).recoding.to_json() == search(table, 9).recoding.to_json()


def test_the_refusal_of_labels_that_reach_to_wide_bounds_names_the_bounds() -> None:
    """The labels in between are fine enough: what helps is told, does help, and how many rows are in the way is told too."""
    cuts, rows, limit = np.array([20.0, 30.0, 40.0]), np.array([5.0, 40.0, 50.0, 6.0]), ColumnLimit("age", widest=10)
    ones = np.ones(4, np.int64)
    with pytest.raises(
        Unattainable, match=r"reach to its bounds, .* up to 80 wide .* 11 of 101 rows .* or none .* allow 80"
    ):
        parts_of(CutBins(cuts, ones, (0.0, 120.0)), rows, limit)
    parts_of(CutBins(cuts, ones, (10.0, 50.0)), rows, limit)
    parts_of(CutBins(cuts, ones, (-np.inf, np.inf)), rows, limit)
    with pytest.raises(Unattainable, match=r"up to 30 wide where it may be 10 at most: 40 of 101 rows .* Allow 30 or more"):
        parts_of(CutBins(np.array([20.0, 50.0, 60.0]), ones, (10.0, 70.0)), rows, limit)
