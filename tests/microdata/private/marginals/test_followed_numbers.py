"""Rows by marginals: numbers and dates without stated bins are cut where their rows are."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.microdata.private.marginals import binned_columns, marginal_rows
from cloister.microdata.private.request import RowsRequest
from cloister.microdata.private.single_columns.column_marginals import coarse_ends, most_coarse
from cloister.privacy.budgets import ApproxDP, PureDP
from cloister.schema import Category, Column, Date, Number, Schema
from cloister.testing import seeded_noise

FIRST, LAST = datetime.date(1940, 1, 1), datetime.date(2020, 1, 1)
GAIN = Column("gain", Number(bounds=(0, 99_999), step=1))
CHILDREN = Column("children", Number(bounds=(0, 9), step=1))
SEX = Column("sex", Category(("f", "m")))
SCHEMA = Schema((CHILDREN, GAIN, Column("born", Date(bounds=(FIRST, LAST))), SEX))
BUDGETS = [PureDP(1), ApproxDP(1, 1e-6)]
ROWS = 6_000


def people(count: int = ROWS) -> pa.Table:
    """Nine of ten have no gain, the others one of 5,000 or more, and those are men; nobody was born after 1943."""
    random = np.random.default_rng(0)
    gains = random.random(count) < 0.1
    return pa.table(
        {
            "children": random.integers(0, 3, count),
            "gain": np.where(gains, random.integers(5_000, 20_000, count), 0),
            "born": pa.array([FIRST + datetime.timedelta(days=int(day)) for day in random.integers(0, 1_000, count)]),
            "sex": np.where(gains, "m", random.choice(["f", "m"], count)).tolist(),
        }
    )


def request(budget: Any = 1, **settings: Any) -> RowsRequest:
    return RowsRequest(budget=budget, method="marginals", **{"schema": SCHEMA, "random_state": 0, **settings})


def spike(table: pa.Table) -> float:
    """The share of rows without a gain."""
    return float(np.mean(table["gain"].to_numpy() == 0))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_spike_is_kept_and_so_is_what_goes_with_it(budget: Any) -> None:
    """With seeded noise: nine of ten have no gain, and it is men who have one. Two dozen bins that are empty but for noise of
    some ten rows each hold a few of a hundred rows."""
    with seeded_noise(1):
        made = request(budget).run(people()).table
    assert abs(spike(made) - spike(people())) < 0.02
    gain, sex = made["gain"].to_numpy(), np.array(made["sex"].to_pylist())
    inside = (gain == 0) | ((gain >= 4_000) & (gain <= 21_000))
    assert np.mean(inside) > 0.95
    assert np.mean(sex[gain > 0] == "m") > 0.85
    born = np.array(made["born"].to_pylist())
    assert np.mean(born < datetime.date(1943, 1, 1)) > 0.97


def test_even_bins_would_lose_the_spike() -> None:
    """The planted bug of the test above: ten stated bins, in which numbers are drawn evenly."""
    with seeded_noise(1):
        made = request(1, bins={"gain": 10}).run(people()).table
    assert spike(made) < 0.01


def test_stated_bins_and_few_values_are_kept() -> None:
    """A column with stated bins has these, one of ten values a bin for each: no pass over ranges is made for them."""
    stated = {"gain": [0, 5_000, 20_000], "born": [datetime.date(1943, 1, 1)]}
    followed, kept = (request(bins=bins).plan(ROWS, SCHEMA.names) for bins in (None, stated))
    assert [event.step for event in followed.events][:4] == ["size", "ranges 1", "ranges 2", "values"]
    assert [event.step for event in kept.events][:2] == ["size", "values"]
    with seeded_noise(1):
        made = request(20, bins=stated).run(people()).table
    gain = made["gain"].to_numpy()
    assert np.mean((gain > 0) & (gain < 5_000)) > 0.85  # drawn evenly within the bin that holds the zeros
    assert np.allclose(np.bincount(made["children"].to_numpy(), minlength=10)[:3] / len(made), 1 / 3, atol=0.03)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("same", [False, True])
def test_the_events_are_those_of_the_plan_whatever_the_rows_are(budget: Any, same: bool) -> None:
    """Under replace-one the size is public: many different rows, and one row many times, follow one plan."""
    asked = request(budget, neighbours="replace-one")
    table = pa.concat_tables([people().slice(0, 1)] * 500) if same else people(500)
    made = asked.run(table)
    assert made.release_.events == asked.plan(500, SCHEMA.names).events
    assert made.release_.adds_up()


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("budget", ["0.001", 1])
def test_tables_of_next_to_nobody_give_values_inside_their_bounds(budget: Any, count: int) -> None:
    """They are poor rows, and never an error after the charge."""
    table = request(budget).run(people().slice(0, count)).table
    assert table.schema.types == [pa.int64(), pa.int64(), pa.date32(), pa.string()]
    assert table.num_rows >= 1
    for name, low, high in [("gain", 0, 99_999), ("born", FIRST, LAST)]:
        values = table[name].to_pylist()
        assert low <= min(values)
        assert max(values) <= high


@given(st.lists(st.floats(0, 1), min_size=1, max_size=80), st.integers(1, 20))
@settings(max_examples=300, deadline=None)
def test_there_are_no_more_coarse_bins_than_was_planned_with(weights: list[float], bins: int) -> None:
    """Whatever was released."""
    shares = np.array(weights) + 1e-12
    kept = coarse_ends(np.arange(len(shares) + 1), shares / shares.sum(), bins)
    assert len(kept) - 1 <= most_coarse(bins)


def test_the_bound_on_coarse_bins_is_reached() -> None:
    """Full bins with empty ones before, between and after them: a smaller bound would be wrong."""
    shares = np.array([0, *[0.25, 0] * 4])
    assert len(coarse_ends(np.arange(len(shares) + 1), shares, 4)) - 1 == most_coarse(4)


def test_the_rounds_have_no_more_cells_than_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells that pairs are counted in stay within those that were public before the first row was read."""
    seen: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    cells = binned_columns.BinnedColumns.cells

    def watched(binned: Any, coarse: Any) -> Any:
        made = cells(binned, coarse)
        seen.append((made.shape, binned.most_cells))
        return made

    monkeypatch.setattr(marginal_rows.BinnedColumns, "cells", watched)
    request("0.1").run(people(300))
    assert len(seen) == 1
    for size, most in zip(*seen[0], strict=True):
        assert size <= most
