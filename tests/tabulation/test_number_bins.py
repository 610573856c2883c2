"""Bins, bounds and steps of numbers: what a value outside counts as, and what a bin is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.schema import Column, Number

SURE = 1e7  # an epsilon at which the noise is next to nothing


def tabulated(cells: list[Any], bounds: tuple[float, float], step: float | None, **request: Any) -> Any:
    """A table over one number column `x`, which is summed, too."""
    schema = cl.Schema((Column("x", Number(bounds, step)),))
    return cl.tabulate({"x": cells}, ["x"], SURE, measures=["x"], schema=schema, **request)


@pytest.mark.parametrize(
    ("bounds", "step"),
    [((0, 1), 1), ((1, 6), 1), ((0, 2), 1), ((0, 0.7), 0.1), ((0, 10), 3), ((-3, 4), None), ((0, 999), 1)],
)
def test_a_measure_is_clipped_to_its_bounds(bounds: tuple[float, float], step: float | None) -> None:
    """However many values the step has: a number outside counts as the nearest bound, a missing one as the middle."""
    low, high = bounds
    for cell, counted in ((high + 7, high), (low - 7, low), (None, (low + high) / 2), (low, low), (high, high)):
        made = tabulated([cell] * 100, bounds, step, bins={"x": 1})
        assert made.sums["x"].sum() == pytest.approx(100 * counted, abs=0.05 * (high - low)), (cell, counted)


@pytest.mark.parametrize("bounds", [(0, 1), (1, 6), (0, 2), (0, 99)])
def test_noise_follows_from_half_the_width(bounds: tuple[float, float]) -> None:
    """The error of a sum is that of the same bounds without a step: the grid reaches no further than they do."""
    errors = []
    for step in (1, None):
        schema = cl.Schema((Column("x", Number(bounds, step)),))
        made = cl.tabulate({"x": [0.0]}, ["x"], 1, measures=["x"], bins={"x": 1}, schema=schema)
        errors.append(made.sum_errors["x"][(0,)])
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)


def test_values_of_a_step_fall_into_the_bins_that_hold_them() -> None:
    """Bins of equal width and bins beyond the bounds: 7 lies in [5, 8), and nothing in a bin above the upper bound."""
    made = tabulated(list(range(11)), (0, 10), 1, bins={"x": 4})
    assert np.rint(made.counts).tolist() == [2, 3, 3, 3]
    assert np.rint(tabulated([3, 10, 99], (0, 10), 1, bins={"x": [0, 5, 20, 30]}).counts).tolist() == [1, 2, 0]
    assert np.rint(tabulated([3, 10, 99], (0, 10), None, bins={"x": [0, 5, 20, 30]}).counts).tolist() == [1, 2, 0]


def test_a_bin_for_each_value_takes_what_is_nearest() -> None:
    """Numbers between the values of a step count as the nearest, and a missing one as a value that the note names."""
    made = tabulated([0, 0.4, 0.6, 1, 7, None], (0, 1), 1)
    assert made.labels == (("0", "1"),)
    assert np.rint(made.counts).tolist() == [3, 3]


def test_bins_of_large_numbers_have_different_labels() -> None:
    """A day written as a number keeps its digits, and an edge with endless digits gets no more than it needs."""
    assert tabulated([], (20240101, 20240131), 1).labels[0][:2] == ("20240101", "20240102")
    assert tabulated([], (0, 100), None, bins={"x": 3}).labels == (("[0, 33.3333)", "[33.3333, 66.6667)", "[66.6667, 100]"),)
    (many,) = tabulated([], (1e15, 1e15 + 8), None, bins={"x": 8}).labels
    assert len(set(many)) == 8


def test_values_beside_an_edge_stay_on_their_side_of_it() -> None:
    """Bounds of 10^7 made a grid of about 5: 98 and 99 counted in "[100, 1000)"."""
    facts = '[columns.x]\nkind = "number"\nbounds = [0, 10_000_000]\nstep = 1\ndefault = 99\n'
    cells = [0, 95, 98, 99, 100, 101, 999, 1_000, 10_000_000, 10**12, -5, None]
    for kind in (pa.int64(), pa.float64(), pa.string()):
        rows = pa.table({"x": pa.array(cells, pa.int64()).cast(kind)})
        made = cl.tabulate(rows, ["x"], 1e6, bins={"x": [0, 100, 1_000, 10_000_000]}, schema=cl.Schema.from_text(facts))
        assert made.counts.round().tolist() == [6, 3, 3]
        assert made.release_ is not None
        assert made.release_.parameters["defaults"] == {"x": 99.0}


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.string(), pa.decimal128(5, 1)])
@pytest.mark.parametrize("bounds", [(0, 1), (-0.1, 1.1), (-50, 50)])
@pytest.mark.parametrize("named", [True, False])
def test_an_edge_belongs_to_the_bin_that_begins_with_it(kind: pa.DataType, bounds: tuple[float, float], named: bool) -> None:
    """0.7 is in [0.7, 0.8) however it is held: as float32 it is a little less."""
    tenths = [str(tenth / 10) for tenth in range(11)]
    cells = pa.array(tenths)
    cells = cells.cast(pa.float64()).cast(kind) if pa.types.is_floating(kind) else cells.cast(kind)
    low, high = bounds
    edges = [*([low] if low < 0 else []), *map(float, tenths), *([high] if high > 1 else [])]
    count = round((high - low) * 10)
    made = cl.tabulate(pa.table({"x": cells}), ["x"], 1e6, bins={"x": edges if named else count}, bounds={"x": bounds})
    counted = dict(zip(made.labels[0], made.counts.round().tolist(), strict=True))
    filled = {label: count for label, count in counted.items() if count}
    last = "[0.9, 1]" if high == 1 else "[0.9, 1)"
    assert {label: filled.get(label, 0) for label in ("[0, 0.1)", "[0.3, 0.4)", "[0.7, 0.8)", last)} == {
        "[0, 0.1)": 1, "[0.3, 0.4)": 1, "[0.7, 0.8)": 1, last: 2 if high == 1 else 1,
    }  # fmt: skip
