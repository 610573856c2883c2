"""What is to be clustered, from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass

from cloister.clustering.domain import Domain
from cloister.privacy.budgets import Budget
from cloister.schema import Neighbours

__all__ = ["Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """Columns, where their values may lie, how many clusters are wanted, and the budget."""

    names: tuple[str, ...]
    domain: Domain | None  # None: bounds are found inside the budget
    scale: str | None
    clusters: int | None  # None: their number is chosen from what is released
    budget: Budget
    neighbours: Neighbours
    rounds: int | None = None  # of Lloyd; None: as many as the budget carries
