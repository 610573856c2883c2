"""A dry run: what a run would do, what a run would refuse, and nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import CloisterError
from cloister.privacy.ledger import Ledger
from cloister.schema import Category, Column, Number, Role, Schema


def people(n: int = 120) -> pa.Table:
    """Rows with a quasi-identifier of each sort, an identifier and something that rides along."""
    return pa.table(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": [20 + (i * 7) % 45 for i in range(n)],
            "town": ["abc"[i % 3] for i in range(n)],
            "pay": [i % 5 for i in range(n)],
        }
    )


def model(**settings: Any) -> cl.TopDownSpecialization:
    """A request that can be met."""
    return cl.TopDownSpecialization(**{"k": 5, "quasi": ["age", "town"], "identifiers": ["id"], **settings})


UNIT = Schema((Column("id", Category(), Role.IDENTIFIER), Column("age", Number(), Role.QUASI)), unit="id", max_rows=1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"scope": "global"},
        {"suppression": 0.1},
        {"l_diversity": 2, "sensitive": "pay"},
        {"widest": {"age": 20}},
        {"schema": UNIT, "quasi": ["age"], "identifiers": None},
    ],
)
def test_a_dry_run_tells_what_a_run_does(tmp_path: Path, settings: dict[str, Any]) -> None:
    """Summary and outcome are those of the run that follows; until then nothing is written."""
    asked = model(**settings)
    tried = asked.dry_run(people(), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())
    asked.publish(people(), tmp_path / "out.csv")
    assert asked.summary_.as_dict() == tried.summary.as_dict()
    assert asked.outcome_ == tried.outcome
    assert tried.scope == asked.release_.parameters["scope"]


@pytest.mark.parametrize(
    "settings",
    [
        {"identifiers": []},  # nearly unique
        {"k": 1000},
        {"l_diversity": 9, "sensitive": "pay"},
        {"quasi": ["age", "twn"]},
        {"most_levels": {"age": 1}},
        {"widest": {"town": 3}},
        {"most_levels": {"pay": 1}},
        {"weights": {"age": 0}},
        {"weights": [1, 2]},
        {"scope": "lokal"},
        {"scope": "local", "target": "pay"},
        {"scope": "local", "suppression": 0.1},
    ],
)
def test_a_dry_run_refuses_what_a_run_refuses(tmp_path: Path, settings: dict[str, Any]) -> None:
    """In the same words."""
    with pytest.raises(CloisterError) as refused:
        model(**settings).publish(people(), tmp_path / "out.csv")
    with pytest.raises(type(refused.value)) as tried:
        model(**settings).dry_run(people(), tmp_path / "out.csv")
    assert str(tried.value) == str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    """Where the output is named, it must be free."""
    (tmp_path / "out.csv").touch()
    with pytest.raises(CloisterError, match="exists"):
        model().dry_run(people(), tmp_path / "out.csv")


def test_the_ledger_records_a_dry_run(tmp_path: Path) -> None:
    """The rows were read for the holder: the ledger of the table says for what."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 1)
    model(table="people", ledger=ledger).dry_run(people())
    assert ["dry run" in entry.purpose for entry in ledger.entries("people")] == [True]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, None),
        ({"gain": "loss"}, None),
        ({"suppression": 0.1}, "suppressed"),
        ({"target": "pay"}, "target"),
        ({"gain": "entropy"}, "gain"),
        ({"scope": "global"}, ""),
    ],
)
def test_the_scope_is_local_unless_something_needs_the_global_one(settings: dict[str, Any], reason: str | None) -> None:
    """Where nobody named a scope, a sentence says why it is global."""
    request = model(**settings).request()
    assert request.scope == ("local" if reason is None else "global")
    assert (reason or "") in request.scope_reason
    assert bool(request.scope_reason) == bool(reason)


def test_wishes_of_the_schema_hold_and_those_of_the_call_go_before(tmp_path: Path) -> None:
    """weight, most_level and widest stand in the schema's TOML; a call may say otherwise, and the certificate tells."""
    path = tmp_path / "people.toml"
    path.write_text(
        '[columns.id]\nkind = "category"\nrole = "identifier"\n'
        '[columns.age]\nkind = "number"\nrole = "quasi"\nwidest = 20\nweight = 3\n'
        '[columns.town]\nkind = "category"\nrole = "quasi"\nmost_level = 0\n'
        '[columns.pay]\nkind = "number"\n'
    )
    schema = Schema.from_toml(path)
    copy = tmp_path / "copy.toml"
    copy.write_text(schema.to_toml())
    assert Schema.from_toml(copy) == schema
    release = cl.TopDownSpecialization(k=5, schema=path, widest={"age": 30}).publish(people(), tmp_path / "out.csv")
    asked = {key: release.parameters[key] for key in ("weights", "widest", "most_levels")}
    assert asked == {"weights": {"age": 3}, "widest": {"age": 30}, "most_levels": {"town": 0}}
    assert cl.TopDownSpecialization(k=5, schema=path).request().weights == (1.5, 0.5)
