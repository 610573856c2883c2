"""Schemas and TOML: the round trip is exact, and faults are told with their column and key."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.errors import SchemaError
from cloister.schema import Category, Column, Date, Neighbours, Number, Role, Schema, Text

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
MISSING = st.lists(WORDS | st.sampled_from(["?", "NA", "-"]), max_size=3, unique_by=str.strip).map(tuple)
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def numbers(draw: st.DrawFn) -> Number:
    """Any valid number column."""
    lo, hi = sorted(draw(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2, unique=True)))
    bounds = draw(st.sampled_from([None, (lo, hi)]))
    step = draw(st.one_of(st.none(), st.floats(1e-17, 1).map(lambda part: part * (hi - lo)).filter(lambda step: step > 0)))
    inside = st.floats(lo, hi) if bounds else FINITE
    decimal, thousands = draw(st.sampled_from([(".", None), (",", "."), (".", ","), (",", "\u202f"), (".", "'")]))
    return Number(bounds, step, draw(st.one_of(st.none(), inside)), decimal, thousands, draw(MISSING))


@st.composite
def categories(draw: st.DrawFn) -> Category:
    """Any valid category column."""
    domain = draw(st.none() | st.lists(WORDS, min_size=1, max_size=5, unique_by=str.strip).map(tuple))
    default = draw(st.none() | (st.sampled_from(domain) if domain else WORDS))
    missing = tuple(word for word in draw(MISSING) if domain is None or word not in [value.strip() for value in domain])
    return Category(domain, draw(st.none() | WORDS), default, default is None and draw(st.booleans()), missing)


@st.composite
def dates(draw: st.DrawFn) -> Date:
    """Any valid date column."""
    first, last = sorted(draw(st.lists(st.dates(), min_size=2, max_size=2, unique=True)))
    bounds = draw(st.sampled_from([None, (first, last)]))
    default = draw(st.none() | (st.dates(first, last) if bounds else st.dates()))
    return Date(bounds, default, draw(st.sampled_from([None, "%d.%m.%Y", "%b %d, %Y"])), draw(MISSING))


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Any valid schema."""
    names = draw(st.lists(WORDS.filter(str.strip), max_size=5, unique=True))
    kinds = st.one_of(numbers(), categories(), dates(), st.just(Text()))
    columns = tuple(Column(name, draw(kinds), draw(st.sampled_from(Role)), draw(st.booleans())) for name in names)
    unit = draw(st.none() | st.sampled_from(names)) if names else None
    return Schema(
        columns,
        table=draw(st.none() | WORDS.filter(str.strip)),
        neighbours=draw(st.none() | st.sampled_from(Neighbours)),
        unit=unit,
        max_rows=draw(st.none() | st.integers(1, 2**40)) if unit else None,
    )


@given(schemas())
def test_a_schema_comes_back_from_its_toml(schema: Schema) -> None:
    """Writing a schema and reading it gives the same schema."""
    assert Schema.from_text(schema.to_toml()) == schema


def test_the_documented_form_is_read() -> None:
    """The form in the documentation means what it says."""
    schema = Schema.from_text(
        """
        table = "students"
        neighbours = "add-remove"
        [columns.age]
        kind = "number"
        bounds = [0, 100]
        step = 1
        role = "quasi"
        [columns.born]
        kind = "date"
        bounds = [1990-01-01, "2010-12-31"]
        [columns."home town"]
        kind = "text"
        """
    )
    assert schema == Schema(
        (
            Column("age", Number((0, 100), 1), Role.QUASI),
            Column("born", Date((datetime.date(1990, 1, 1), datetime.date(2010, 12, 31)))),
            Column("home town", Text()),
        ),
        table="students",
        neighbours=Neighbours.ADD_REMOVE,
    )


FAULTS = [
    ("kind = 'number'\nbounds = [3, 1]", "bounds"),
    ("kind = 'number'\nbounds = [1, 1]", "bounds"),
    ("kind = 'number'\nbounds = [0, inf]", "bounds"),
    ("kind = 'number'\nbounds = [nan, 1]", "bounds"),
    ("kind = 'number'\nbounds = [1]", "bounds"),
    ("kind = 'number'\nbounds = ['0', '1']", "bounds"),
    ("kind = 'number'\nbounds = 5", "bounds"),
    ("kind = 'number'\nbounds = [-1.7e308, 1.7e308]", "bounds"),
    ("kind = 'number'\nstep = 0", "step"),
    ("kind = 'number'\nstep = -1", "step"),
    ("kind = 'number'\nstep = true", "step"),
    ("kind = 'number'\nbounds = [0, 1]\nstep = 2", "step"),
    ("kind = 'number'\nbounds = [0, 1]\nstep = 1e-320", "step"),
    ("kind = 'number'\nbounds = [-1e300, 1e300]\nstep = 1", "step"),
    ("kind = 'number'\nbounds = [0, 1]\ndefault = 2", "default"),
    ("kind = 'number'\nbound = [0, 1]", '"bound".*"bounds"'),
    ("kind = 'number'\ndomain = ['a']", '"domain"'),
    ("kind = 'category'\ndomain = []", "domain"),
    ("kind = 'category'\ndomain = ['a', ' a']", "domain"),
    ("kind = 'category'\ndomain = [1, 2]", "domain"),
    ("kind = 'category'\ndomain = 'a'", "domain"),
    ("kind = 'category'\ndomain = ['a']\ndefault = 'b'", "default"),
    ("kind = 'category'\nhierarchy = 3", "hierarchy"),
    ("kind = 'date'\nbounds = [2020-01-02, 2020-01-01]", "bounds"),
    ("kind = 'date'\nbounds = [2020-01-02T00:00:00, 2020-01-03T00:00:00]", "bounds"),
    ("kind = 'date'\nbounds = ['soon', 'later']", "bounds"),
    ("kind = 'date'\ndefault = 3", "default"),
    ("kind = 'numbr'", '"number"'),
    ("kind = 'number'\ndecimals = ','", '"decimals".*"decimal"'),
    ("kind = 'number'\ndecimal_separator = ','", '"decimal"'),
    ("kind = 'number'\nthousand = ','", '"thousands"'),
    ("kind = 'number'\nna_values = ['?']", '"missing"'),
    ("kind = 'number'\nformat = '%d'", '"format".*a key of a date'),
    ("kind = 'date'\ndate_format = '%d'", '"format"'),
    ("kind = 'date'\nformat = '%d.%m'", "year"),
    ("kind = 'date'\nformat = '%d.%m.%Q'", "%Q"),
    ("kind = 'date'\nother = true", '"other".*a key of a category'),
    ("kind = 'number'\ndecimal = ';'", "decimal"),
    ("kind = 'number'\ndecimal = ','\nthousands = ','", "thousands"),
    ("kind = 'number'\nmissing = '?'", "missing"),
    ("kind = 'category'\nothr = true", '"other"'),
    ("kind = 'category'\nother = 'yes'", "other"),
    ("kind = 'category'\ndomain = ['a', '(other)']\nother = true", "other = true"),
    ("kind = 'category'\ndomain = ['a', ' (other)']", "other = true"),
    ("kind = 'category'\ndomain = ['a']\ndefault = 'a'\nother = true", "default and other"),
    ("kind = 'category'\ndomain = ['a', '?']\nmissing = ['?']", "missing"),
    ("kind = 3", "kind"),
    ("role = 'quasi'", "kind"),
    ("kind = 'text'\nrole = 'sensitiv'", '"sensitive"'),
    ("kind = 'text'\nrole = 3", "role"),
]


@pytest.mark.parametrize(("text", "hint"), FAULTS)
def test_a_fault_of_a_column_names_column_and_key(text: str, hint: str) -> None:
    """Every fault of a column is a schema error with the column and the key."""
    with pytest.raises(SchemaError, match=f'column "age".*{hint}'):
        Schema.from_text(f"[columns.age]\n{text}")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tabel = 'x'", '"tabel".*"table"'),
        ("decimal = ','", '"decimal".*columns'),
        ("table = ''", "table"),
        ("table = 3", "table"),
        ("neighbours = 'both'", "neighbours"),
        ("unit = 'who'", "unit"),
        ("max_rows = 3", "unit"),
        ("unit = 'a'\nmax_rows = 0\n[columns.a]\nkind = 'text'", "max_rows"),
        ("unit = 'a'\nmax_rows = true\n[columns.a]\nkind = 'text'", "max_rows"),
        ("columns = 3", "columns"),
        ("[columns]\nage = 3", '"age"'),
        ("x = ", "TOML"),
    ],
)
def test_a_fault_of_the_table_names_its_key(text: str, hint: str) -> None:
    """Every fault outside the columns is a schema error with its key."""
    with pytest.raises(SchemaError, match=hint):
        Schema.from_text(text)


def test_hierarchies_are_found_beside_the_schema(tmp_path: Path) -> None:
    """A relative path of a hierarchy starts at the schema, an absolute one stays."""
    text = '[columns.a]\nkind = "category"\nhierarchy = "h/a.csv"\n[columns.b]\nkind = "category"\nhierarchy = "/h/b.csv"\n'
    (tmp_path / "people.toml").write_text(text)
    schema = Schema.from_toml(tmp_path / "people.toml")
    assert [column.kind.hierarchy for column in schema.columns] == [str(tmp_path / "h/a.csv"), "/h/b.csv"]  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"table = 3"])
def test_a_schema_that_cannot_be_read_is_told_with_its_path(tmp_path: Path, content: bytes | None) -> None:
    """A missing, undecodable or faulty file is named in the message."""
    if content is not None:
        (tmp_path / "people.toml").write_bytes(content)
    with pytest.raises(SchemaError, match=r"people\.toml"):
        Schema.from_toml(tmp_path / "people.toml")
