"""Charts as pictures."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cloister.errors import UsageError
from cloister.report import plot
from cloister.report.picture import Picture
from cloister.report.plot import check_drawable, draw
from tests.report.documents import CHART
from tests.report.pictures import EVERY_PANEL


@pytest.mark.parametrize("right", [CHART.right, None])
def test_a_chart_is_drawn(tmp_path: Path, right: object) -> None:
    """As SVG and PNG, with one axis or two."""
    chart = dataclasses.replace(CHART, right=right)
    for name in ("chart.svg", "chart.png"):
        draw(chart, tmp_path / name)
    assert "<svg" in (tmp_path / "chart.svg").read_text()
    assert (tmp_path / "chart.png").read_bytes()[:5] == b"\x89PNG\r"


def test_what_cannot_be_drawn_is_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another format, or no matplotlib: the sentence says what to do."""
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf"):
        check_drawable("curve.gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match="pip install"):
        check_drawable("curve.svg")


def test_pictures_are_files(tmp_path: Path) -> None:
    """Pictures are drawn as PNG, SVG and PDF; the same pictures are the same SVG, and it is XML that loads nothing."""
    few = Picture("few", EVERY_PANEL.panels[2:8])
    for name, pictures in (("a.png", [EVERY_PANEL]), ("a.svg", [few, few]), ("a.pdf", [few]), ("b.svg", [few, few])):
        plot.save(pictures, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes()[:5] == b"\x89PNG\r"
    assert (tmp_path / "a.pdf").read_bytes()[:5] == b"%PDF-"
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    places = {
        value for element in ElementTree.fromstring(text).iter() for key, value in element.attrib.items() if "href" in key
    }
    assert all(place.startswith(("#", "data:image/png")) for place in places)


def test_what_is_for_the_holder_says_so_and_is_the_owners(tmp_path: Path) -> None:
    """The title has it, and nobody else may read the file."""
    plot.save([Picture("Sizes", EVERY_PANEL.panels[:1], for_holder=True)], tmp_path / "a.svg")
    assert "Sizes (for the holder only)" in (tmp_path / "a.svg").read_text()
    assert (tmp_path / "a.svg").stat().st_mode & 0o077 == 0


def test_a_figure_shows_itself() -> None:
    """It is a matplotlib figure, which a notebook shows as an image."""
    figure = plot.figure([Picture("few", EVERY_PANEL.panels[:2])])
    assert figure.get_size_inches()[0] == pytest.approx(6.4)
    assert figure._repr_png_()[:5] == b"\x89PNG\r"
