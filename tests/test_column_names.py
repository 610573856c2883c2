"""Messages about columns: a file whose first line may be data never has it quoted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.writing.apply import apply_recoding
from cloister.anonymization.writing.recoding import Recoding
from cloister.column_names import FirstLine, missing_column
from cloister.errors import CloisterError, SchemaError
from cloister.sources.opening import open_source

SECRETS = ("Greta Example", "diabetes", "Basel")
HEADERLESS = "Greta Example,diabetes,Basel\nHans Example,asthma,Bern\n"


def recoding_of(folder: Path) -> Recoding:
    """A recoding of one column, called city."""
    table = pa.table({"city": ["Basel", "Bern"] * 10})
    model = cl.TopDownSpecialization(k=2, quasi=["city"])
    model.publish(table, folder / "made.csv")
    return model.recoding_


VERBS: dict[str, Callable[[str, Path], Any]] = {
    "cluster": lambda data, _: cl.KMeans(2, budget=1, bounds=(0, 1), columns=["age"]).fit(data),
    "cluster, nearly a value": lambda data, _: cl.KMeans(2, budget=1, bounds=(0, 1), columns=["Basle", "diabetis"]).fit(
        data
    ),
    "synopsis": lambda data, _: cl.synopsis(data, budget=1, bounds=(0, 1), columns=["age"]),
    "tabulate": lambda data, _: cl.tabulate(data, by=["city"], budget=1, domains={"city": ["a"]}),
    "tabulate, nearly a value": lambda data, _: cl.tabulate(data, by=["Base"], budget=1, domains={"Base": ["a"]}),
    "choose": lambda data, _: cl.choose(data, "city", budget=1, domain=["a", "b"]),
    "choose, nearly a value": lambda data, _: cl.choose(data, "Base", budget=1, domain=["a", "b"]),
    "microdata": lambda data, _: cl.PrivateMicrodata(1, columns=["city"], domains={"city": ["a", "b"]}).sample(data),
    "microdata, nearly a value": lambda data, _: cl.PrivateMicrodata(1, domains={"Base": ["a", "b"]}).sample(data),
    "anonymize": lambda data, out: cl.TopDownSpecialization(k=2, quasi=["Baser"]).publish(data, out / "out.csv"),
    "risk": lambda data, _: cl.risk(data, quasi=["Greta Exampel"]),
    "apply": lambda data, out: apply_recoding(recoding_of(out), data, out / "out.csv"),
    "source": lambda data, _: open_source(data).batches(["Base"]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_headerless_file_is_never_quoted(tmp_path: Path, verb: str) -> None:
    """Its first row came back as "Its columns: ...": no verb says what stands in the first line of a CSV file."""
    path = tmp_path / "people.csv"
    path.write_text(HEADERLESS)
    with pytest.raises(CloisterError, match="no column") as caught:
        VERBS[verb](str(path), tmp_path)
    assert not [secret for secret in SECRETS if secret in str(caught.value)]


def test_a_declared_name_may_be_quoted(tmp_path: Path) -> None:
    """Parquet declares its names: they are listed, and the nearest one is offered."""
    pq.write_table(pa.table({"age": [1], "city": ["x"]}), tmp_path / "t.parquet")
    with pytest.raises(SchemaError, match=r"Its columns: age, city\."):
        cl.tabulate(tmp_path / "t.parquet", by=["xyz"], budget=1, domains={"xyz": ["a"]})
    with pytest.raises(SchemaError, match='Did you mean "age"'):
        cl.tabulate(tmp_path / "t.parquet", by=["agee"], budget=1, domains={"agee": ["a"]})


def test_a_first_line_with_a_name_that_was_asked_for_is_a_header() -> None:
    """Where one name is found exactly the others help; a name that differs in its writing alone may be somebody's data."""
    names = FirstLine(["age", "City_Of-Birth"])
    assert "City" not in str(missing_column("town", names, ["town"]))
    assert "City" not in str(missing_column("city of birth", names, ["city of birth"]))
    assert "HIV" not in str(missing_column("hiv", FirstLine(["Greta", "HIV"]), ["hiv"]))
    assert 'mean "City_Of-Birth"' in str(missing_column("City_Of_Birth", names, ["City_Of_Birth", "age"]))
    assert "Its columns: age, City" in str(missing_column("town", names, ["town", "age"]))


SCHEMA = cl.Schema.from_text(
    '[columns.Klinik]\nkind = "category"\ndomain = ["Nord"]\n[columns.Gehalt]\nkind = "number"\nbounds = [0, 9000]\n'
)
MISTYPED: dict[str, tuple[str, Callable[[str], Any]]] = {
    "tabulate": ("Klinik", lambda data: cl.tabulate(data, ["KLINIK"], 1, schema=SCHEMA)),
    "tabulate, measures": ("Gehalt", lambda data: cl.tabulate(data, ["KLINIK"], 1, measures=["gehalt"], schema=SCHEMA)),
    "cluster": ("Gehalt", lambda data: cl.KMeans(2, 1, schema=SCHEMA, columns=["gehalt"]).fit(data)),
    "synopsis": ("Gehalt", lambda data: cl.synopsis(data, 1, schema=SCHEMA, columns=["gehlat"])),
    "risk": ("Klinik", lambda data: cl.risk(data, ["klinik"], schema=SCHEMA)),
}


@pytest.mark.parametrize("verb", MISTYPED)
def test_a_mistyped_name_is_mended_from_the_schema(tmp_path: Path, verb: str) -> None:
    """The names in a schema are public, whatever the first line of the file is: the nearest one is offered, in any case."""
    path = tmp_path / "people.csv"
    path.write_text("Klinik,Gehalt,Greta Example\nNord,100,x\n")
    meant, use = MISTYPED[verb]
    with pytest.raises(CloisterError, match=f'no column "[^"]+"\\. Did you mean "({meant}|Klinik)"') as caught:
        use(str(path))
    assert "Greta" not in str(caught.value)


def test_bins_of_a_mistyped_column_are_told_the_nearest_one() -> None:
    """As any other name."""
    with pytest.raises(CloisterError, match=r'bins are given for "gehalt".*Did you mean "Gehalt"'):
        cl.tabulate(pa.table({"Gehalt": [1]}), ["Gehalt"], 1, bins={"gehalt": 3}, schema=SCHEMA)
