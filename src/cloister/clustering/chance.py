"""Chance in public choices: starting points, restarts, made-up rows. Noise and secret samples never come from here."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["PublicChance", "public_chance"]

PublicChance = np.random.Generator  # public: who knows its seed learns nothing about a row


def public_chance(random_state: Any) -> PublicChance:
    """Chance that `random_state` makes repeatable: None, a seed, or a generator."""
    return np.random.default_rng(random_state)  # public
