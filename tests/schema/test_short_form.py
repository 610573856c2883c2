"""The short form of a schema: a line for the numbers, a line for the categories."""

from __future__ import annotations

import pytest

from cloister.errors import SchemaError
from cloister.schema import Category, Number, Schema

SHORT = 'numbers = { age = [0, 110], "net pay" = [0, 9.5] }\ncategories = { sex = ["f", "m"] }\n'


def test_two_lines_are_columns() -> None:
    """Bounds of numbers; values of categories, and "(other)" for all others."""
    schema = Schema.from_text(SHORT)
    assert schema.names == ("age", "net pay", "sex")
    assert schema["net pay"].kind == Number(bounds=(0, 9.5))
    assert schema["sex"].kind == Category(domain=("f", "m"), other=True)


def test_the_long_form_says_the_same() -> None:
    """Written down and read again it is the same schema; columns with more facts stand beside it."""
    schema = Schema.from_text(SHORT + '[columns.town]\nkind = "text"\n')
    assert Schema.from_text(schema.to_toml()) == schema
    assert schema.names == ("age", "net pay", "sex", "town")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("numbers = [0, 1]", "numbers must name columns"),
        ("numbers = { age = 3 }", 'column "age" needs its bounds'),
        ("numbers = { age = [3] }", 'column "age"'),
        ("numbers = { age = [3, 1] }", 'column "age"'),
        ('categories = { sex = "f" }', 'column "sex" needs its values'),
        ("categories = { sex = [] }", "empty"),
        ("categories = { sex = [1, 2] }", "texts only"),
        ('numbers = { sex = [0, 1] }\ncategories = { sex = ["f"] }', "there twice"),
    ],
)
def test_faults_name_the_column(text: str, hint: str) -> None:
    """Before any row is read, with the key and the column."""
    with pytest.raises(SchemaError) as refusal:
        Schema.from_text(text)
    assert hint in str(refusal.value)
