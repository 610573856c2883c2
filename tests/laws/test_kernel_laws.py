"""Laws that hold for every kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.encode import Encoded
from cloister.kernels import BoxClip, CenterSums, Change, Kernel, Modes, PrototypeSums, Rows, Sensitivity, zero
from cloister.schema import Neighbours
from cloister.testing import fold_in_shards, take, within_sensitivity
from tests.laws.kernels import DENSE_CLASSES, KERNELS, KEYED, KEYED_CLASSES, Case, rows_for

every_kernel = pytest.mark.parametrize("name", sorted(KERNELS))
MANY = settings(max_examples=150, deadline=None)


def draw_case(data: st.DataObject, name: str) -> Case:
    return data.draw(KERNELS[name]())


@every_kernel
@MANY
@given(data=st.data())
def test_sharding_and_order_never_change_a_summary(name: str, data: st.DataObject) -> None:
    """However rows are ordered and cut into shards, the added summaries are the same, bit for bit."""
    case = draw_case(data, name)
    rows = data.draw(rows_for(case))
    order = np.array(data.draw(st.permutations(range(len(rows)))), dtype=np.int64)
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    whole, parts = case.kernel.fold(rows), fold_in_shards(case.kernel, take(rows, order), cuts)
    for part in case.kernel.parts:
        assert np.array_equal(whole[part], parts[part])
        assert whole[part].dtype == np.int64
        assert whole[part].shape == case.kernel.parts[part]


@every_kernel
@MANY
@given(data=st.data())
def test_a_row_counts_the_same_in_any_company(name: str, data: st.DataObject) -> None:
    """What a row adds to a summary does not depend on the batch it is in."""
    case = draw_case(data, name)
    rows = data.draw(rows_for(case, least=1))
    i = data.draw(st.integers(0, len(rows) - 1))
    alone = case.kernel.fold(take(rows, np.array([i])))
    rest = case.kernel.fold(take(rows, np.delete(np.arange(len(rows)), i)))
    whole = case.kernel.fold(rows)
    for part in case.kernel.parts:
        assert np.array_equal(whole[part] - rest[part], alone[part])


def neighbour_gap_is_covered(kernel: Kernel, case: Case, rows: Encoded, other: Encoded, i: int) -> bool:
    """Both relations: row i removed, and row i replaced by the first row of `other`."""
    whole = kernel.fold(rows)
    removed = kernel.fold(take(rows, np.delete(np.arange(len(rows)), i)))
    numbers, codes = rows.numbers.copy(), rows.codes.copy()
    numbers[i], codes[i] = other.numbers[0], other.codes[0]
    replaced = kernel.fold(Encoded(numbers, codes))
    return within_sensitivity(kernel, Neighbours.ADD_REMOVE, whole, removed) and within_sensitivity(
        kernel, Neighbours.REPLACE_ONE, whole, replaced
    )


@every_kernel
@MANY
@given(data=st.data())
def test_a_row_moves_a_summary_by_at_most_its_sensitivity(name: str, data: st.DataObject) -> None:
    """Removing or replacing any row moves all parts within one of the stated moves, in L1 and L2."""
    case = draw_case(data, name)
    rows, other = data.draw(rows_for(case, least=1)), data.draw(rows_for(case, least=1, most=1))
    i = data.draw(st.integers(0, len(rows) - 1))
    assert neighbour_gap_is_covered(case.kernel, case, rows, other, i)


@pytest.mark.parametrize("name", sorted(KEYED_CLASSES))
@MANY
@given(data=st.data())
def test_a_rows_key_is_its_own(name: str, data: st.DataObject) -> None:
    """A row has one key of the stated width, and neither its order nor the rows beside it change that key."""
    case = data.draw(KEYED[name]())
    rows = data.draw(rows_for(Case(Rows(), case.columns)))
    which = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1))) if len(rows) else [], dtype=np.int64)
    keys = case.kernel.keys(rows)
    assert keys.dtype == np.int64
    assert keys.shape == (len(rows), case.kernel.width)
    assert np.array_equal(case.kernel.keys(take(rows, which)), keys[which])


def test_every_kernel_is_registered() -> None:
    """A class with a fold and a sensitivity, or with keys, is put through the laws."""
    assert {"CenterSums", "PerUnit", "TableCounts"} <= set(DENSE_CLASSES)  # the walk sees something
    assert {"GridKeys", "RowKeys"} <= set(KEYED_CLASSES)
    assert set(DENSE_CLASSES) <= set(KERNELS)
    assert set(KEYED_CLASSES) <= set(KEYED)


@pytest.mark.parametrize("name", sorted(KERNELS))
@settings(max_examples=1, deadline=None)
@given(data=st.data())
def test_a_registered_name_is_its_kernels_class(name: str, data: st.DataObject) -> None:
    """An entry draws kernels of the class that it is named after."""
    assert type(draw_case(data, name).kernel).__name__ == name


class ForgetfulSums(CenterSums):
    """A planted bug: it says that replacing a row moves its sums no farther than removing it."""

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return Sensitivity(({"counts": Change(2, 2), "sums": Change(self.clip.l1, self.clip.l2_squared)},))


def test_a_sensitivity_that_is_too_small_is_caught() -> None:
    """The law fails for a kernel whose replace-one sensitivity is that of add-remove."""
    kernel = ForgetfulSums(np.zeros((1, 1), dtype=np.int32), BoxClip((50,)))
    codes = np.zeros((1, 2), dtype=np.int32)
    low, high = Encoded(np.array([[-50]], np.int32), codes), Encoded(np.array([[50]], np.int32), codes)
    assert not neighbour_gap_is_covered(kernel, Case(kernel, 1), low, high, 0)


class ForgetfulValues(PrototypeSums):
    """A planted bug: it says that a row moves one value count in all, where it moves one of every column."""

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return Sensitivity(({"counts": Change(1, 1), "values": Change(1, 1)},))


def test_value_counts_of_several_columns_are_not_one_count() -> None:
    """The law fails for value counts whose sensitivity forgets the number of columns."""
    modes = Modes(np.zeros((1, 2), np.int32), np.ones(1, np.int64))
    rows = Encoded(np.zeros((1, 0), np.int32), np.ones((1, 2), np.int32))
    for kind, is_covered in ((PrototypeSums, True), (ForgetfulValues, False)):
        kernel = kind(np.zeros((1, 0), np.int32), modes, (2, 2), None, BoxClip(()))
        assert within_sensitivity(kernel, Neighbours.ADD_REMOVE, kernel.fold(rows), zero(kernel)) is is_covered
