"""Loss and risk by k: what cannot be held is left out, what is wrong is told."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.anonymization.reporting.curve import curve
from cloister.errors import UsageError
from cloister.schema.hierarchies import flat

TABLE = pa.table({"sex": ["f", "m"] * 10})


class Broken:
    """A guard of a user's own that raises."""

    name = "broken"

    def __call__(self, *_: Any) -> Any:
        raise UsageError("this guard needs a column that is not there.")

    def __getattr__(self, _: str) -> Any:
        raise UsageError("this guard needs a column that is not there.")


def test_the_error_of_a_guard_is_told() -> None:
    """It was taken for a k that the table cannot hold."""
    model = cl.TopDownSpecialization(quasi=["sex"], hierarchies={"sex": flat(["f", "m"])}, guards=[Broken()])
    with pytest.raises(UsageError, match="this guard needs"):
        curve(model, TABLE, ks=[2])


def test_a_k_that_cannot_be_held_is_left_out() -> None:
    """The others are there."""
    model = cl.TopDownSpecialization(quasi=["sex"], hierarchies={"sex": flat(["f", "m"])})
    assert curve(model, TABLE, ks=[2, 99]).refused == (99,)


@pytest.mark.parametrize("ks", [["2"], [None], 2.5, [True], [0], []])
def test_other_types_are_told(ks: Any) -> None:
    """One sentence before a row is read."""
    model = cl.TopDownSpecialization(quasi=["sex"], hierarchies={"sex": flat(["f", "m"])})
    with pytest.raises(UsageError, match="k"):
        curve(model, TABLE, ks=ks)


def test_where_people_are_counted_the_curve_says_so() -> None:
    """Sizes and risks are those of people where the schema has a unit; the words were about rows."""
    rows = pa.table({"who": [f"p{i // 3}" for i in range(120)], "age": [20 + i // 3 % 4 for i in range(120)]})
    schema = cl.Schema.from_text(
        'unit = "who"\nmax_rows = 3\n[columns.who]\nkind = "text"\nrole = "identifier"\n'
        '[columns.age]\nkind = "number"\nbounds = [0, 99]\nrole = "quasi"\n'
    )
    shown = str(curve(cl.TopDownSpecialization(schema=schema), rows, ks=[2]))
    assert "120 rows of 40 people" in shown
    assert "Risk of a person in a class of f people" in shown
    assert "Risk of a row" in str(curve(cl.TopDownSpecialization(quasi=["age"], identifiers=["who"]), rows, ks=[2]))
