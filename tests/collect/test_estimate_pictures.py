"""Pictures of estimates hold the estimates and their errors."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.collect.estimate_pictures import answer_pictures, mode_pictures
from cloister.collect.estimated_table import EstimatedTable
from cloister.report.picture import INTERVAL


def table(size: int) -> EstimatedTable:
    counts = np.arange(size, dtype=np.float64)
    return EstimatedTable(("q",), (tuple(f"v{i}" for i in range(size)),), counts, np.full(size, 2.0), int(counts.sum()))


def test_answers_have_their_errors() -> None:
    """Share and 95% of the error of each value are those of the table."""
    answers = table(4)
    ((panel,),) = [picture.panels for picture in answer_pictures([answers], 1)]
    rows = list(answers.rows())
    assert panel.values == tuple(row["share"] for row in rows)
    assert panel.high[1] - panel.values[1] == pytest.approx(INTERVAL * rows[1]["standard_error"] / answers.reports)


def test_of_many_values_the_most_frequent() -> None:
    """25 of 60, the largest first; more questions than are shown are told."""
    (picture,) = answer_pictures([table(60)], 3)
    (panel,) = picture.panels
    assert (len(panel.words), panel.words[0]) == (25, "v59")
    assert "The first 1 of 3 questions." in picture.caption


def test_groups_have_sizes_and_answers() -> None:
    """The modes, a column a group."""
    sizes, answers = mode_pictures([{"a": "yes", "b": ""}, {"a": "no", "b": "x"}], [30.0, 10.0])
    assert sizes.panels[0].values == (30, 10)
    assert answers.panels[0].words == (("yes", "no"), ('""', "x"))
