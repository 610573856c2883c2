"""Pictures of risk hold the numbers of the report, and say for whom they are."""

from __future__ import annotations

import numpy as np
import pytest

import cloister as cl
from cloister.report.picture import MeasuredBars
from cloister.risks.measures import reidentification
from cloister.risks.risk_pictures import loss_picture, size_words, sizes_beside

AGES = [20, 20, 20, 31, 31, 47] * 20 + [99]
TABLE = {"age": AGES, "sex": ["f", "m"] * 60 + ["f"], "illness": ["flu", "none", "flu"] * 40 + ["gout"]}


def test_sizes_and_attacks_are_the_reports() -> None:
    """Shares by class size, the five risks, what single columns give away: as in the report, for the holder only."""
    report = cl.risk(TABLE, quasi=["age", "sex"], sensitive=["illness"], search=2)
    pictures = report.pictures()
    assert all(picture.for_holder for picture in pictures)
    sizes, attacks = pictures[0].panels
    assert isinstance(sizes, MeasuredBars)
    assert sizes.words == tuple(size_words(start) for start, _, _ in report.risk.sizes)
    assert sizes.values == tuple(rows / report.risk.rows for _, _, rows in report.risk.sizes)
    assert attacks.values[:2] == (report.risk.prosecutor_highest, report.risk.prosecutor_average)
    assert attacks.line[0] == report.risk.threshold
    alone, certain = pictures[1].panels
    assert alone.values == tuple(each.unique for each in report.combinations)
    assert certain.values == tuple(each.certain for each in report.sensitive)


def test_what_columns_lost_is_the_reports() -> None:
    """Against an original each column has both of its losses."""
    published = {**TABLE, "age": ["*"] * len(AGES)}
    report = cl.risk(published, quasi=["age", "sex"], against=TABLE)
    *_, lost = report.pictures()
    assert lost.panels[0].words == ("age", "sex")
    assert [panel.values for panel in lost.panels] == [(1.0, 0.0), (1.0, 0.0)]


def test_sizes_stand_beside_those_of_the_original() -> None:
    """Both have a share for each range that either has; the shares of each add up to all."""
    before, after = (reidentification(np.array(sizes)) for sizes in ([1, 1, 2, 6], [10]))
    (panel,) = sizes_beside(before, after).panels
    assert panel.words == ("1", "2", "5 to 9", "10 to 19")
    assert dict(panel.series) == {"original": pytest.approx((0.2, 0.2, 0.6, 0)), "release": (0, 0, 0, 1)}


def test_of_many_columns_those_that_lost_most() -> None:
    """40 bars are drawn, and the caption says of how many."""
    picture = loss_picture({f"c{i}": i / 100 for i in range(60)})
    (panel,) = picture.panels
    assert (panel.words[0], len(panel.words)) == ("c59", 40)
    assert "40 of 60 columns" in picture.caption
