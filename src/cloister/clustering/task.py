"""What a clustering method works on, from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass

from cloister.clustering.domain import Domain
from cloister.clustering.seeding.evolution_options import OWN_EVOLUTION, EvolutionOptions
from cloister.clustering.terms import Terms
from cloister.encode import Bins, Encoding

__all__ = ["Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """Columns, where their values may lie, what may be spent, and how many clusters are wanted."""

    names: tuple[str, ...]
    domain: Domain | None  # None: bounds are estimated inside the budget
    terms: Terms
    clusters: int | None  # None: their number is chosen from what is released
    rounds: int | None = None  # of Lloyd; None: as many as the budget carries
    seeding: str | None = None  # where the centres start; None: the method's own
    scale: str | None = "bounds"  # of the domain that is made from estimated bounds
    evolution: EvolutionOptions = OWN_EVOLUTION  # of the seeding of that name
    schedule: str | None = None  # how the rounds of Lloyd share the budget; None: equally
    tolerance: float | None = None  # Lloyd stops when no centre moves as far, in units of the domain; None: it does not
    gammas: tuple[int, ...] = ()  # what a differing category adds, in squared grid steps: one for all clusters, or one each;
    # none: found inside the budget

    @property
    def gamma(self) -> int | None:
        """What a differing category adds while there are no clusters yet: the mean of those given."""
        return round(sum(self.gammas) / len(self.gammas)) if self.gammas else None

    @property
    def encoding(self) -> Encoding:
        """How rows are read at first: on the grid, or only counted while the bounds are not known."""
        if self.domain is not None:
            return self.domain.encoding
        return Encoding(categories=tuple(Bins(name, ()) for name in self.names))
