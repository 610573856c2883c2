"""Which columns are clustered, where a schema describes some of them: none slips in, and none is taken for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cloister as cl
from cloister.clustering.prototype_request import PrototypeRequest
from cloister.errors import CloisterError, SchemaError, SourceError, UsageError
from cloister.schema import Schema

SHORT = 'numbers = { age = [0, 100] }\ncategories = { sex = ["f", "m"] }\n'
FRAME = pd.DataFrame({"sex": ["f", "m"] * 100, "age": [20.0, 70.0] * 100, "pay": [1.0, 2.0] * 100})


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """Two lines of public facts, of two of three columns."""
    (tmp_path / "short.toml").write_text(SHORT)
    return tmp_path / "short.toml"


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_a_column_that_the_schema_lacks_is_refused(form: str, schema: Path, tmp_path: Path) -> None:
    """Alone as well as beside others, whatever holds the rows; with bounds of its own it is taken."""
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    data = FRAME if form == "frame" else str(tmp_path / "rows.csv")
    for columns in (["pay"], ["age", "pay"]):
        with pytest.raises(SchemaError, match='the schema has no column "pay"'):
            cl.KMeans(2, 1, schema=schema, columns=columns).fit(data)
    assert cl.KMeans(2, 1, schema=schema, columns=["pay"], bounds=(0, 3)).fit(data).n_features_in_ == 1


def test_bounds_of_the_call_bring_no_column_in(schema: Path, tmp_path: Path) -> None:
    """Where the schema describes numbers those are all; where nothing does, a file of text does not say which are."""
    model = cl.KPrototypes(2, 1, schema=schema, bounds=(0, 100)).fit(FRAME)
    assert model.feature_names_in_.tolist() == ["age", "sex"]
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(UsageError, match="a CSV file does not say which of its columns are numbers"):
        cl.KPrototypes(2, 1, categories={"sex": ["f", "m"]}, bounds=(0, 100)).fit(str(tmp_path / "rows.csv"))
    typed = cl.KPrototypes(2, 1, categories={"sex": ["f", "m"]}, bounds=(0, 100)).fit(FRAME)
    assert sorted(typed.feature_names_in_) == ["age", "pay", "sex"]


@pytest.mark.parametrize("as_list", [False, True])
def test_the_short_form_does_not_say_the_order_of_a_row(as_list: bool, schema: Path) -> None:
    """An array or a list without names is refused; with all columns named, in its own order, it is read by them."""
    rows: Any = FRAME[["sex", "age"]].to_numpy(dtype=object)
    rows = rows.tolist() if as_list else rows
    with pytest.raises(SourceError, match="short form of a schema lists numbers and categories apart"):
        cl.KPrototypes(2, 1, schema=schema).fit(rows)
    model = cl.KPrototypes(2, 50, schema=schema, columns=["sex", "age"], gamma=0.2).fit(rows)
    assert sorted(model.cluster_centers_[:, 0]) == ["f", "m"]


def test_a_schema_says_whether_it_is_in_the_order_of_rows() -> None:
    """Of one kind the short form is; so is the long one, and what follows from either stays the same schema."""
    assert Schema.from_text(SHORT).row_names is None
    assert Schema.from_text("numbers = { a = [0, 1], b = [0, 1] }").row_names == ("a", "b")
    long = Schema.from_text(Schema.from_text(SHORT).to_toml())
    assert long == Schema.from_text(SHORT)


@pytest.mark.parametrize(
    "settings",
    [{"method": "tree"}, {"seeding": "canopy"}, {"tolerance": 0.1}, {"schedule": "dwork-equal"}],
)
def test_options_of_k_means_name_it(settings: dict[str, Any]) -> None:
    """What tables with categories do not have is refused with the model that has it."""
    given = {"method": "lloyd", "categories": {"sex": ["f", "m"]}, "bounds": (0, 1), **settings}
    with pytest.raises(UsageError, match="KMeans"):
        PrototypeRequest(n_clusters=2, **given).fit(FRAME)


def test_truth_values_are_found_in_a_domain_of_any_case() -> None:
    """As pandas prints them, as Arrow writes them; an exact value comes first."""
    data = pd.DataFrame({"flag": [True, False, False] * 100})
    for domain in (["True", "False"], ["true", "false"], ["TRUE", "FALSE"]):
        chosen = cl.choose(data, "flag", budget=50, domain=domain)
        assert chosen.value == domain[1]


def test_rows_of_another_width_are_not_labelled() -> None:
    """A list of numbers is no list of rows; one row of the right width among others is enough."""
    model = cl.KMeans(2, 1, bounds=(0, 100), columns=["x", "y"]).fit([[1, 2]] * 50)
    for rows in ([30, 40], (30, 40), [[30]], [[1, 2, 3]]):
        with pytest.raises(CloisterError, match="as many cells as the 2 columns"):
            model.predict(rows)
    assert len(model.predict([[1, 2], [3], {"x": 1}])) == 3


def test_saved_clusters_label_rows_again(tmp_path: Path) -> None:
    """`load_clusters` gives what `save` wrote, checked."""
    model = cl.KMeans(2, 5, bounds=(0, 100), columns=["age"]).fit(FRAME)
    model.save(tmp_path / "out")
    assert np.array_equal(cl.load_clusters(tmp_path / "out").predict(FRAME), model.predict(FRAME))
    assert cl.clustering.scores.nicv([[0.0], [2.0]], [[1.0]]) == 1.0


def test_found_bounds_are_told(tmp_path: Path) -> None:
    """In words, so that bounds far off are seen; a file of text without a schema has its own note."""
    rows = pd.DataFrame({"age": np.linspace(20, 60, 5000)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    release = cl.KMeans(2, 50, columns=["age"]).fit(str(tmp_path / "rows.csv")).release_
    assert release.parameters["choices"]["bounds"].startswith("found inside the budget: age ")
    assert any("No schema says that these columns of a text file are numbers" in note for note in release.notes)
    assert not any("No schema says" in note for note in cl.KMeans(2, 50, columns=["age"]).fit(rows).release_.notes)
