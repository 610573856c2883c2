"""The registry of methods: every name leads to a class that follows the protocol."""

from __future__ import annotations

import pytest

from cloister.clustering.domain import from_bounds
from cloister.clustering.methods import METHODS, find_method
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.errors import UsageError
from cloister.privacy.budgets import PureDP
from cloister.schema import Neighbours

TERMS = Terms(PureDP(1), Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_checks_and_plans(name: str) -> None:
    """A registered method accepts a plain task and plans it within its budget; "auto" says what it is."""
    task = Task(("x", "y"), from_bounds(["x", "y"], (0, 1), "bounds"), TERMS, 3)
    method = find_method(name)
    method.check(task)
    assert method.plan(task, 5000).keeps_budget()
    assert method.name == ("votes" if name == "auto" else name)


@pytest.mark.parametrize("name", METHODS)
def test_bounds_are_public_for_all_but_votes(name: str) -> None:
    """Only votes can do without bounds; every other method says so before a charge."""
    task = Task(("x",), None, TERMS, 3)
    if name in ("auto", "votes"):
        find_method(name).check(task)
    else:
        with pytest.raises(UsageError, match="bounds"):
            find_method(name).check(task)


def test_shapes_are_methods() -> None:
    """Whoever registers a shape of a synopsis has registered a method."""
    assert set(SHAPES) < set(METHODS)


def test_an_unknown_method_is_refused_with_the_names_that_exist() -> None:
    """The message lists every method."""
    with pytest.raises(UsageError, match="hybrid"):
        find_method("magic")
