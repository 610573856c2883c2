"""Schemas made in Python: validation, lookup and what follows from the facts."""

from __future__ import annotations

import datetime

import pytest

from cloister.errors import SchemaError
from cloister.schema import Category, Column, Date, Number, Role, Schema, Text


def test_equal_names_are_refused() -> None:
    """Two columns of one name are refused."""
    with pytest.raises(SchemaError, match='"a" is there twice'):
        Schema((Column("a", Text()), Column("a", Number())))


def test_columns_are_found_by_name() -> None:
    """Lookup gives the column, and an unknown name an error with the nearest one."""
    schema = Schema((Column("income", Number()),))
    assert schema["income"].kind == Number()
    assert "income" in schema
    with pytest.raises(SchemaError, match='Did you mean "income"'):
        schema["incom"]


@pytest.mark.parametrize(
    ("bounds", "step", "worlds"),
    [((0, 1), 1e-4, 10_001), ((0, 0.7), 0.1, 8), ((0, 100), 1, 101), ((0, 10), 3, 4), (None, 1, None)],
)
def test_worlds_are_counted_on_the_decimals_as_typed(
    bounds: tuple[float, float] | None, step: float, worlds: int | None
) -> None:
    """The number of grid values does not suffer from binary fractions."""
    assert Number(bounds, step).worlds == worlds


def test_defaults_of_defaults() -> None:
    """Without a default: the middle of the bounds, the first value of the domain, nothing without either."""
    assert Number((0, 10)).fallback == 5
    assert Category(("b", "a")).fallback == "b"
    assert Date((datetime.date(2020, 1, 1), datetime.date(2020, 1, 3))).fallback == datetime.date(2020, 1, 2)
    assert Number().fallback is Category().fallback is Date().fallback is None
    assert Number((0, 10), default=1).fallback == 1


def test_bounds_of_any_pair_are_floats() -> None:
    """Bounds given as a list of integers are kept as a pair of floats."""
    assert Number([0, 100]).bounds == (0.0, 100.0)  # type: ignore[arg-type]


def test_a_role_may_be_a_word() -> None:
    """Roles are accepted as words, and strange ones refused with the column's name."""
    assert Column("a", Text(), "quasi").role is Role.QUASI  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match='column "a"'):
        Column("a", Text(), "king")  # type: ignore[arg-type]


def test_importing_the_schema_is_light() -> None:
    """The schema's model loads neither NumPy nor Arrow, so that the command line starts quickly."""
    import subprocess
    import sys

    code = "import sys, cloister.schema; sys.exit(any(name in sys.modules for name in ('numpy', 'pyarrow')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
