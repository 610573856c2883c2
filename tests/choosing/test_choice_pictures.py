"""Pictures of choices: numbers of the certificate and public facts, and nothing of the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.report.picture import CenterProfile, MeasuredBars

ROWS = pa.table({"age": [30, 40, 50] * 100, "level": ["a", "b", "c"] * 100, "born": ["1990-05-01", "2000-01-01"] * 150})
NUMBER: dict[str, Any] = {"column": "age", "bounds": (0, 100), "step": 0.5}
DAY: dict[str, Any] = {"column": "born", "bounds": ("1950-01-01", "2010-12-31")}
LEVEL: dict[str, Any] = {"column": "level", "domain": ["a", "b", "c"]}


def drawn(**asked: Any) -> tuple[cl.PrivateChoice, CenterProfile | None, MeasuredBars]:
    """A choice, and its panels."""
    choice = cl.choose(ROWS, budget=1, **asked)
    (picture,) = choice.pictures()
    assert picture.title == f"Private choice of {choice.column}: {choice.value}"
    assert not picture.for_holder
    *first, last = picture.panels
    assert isinstance(last, MeasuredBars)
    place = first[0] if first else None
    assert place is None or isinstance(place, CenterProfile)
    return choice, place, last


@pytest.mark.parametrize(
    "asked",
    [
        {**NUMBER},
        {**NUMBER, "quantile": "1/3"},
        {**NUMBER, "options": [30, 47.5]},
        {**NUMBER, "options": [30, 47.5], "quantile": 0.25},
        {**DAY, "quantile": 0.5},
        {**DAY, "options": ["1990-01-01", "2005-01-01"]},
        LEVEL,
        {**LEVEL, "options": ["a", "c"]},
    ],
)
def test_how_near_it_is_is_what_the_certificate_says(asked: dict[str, Any]) -> None:
    """The bar of 95% is `within`, and more certainty is farther from the best."""
    choice, _, near = drawn(**asked)
    assert near.words[2] == "95% sure"
    assert near.values[2] == pytest.approx(choice.within, rel=1e-9)
    assert list(near.values) == sorted(near.values)


def test_a_number_lies_between_its_bounds() -> None:
    """At its share of the way from the lowest to the highest value; other options lie where they were put."""
    choice, place, _ = drawn(**NUMBER, quantile=0.5)
    assert place is not None
    assert place.places == ((choice.value / 100,),)
    assert place.ends == (("0", "100"),)
    choice, place, _ = drawn(**NUMBER, options=[20, 40, 90])
    assert place is not None
    assert place.names[0] == f"{choice.value} (chosen)"
    assert sorted(place.places[0]) == [0.2, 0.4, 0.9]
    _, place, _ = drawn(**NUMBER, options=list(range(20)))
    assert place is not None
    assert len(place.names) == 1


def test_a_day_lies_between_its_bounds() -> None:
    """Whose ends are written as days."""
    _, place, _ = drawn(**DAY, quantile=0.5)
    assert place is not None
    assert place.ends == (("1950-01-01", "2010-12-31"),)
    assert 0 <= place.places[0][0] <= 1


def test_a_category_has_no_place() -> None:
    """The values of its domain are not in its certificate."""
    assert drawn(**LEVEL)[1] is None


def test_the_number_of_rows_makes_a_share_of_it() -> None:
    """Where it was asked for; distances are no rows."""
    told = cl.choose(ROWS, budget=1, **NUMBER, quantile=0.5, count_rows=True).pictures()[0].caption
    assert "% of the" in told
    assert "of the" not in cl.choose(ROWS, budget=1, **NUMBER, quantile=0.5).pictures()[0].caption.split("Chosen")[0]


def test_a_choice_that_was_read_back_looks_the_same(tmp_path: Path) -> None:
    """It is drawn from its certificate alone, as every kind of file; without one there is nothing to draw."""
    choice = cl.choose(ROWS, budget=1, **NUMBER, options=[30, 47.5])
    choice.save(tmp_path / "c.json")
    again = cl.PrivateChoice.load(tmp_path / "c.json")
    assert again.pictures() == choice.pictures()
    for ending in ("png", "svg", "pdf"):
        again.plot(tmp_path / f"c.{ending}")
    with pytest.raises(UsageError, match="without a certificate"):
        cl.PrivateChoice("age", "count", 3, 1.0, "near").plot()
