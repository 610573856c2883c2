"""The seam between a synopsis and the ways to cut a domain into cells: the `Shape` protocol and the registry of shapes.

A new shape is one file with a class that follows the protocol, and one line in `SHAPES`; thereby it also becomes a
method of `KMeans`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Protocol

from cloister.errors import UsageError
from cloister.parameters import unknown_choice

if TYPE_CHECKING:  # the command line lists the shapes in its help, and loads none of this for it
    from cloister.clustering.domain import Domain
    from cloister.clustering.progress import Progress
    from cloister.clustering.synopsis.noisy_cells import Built
    from cloister.clustering.terms import Terms
    from cloister.privacy.budgets import Number
    from cloister.privacy.mechanisms import Spend
    from cloister.privacy.plan import Plan
    from cloister.vault import Vault

__all__ = ["ANY_ROWS", "MOST_CELLS", "SHAPES", "Shape", "ShapeOptions", "find_shape"]

ANY_ROWS = 1.0  # what a plan is made with whose events are the same for every number of rows
MOST_CELLS = 2**22  # of a dense grid, and leaves of a tree

SHAPES: Mapping[str, str] = {  # name -> where its class is; loaded when it is asked for
    "uniform-grid": "cloister.clustering.synopsis.uniform_grid:UniformGrid",
    "adaptive-grid": "cloister.clustering.synopsis.adaptive_grid:AdaptiveGrid",
    "tree": "cloister.clustering.synopsis.midpoint_tree:MidpointTree",
}
SPARSE = "cloister.clustering.synopsis.sparse_grid:SparseGrid"  # a uniform grid with a threshold


@dataclass(frozen=True, slots=True)
class ShapeOptions:
    """What a user may set of a shape; each shape takes what concerns it."""

    alpha: Number = "0.5"  # the first level's part of an adaptive grid's budget
    threshold: int | None = None  # of a uniform grid: cells with a smaller noisy count are left out
    most_cells: int = MOST_CELLS
    c1: Number | None = None  # of an adaptive grid's first level: a larger one makes it coarser; None: 10
    c2: Number | None = None  # of its second level; None: 5

    def __post_init__(self) -> None:
        if isinstance(self.most_cells, bool) or not isinstance(self.most_cells, Integral) or self.most_cells < 1:
            raise UsageError("most_cells must be a whole number of at least 1.")


class Shape(Protocol):
    """One way to cut a domain into cells and to release their counts."""

    def __init__(self, options: ShapeOptions) -> None: ...

    def parameters(self) -> Mapping[str, object]:
        """The options that this shape used, for the certificate."""
        ...

    def check(self, domain: Domain, terms: Terms) -> None:
        """Refuse, before a charge, what can be known to be wrong without the rows."""
        ...

    def plan(self, domain: Domain, terms: Terms, rows: float) -> Plan:
        """What cells of about so many rows would spend and what to expect of them; no row is read.

        What is spent is the same for every number of rows: the vault follows the plan from the first step on.
        """
        ...

    def build(self, vault: Vault, domain: Domain, terms: Terms, progress: Progress) -> Built:
        """The cells, released inside an open vault."""
        ...

    def rest(self, terms: Terms) -> Spend:
        """What is left for the rounds that follow, where the terms keep a rest."""
        ...


def find_shape(method: str, options: ShapeOptions | None = None) -> Shape:
    """The shape of this name, with its options."""
    options = options or ShapeOptions()
    if not isinstance(method, str) or method not in SHAPES:
        raise unknown_choice("method", method, SHAPES)
    if options.threshold is not None and method != "uniform-grid":
        raise UsageError("a threshold goes with method uniform-grid: the sparse grid.")
    if method != "adaptive-grid" and (options.c1, options.c2) != (None, None):
        raise UsageError("c1 and c2 are constants of method adaptive-grid. Leave them out.")
    module, _, kind = (SHAPES[method] if options.threshold is None else SPARSE).partition(":")
    shape: Shape = getattr(import_module(module), kind)(options)
    return shape
