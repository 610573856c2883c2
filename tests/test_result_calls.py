"""What results are called with by mistake: one sentence of the house, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cloister as cl
from cloister.collect import Collection, estimate
from cloister.collect.simulate import simulate
from cloister.errors import CloisterError, SinkError, UsageError

ROWS = {"age": [20, 31, 42, 53] * 25, "hours": [1.0, 2.0, 30.0, 40.0] * 25}
BOUNDS = {"age": (0, 110), "hours": (0, 60)}
NO_PATHS = (5, None, b"x.png", "", "a\0.png", ["x.png"], object())


@cache
def results() -> dict[str, Any]:
    """One of each kind of result that can be drawn or written."""
    model = cl.KMeans(2, budget=2.0, bounds=BOUNDS).fit(ROWS)
    survey = Collection("survey", {"smokes": ["no", "yes"], "year": ["1", "2"]}, 1)
    reports = simulate(survey, {"smokes": ["no", "yes"] * 50, "year": ["1", "2"] * 50}).reports
    answers = estimate(survey, reports)
    return {
        "estimator": model,
        "clusters": model._clusters,
        "table": cl.tabulate(ROWS, by=["age"], budget=1.0, bounds={"age": (0, 110)}),
        "synopsis": cl.synopsis(ROWS, budget=1.0, bounds=BOUNDS),
        "rows": cl.PrivateMicrodata(budget=1.0, bounds=BOUNDS).sample(ROWS),
        "choice": cl.choose(ROWS, "age", budget=1.0, bounds=(0, 110), step=1),
        "estimates": answers,
        "local modes": answers.cluster(2),
        "risk": cl.risk(ROWS, quasi=["age"]),
        "scores": model.score_report(ROWS),
    }


WRITTEN = ["estimator", "clusters", "table", "synopsis", "rows", "choice", "estimates", "local modes"]
DRAWN = ["estimator", "clusters", "table", "synopsis", "rows", "choice", "estimates", "local modes", "risk", "scores"]
BY_COLUMN = ["estimator", "clusters", "table", "synopsis", "rows"]


def refused(call: Callable[..., Any], *given: Any) -> CloisterError:
    with pytest.raises(CloisterError) as caught:
        call(*given)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    return caught.value


@pytest.mark.parametrize("which", WRITTEN)
def test_save_wants_a_path(which: str) -> None:
    """`save(None)` and the like say that a path is wanted; they ended in a bare TypeError."""
    for wrong in NO_PATHS:
        assert "path" in str(refused(results()[which].save, wrong))


@pytest.mark.parametrize("which", DRAWN)
def test_plot_wants_a_path(which: str) -> None:
    """`plot(5)` and the like say that the path of a picture is wanted."""
    for wrong in NO_PATHS:
        if wrong is not None:
            assert ".png" in str(refused(results()[which].plot, wrong))


@pytest.mark.parametrize("which", DRAWN)
def test_a_picture_that_cannot_be_written_is_told_in_a_sentence(which: str, tmp_path: Path) -> None:
    """A folder that is not there is the house's own error."""
    with pytest.raises(SinkError, match="cannot be written"):
        results()[which].plot(tmp_path / "nowhere" / "x.svg")


@pytest.mark.parametrize("which", BY_COLUMN)
@pytest.mark.parametrize("columns", [5, [5], [None], [], b"age", {"age": 1}, "nobody", ["age", "nobody"], int])
def test_columns_of_a_picture_are_names(which: str, columns: Any) -> None:
    """What are no columns of the result is refused, and the sentence says what columns are."""
    assert "column" in str(refused(lambda: results()[which].plot(columns=columns)))


@pytest.mark.parametrize("which", BY_COLUMN)
@pytest.mark.parametrize("columns", ["age", ["age"], ("age", "age"), np.array(["age"])])
def test_one_column_is_shown_however_it_is_named(which: str, columns: Any) -> None:
    """A name, a list, a tuple and an array name the same."""
    assert results()[which].pictures(columns) == results()[which].pictures(["age"])


def test_a_pivot_is_of_a_number_of_the_table() -> None:
    """What is no text is refused as a text is that names no number."""
    for wrong in (5, None, ["count"], "counts"):
        refused(results()["table"].pivot, wrong)


@pytest.mark.parametrize("which", WRITTEN)
def test_load_wants_a_path(which: str) -> None:
    """`load(None)` and the like say that a path is wanted."""
    kind = type(results()[which])
    for wrong in NO_PATHS if hasattr(kind, "load") else ():
        assert "path" in str(refused(kind.load, wrong))


@pytest.mark.parametrize("publisher", [cl.TopDownSpecialization, cl.Microaggregation])
def test_reading_a_publication_wants_a_path(publisher: Any) -> None:
    """So do publishers, whose tables are read back with their summary."""
    for wrong in NO_PATHS:
        assert "path" in str(refused(publisher.load, wrong))


def test_publishing_wants_a_path() -> None:
    """Both publishers refuse an output that is no path before they look at rows."""
    for wrong in NO_PATHS:
        with pytest.raises(UsageError):
            cl.PrivateMicrodata(budget=1.0, bounds=BOUNDS).publish(ROWS, wrong)
        with pytest.raises(UsageError):
            cl.TopDownSpecialization(k=2, quasi=["age"]).publish(ROWS, wrong)


@pytest.mark.parametrize("wrong", [5, "zz", [], [5], object()])
def test_estimates_are_asked_for_tables_and_questions(wrong: Any) -> None:
    """Tables to write, questions of a marginal and what is clustered are told in a sentence where they are none."""
    answers = results()["estimates"]
    for call in (answers.frame, answers.joint().marginal, cl.collect.LocalKModes(2).fit):
        refused(call, wrong)
