"""Columns that are refused by their names, before a row is read: identifiers that nobody described, and what CSV cannot hold."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import cloister as cl
from cloister.anonymization.writing.apply import apply_recoding
from cloister.errors import SchemaError, SinkError, UsageError
from cloister.vault import Holder


@pytest.mark.parametrize("spelled", ["Name", "name ", "e-mail"])
def test_an_identifier_that_the_schema_spells_otherwise_is_not_published(spelled: str, tmp_path: Path) -> None:
    """The schema drops "name": a table without it, but with a column that the schema lacks, is refused before a row is read."""
    facts = ['[columns.name]\nkind = "text"\nrole = "identifier"\n', '[columns.letter]\nkind = "category"\nrole = "quasi"\n']
    schema = cl.Schema.from_text("".join(facts))
    table = pa.table({spelled: [f"p{i % 4}" for i in range(40)], "letter": ["a", "b"] * 20})
    with pytest.raises(SchemaError, match=r'identifier "name".*column 1') as told:
        cl.TopDownSpecialization(k=5, schema=schema).publish(table, tmp_path / "out.csv")
    assert spelled not in str(told.value)
    cl.TopDownSpecialization(k=5, schema=schema).publish(table.select(["letter"]), tmp_path / "out.csv")


def test_a_schema_speaks_for_the_columns_it_names_alone(tmp_path: Path) -> None:
    """A column that is named like an identifier and that the schema does not describe is refused, beside a schema too."""
    schema = cl.Schema.from_text('[columns.letter]\nkind = "category"\nrole = "quasi"\n')
    table = pa.table({"email": [f"p{i % 4}" for i in range(40)], "letter": ["a", "b"] * 20})
    with pytest.raises(UsageError, match="--identifiers email"):
        cl.TopDownSpecialization(k=5, schema=schema).publish(table, tmp_path / "out.csv")
    cl.TopDownSpecialization(k=5, schema=schema, identifiers=[]).publish(table, tmp_path / "out.csv")


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\x00b", "a\tb", "", " ", " a", "a "])
@pytest.mark.parametrize("is_quasi", [True, False])
@pytest.mark.parametrize("is_applied", [False, True])
def test_names_that_csv_does_not_give_back_are_refused_before_a_row_is_read(
    name: str, is_quasi: bool, is_applied: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal says which column it is, not its name; Parquet holds the name. Columns that ride along are read again too."""
    table = pa.table({name: ["x", "y"] * 20, "letter": ["a", "b"] * 20})
    made = cl.TopDownSpecialization(k=5, quasi=[name if is_quasi else "letter"], identifiers=[])
    made.publish(table, tmp_path / "out.parquet")
    monkeypatch.setattr(Holder, "record", lambda *_: pytest.fail("a use was recorded"))
    monkeypatch.setattr(Holder, "count", lambda *_: pytest.fail("a row was read"))
    monkeypatch.setattr(Holder, "distinct", lambda *_: pytest.fail("a row was read"))
    publish_again = partial(apply_recoding, made.recoding_) if is_applied else made.publish
    with pytest.raises(SinkError, match="name of column 1 "):
        publish_again(table, tmp_path / "out.csv")


def test_naming_one_identifier_says_nothing_of_another(tmp_path: Path) -> None:
    """Names and addresses are refused alike; dropping the one does not let the other out, confirming it does."""
    table = pa.table(
        {
            "name": [f"n{i % 150}" for i in range(200)],
            "email": [f"p{i % 150}@x.org" for i in range(200)],
            "sex": ["F", "M"] * 100,
        }
    )
    with pytest.raises(UsageError, match='"email"') as refused:
        cl.TopDownSpecialization(k=5, quasi=["sex"], identifiers=["name"]).publish(table, tmp_path / "out.csv")
    assert "--identifiers name,email" in str(refused.value)
    assert "--keep-unique email" in str(refused.value)
    for out, settings in {
        "dropped": {"identifiers": ["name", "email"]},
        "kept": {"identifiers": ["name"], "keep_unique": ["email"]},
        "none": {"identifiers": []},
    }.items():
        model = cl.TopDownSpecialization(k=5, quasi=["sex"], **settings)
        model.publish(table, tmp_path / f"{out}.csv")
        assert ("email" in model.summary_.untouched) is (out != "dropped")


def test_a_misspelt_flag_is_asked_about_by_the_names_of_the_schema(tmp_path: Path) -> None:
    """The first line of a text file is not quoted, but the schema's names may be."""
    (tmp_path / "people.csv").write_text("age,sex\n" + "30,F\n31,M\n" * 20)
    schema = cl.Schema.from_text('[columns.age]\nkind = "number"\n[columns.sex]\nkind = "category"\n')
    with pytest.raises(SchemaError, match=r'no column "aeg"\. Did you mean "age"'):
        cl.TopDownSpecialization(k=5, quasi=["aeg"], schema=schema).publish(tmp_path / "people.csv", tmp_path / "out.csv")
