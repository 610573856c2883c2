"""Names of centres stand where they can be read."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cloister.report import plot
from cloister.report.picture import CenterMap, Picture


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("across", [1, 3])
def test_a_name_is_in_no_other_mark_and_touches_no_other_name(seed: int, across: int) -> None:
    """Pairs of centres close together are named apart: neither reads as one number, nor lies in the other's mark."""
    chance = np.random.default_rng(seed)
    apart = np.array([[10.0, 10.0], [50.0, 80.0], [90.0, 30.0]])
    centers = np.repeat(apart, 2, axis=0) + chance.normal(0, 2, (6, 2))
    names, sizes = tuple(map(str, range(6))), tuple(chance.uniform(50, 100, 6).tolist())
    panel = CenterMap("", names, *map(tuple, centers.T.tolist()), sizes, x_limits=(0, 100), y_limits=(0, 100))
    figure = plot.figure([Picture("", (panel,) * across, across=across)])
    for axes in figure.axes:
        boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
        assert sorted(boxes) == sorted(names)
        assert not any(one.overlaps(other) for one, other in combinations(boxes.values(), 2))
        areas = axes.collections[-1].get_sizes()
        places = axes.transData.transform(centers)
        for name, box in boxes.items():
            middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
            reach = np.sqrt(areas) / 2 * figure.dpi / 72
            inside = np.hypot(*(places - middle).T) < reach
            assert not np.delete(inside, int(name)).any()


@pytest.mark.parametrize("limits", [(44.7, 54.1), (3.0, 91.0), (0.0, 1.0), (17.0, 90.0), (-2.0, 104.0)])
def test_an_axis_has_three_numbers_at_least(limits: tuple[float, float]) -> None:
    """Two do not say how the axis is divided."""
    panel = CenterMap("", ("0",), (limits[0],), (limits[1],), (1.0,), x_limits=limits, y_limits=limits)
    (axes,) = plot.figure([Picture("", (panel,))]).axes
    for axis in (axes.xaxis, axes.yaxis):
        assert sum(limits[0] <= place <= limits[1] for place in axis.get_majorticklocs()) >= 3
