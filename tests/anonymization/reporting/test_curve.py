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
