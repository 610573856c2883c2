"""Public data sets: their rows, their schemas, and names that nobody knows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
import pytest

import cloister as cl
from cloister.datasets import load, names
from cloister.datasets.load import SETS
from cloister.errors import SourceError, UsageError
from cloister.schema import Category, Number, Schema
from tests.real_data import real_set

SHAPES = {  # rows, columns, rows of each class
    "adult": (48842, 14, [37155, 11687]),
    "adult-complete": (30162, 8, [22654, 7508]),
    "auto-mpg": (398, 9, None),
    "car": (1728, 6, [1210, 384, 69, 65]),
    "census": (1080, 13, None),
    "covertype": (581012, 12, [283301, 211840, 35754, 20510, 17367, 9493, 2747]),
    "heart": (270, 13, [150, 120]),
    "life-sciences": (26733, 10, [25929, 804]),
    "magic": (19020, 10, [12332, 6688]),
    "nursery": (12960, 8, [4320, 4266, 4044, 328, 2]),
    "s1": (5000, 2, None),
    "tarragona": (834, 13, None),
    "wine": (178, 13, [71, 59, 48]),
}
MISSING = {"adult": 2799 + 2809 + 857, "auto-mpg": 6}


def test_every_set_is_listed() -> None:
    """Each name has a line, and a test of what it holds; they are a public name of the package."""
    assert cl.datasets.names() == names()
    assert names().keys() == SHAPES.keys() == SETS.keys()
    assert all("rows" in line for line in names().values())


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_set_is_what_its_schema_says(name: str) -> None:
    """Rows, columns, classes and missing values are as published; every value lies in its bounds or its domain."""
    made = real_set(name)
    rows, columns, classes = SHAPES[name]
    assert made.data.shape == (rows, columns)
    assert tuple(made.data.column_names) == made.schema.names
    assert sum(column.null_count for column in made.data.columns) == MISSING.get(name, 0)
    if classes is not None:
        assert sorted(Counter(made.target.to_pylist()).values(), reverse=True) == classes
        assert made.table.column_names[-1] == "class"
    for column in made.schema.columns:
        values = made.data[column.name]
        if isinstance(column.kind, Number):
            low, high = column.kind.bounds
            assert low <= pc.min(values).as_py() <= pc.max(values).as_py() <= high
        elif isinstance(column.kind, Category):
            assert set(values.unique().to_pylist()) - {None} <= set(column.kind.domain)


def test_s1_has_fifteen_clusters() -> None:
    """Its labels come from a second file, one a row."""
    made = real_set("s1")
    assert len(made.target) == 5000
    assert len(set(made.target.to_pylist())) == 15


def test_values_are_those_of_the_file() -> None:
    """First rows by hand: numbers typed, codes in words, the test part of Adult without its dots."""
    heart = real_set("heart").table.slice(0, 1).to_pylist()[0]
    assert (heart["age"], heart["sex"], heart["st_depression"], heart["thal"]) == (70, "male", 2.4, "normal")
    assert heart["class"] == "presence"
    adult = real_set("adult").table
    assert adult.slice(32_561, 1).to_pylist()[0]["age"] == 25
    assert set(adult["class"].to_pylist()) == {"<=50K", ">50K"}
    car = real_set("auto-mpg").table.slice(0, 1).to_pylist()[0]
    assert (car["mpg"], car["weight"], car["origin"], car["car_name"]) == (18.0, 3504, "USA", "chevrolet chevelle malibu")
    tree = real_set("covertype").table.slice(0, 1).to_pylist()[0]
    assert (tree["elevation"], tree["wilderness_area"], tree["soil_type"], tree["class"]) == (
        2596,
        "Rawah",
        "soil 29",
        "Aspen",
    )


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_schema_can_be_written_and_read(name: str) -> None:
    """As TOML, for the command line."""
    schema = SETS[name].schema
    assert Schema.from_text(schema.to_toml()) == schema


def test_a_set_is_clustered_with_its_own_schema() -> None:
    """Two lines from a name to private clusters, and a third to their scores."""
    wine = real_set("wine")
    model = cl.KMeans(3, budget=10, schema=wine.schema).fit(wine.data)
    report = model.score_report(wine.table, "class")
    assert (report.rows, report.classes) == (178, 3)
    assert report["nicv"].beats_one_cluster


@pytest.mark.parametrize("name", ["iris", "", None, 3, ["wine"]])
def test_unknown_names_are_refused(name: object) -> None:
    """With a list of those that are known."""
    with pytest.raises(UsageError, match=r"Choose one of: adult, adult-complete, .* wine"):
        load(name)  # type: ignore[arg-type]


def test_without_a_network_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing may be fetched, or no address is known, the folder is named that a file may be put into."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("CLOISTER_DATA", raising=False)
    with pytest.raises(SourceError, match=r"wine.data is not here, and it may not be fetched.*CLOISTER_DATA"):
        load("wine", fetch=False)
    with pytest.raises(SourceError, match=r"no address of it is known.*CLOISTER_DATA"):
        load("census")
    with pytest.raises(UsageError, match="fetch must be True or False"):
        load("wine", fetch="no")  # type: ignore[arg-type]
