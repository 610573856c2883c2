"""An observer sees exact values, and everything released meanwhile is stamped."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cloister.errors import UsageError
from cloister.kernels import Summary
from cloister.privacy import noise
from cloister.privacy.mechanisms import Laplace, add_noise
from cloister.privacy.mechanisms.base import KeyedMechanism
from cloister.privacy.mechanisms.split_tree import SplitTree
from cloister.privacy.mechanisms.survivors import Survivors
from cloister.privacy.observing import observed
from cloister.privacy.secret_draws import secret_draw

SUMMARY = Summary({"counts": np.array([5])})


class Watcher:
    """Writes down what it sees, and hands out nothing but zeros."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def release(self, mechanism: Any, exact: Any, draw: Callable[[], Any]) -> Any:
        self.seen.append(exact)
        return "instead"

    def sample_rate(self, rate: Fraction) -> Fraction:
        self.seen.append(rate)
        return Fraction(1)


def test_an_observer_comes_with_seeded_noise() -> None:
    """Inside noise is seeded, so a release is stamped; outside nothing is left of it."""
    watcher = Watcher()
    with observed(watcher, seed=1):
        assert noise.is_seeded()
        assert add_noise(Laplace({"counts": Fraction(1)}), SUMMARY) == "instead"
        assert secret_draw(Fraction(1, 4)).keep(np.arange(100, dtype=np.uint64), 0).all()
    assert watcher.seen == [SUMMARY, Fraction(1, 4)]
    assert not noise.is_seeded()
    assert isinstance(add_noise(Laplace({"counts": Fraction(1)}), SUMMARY), Summary)
    assert len(watcher.seen) == 2


@pytest.mark.parametrize("mechanism", [Survivors(Fraction(1), 1, 8), SplitTree(Fraction(3), 3, 3)])
def test_keyed_mechanisms_are_observed(mechanism: KeyedMechanism[Any]) -> None:
    """Each of them, or an audit would miss its steps."""
    watcher = Watcher()
    with observed(watcher, seed=1):
        assert mechanism.apply(np.array([2]), np.array([4])) == "instead"
    assert len(watcher.seen) == 1


def test_one_observer_at_a_time() -> None:
    """And none inside seeded noise."""
    with observed(Watcher(), seed=1), pytest.raises(UsageError), observed(Watcher(), seed=2):
        pass
