"""What notebooks and prompts show of results."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import cloister as cl
from cloister.anonymization.reporting.advice import Advice
from cloister.anonymization.reporting.summary import ColumnSummary
from cloister.datasets import STUDENTS, students
from cloister.report import notebook
from cloister.report.document import Document, Section, TextTable
from cloister.report.shown_labels import shown_labels

SCHEMA = dataclasses.replace(STUDENTS, table=None)
ROWS = students(200)


def results() -> dict[str, Any]:
    """One of each that has a certificate."""
    cells = cl.synopsis(ROWS, 1.0, columns=["age"], schema=SCHEMA)
    return {
        "clusters": cells.cluster(2),
        "synopsis": cells,
        "rows": cl.PrivateMicrodata(1.0, schema=SCHEMA).sample(ROWS),
        "choice": cl.choose(ROWS, "level", budget=1, schema=SCHEMA),
        "table": cl.tabulate(ROWS, by=["level"], budget=1, schema=SCHEMA),
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_every_display_states_its_guarantee_under_a_heading(name: str) -> None:
    """A release that is shown says what it promises."""
    shown = RESULTS[name]._repr_html_().partition("</style>")[2]
    assert str(RESULTS[name].release_.guarantee) in shown
    assert shown.startswith(("<h4>Private", "<table><caption>Private"))


def test_reprs_are_one_line() -> None:
    """Of certificates, clusters, reports and schemas, whatever they are called."""
    odd = cl.Schema([dataclasses.replace(SCHEMA["age"], name="a\u2028b"), SCHEMA["grade"]])
    report = cl.risk(ROWS, quasi=["age", "level"], schema=SCHEMA)
    for shown in (RESULTS["clusters"], RESULTS["clusters"].release_, report, SCHEMA, odd):
        assert len(repr(shown)) < 200
        assert len(repr(shown).splitlines()) == 1
    assert repr(SCHEMA).startswith("Schema(6 columns: student_id, age")
    assert "2 of age" in repr(RESULTS["clusters"])


def test_bins_and_intervals_are_not_broken() -> None:
    """Columns of short cells keep each in one line; prose may be broken."""
    table = TextTable.of(["age", "between", "note"], [["[15, 20)", "1,513 to 1,537", "a long sentence " * 4]], align="left")
    shown = notebook.html(Document((Section((table,)),)))
    assert ".short { white-space: nowrap }" in shown
    assert '<td class="short">[15, 20)</td><td class="short">1,513 to 1,537</td><td>a long' in shown


@pytest.mark.parametrize(("loss", "words"), [(0.1, "Little is lost"), (0.6, "Nothing that was tried loses less")])
def test_no_advice_is_a_sentence(loss: float, words: str) -> None:
    """Not a heading above nothing."""
    assert words in Advice(loss)._repr_html_()


def test_a_star_is_always_among_the_labels_that_are_shown() -> None:
    """It says that nothing is left of some values; numbers of labels have their commas."""
    labels = (*(f"v{i}" for i in range(2000)), "*")
    assert shown_labels(labels, 3) == ("v0", "v1", "*")
    shown = str(ColumnSummary("age", 45_656, labels))
    assert shown.startswith("2,001 labels for 45,656 values: v0,")
    assert ", *, " in shown
