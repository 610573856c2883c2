"""Chance in public choices: starting points, restarts, made-up rows. Noise and secret samples never come from here."""

from __future__ import annotations

from typing import Any

import numpy as np

from cloister.errors import UsageError

__all__ = ["PublicChance", "public_chance"]

PublicChance = np.random.Generator  # public: who knows its seed learns nothing about a row


def public_chance(random_state: Any) -> PublicChance:
    """Chance that `random_state` makes repeatable: None, a seed, or a generator."""
    try:
        return np.random.default_rng(random_state)  # public
    except (TypeError, ValueError, OverflowError):
        raise UsageError("random_state must be a whole number of at least 0, or a numpy.random.Generator.") from None
