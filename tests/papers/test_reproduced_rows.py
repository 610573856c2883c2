"""Rows of a reproduction: what they must say, and that they are read back as they were."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from cloister.papers.form_columns import FormCell, form_table
from cloister.papers.reproduced_row import ReproducedRow

ROW = ReproducedRow("epsilon 1", "as printed", "F", 0.5, "table 3", 0.4, 0.6, 1.0, math.inf, 7, "a note")


def test_a_row_is_read_back_as_it_was() -> None:
    """Through JSON, with an epsilon that is not finite."""
    assert ReproducedRow.from_dict(json.loads(json.dumps(ROW.as_dict(), allow_nan=False))) == ROW


@pytest.mark.parametrize(
    "change",
    [{"form": "guessed"}, {"source": ""}, {"epsilon": None}, {"value": math.nan}, {"low": -math.inf}, {"setting": ""}],
)
def test_a_row_without_what_it_must_say_is_refused(change: dict[str, Any]) -> None:
    """No source, no form, no epsilon of what was run, no number: a bug of an item is seen where it is made."""
    with pytest.raises(ValueError, match=r"form|says|number"):
        ReproducedRow.from_dict({**ROW.as_dict(), **change})


def test_runs_are_told_as_median_and_quantiles() -> None:
    """Eleven runs from 0 to 1 have the median 0.5, from 0.1 to 0.9."""
    rows = [ReproducedRow("a", "sound", "F", i / 10, "table 1", epsilon=1.0, seed=i) for i in range(11)]
    cell = FormCell.of(rows)
    assert (cell.value, cell.low, cell.high, cell.runs) == pytest.approx((0.5, 0.1, 0.9, 11))
    assert cell.text() == "0.5 (0.1 to 0.9, 11 runs); epsilon 1"


def test_every_line_has_its_source_and_three_columns() -> None:
    """Printed, as printed and sound stand there whether or not there is a number; what was run says what is proved."""
    rows = [ROW, ReproducedRow("epsilon 1", "printed", "F", 0.9, "figure 2", claimed=1.0)]
    table = form_table(rows)
    assert table.heads == ("setting", "measure", "printed", "as printed, run again", "sound", "source")
    assert table.rows == (
        ("epsilon 1", "F", "0.9; claimed 1", "0.5 (0.4 to 0.6); claimed 1, no finite epsilon", "-", "table 3, figure 2"),
    )
