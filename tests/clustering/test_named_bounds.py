"""Bounds by the names of columns: which columns they choose, what a schema adds, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import cloister as cl
from cloister.cli.flags import read_column_bounds
from cloister.clustering.inputs import Input
from cloister.clustering.number_columns import NumberColumns, choose_columns
from cloister.clustering.request import ClusterRequest
from cloister.errors import CloisterError, UsageError
from cloister.sources.opening import open_source

FRAME = pd.DataFrame({"id": [1], "age": [30], "income": [5.0], "name": ["a"], "sex": ["f"]})
SCHEMA = cl.Schema.from_text(
    'unit = "id"\nmax_rows = 3\n[columns.id]\nkind = "text"\nrole = "identifier"\n'
    '[columns.age]\nkind = "number"\nbounds = [0, 99]\nstep = 1\n[columns.income]\nkind = "number"\n'
    '[columns.sex]\nkind = "category"\ndomain = ["f", "m"]\n'
)
AGE, BOTH = {"age": (0, 110)}, {"income": (0, 9.5), "age": (0, 110)}


def choose(schema: cl.Schema | None, columns: list[str] | None, bounds: Any) -> NumberColumns:
    source = open_source(FRAME)
    return choose_columns(Input(source, source.names), schema, columns, bounds)


@pytest.mark.parametrize(
    ("schema", "columns", "bounds", "names", "highs"),
    [
        (None, None, AGE, ["age"], [110]),
        (None, None, BOTH, ["income", "age"], [9.5, 110]),
        (None, ["age", "income"], BOTH, ["age", "income"], [110, 9.5]),
        (None, ["age"], BOTH, ["age"], [110]),
        (SCHEMA, None, BOTH, ["age", "income"], [110, 9.5]),
        (SCHEMA, None, {"income": (0, np.float32(9.5))}, ["age", "income"], [99, 9.5]),
    ],
)
def test_bounds_by_name_choose_columns(
    schema: cl.Schema | None, columns: list[str] | None, bounds: Any, names: list[str], highs: list[float]
) -> None:
    """Those that are named; a schema adds its own columns, and its bounds where none are named."""
    chosen = choose(schema, columns, bounds)
    assert chosen.names == names
    assert chosen.bounds[1].tolist() == highs


@pytest.mark.parametrize(
    ("schema", "columns", "bounds", "told"),
    [
        (None, ["age", "income"], AGE, 'column "income" has no bounds. Add them'),
        (SCHEMA, None, AGE, 'column "income" has no bounds. Add them'),
        (None, None, {"aeg": (0, 1)}, 'Did you mean "age"'),
        (None, None, {"name": (0, 1)}, "holds text by its type"),
        (None, None, {}, "empty dict"),
        (None, None, {3: (0, 1)}, "dict by the names"),
        (None, None, {"age": (1, 0)}, 'of column "age": bounds must be'),
        (None, None, {"age": (0, "many")}, 'of column "age"'),
        (None, None, {"age": 5}, "two numbers"),
        (SCHEMA, None, {"sex": (0, 1)}, '"sex" is a category by the schema'),
        (SCHEMA, None, {"id": (0, 1)}, '"id" says who a row is about'),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    schema: cl.Schema | None, columns: list[str] | None, bounds: Any, told: str
) -> None:
    """It names the column, and nothing is charged."""
    with pytest.raises(CloisterError, match=told):
        choose(schema, columns, bounds)


def test_an_array_has_the_columns_of_the_bounds_in_their_order() -> None:
    """As it has those of a schema; a plan knows them, too."""
    request = ClusterRequest(n_clusters=1, budget=10, bounds=BOTH)
    assert request.fit(np.zeros((50, 2))).domain.columns == ("income", "age")
    assert cl.KMeans(2, bounds=BOTH).plan(1_000).keeps_budget()


def test_numbers_beside_categories_have_bounds_by_name() -> None:
    """Of k-prototypes, and of a synopsis."""
    rows = pd.concat([FRAME] * 50)
    model = cl.KPrototypes(1, budget=10, bounds=BOTH, categories={"sex": ["f", "m"]}).fit(rows)
    assert sorted(model.feature_names_in_) == ["age", "income", "sex"]
    assert cl.synopsis(rows, 10, bounds=BOTH).release.parameters["columns"] == ["income", "age"]


@pytest.mark.parametrize(
    ("flags", "bounds"),
    [
        (None, None),
        (["0,110"], (0, 110)),
        (["age=0:110"], {"age": (0, 110)}),
        (["a=b=-1:1e3", "a, b=0:1"], {"a=b": (-1, 1000), "a, b": (0, 1)}),
    ],
)
def test_flags_give_bounds_for_all_or_by_name(flags: list[str] | None, bounds: Any) -> None:
    """Names may hold commas and equals signs."""
    assert read_column_bounds(flags) == bounds


@pytest.mark.parametrize(
    "flags",
    [["5"], ["0,1", "0,2"], ["age=5"], ["=0:1"], ["age=0:1:2"], ["a=0:1,b=0:1"], ["age=0,5:1,5"], ["a=0:1", "a=0:2"]],
)
def test_flags_that_cannot_be_read_are_one_sentence(flags: list[str]) -> None:
    """It says both forms."""
    with pytest.raises(UsageError, match=r"--bounds (takes two numbers for all|has a column twice)"):
        read_column_bounds(flags)


def test_a_ball_says_that_its_radius_comes_first() -> None:
    """Others write the centre first."""
    with pytest.raises(UsageError, match=r"which comes first: Ball\(30, center="):
        cl.Ball([20, 20], 30)  # type: ignore[arg-type]
