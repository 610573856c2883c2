"""Classifiers that learn from a release."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.errors import UsageError
from cloister.risks.rows.trained_models import train_models
from tests.risks.rows.laid_out import laid_out


def people(rows: int, seed: int, *, is_shuffled: bool = False) -> dict[str, list[object]]:
    """A class that follows from an age, or does not."""
    random = np.random.default_rng(seed)
    ages = random.integers(20, 60, rows)
    classes = np.where(ages > 30, "old", "young")
    return {"age": ages.tolist(), "class": (random.permutation(classes) if is_shuffled else classes).tolist()}


@pytest.mark.parametrize("has_control", [True, False])
def test_what_a_release_teaches(has_control: bool) -> None:
    """A release that kept the rule teaches it; one in which classes were shuffled teaches the most frequent class."""
    control = [people(300, 3)] if has_control else []
    for is_shuffled in (False, True):
        tables = laid_out(people(900, 1), people(700, 2, is_shuffled=is_shuffled), *control)
        models = train_models(tables[0], tables[1], "class", *tables[2:])
        assert models.original > 0.97
        assert models.majority == pytest.approx(0.72, abs=0.08)
        assert models.tested == 300
        assert models.is_control == has_control
        assert (models.released > 0.97) != is_shuffled
        assert models.kept is not None
        assert (models.kept < 0.2) == is_shuffled


def test_the_rows_that_are_tested_were_not_learned() -> None:
    """Classes by chance, and every row with a word of its own: a model that saw the tested rows would know them."""
    random = np.random.default_rng(4)
    table = {"name": [f"n{i % 40}" for i in range(60)], "class": random.integers(0, 2, 60).astype(str).tolist()}
    original = laid_out(table)[0]
    assert train_models(original, original, "class").original < 0.9


def test_what_is_no_class() -> None:
    """More than 50 values, or hardly any rows, get a sentence; one class is no error."""
    many = laid_out({"x": list(range(100)), "name": [f"n{i}" for i in range(100)]})[0]
    with pytest.raises(UsageError, match="no classes"):
        train_models(many, many, "name")
    few = laid_out({"x": [1, 2], "y": ["a", "b"]})[0]
    with pytest.raises(UsageError, match="at least 10 rows"):
        train_models(few, few, "y")
    one = laid_out({"x": list(range(30)), "y": ["a"] * 30})[0]
    assert train_models(one, one, "y").kept is None
