"""Long names in a picture fit their panels and are told apart."""

from __future__ import annotations

from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from cloister.report import plot
from cloister.report.picture import CenterMap, CenterProfile, HeatAxis, HeatMap, MeasuredBars, MeasuredSteps, Picture
from cloister.report.plot import fit_names
from cloister.report.plot.distinct_names import shorten_names
from tests.report.pictures import EVERY_PANEL

WORDS = ("food", "housing", "clothing")
NAMES = tuple(f"average_monthly_household_expenditure_on_{word}_in_euro" for word in WORDS)
SHARED = "average_monthly_household_expenditure_on_…_in_euro"


@pytest.mark.parametrize("are_related", [True, False])
@pytest.mark.parametrize("longest", [12, 16, 24, 60])
@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        tuple(f"{'x' * 40}{i}{'y' * 40}" for i in range(12)),
        ("a" * 50, "a" * 51, "a" * 52, "b"),
        ("one_long_prefix_" * 3 + "x", "one_long_prefix_" * 3, "another_long_prefix_" * 3 + "y"),
    ],
)
def test_names_that_differ_look_different(names: tuple[str, ...], longest: int, are_related: bool) -> None:
    """Each is short enough, and no two are written alike."""
    texts = shorten_names(names, longest, are_related=are_related).texts
    assert len(set(texts.values())) == len(names)
    assert max(map(len, texts.values())) <= longest


def test_names_that_fit_are_left_as_they_are() -> None:
    """Nothing is taken from short names, whatever they share; one long name alone is cut in its middle."""
    assert shorten_names(["paid_food", "paid_rent"], 20).texts == {"paid_food": "paid_food", "paid_rent": "paid_rent"}
    assert shorten_names(["sex", NAMES[0]], 20).texts["sex"] == "sex"
    assert fit_names(Picture("few", (MeasuredSteps("", (0, 1), (1,), x_label="pay"),), "Rows.")).caption == "Rows."


def test_a_picture_leaves_out_what_its_names_share() -> None:
    """Labels, titles and rows have what tells them apart; the caption says what they share, once."""
    profile = CenterProfile("", ("0",), NAMES, ((0.1,),) * 3)
    pair = CenterMap("", ("0",), (1.0,), (1.0,), (5.0,), x_label=NAMES[0], y_label=NAMES[1])
    heat = HeatMap("", HeatAxis(NAMES[0], edges=(0, 1)), HeatAxis(NAMES[1], edges=(0, 1)), ((1.0,),))
    fitted = fit_names(Picture(f"Rows by {NAMES[0]} and {NAMES[1]}", (profile, pair, heat), "Rows.", across=3))
    assert fitted.panels[0].columns == ("…food…", "…housing…", "…clothing…")
    assert (fitted.panels[1].x_label, fitted.panels[1].y_label) == ("…food…", "…housing…")
    assert (fitted.panels[2].x.label, fitted.title) == ("…food…", "Rows by …food… and …housing…")
    assert fitted.caption == f"Rows. Names are without what they share: {SHARED}."
    assert fit_names(fitted) == fitted


def test_the_note_of_a_title_is_not_cut() -> None:
    """A long question still says how many of its values are shown."""
    drawn = plot.figure([Picture("", (MeasuredBars(NAMES[0] * 2, ("a",), (1.0,), note="(25 of 41 values)"),) * 2)])
    titles = [axes.get_title(loc="left") for axes in drawn.findobj(match=lambda part: hasattr(part, "get_title"))]
    assert [title[-18:] for title in titles] == [" (25 of 41 values)"] * 2


@pytest.mark.parametrize("across", [1, 2, 3])
def test_no_label_leaves_its_place(across: int) -> None:
    """Labels of axes end where the page does and do not touch those of the panel beside them."""
    panel = CenterMap("", ("0",), (1.0,), (1.0,), (5.0,), x_label=NAMES[0] + "W" * 40, y_label="y" * 90)
    drawn = plot.figure([Picture(NAMES[0] * 4, (panel,) * across, across=across)])
    renderer = FigureCanvasAgg(drawn).get_renderer()
    labels = [
        axes.xaxis.label.get_window_extent(renderer) for axes in drawn.findobj(match=lambda part: hasattr(part, "xaxis"))
    ]
    assert all(box.x0 >= 0 and box.x1 <= drawn.bbox.x1 for box in labels)
    ordered = sorted(labels, key=lambda box: box.x0)
    assert all(left.x1 < right.x0 for left, right in pairwise(ordered))
    titles = [text.get_window_extent(renderer) for text in drawn.findobj(Text) if NAMES[0][:30] in text.get_text()]
    assert all(box.x1 <= drawn.bbox.x1 for box in titles)


def test_hostile_names_are_fitted() -> None:
    """Every panel is fitted and still drawn."""
    fitted = fit_names(EVERY_PANEL)
    assert len(fitted.panels) == len(EVERY_PANEL.panels)
    assert plot.inline_svg(fitted).startswith("<svg")
