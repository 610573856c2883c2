"""Where Lloyd starts: public centres, or centres of the cells of a synopsis that is bought from the same budget.

Privacy
-------
"packing" looks at public bounds and public random numbers alone. Every other seeding is of released cells: a third of the
budget buys an adaptive grid (a tree beyond three columns), clustering its cells is free, and the rounds and the loss have the
rest.
Paper 000 starts from the optimized Canopy on the rows themselves, paper 003 from rows with noise or an evolution that is scored
on the rows. Each centre of such a start is a row, or follows from all of them: they leak. On released cells both are free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from cloister.clustering.chance import PublicChance
from cloister.clustering.loss_step import LOSS_SHARE
from cloister.clustering.progress import Progress
from cloister.clustering.seeding.evolution_options import check_genomes
from cloister.clustering.seeding.packing import sphere_packing
from cloister.clustering.seeding.weighted import SEEDINGS, check_seeding
from cloister.clustering.synopsis.cell_clusters import MOST_CLUSTERS, Estimate, release_and_cluster, shape_for
from cloister.clustering.synopsis.shapes import Shape, find_shape
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms, buy_size
from cloister.errors import UsageError
from cloister.privacy.events import Event
from cloister.privacy.mechanisms import Spend, cut
from cloister.privacy.plan import Step
from cloister.vault import Vault

__all__ = ["LLOYD_SEEDINGS", "LloydStart", "Started", "find_start"]

PACKING = "packing"
LLOYD_SEEDINGS = (PACKING, *SEEDINGS)
CELLS_PART = Fraction(1, 3)  # of the budget, for the cells that a start is found from


@dataclass(frozen=True, slots=True)
class Started:
    """Where the rounds begin: released or public."""

    estimate: Estimate
    rows: float  # about how many there are, at least 1
    notes: tuple[str, ...] = ()


class LloydStart(Protocol):
    """One way to the first centres: what it spends before the rounds, and how it finds them."""

    def check(self) -> None:
        """Refuse, before a charge, what can be known to be wrong without the rows."""
        ...

    def steps(self, rows: float) -> tuple[tuple[Event, ...], Mapping[str, str]]:
        """What is spent before the rounds, the same for every number of rows, and what to expect of it."""
        ...

    def rest(self) -> Spend:
        """What is left for all rounds together."""
        ...

    def loss(self) -> Spend:
        """What is left for the loss of the last centres."""
        ...

    def words(self) -> str:
        """What it is, for a certificate."""
        ...

    def find(self, vault: Vault, random: PublicChance, progress: Progress) -> Started:
        """The first centres, inside an open vault."""
        ...


def find_start(task: Task) -> LloydStart:
    """The start that the task's seeding names; by default the public one."""
    seeding = task.seeding or PACKING
    return PackedStart(task) if seeding == PACKING else CellStart(task, seeding)


@dataclass(frozen=True, slots=True)
class PackedStart:
    """Sphere packing over public bounds: only the number of rows is bought."""

    task: Task

    def check(self) -> None:
        """A packing is of a number of spheres."""
        if self.task.clusters is None:
            raise UsageError(
                'method "lloyd" needs a number of clusters, unless its seeding is one of: '
                f'{", ".join(SEEDINGS)}. Give one of both, or use method "votes".'
            )

    @property
    def spends(self) -> Mapping[str, Spend]:
        """What the number of rows (where it is bought), the rounds and the loss may cost."""
        return self.task.terms.shares({"rounds": 1 - LOSS_SHARE, "loss": LOSS_SHARE})

    @property
    def size(self) -> Step | None:
        """The step that buys the number of rows; None where it is public."""
        return self.task.terms.size_step(self.spends.get("size"))

    def steps(self, rows: float) -> tuple[tuple[Event, ...], Mapping[str, str]]:
        """The number of rows, where it is private."""
        size = self.size
        if size is None:
            return (), {}
        return (size.event,), {"size": f"number of rows +-{size.mechanism.deviation()['counts']:.3g}"}

    def rest(self) -> Spend:
        """All but what the number of rows and the loss cost."""
        return self.spends["rounds"]

    def loss(self) -> Spend:
        """Its share of the budget."""
        return self.spends["loss"]

    def words(self) -> str:
        """Public."""
        return "packing: public centres, far from each other and from the bounds"

    def find(self, vault: Vault, random: PublicChance, progress: Progress) -> Started:
        """Spheres that fill the domain."""
        domain, clusters = self.task.domain, self.task.clusters
        assert domain is not None
        assert clusters is not None
        rows = buy_size(vault, self.size, progress)
        centers = sphere_packing(domain, clusters, random)
        return Started(Estimate(centers, np.full(clusters, rows / clusters), np.full(centers.shape, np.inf)), rows)


@dataclass(frozen=True, slots=True)
class CellStart:
    """The cells of a synopsis for a part of the budget, clustered from this seeding."""

    task: Task
    seeding: str

    @property
    def terms(self) -> Terms:
        """What the synopsis may spend: the rest is kept for the rounds and the loss."""
        return replace(self.task.terms, rest=1 - CELLS_PART)

    @property
    def shape(self) -> Shape:
        """How the domain is cut into cells."""
        return find_shape(shape_for(len(self.task.names)))

    def check(self) -> None:
        """The seeding runs here, and the cells can be bought."""
        domain = self.task.domain
        assert domain is not None
        check_seeding(self.seeding)
        check_genomes(self.task.evolution, self.task.clusters or MOST_CLUSTERS, len(domain.halves))
        self.shape.check(domain, self.terms)

    def steps(self, rows: float) -> tuple[tuple[Event, ...], Mapping[str, str]]:
        """Those of the synopsis."""
        assert self.task.domain is not None
        plan = self.shape.plan(self.task.domain, self.terms, rows)
        return plan.events, plan.expect

    def rest(self) -> Spend:
        """What the synopsis and the loss leave."""
        return self.spends["rounds"]

    def loss(self) -> Spend:
        """Its share of the budget."""
        return self.spends["loss"]

    @property
    def spends(self) -> Mapping[str, Spend]:
        """How the rounds and the loss share what the synopsis leaves."""
        return cut(self.shape.rest(self.terms), {"rounds": 1 - CELLS_PART - LOSS_SHARE, "loss": LOSS_SHARE})

    def words(self) -> str:
        """What was bought, and what it was clustered from."""
        shape = shape_for(len(self.task.names))
        bought = f"{self.seeding}, of the cells of a synopsis ({shape}) for {CELLS_PART} of the budget"
        return f"{bought} ({self.task.evolution.words()})" if self.seeding == "evolution" else bought

    def find(self, vault: Vault, random: PublicChance, progress: Progress) -> Started:
        """Centres of the released cells."""
        shape = shape_for(len(self.task.names))
        cells = release_and_cluster(vault, self.task, shape, self.terms, self.seeding, random, progress)
        return Started(cells.estimate, max(1.0, cells.total), cells.notes)
