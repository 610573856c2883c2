"""Bins of a histogram hold as many values each."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.report.value_bins import common_step, value_bins


@pytest.mark.parametrize(
    ("low", "high", "step"), [(17, 90, 1.0), (0, 99_999, 1.0), (-3, 25, 0.1), (0, 1200, 25.0), (5, 5, 1.0), (1, 16, 1.0)]
)
@pytest.mark.parametrize("most", [24, 30])
def test_every_bin_holds_as_many_values(low: float, high: float, step: float, most: int) -> None:
    """Values that are there once each fill every bin but the last alike, and none lies at an edge."""
    values = np.round(np.arange(low, high + step / 2, step), 6)
    edges = value_bins(values, most)
    counts = np.histogram(values, edges)[0]
    assert len(counts) <= most
    assert counts.sum() == len(values)
    assert len(set(counts[:-1].tolist())) <= 1
    if len(values) > 1:
        assert counts[-1] <= counts[0]
        assert np.allclose(np.diff(edges), edges[1] - edges[0])


def test_numbers_on_no_step_have_even_bins() -> None:
    """Between the lowest and the highest, as many as may be; so have no numbers at all."""
    numbers = np.random.default_rng(0).random(500)
    assert common_step(numbers) is None
    assert value_bins(numbers, 10).tolist() == np.linspace(numbers.min(), numbers.max(), 11).tolist()
    assert len(value_bins(np.empty(0), 10)) == 11
