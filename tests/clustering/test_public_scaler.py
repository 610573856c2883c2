"""`PublicScaler`: public bounds scale the cells, and no row decides about another."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

import cloister as cl
from cloister.errors import UsageError

FRAME = pd.DataFrame({"age": [0, 55, 200], "income": [0.0, np.nan, 125_000.0]})
BOUNDS = {"income": (0, 250_000), "age": (0, 110)}


def test_bounds_by_name_scale_and_clip() -> None:
    """Whatever the order of the names; a missing number stays missing."""
    scaled = cl.PublicScaler(BOUNDS).fit_transform(FRAME)
    assert np.array_equal(scaled, [[0, 0], [0.5, np.nan], [1, 0.5]], equal_nan=True)


@pytest.mark.parametrize("bounds", [(0, 110), ([0, 0], [110, 110])])
def test_it_goes_back(bounds: Any) -> None:
    """Inside the bounds the inverse is what was there."""
    scaler, rows = cl.PublicScaler(bounds, feature_range=(-1, 1)), np.array([[10.0, 110.0], [0.0, 55.0]])
    assert np.allclose(scaler.inverse_transform(scaler.fit_transform(rows)), rows)


def test_centres_of_a_pipeline_go_back_to_their_units() -> None:
    """An array without names has the columns of the fit."""
    rows = pd.concat([FRAME.iloc[[0, 2]]] * 200)
    pipeline = make_pipeline(cl.PublicScaler(BOUNDS), cl.KMeans(2, budget=50, bounds=(0, 1))).fit(rows)
    centers = pipeline[0].inverse_transform(pipeline[1].cluster_centers_)
    assert np.allclose(sorted(centers.tolist()), [[0, 0], [110, 125_000]], rtol=0.1, atol=5_000)


def test_no_row_changes_what_another_becomes() -> None:
    """A fit of other rows, or of none, scales the same."""
    alone = cl.PublicScaler(BOUNDS).fit(FRAME[:1]).transform(FRAME)
    beside = cl.PublicScaler(BOUNDS).fit(pd.concat([FRAME, FRAME * 1e6])).transform(FRAME)
    none = cl.PublicScaler(BOUNDS).fit(FRAME[:0]).transform(FRAME)
    assert np.array_equal(alone, beside, equal_nan=True)
    assert np.array_equal(alone, none, equal_nan=True)


def test_output_can_be_a_frame() -> None:
    """With the columns of the input; a Polars frame goes in as well."""
    scaled = cl.PublicScaler(BOUNDS).set_output(transform="polars").fit_transform(polars.from_pandas(FRAME))
    assert scaled.columns == ["age", "income"]


def test_objects_that_are_no_numbers_are_missing() -> None:
    """Each cell by itself, with no error that would tell of one."""
    scaled = cl.PublicScaler((0, 10)).transform(np.array([[5, "5"], [None, 10.0]], dtype=object))
    assert np.array_equal(scaled, [[0.5, np.nan], [np.nan, 1]], equal_nan=True)


@pytest.mark.parametrize(
    ("bounds", "scale", "data", "told"),
    [
        ({"age": (0, 110)}, (0, 1), FRAME, 'column "income" has no bounds'),
        (BOUNDS, (1, 0), FRAME, "feature_range must be"),
        (BOUNDS, "x", FRAME, "feature_range must be"),
        ((5, 5), (0, 1), FRAME, "low bound must lie below"),
        ({"age": 3}, (0, 1), FRAME, "must be two numbers"),
        ({}, (0, 1), FRAME, "empty dict"),
        ((0, 1), (0, 1), np.array([["a"]]), "scales numbers"),
        (BOUNDS, (0, 1), np.zeros((2, 3)), "3 columns without names"),
    ],
)
def test_what_cannot_be_scaled_is_one_sentence(bounds: Any, scale: Any, data: Any, told: str) -> None:
    """And it names the parameter."""
    with pytest.raises(UsageError, match=told):
        cl.PublicScaler(bounds, feature_range=scale).fit_transform(data)


@pytest.mark.parametrize("make", [pa.Table.from_pandas, pa.RecordBatch.from_pandas])
def test_arrow_tables_scale_by_their_names(make: Any) -> None:
    """As the same frame does, with the names of the columns kept."""
    scaler = cl.PublicScaler(BOUNDS)
    scaled = scaler.fit_transform(make(FRAME, preserve_index=False))
    assert np.array_equal(scaled, [[0, 0], [0.5, np.nan], [1, 0.5]], equal_nan=True)
    assert list(scaler.get_feature_names_out()) == ["age", "income"]


def test_no_cell_of_an_arrow_table_is_in_a_message() -> None:
    """A column without bounds is named, and its cells are not shown."""
    with pytest.raises(UsageError, match=r'^column "age" has no bounds') as error:
        cl.PublicScaler({"income": (0, 1)}).fit(pa.table({"age": [987], "income": [654]}))
    assert "987" not in str(error.value)
    assert str(error.value).endswith("or leave it out of X.")


def test_texts_of_an_arrow_table_are_refused_by_their_type() -> None:
    """No cell is looked at for it."""
    with pytest.raises(UsageError, match="scales numbers"):
        cl.PublicScaler((0, 1)).transform(pa.table({"age": ["1", "2"]}))


def test_a_lazy_frame_is_told_to_be_collected() -> None:
    """The scaler has rows in memory alone."""
    with pytest.raises(UsageError, match=r"X\.collect\(\)"):
        cl.PublicScaler(BOUNDS).fit(polars.from_pandas(FRAME).lazy())


def test_an_unfitted_scaler_takes_a_frame_without_a_warning() -> None:
    """No fit is needed, so there are no names that could differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cl.PublicScaler(BOUNDS).transform(FRAME)[1, 0] == 0.5


@pytest.mark.parametrize("odd", [None, "x", b"x", 10**400, -(10**400), [1, 2], [], [1.0], {"a": 1}, object()])
def test_no_row_of_a_list_decides_how_others_are_read(odd: Any) -> None:
    """A cell that is no number, a row that is too short or no row at all: all others are scaled as without it."""
    rows: list[Any] = [[5.0, 2.0], [odd, 1.0], odd, [0, 10]]
    scaled = cl.PublicScaler(([0, 0], [10, 10])).fit_transform(rows)
    assert scaled.shape == (4, 2)
    assert scaled[[0, 3]].tolist() == [[0.5, 0.2], [0.0, 1.0]]
    assert scaled[1, 1] == 0.1


def test_numbers_beyond_all_floats_are_clipped() -> None:
    """In lists and among Python objects."""
    rows = [[10**400, -(10**400)]]
    for data in (rows, np.array(rows, dtype=object)):
        assert cl.PublicScaler(([0, 0], [10, 10])).fit_transform(data).tolist() == [[1.0, 0.0]]


def test_a_list_does_not_say_how_many_columns_it_has() -> None:
    """So a fit asks for bounds of each: no row may decide it."""
    with pytest.raises(UsageError, match="how many columns"):
        cl.PublicScaler((0, 1)).fit([[0.5, 0.5]])
    assert cl.PublicScaler((0, 1)).fit(np.array([[0.5, 0.5]])).transform([[1, 0], [1]])[0].tolist() == [1.0, 0.0]
