"""The adapter that audits diffprivlib's k-means: its laws, and its verdict on walks as that library takes them."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
import pytest
from bench.audit import BoundedLaplaceLaw, FoldedGeometricLaw, audit_walks

COLUMNS, ROUNDS = 64, 2


def split(columns: int, swapped: bool) -> tuple[float, float]:
    """The epsilons of a count and of each sum in one round; 0.6.6 hands them out in the wrong order."""
    count, each = np.cbrt(4 * columns * 0.225**2), 1.0
    whole = 1 / ROUNDS / (columns * each + count)
    return (each * whole, count * whole) if swapped else (count * whole, each * whole)


def fake_walk(row: float, swapped: bool) -> dict[str, Any]:
    """500 rows at 0 and perhaps one at 1, in one cluster: a count and 64 sums a round, with the same draws for any row."""
    count, each = split(COLUMNS, swapped)
    scale = 1 / (
        each / 2
    )  # about what the library's bounded noise has in the middle of a wide domain; at its end that is `each`
    steps = []
    for _ in range(ROUNDS):
        steps.append({"kind": "GeometricFolded", "scale": 1 / count, "lower": 0.5, "exact": 500 + row, "released": 503.0})
        one = {"kind": "LaplaceBoundedDomain", "scale": scale, "lower": 0.0, "upper": 1e6, "exact": row, "released": 4.0}
        steps += [one] * COLUMNS
    return {"steps": steps, "error": None}


def test_parts_in_the_wrong_order_are_found() -> None:
    """64 columns: 2.3 times the claimed epsilon; in the right order the claim holds."""
    wrong = audit_walks(fake_walk(1.0, swapped=True), fake_walk(0.0, swapped=True), 1.0)
    assert wrong.largest_loss == pytest.approx(2.28, abs=0.05)
    assert not wrong.holds
    right = audit_walks(fake_walk(1.0, swapped=False), fake_walk(0.0, swapped=False), 1.0)
    assert right.largest_loss == pytest.approx(1.0, abs=0.02)


def test_a_cluster_that_draws_no_noise_is_found() -> None:
    """Rows decide how often noise is drawn."""
    shorter = fake_walk(0.0, swapped=False)
    shorter["steps"] = shorter["steps"][: COLUMNS + 1]
    assert "rows decide" in audit_walks(fake_walk(1.0, swapped=False), shorter, 1.0).findings[0]


def integral(heights: Any, places: Any) -> float:
    """By trapezoids: older versions of NumPy have another name for it."""
    return float(((heights[1:] + heights[:-1]) / 2 * np.diff(places)).sum())


def test_the_laws_are_distributions() -> None:
    """They add up to one, from which the losses follow."""
    law = BoundedLaplaceLaw(2.0, 0.0, 5.0)
    x = np.linspace(0, 5, 100_001)
    for exact in (0.0, 1.3, 5.0):
        density = np.exp(-np.abs(x - exact) / 2) / (4 * law.kept(exact))
        assert integral(density, x) == pytest.approx(1, rel=1e-6)
    folded, a = FoldedGeometricLaw(1 / log(2), 0.5), exp(-log(2))
    for count in (0, 1, 6):
        total = sum(folded.chance(k, count) for k in range(1, 200)) * (1 - a) / (1 + a)
        assert total == pytest.approx(1)
