"""Drafts: kinds and roles are guessed, and no value of a row gets into them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv

from cloister.schema import Category, Date, Kind, Number, Role, Schema, Text
from cloister.schema.drafts import draft, draft_text, find_likely_unit, role_of_name
from cloister.sources.opening import open_source
from tests.real_data import real

N = 200
TABLE = pa.table(
    {
        "person_id": [f"P{i}" for i in range(N)],
        "age": [str(18 + i % 60) if i % 50 else "NA" for i in range(N)],
        "height": [f"{1.5 + i / 1000:.2f}".replace(".", ",") for i in range(N)],
        "zipCode": [str(10_000 + i % 7) for i in range(N)],
        "sex": ["fm"[i % 2] for i in range(N)],
        "visited": [f"2024-01-{1 + i % 28:02d}" for i in range(N)],
        "seen": [datetime.date(2024, 1, 1)] * N,
        "comment": [f"note {i}" for i in range(N)],
        "diagnosis": ["abc"[i % 3] for i in range(N)],
        "member": [i % 2 == 0 for i in range(N)],
        "void": pa.nulls(N),
    }
)


@pytest.mark.parametrize(
    ("name", "kind", "role"),
    [
        ("person_id", Text(), Role.IDENTIFIER),
        ("age", Number(missing=("NA",)), Role.QUASI),
        ("height", Number(decimal=","), Role.QUASI),
        ("zipCode", Category(other=True), Role.QUASI),
        ("sex", Category(other=True), Role.QUASI),
        ("visited", Date(), Role.OTHER),
        ("seen", Date(), Role.OTHER),
        ("comment", Text(), Role.IDENTIFIER),
        ("diagnosis", Category(other=True), Role.SENSITIVE),
        ("member", Category(other=True), Role.OTHER),
        ("void", Text(), Role.OTHER),
    ],
)
def test_kinds_and_roles_are_guessed(name: str, kind: Kind, role: Role) -> None:
    """Each column is what a person would say at a glance; bounds and domains are blank."""
    column = draft(open_source(TABLE))[name]
    assert (column.kind, column.role, column.guessed) == (kind, role, True)


def test_a_draft_holds_no_value_of_a_row() -> None:
    """The text of a draft depends on names and kinds alone: other values give the same text."""
    secret = pd.DataFrame({"city": ["Zanzibar", "Timbuktu"] * 50, "pay": [123_456.0, 654_321.0] * 50})
    other = pd.DataFrame({"city": ["a", "b"] * 50, "pay": [1.0, 2.0] * 50})
    text = draft_text(draft(open_source(secret)))
    assert text == draft_text(draft(open_source(other)))
    assert "# guessed" in text


def test_a_draft_is_a_schema() -> None:
    """The text of a draft reads back as the schema, and its hints are valid once they are uncommented."""
    schema = draft(open_source(TABLE))
    text = draft_text(schema)
    assert Schema.from_text(text) == schema
    lines = [line[2:].split("   ")[0] if line.startswith("# ") and " = " in line else line for line in text.splitlines()]
    filled = Schema.from_text("\n".join(lines))
    assert filled["age"].kind == Number((0, 100), 1, missing=("NA",))
    assert filled["seen"].kind == Date((datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)))


def test_a_table_without_rows_has_a_draft() -> None:
    """Names alone are enough for a draft."""
    assert draft(open_source(TABLE.slice(0, 0))).names == tuple(TABLE.column_names)


def test_adult_is_guessed_right() -> None:
    """In the Adult table age is a number and the other eight columns are categories."""
    schema = draft(open_source(real("adult-30162.csv")))
    assert {column.name for column in schema.columns if column.kind == Number()} == {"age"}
    assert sum(isinstance(column.kind, Category) for column in schema.columns) == 8


def drafted(**columns: list[str | None]) -> dict[str, Kind]:
    """The kinds that a draft of these columns has."""
    return {column.name: column.kind for column in draft(open_source(pa.table(columns))).columns}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["36.993,09", "1.200,5", "?"], Number(decimal=",", thousands=".", missing=("?",))),
        (["12,5", "7", "100,25"], Number(decimal=",")),
        (["20,000", "1,500", "7"], Number(thousands=",")),
        (["1'234.5", "7"], Number(thousands="'")),
        (["1\u202f234,5", "7"], Number(decimal=",", thousands="\u202f")),
        (["1.5", "2.25", "NA", "-"], Number(missing=("-", "NA"))),
        (["11.03.1980", "31.12.2001", ""], Date(format="%d.%m.%Y")),
        (["03/31/1980", "12/01/2001"], Date(format="%m/%d/%Y")),
        (["03/12/1980", "12/01/2001"], Date(format="%d/%m/%Y")),
        (["11.03.1980 10:00", "31.12.2001 23:59"], Date(format="%d.%m.%Y %H:%M")),
        (["19800311", "20011231"], Date(format="%Y%m%d")),
        (["Mar 11, 1980", "Dec 31, 2001"], Date(format="%b %d, %Y")),
        (["1980-03-11", "?"], Date(missing=("?",))),
        (["a", "b", "?"], Category(other=True, missing=("?",))),
    ],
)
def test_formats_are_guessed(cells: list[str | None], kind: Kind) -> None:
    """How numbers, dates and missing values are written is found by a look, and no value gets into the draft."""
    assert drafted(c=cells * 20)["c"] == kind


def test_what_one_column_leaves_open_the_others_decide() -> None:
    """20.000 beside 36.993,09 is twenty thousand; 03/12 beside 03/31 is the twelfth of March."""
    kinds = drafted(pay=["36.993,09", "1,5"] * 9, people=["20.000", "1.500"] * 9)
    assert kinds["people"] == Number(decimal=",", thousands=".")
    assert drafted(people=["20.000", "1.500"] * 9)["people"] == Number()
    kinds = drafted(a=["03/31/1980"] * 9, b=["03/12/1980"] * 9)
    assert kinds == {"a": Date(format="%m/%d/%Y"), "b": Date(format="%m/%d/%Y")}


def test_a_draft_of_adult_finds_its_missing_values() -> None:
    """The question marks of the Adult table are drafted as missing, and its categories get a cell for them."""
    names = ["age", "workclass", "weight", "education"]
    read = csv.ReadOptions(column_names=[*names, *(f"c{i}" for i in range(11))])
    table = csv.read_csv(real("adult.data"), read_options=read, convert_options=csv.ConvertOptions(include_columns=names))
    assert draft(open_source(table))["workclass"].kind == Category(other=True, missing=("?",))


def test_names_in_other_languages_and_numbers_of_people() -> None:
    """A number that a person has on several rows is drafted as an identifier, a date of birth and a sex as known to others."""
    who = np.arange(600) // 3
    table = pa.table(
        {
            "MRN": 1_000_000 + who,
            "Patient Nr": 7_000 + who,
            "number of rooms": who % 5,
            "Geburtsdatum": [f"{1 + i % 28:02}.03.19{50 + i % 40}" for i in who.tolist()],
            "Geschlecht": ["mw"[i % 2] for i in who.tolist()],
            "Staatsangehörigkeit": ["DE", "FR", "IT"] * 200,
        }
    )
    roles = [column.role for column in draft(open_source(table)).columns]
    assert roles == [Role.IDENTIFIER, Role.IDENTIFIER, Role.OTHER, Role.QUASI, Role.QUASI, Role.QUASI]


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ({"mrn": [1000 + i // 3 for i in range(90)], "pay": list(range(90))}, "mrn"),
        ({"patient_id": [f"p{i % 70}" for i in range(90)]}, "patient_id"),
        ({"id": list(range(90))}, None),  # nobody has two rows
        ({"lastname": [f"Miller {i % 40}" for i in range(90)]}, None),  # strangers share names
        ({"account": [i % 2 for i in range(300)]}, None),  # of 150 rows each: groups
        ({"sex": ["f", "m"] * 45}, None),
    ],
    ids=["number", "text", "unique", "names", "groups", "category"],
)
def test_an_identifier_that_repeats_is_asked_about(columns: dict[str, list[Any]], unit: str | None) -> None:
    """A comment, for the holder to decide: the draft itself says nothing of a unit."""
    table = open_source(pa.table(columns))
    schema = draft(table)
    text = draft_text(schema, find_likely_unit(table, schema))
    assert find_likely_unit(table, schema) == unit
    assert (f'# unit = "{unit}"' in text) == (unit is not None)
    assert Schema.from_text(text).unit is None


@pytest.mark.parametrize(
    ("name", "cells", "role"),
    [
        ("mrn", [f"M-{i % 600:06}" for i in range(3_000)], Role.IDENTIFIER),
        ("patient", [f"P{i % 600:05}" for i in range(3_000)], Role.IDENTIFIER),
        ("userid", [f"u{i % 600}" for i in range(3_000)], Role.IDENTIFIER),
        ("patient", [f"{first} Miller" for first in "abcdefghijklmnopqrstuvwxyz"] * 20, Role.IDENTIFIER),
        ("patient", ["in", "out"] * 500, Role.OTHER),  # a kind of patient
        ("customer segment", ["new", "old", "lost"] * 300, Role.OTHER),
        ("patient remark", [f"{word}{end}" for word in ("well", "ill", "so so") for end in "abcdefghij"] * 20, Role.OTHER),
        ("valid", [f"v{i % 600}" for i in range(3_000)], Role.OTHER),
        ("paid", [i % 600 for i in range(3_000)], Role.OTHER),
    ],
)
def test_texts_that_stand_for_people_are_identifiers(name: str, cells: list[Any], role: Role) -> None:
    """Record numbers that are written as text and repeat, each in a few rows; a short list of kinds is none."""
    table = open_source(pa.table({name: cells}))
    schema = draft(table)
    assert schema[name].role is role
    assert (find_likely_unit(table, schema) == name) == (role is Role.IDENTIFIER)


@pytest.mark.parametrize(
    "name",
    [
        *("patientid", "PATIENTID", "patientId", "userid", "fullname", "phonenumber", "emailaddress", "Kundennummer"),
        *("customernumber", "employeeno", "personalnummer", "patientenname", "middlename", "versichertennr", "homeaddress"),
    ],
)
def test_names_written_in_one_word_are_known(name: str) -> None:
    """Words of somebody and of a number, a name or an address, joined."""
    assert role_of_name(name) is Role.IDENTIFIER


@pytest.mark.parametrize(
    "name",
    [
        *("valid", "paid", "covid", "fluid", "grid", "steroid", "rename", "number of rooms", "housenumber", "hostname"),
        *("cityname", "statenumber", "nrooms", "casino", "piano", "patients", "member", "person", "usergroup"),
    ],
)
def test_ordinary_names_are_not_taken_for_identifiers(name: str) -> None:
    """A refusal by name must not hit them."""
    assert role_of_name(name) is not Role.IDENTIFIER


def test_days_over_generations_are_days_of_birth_whatever_they_are_called() -> None:
    """In any language: the days of a column that span most of a life are known to others. Days of one decade are events."""
    days = [datetime.date(1930, 1, 1) + datetime.timedelta(days=97 * i) for i in range(280)]
    table = pa.table(
        {
            "geboren": [f"{day:%d.%m.%Y}" for day in days],
            "fødd": days,
            "admitted": [datetime.date(2015, 1, 1) + datetime.timedelta(days=i % 100) for i in range(280)],
        }
    )
    assert [column.role for column in draft(open_source(table)).columns] == [Role.QUASI, Role.QUASI, Role.OTHER]


def test_a_number_that_names_people_is_no_quantity() -> None:
    """Nobody adds them: they are drafted as text, without bounds to fill in, and the check asks for none."""
    rows = open_source(
        pa.table({"MRN": [1000 + i // 3 for i in range(90)], "serial": list(range(7, 97)), "pay": [1.5] * 90})
    )
    schema = draft(rows)
    assert [column.kind for column in schema.columns] == [Text(), Text(), Number()]
    assert "bounds" not in draft_text(schema).partition("[columns.pay]")[0].partition("[columns.MRN]")[2]


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("ort", ["01067", "80331", "10115", "04109"], Category(other=True)),
        ("station", ["007", "013", "120", "099"], Category(other=True)),
        ("Vorwahl", ["030", "0351", "089", "0221"], Category(other=True)),
        ("visits", ["0", "3", "12", "120"], Number()),
        ("rooms", ["3", "12", "07", "120"], Number()),
        ("rate", ["0.5", "0.25", "1.0", "0"], Number()),
    ],
)
def test_digits_that_begin_with_a_zero_are_categories(name: str, cells: list[str], kind: Kind) -> None:
    """A postcode is no quantity, and would lose its zero; numbers, and numbers with a slip, stay numbers."""
    table = pa.table({name: cells * 50})
    assert draft(open_source(table))[name].kind == kind


def test_many_codes_are_a_category_and_codes_of_rows_a_text() -> None:
    """A column of postcodes has more values than a list shows; one that names each row is an identifier."""
    places = [f"{i % 150:05d}" for i in range(600)]
    rows = [f"{i:06d}" for i in range(600)]
    drafted = draft(open_source(pa.table({"Leitzahl": places, "file": rows})))
    assert drafted["Leitzahl"].kind == Category(other=True)
    assert (drafted["file"].kind, drafted["file"].role) == (Text(), Role.IDENTIFIER)
