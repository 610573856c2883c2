"""Values on a public step, in what is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.clustering.synopsis.synopsis import Synopsis
from cloister.schema.value_steps import ValueSteps, short_text

SCHEMA = cl.Schema.from_text(
    '[columns.hb]\nkind = "number"\nbounds = [3, 25]\nstep = 0.1\ndefault = 13.5\n'
    '[columns.rooms]\nkind = "number"\nbounds = [1, 12]\nstep = 1\n'
    '[columns.pay]\nkind = "number"\nbounds = [0, 50000]\n'
)


@pytest.fixture(scope="module")
def released() -> Synopsis:
    random = np.random.default_rng(0)
    table = pa.table({"hb": random.uniform(3, 25, 2000), "rooms": random.integers(1, 13, 2000), "pay": random.random(2000)})
    return cl.synopsis(table, 1.0, method="tree", schema=SCHEMA)


def test_drawn_rows_lie_on_the_public_step(released: Synopsis, tmp_path: Path) -> None:
    """Half a room was drawn; a file keeps the step, and a column without one is drawn as before."""
    released.save(tmp_path / "s.parquet")
    for cells in (released, Synopsis.load(tmp_path / "s.parquet")):
        rows = cells.sample(500, random_state=0)
        tenths, rooms, pay = (rows[name].to_numpy() for name in ("hb", "rooms", "pay"))
        assert set(tenths) <= {round(3 + i / 10, 1) for i in range(221)}
        assert set(rooms) <= set(range(1, 13))
        assert (pay % 1 != 0).any()


def test_defaults_are_named_as_the_schema_states_them(released: Synopsis) -> None:
    """13.5 lay between two points of a fine grid, and the note said 13.500005722."""
    assert released.release_.parameters["defaults"] == {"hb": 13.5, "rooms": 6.5, "pay": 25000.0}
    assert any('"hb" are counted as 13.5, ' in note for note in released.release_.notes)
    table = cl.tabulate(pa.table({"hb": [5.0]}), ["hb"], 1, bounds={"hb": (0, 1)}, bins={"hb": 2})
    assert table.release_.parameters["defaults"] == {"hb": 0.5}


def test_values_keep_within_the_bounds() -> None:
    """Of bounds that are narrower than the schema's, and between which no value may lie."""
    assert ValueSteps(0, 5, 3, 97).nearest(np.array([0.0, 12.4, 99.0])).tolist() == [5, 10, 95]
    assert ValueSteps(0, 5, 1, 4).nearest(np.array([2.0])).tolist() == [2.0]
    assert ValueSteps(0.05, 0.1, 0, 1).nearest(np.array([0.31])).tolist() == [0.35]


@pytest.mark.parametrize(
    ("number", "error", "text"), [(123.25, 0.125, "123.25"), (55, 10, "55"), (0.300000191, 1e-6, "0.3")]
)
def test_numbers_of_few_digits_are_shown_as_they_are(number: float, error: float, text: str) -> None:
    """A coarse public step has values of few digits, and none of them is rounded to another number."""
    assert short_text(number, error) == text


@pytest.mark.parametrize("step", [1e-320, 5e-324, 1e-100, 1e-19])
def test_steps_that_numbers_cannot_tell_apart(step: float) -> None:
    """Each number is a value as near as numbers go; the step of a file that was released before ended in an overflow."""
    numbers = np.array([-1.0, 0.25, 1 / 3, 7.0])
    assert ValueSteps(0.0, step, 0.0, 1.0).nearest(numbers).tolist() == [0.0, 0.25, 1 / 3, 1.0]
    assert ValueSteps(-1e300, step, 0.0, 1.0).nearest(numbers).tolist() == [0.0, 0.25, 1 / 3, 1.0]


def test_a_step_without_bounds_draws_rows() -> None:
    """The bounds of the call say how far it reaches, after the schema was read."""
    schema = cl.Schema.from_text('[columns.x]\nkind = "number"\nstep = 1e-320\n')
    made = cl.synopsis(pa.table({"x": [0.5] * 50}), 1.0, (0, 1), schema=schema)
    assert made.sample(3)["x"].to_numpy().max() <= 1
