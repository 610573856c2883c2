"""Top-down specialization: its output holds every guard, nothing more could be specialized, and Adult comes out well."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.put_on_grid import put_on_grid
from cloister.anonymization.counting.scale import CutBins, Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.cuts import Workspace
from cloister.anonymization.searching.gains import Gain
from cloister.anonymization.searching.guards import Closeness, Guard, KMap
from cloister.anonymization.searching.specialize import Specialization, specialize
from cloister.errors import UsageError
from cloister.schema.hierarchies import Hierarchy, calendar, flat
from tests.anonymization.adult import Adult, adult, loss_metric, training_rows
from tests.anonymization.searching import guards_by_hand as counting
from tests.anonymization.searching.guards_by_hand import GUARD_SETS, guards_hold
from tests.anonymization.tables import Table, labels_of_rows, tables

GAINS = st.sampled_from(["entropy", "distance", "loss", "class"])


def published_rows(table: Table, found: Specialization) -> tuple[list[tuple[str, ...]], list[int]]:
    """What every row that stays is published as, through the recoding alone; and which rows stay."""
    labels = table.classify(found.recoding)
    shown = found.recoding.published(labels)
    kept = [row for row in range(len(shown)) if labels[row] >= 0 or found.is_starred]
    return [shown[row] for row in kept], kept


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 8), GAINS, st.sampled_from([0.0, 0.1, 0.4]), GUARD_SETS)
def test_any_output_holds_every_guard(
    table: Table, k: int, gain: str, suppression: float, guards: tuple[Guard, ...]
) -> None:
    """Any table gives an output that passes an independent count of every guard, or a refusal."""
    n = len(table.codes)
    try:
        found = specialize(
            CountedTable(table.histogram(), table.columns, table.names), k, gain=gain, suppression=suppression, guards=guards
        )
    except UsageError:
        assert not guards_hold([("*",)] * n, table.sensitive, k, guards)
        return
    published, kept = published_rows(table, found)
    stars = int((table.classify(found.recoding) < 0).sum())
    assert stars == found.suppressed <= suppression * n
    assert guards_hold(published, [table.sensitive[row] for row in kept], k, guards)


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(1, 5), GAINS, GUARD_SETS)
def test_nothing_is_left_to_specialize(table: Table, k: int, gain: str, guards: tuple[Guard, ...]) -> None:
    """Whichever label one would still refine, some class breaks a guard."""
    try:
        found = specialize(CountedTable(table.histogram(), table.columns, table.names), k, gain=gain, guards=guards)
    except UsageError:
        return
    for published in _refined(table, found, k):
        assert not guards_hold(published, table.sensitive, k, guards)


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), GAINS)
def test_nothing_is_left_that_costs_no_row(table: Table, k: int, gain: str) -> None:
    """With suppression too: whichever label one would still refine, one more row falls below k."""
    try:
        found = specialize(CountedTable(table.histogram(), table.columns, table.names), k, gain=gain, suppression=0.3)
    except UsageError:
        return
    for published in _refined(table, found, k):
        assert counting.smallest(published) < k


def _refined(table: Table, found: Specialization, k: int) -> Iterator[list[tuple[int, ...]]]:
    """The published rows under every recoding that is one step finer, on the grid that the search had."""
    columns, codes = table.on_grid(k)
    labels = table.classify(found.recoding)
    codes, classes = codes[labels >= 0], found.recoding.classes[labels[labels >= 0]]
    for j, domain in enumerate(columns):
        of = found.recoding.columns[j].of
        of = np.where(np.isin(of, classes[:, j]), of, -1)  # a label that no row has is nobody's to refine
        if isinstance(domain, CutBins):  # bins whose rows were all removed are in no label
            of = np.full(domain.leaves, -1, np.int32)
            of[codes[:, j]] = classes[:, j]
        for finer in _refinements(domain, of):
            refined = classes.copy()
            refined[:, j] = finer[codes[:, j]]
            yield [tuple(row) for row in refined.tolist()]


def _refinements(domain: Hierarchy | CutBins, of: np.ndarray) -> list[np.ndarray]:
    """Every cut that is one step finer than a cut, as the code of each leaf."""
    found = []
    for label in np.unique(of[of >= 0]):
        codes = np.flatnonzero(of == label)
        if len(codes) == 1:
            continue
        parts: list[np.ndarray] = []
        if isinstance(domain, Hierarchy):
            parent = domain.parent.tolist()
            paths = []
            for code in codes.tolist():
                path = [code]
                while parent[path[-1]] >= 0:
                    path.append(parent[path[-1]])
                paths.append(path[::-1])
            shared = 0
            while len({tuple(path[: shared + 1]) for path in paths}) == 1:
                shared += 1
            parts = [np.array([path[shared] for path in paths])]
        elif domain.has_null and domain.count in codes:
            parts = [codes == domain.count]
        else:
            parts = [codes >= threshold for threshold in codes[1:]]
        for part in parts:
            finer = of.copy()
            finer[codes] = 1000 + part
            found.append(finer)
    return found


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), st.sampled_from([0.0, 0.3]))
def test_classes_hold_k_persons(table: Table, k: int, suppression: float) -> None:
    """With several rows a person, every class holds at least k persons."""
    rows = table.histogram(persons=True)
    try:
        found = specialize(CountedTable(rows, table.columns, table.names), k, suppression=suppression)
    except UsageError:
        assert len(set(table.persons)) < k
        return
    published, kept = published_rows(table, found)
    assert counting.fewest_persons(published, [table.persons[row] for row in kept]) >= k


@settings(max_examples=60, deadline=None)
@given(tables(min_rows=2), st.integers(1, 5), GAINS, st.sampled_from([0.0, 0.2]))
def test_order_of_tuples_does_not_matter(table: Table, k: int, gain: str, suppression: float) -> None:
    """Two engines that meet the tuples in different orders find the same recoding and the same classes."""
    rows = table.histogram()
    shuffled = np.random.default_rng(0).permutation(len(rows.codes))
    try:
        one = specialize(CountedTable(rows, table.columns, table.names), k, gain=gain, suppression=suppression)
    except UsageError:
        return
    other = specialize(CountedTable(rows.take(shuffled), table.columns, table.names), k, gain=gain, suppression=suppression)
    assert one.recoding.to_json() == other.recoding.to_json()
    assert one.labels[shuffled].tolist() == other.labels.tolist()


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5), st.sampled_from([0.0, 0.2]))
def test_labels_and_recoding_agree(table: Table, k: int, suppression: float) -> None:
    """The classes of the search are those that the recoding gives to the rows."""
    rows = table.histogram()
    try:
        found = specialize(CountedTable(rows, table.columns, table.names), k, suppression=suppression)
    except UsageError:
        return
    assert labels_of_rows(table, rows, found.labels) == table.classify(found.recoding).tolist()


def test_one_row() -> None:
    """A single row is published as it is for k = 1."""
    rows = TupleCounts(np.array([[1]], np.int32), np.array([1]))
    found = specialize(CountedTable(rows, [flat(["a", "b"])], ["x"]), 1)
    assert found.recoding.published(found.labels) == [("b",)]


def test_all_equal_rows_are_one_class() -> None:
    """Equal rows are one class however fine; a number that nothing is cut from is everything."""
    rows = TupleCounts(np.array([[2, 0]], np.int32), np.array([10]))
    found = specialize(CountedTable(rows, [flat(["a", "b", "c"]), Scale(np.array([5.0]))], ["x", "y"]), 10)
    assert found.recoding.published(found.labels) == [("c", "*")]


def test_k_above_the_number_of_rows_is_refused() -> None:
    """More rows a class than the table has cannot be had, and the refusal names the guard."""
    rows = TupleCounts(np.array([[0], [1]], np.int32), np.array([3, 4]))
    with pytest.raises(UsageError, match="k-anonymity, k = 8"):
        specialize(CountedTable(rows, [flat(["a", "b"])], ["x"]), 8)


def test_no_rows_are_refused() -> None:
    """An empty table cannot be published."""
    rows = TupleCounts(np.zeros((0, 1), np.int32), np.zeros(0, np.int64))
    with pytest.raises(UsageError, match="k-anonymity"):
        specialize(CountedTable(rows, [flat(["a", "b"])], ["x"]), 1)


def test_a_broken_candidate_does_not_stop_the_search() -> None:
    """A column that breaks k is skipped, and the others are still specialized."""
    rows = TupleCounts(np.array([[0, 0], [1, 0], [0, 1], [0, 1]], np.int32), np.array([4, 1, 3, 2]))
    found = specialize(CountedTable(rows, [flat(["a", "b"]), flat(["c", "d"])], ["x", "y"]), 5)
    assert set(found.recoding.published(found.labels)) == {("*", "c"), ("*", "d")}


def test_nulls_form_a_group() -> None:
    """Nulls of a number column are a class of their own once they part from the numbers."""
    rows = TupleCounts(np.array([[0], [1], [2]], np.int32), np.array([5, 5, 5]))
    found = specialize(CountedTable(rows, [Scale(np.array([1.0, 7.0]), has_null=True)], ["x"]), 5)
    assert found.recoding.published(found.labels) == [("(-inf, 5)",), ("[5, inf)",), ("",)]


def test_few_suppressed_rows_are_removed() -> None:
    """Fewer than k suppressed rows would stand out as a class of stars: they are removed."""
    rows = TupleCounts(np.array([[0], [1], [2]], np.int32), np.array([50, 48, 2]))
    found = specialize(CountedTable(rows, [flat(["a", "b", "c"])], ["x"]), 5, gain="loss", suppression=0.02)
    assert (found.suppressed, found.is_starred) == (2, False)


def test_many_suppressed_rows_stay_as_stars() -> None:
    """At least k suppressed rows are a class like any other."""
    rows = TupleCounts(np.array([[0], [1], [2], [3], [4]], np.int32), np.array([50, 41, 3, 3, 3]))
    found = specialize(CountedTable(rows, [flat(["a", "b", "c", "d", "e"])], ["x"]), 5, gain="loss", suppression=0.1)
    assert (found.suppressed, found.is_starred) == (9, True)


def test_removed_rows_do_not_move_the_reference() -> None:
    """Where removing rows would bring a class too far from those that stay, none is removed."""
    rows = TupleCounts(
        np.array([[0], [1], [1], [2]], np.int32),
        np.array([1, 12, 10, 11]),
        sensitive=np.array([[0], [0], [1], [0]], np.int32),
    )
    found = specialize(
        CountedTable(rows, [flat(["a", "b", "c"])], ["x"]), 4, gain="loss", suppression=0.2, guards=[Closeness(0.3)]
    )
    assert found.suppressed == 0
    assert len(found.recoding.classes) == 1


def test_k_map_counts_the_population() -> None:
    """Two rows may share a class with nobody if eight people of the population share it."""
    codes = np.array([[0], [1], [0], [1]], np.int32)
    rows = TupleCounts(codes, np.array([1, 1, 0, 0]), population=np.array([0, 0, 8, 7]))
    fine = specialize(CountedTable(rows, [flat(["a", "b"])], ["x"]), 1, guards=[KMap(7)])
    coarse = specialize(CountedTable(rows, [flat(["a", "b"])], ["x"]), 1, guards=[KMap(8)])
    assert (len(fine.recoding.classes), len(coarse.recoding.classes)) == (2, 1)


def test_the_best_binary_splits_of_adult() -> None:
    """By class information age is first cut at 28 and education-num at 13, with the gains that are known."""
    ages, education, income = training_rows()
    for values, where, known in ((ages, 28, 0.07282), (education, 13, 0.07035)):
        distinct, codes = np.unique(values, return_inverse=True)
        tuples, counts = np.unique(np.stack([codes, income], axis=1), axis=0, return_counts=True)
        rows = TupleCounts(tuples[:, :1].astype(np.int32), counts, target=tuples[:, 1].astype(np.int32))
        grid = put_on_grid(CountedTable(rows, [Scale(distinct.astype(np.float64))], ["x"]), 1)
        work = Workspace(grid.rows, grid.columns, 1, [], Gain.CLASS, 0)
        root = work.root()
        assert root is not None
        candidates = work.weigh(root)
        best = int(np.argmax(candidates.information))
        assert distinct[best + 1] == where
        assert candidates.information[best] == pytest.approx(known, abs=5e-6)


@pytest.mark.parametrize(("suppression", "bar"), [(0.0, 0.66085), (0.02, 0.405), (0.05, 0.325)])
def test_adult_loses_no_more_than_the_bar(suppression: float, bar: float) -> None:
    """Adult at k = 10 loses no more than the optimum over full domains, and less with suppression."""
    table: Adult = adult()
    found = specialize(CountedTable(table.rows, table.trees, table.names), 10, gain="loss", suppression=suppression)
    assert loss_metric(table, found) <= bar


def test_adult_rewritten_is_k_anonymous() -> None:
    """The rewritten table, counted again, has at least k equal rows everywhere and no row too many suppressed."""
    table = adult()
    found = specialize(CountedTable(table.rows, table.trees, table.names), 10, gain="loss", suppression=0.02)
    rewrite = found.recoding.rewriter()
    batches = [rewrite(batch) for batch in table.data.to_batches(max_chunksize=5_000)]
    output = pa.Table.from_batches(batches)
    published = list(zip(*(output[name].to_pylist() for name in table.names), strict=True))
    assert counting.smallest(published) >= 10
    assert published.count(("*",) * 8) == found.suppressed


def test_days_that_nobody_has_are_no_steps() -> None:
    """A calendar of a century with rows in one year is searched in a few steps: what no row is in is not refined."""
    tree = calendar(date(1920, 1, 1), date(2025, 12, 31))
    days = np.repeat(np.arange(20_000, 20_360, 2), 3)[:, None].astype(np.int32)
    rows = TupleCounts(days, np.ones(len(days), np.int64))
    work = Workspace(rows, [tree], 5, [], Gain.LOSS, 0)
    found = specialize(CountedTable(rows, [tree], ["born"]), 5, gain="loss")
    assert found.steps < 30
    root = work.root()
    assert root is not None
    cut = work.take(root, 0, 0, 0.0)
    assert cut is not None
    assert len(cut.blocks) > 5
    assert len(work.weigh(cut).block) == 1
