"""How a long run reports which step it is at."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "silent"]

Progress = Callable[[str], None]
"""Is called with the name of each step when it begins."""


def silent(step: str) -> None:
    """Progress that goes nowhere."""
