"""Charts as pictures."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from cloister.errors import UsageError
from cloister.report.plot import check_drawable, draw
from tests.report.documents import CHART


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
    with pytest.raises(UsageError, match=r"\.png or \.svg"):
        check_drawable("curve.gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match="pip install"):
        check_drawable("curve.svg")
