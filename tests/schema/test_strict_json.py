"""JSON and TOML that are read in one way only, or refused in one sentence."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cloister.errors import SchemaError, SourceError, UsageError
from cloister.schema import Schema
from cloister.schema.hierarchies import calendar, prefix, read_hierarchy
from cloister.schema.strict_json import read_json


def test_plain_json_is_read_as_ever() -> None:
    """Objects, lists, numbers and texts come back as Python has them, from text and from bytes."""
    assert read_json('{"a": [1, 2.5, "x", null, true]}', "x") == {"a": [1, 2.5, "x", None, True]}
    assert read_json(b'\xef\xbb\xbf{"a": 1}', "x") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1,\n"a": 2}', "x, line 2: a name is there twice"),
        ('{"a": {"b": 1, "b": 2}}', "twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "NaN and infinities"),
        ('{"a": 1e9999999}', "too large"),
        ('{"a": ' + "9" * 101 + "}", "more than 100 digits"),
        ('{"a": ' + "9" * 5000 + "}", "more than 100 digits"),
        ("[" * 100 + "]" * 100, "more than 64"),
        ("[" * 100_000 + "]" * 100_000, "more than 64"),
        ('{"a":' * 100_000, "more than 64"),
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_other_text_is_refused_in_one_sentence(text: str | bytes, reason: str) -> None:
    """Two equal names, numbers beyond reach and deep nesting are faults, and no part of the text is quoted."""
    with pytest.raises(SourceError, match=reason):
        read_json(text, "x")


def test_the_deepest_that_is_read() -> None:
    """64 lists inside each other, and not one more."""
    assert read_json("[" * 64 + "]" * 64, "x")
    with pytest.raises(UsageError):
        read_json("[" * 65 + "]" * 65, "x")


@pytest.mark.parametrize(
    "text",
    [
        "table = " + "[" * 5000,
        "table = " + "{a=" * 5000,
        ".".join("a" * 3000) + " = 1",
        "[" + ".".join("a" * 3000) + "]",
        "max_rows = " + "9" * 5000,
        "max_rows = 0x" + "f" * 100_000,
        '[columns.a]\nkind = "number"\nbounds = [0, ' + "9" * 5000 + "]",
        '[columns.a]\nkind = "number"\nbounds = [0, 1e9999999]',
    ],
    ids=["brackets", "braces", "dotted key", "dotted table", "digits", "hexadecimal", "digits of a bound", "exponent"],
)
def test_no_schema_exhausts_its_reader(text: str) -> None:
    """Deep nesting and huge numbers in TOML are one sentence, as a schema and as a hierarchy."""
    with pytest.raises(SchemaError):
        Schema.from_text(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", "[" * 100_000 + "]" * 100_000),
        ("x.json", '{"a": ' * 500 + "1" + "}" * 500),
        ("x.json", '{"a": [' + "9" * 5000 + "]}"),
        ("x.json", '{"a": [NaN]}'),
        ("x.json", '{"intervals": {"low": 0, "high": 1e9999}}'),
        ("x.json", '{"intervals": {"low": 0, "high": 1, "step": 1e-300}}'),
        ("x.json", '{"intervals": {"low": -1.7e308, "high": 1.7e308}}'),
        ("x.json", '{"prefix": {"values": ["' + "a" * 100_000 + '"]}}'),
        ("x.toml", "a = " + "[" * 5000),
        ("x.toml", "[intervals]\nlow = 0\nhigh = 0x" + "f" * 400),
        ("x.toml", "[intervals]\nlow = 0001-01-01\nhigh = 9999-12-31"),
        ("x.csv", ";".join("a" * 100_000)),
    ],
)
def test_no_hierarchy_exhausts_its_reader(tmp_path: Path, name: str, text: str) -> None:
    """Whatever a file of a hierarchy holds: a tree, or one sentence, soon."""
    (tmp_path / name).write_text(text)
    began = time.process_time()
    with pytest.raises(SchemaError):
        read_hierarchy(tmp_path / name)
    assert time.process_time() - began < 5


def test_a_hierarchy_of_many_values_is_read_in_linear_time(tmp_path: Path) -> None:
    """The line of a value is looked for only when a message needs it: 20,000 values took minutes."""
    values = ", ".join(f'"v{i}"' for i in range(20_000))
    (tmp_path / "x.json").write_text(f'{{"g": [{values}]}}')
    began = time.process_time()
    assert read_hierarchy(tmp_path / "x.json").leaves == 20_000
    assert time.process_time() - began < 5


def test_a_domain_of_many_values_is_read_in_linear_time() -> None:
    """50,000 values took half a minute."""
    domain = ", ".join(f'"v{i}"' for i in range(50_000))
    began = time.process_time()
    schema = Schema.from_text(f'[columns.a]\nkind = "category"\ndomain = [{domain}]')
    assert len(schema.columns) == 1
    assert time.process_time() - began < 5


def test_rules_beyond_reach_are_refused_in_python_too() -> None:
    """A calendar of ten thousand years and a code of a thousand characters would fill the memory."""
    from datetime import date

    with pytest.raises(SchemaError, match="days are too many"):
        calendar(date.min, date.max)
    with pytest.raises(SchemaError, match="characters"):
        prefix(["a" * 1000])
