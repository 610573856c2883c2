"""k-means with a privacy unit: whom the certificate protects, and what that costs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import SchemaError, UsageError
from cloister.testing import seeded_noise

SCHEMA = """
unit = "who"
max_rows = {rows}
[columns.who]
kind = "text"
role = "identifier"
[columns.x]
kind = "number"
bounds = [0, 1]
[columns.y]
kind = "number"
bounds = [0, 1]
"""


def visits(people: int = 2_000, each: int = 4) -> pa.Table:
    """People around four places, each with several rows."""
    random = np.random.default_rng(0)
    who = np.repeat(np.arange(people), each)
    places = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]])[who % 4]
    points = np.clip(places + random.normal(0, 0.03, places.shape), 0, 1)
    return pa.table({"who": who.astype(str), "x": points[:, 0], "y": points[:, 1]})


def schema(rows: int) -> cl.Schema:
    return cl.Schema.from_text(SCHEMA.format(rows=rows))


@pytest.mark.parametrize("method", ["votes", "lloyd"])
@pytest.mark.parametrize("budget", [1.0, cl.ApproxDP(1, 1e-6)], ids=["laplace", "gaussian"])
def test_the_certificate_says_per_person(method: str, budget: object) -> None:
    """With a unit the guarantee is per person, its events add up, and the words name the column and the bound."""
    release = cl.KMeans(4, budget, schema=schema(3), method=method).fit(visits()).release_
    assert str(release.guarantee).endswith('per person (at most 3 rows each, column "who")')
    assert release.adds_up()
    assert release.notes[0].startswith('The guarantee is per person, as the column "who" names people')
    assert release.parameters["columns"] == ["x", "y"]


def test_without_a_unit_the_certificate_says_per_row() -> None:
    """Without a unit a reader learns that somebody with several rows is protected less."""
    release = cl.KMeans(4, 1.0, (0, 1), columns=["x", "y"]).fit(visits(100)).release_
    assert release.guarantee.unit == "row"
    assert "somebody with g rows is protected at g times this epsilon" in release.notes[0]


def test_more_rows_a_person_need_more_noise() -> None:
    """With the same rows kept, four rows a person cost four times the noise of one."""
    table = visits(each=1)
    errors = []
    for rows in (1, 4):
        with seeded_noise(1):
            model = cl.KMeans(4, 1.0, schema=schema(rows), method="lloyd", max_iter=2).fit(table)
        errors.append(float(np.median(model.standard_errors_)))
    assert 3 < errors[1] / errors[0] < 6


def test_only_the_bound_counts() -> None:
    """Sizes add up to the rows that count: three of four rows a person, within the noise."""
    model = cl.KMeans(4, 50.0, schema=schema(3), method="lloyd").fit(visits())
    assert abs(model.cluster_sizes_.sum() - 6_000) < 200


def test_many_rows_of_one_person_move_little() -> None:
    """Somebody with a thousand rows in one corner does not get a cluster there."""
    table = visits(each=2)
    loud = pa.table({"who": ["loud"] * 1_000, "x": [0.5] * 1_000, "y": [0.5] * 1_000})
    model = cl.KMeans(4, 20.0, schema=schema(2)).fit(pa.concat_tables([table, loud]))
    distance = np.abs(model.cluster_centers_ - 0.5).max(axis=1)
    assert (distance > 0.2).all()


def test_people_are_sampled_on_a_large_table() -> None:
    """On a large table the seeding runs on a secret sample, and the release still adds up."""
    release = cl.KMeans(4, cl.ApproxDP(1, 1e-6), schema=schema(2)).fit(visits(80_000, 2)).release_
    assert any(event.__class__.__name__ == "SampledEvent" for event in release.events)
    assert release.adds_up()


def test_replace_one_is_refused_with_a_unit() -> None:
    """How many rows somebody has is not public, so replace-one neighbours are refused, and with them rho."""
    with pytest.raises(UsageError, match="per person needs add-remove"):
        cl.KMeans(4, 1.0, schema=schema(2), neighbours="replace-one").fit(visits(50))
    with pytest.raises(UsageError, match="per person needs add-remove"):
        cl.KMeans(4, cl.Identifiability(rho=0.5, worlds=100), schema=schema(2)).fit(visits(50))


def test_a_unit_needs_a_bound_and_a_column() -> None:
    """A unit without max_rows, or whose column is not in the data, is told before anything is read."""
    with pytest.raises(SchemaError, match="Add max_rows"):
        cl.KMeans(4, 1.0, schema=cl.Schema.from_text(SCHEMA.replace("max_rows = {rows}", ""))).fit(visits(50))
    with pytest.raises(SchemaError, match='no column "who"'):
        cl.KMeans(4, 1.0, schema=schema(2)).fit(visits(50).drop_columns(["who"]))


@pytest.mark.parametrize("method", ["votes", "lloyd", "tree", "adaptive-grid"])
def test_a_plan_says_per_person(method: str) -> None:
    """Before any row is read the plan says whom it protects, and that people are sampled, not rows."""
    plan = cl.KMeans(4, cl.ApproxDP(1, 1e-6), schema=schema(3), method=method).plan(3_000_000, names=["who", "x", "y"])
    assert 'per person (at most 3 rows each, column "who")' in str(plan)
    assert plan.as_dict()["unit"] == 'person (at most 3 rows each, column "who")'
    assert "of the rows" not in str(plan)
    assert ("of the people" in str(plan)) == (method == "votes")
