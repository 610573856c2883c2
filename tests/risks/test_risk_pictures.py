"""Pictures of risk hold the numbers of the report, and say for whom they are."""

from __future__ import annotations

import numpy as np
import pytest

import cloister as cl
from cloister.report import plot
from cloister.report.picture import MeasuredBars, Picture
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


def test_combinations_have_the_room_that_their_names_need() -> None:
    """Long ones stand on a line of their own panel, and no two look alike."""
    names = [f"a column of the table {i}" for i in range(4)]
    report = cl.risk({name: [row // 3**i % 3 for row in range(81)] for i, name in enumerate(names)}, search=4)
    (*_, picture) = report.pictures()
    assert picture.across == 1
    drawn = plot.figure([picture]).axes[0].get_yticklabels()
    assert len({label.get_text() for label in drawn}) == len(drawn) == len(report.combinations)


def test_nothing_is_drawn_of_nothing() -> None:
    """Where no column singles out and no sensitive value is certain, bars of 0% are not drawn."""
    table = {"age": [20, 20, 31, 31] * 20, "illness": ["flu", "none"] * 40}
    report = cl.risk(table, quasi=["age"], sensitive=["illness"], search=1)
    assert [each.certain for each in report.sensitive] == [0]
    assert [picture.title for picture in report.pictures()] == ["Risk of 80 rows"]


def test_the_line_of_a_threshold_runs_through_no_number() -> None:
    """Numbers that it would cross stand behind it."""
    shares = (0.01, 0.08, 0.15, 0.19, 0.21, 1.0)
    bars = MeasuredBars("", tuple("abcdef"), shares, is_share=True, least_end=1.0, line=(0.2, "threshold"))
    for across in (1, 2):
        drawn = plot.figure([Picture("", (bars,) * across)])
        for axes in drawn.axes:
            line = axes.transData.transform((0.2, 0))[0]
            boxes = [text.get_window_extent() for text in axes.texts]
            assert len(boxes) == len(shares)
            assert not any(box.x0 <= line <= box.x1 for box in boxes)


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
    picture = sizes_beside(before, after)
    (panel,) = picture.panels
    assert [text.get_text() for text in plot.figure([picture]).axes[0].get_legend().get_texts()] == ["original", "release"]
    assert "Blue: the original. Orange: the release." in picture.caption
    assert panel.words == ("1", "2", "5 to 9", "10 to 19")
    assert dict(panel.series) == {"original": pytest.approx((0.2, 0.2, 0.6, 0)), "release": (0, 0, 0, 1)}


def test_of_many_columns_those_that_lost_most() -> None:
    """40 bars are drawn, and the caption says of how many."""
    picture = loss_picture({f"c{i}": i / 100 for i in range(60)})
    (panel,) = picture.panels
    assert (panel.words[0], len(panel.words)) == ("c59", 40)
    assert "40 of 60 columns" in picture.caption
