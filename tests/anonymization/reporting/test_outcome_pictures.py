"""Pictures of what anonymizing lost hold the numbers of the outcome."""

from __future__ import annotations

import pytest

import cloister as cl
from cloister.errors import UsageError

TABLE = {"age": [20, 20, 31, 31, 47, 47, 60, 60] * 5, "sex": ["f", "m"] * 20}


def test_losses_and_sizes_are_the_outcomes() -> None:
    """The loss of each column, and the shares by class size before and after, for the holder only."""
    model = cl.TopDownSpecialization(k=10, quasi=["age", "sex"], identifiers=[])
    with pytest.raises(UsageError, match="dry_run first"):
        model.plot()
    outcome = model.dry_run(TABLE).outcome
    lost, sizes = model.pictures()
    assert lost.for_holder
    assert sizes.for_holder
    assert dict(zip(lost.panels[0].words, lost.panels[0].values, strict=True)) == outcome.losses
    assert all(sum(shares) == pytest.approx(1) for _, shares in sizes.panels[0].series)
