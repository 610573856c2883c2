"""Attacks on what is claimed: an algorithm is run many times on two neighbouring tables, and its epsilon bounded from below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.privacy.budgets import PureDP
from cloister.testing.black_box import attack, compare_outputs

__all__ = ["CONFIDENCE", "FOUND", "attack_claim", "attack_outputs", "claim_row"]

CONFIDENCE = 0.999
FOUND = "epsilon that an attack finds, at least"


def claim_row(setting: str, claimed: float, source: str, note: str = "") -> ReproducedRow:
    """What the paper says that no attack passes."""
    return ReproducedRow(setting, "printed", FOUND, claimed, source, claimed=claimed, note=note)


def attack_claim(
    setting: str,
    form: Form,
    mechanism: Callable[[Any], Any],
    neighbours: tuple[Any, Any],
    *,
    claimed: float,
    epsilon: float,
    source: str,
    runs: int,
) -> ReproducedRow:
    """A lower bound on the epsilon of a mechanism by Clopper-Pearson, which fails once in a thousand attacks.

    `epsilon` is what is proved of it (`math.inf`: nothing). A bound needs about e^epsilon runs.
    """
    found = attack(mechanism, neighbours, PureDP(claimed), runs, CONFIDENCE)
    return _row(setting, form, found.lower_bound, claimed, epsilon, source, runs)


def attack_outputs(
    setting: str,
    form: Form,
    outputs: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    claimed: float,
    epsilon: float,
    source: str,
) -> ReproducedRow:
    """The same of outputs that were drawn at once, a run a row, (runs, numbers), on each of two neighbouring tables."""
    found = compare_outputs(*outputs, PureDP(claimed), CONFIDENCE)
    return _row(setting, form, found.lower_bound, claimed, epsilon, source, len(outputs[0]))


def _row(setting: str, form: Form, bound: float, claimed: float, epsilon: float, source: str, runs: int) -> ReproducedRow:
    note = f"lower bound at {CONFIDENCE:.1%} confidence, {runs:,} runs a table"
    return ReproducedRow(setting, form, FOUND, bound, source, claimed=claimed, epsilon=epsilon, note=note)
