"""A sparse grid: a uniform grid of any number of cells that writes down only the cells whose noisy count reaches a threshold.

Privacy
-------
Released: the noisy number of rows (add-remove only), then the cells that survive the threshold with their noisy counts.
Empty cells draw noise like any other, all at once (the argument is in `privacy.mechanisms.survivors`). Neighbours: both
relations. Sensitivity: a row lies in one cell. Budget: a fiftieth for the number of rows, the rest to the cells, in pure
epsilon: a delta stays unspent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from cloister.clustering.domain import Domain
from cloister.clustering.progress import Progress
from cloister.clustering.synopsis.grid_sizes import LARGEST_EPSILON, check_cap, coarser_note, largest_side, uniform_side
from cloister.clustering.synopsis.noisy_cells import Built, even_cells, grid_boxes, inside_domain, variance_of
from cloister.clustering.synopsis.shapes import ShapeOptions
from cloister.clustering.terms import Terms, buy_size
from cloister.errors import UsageError
from cloister.kernels.cells import GridKeys
from cloister.privacy.budgets import PureDP
from cloister.privacy.mechanisms import Spend
from cloister.privacy.mechanisms.survivors import MOST_CELLS, Survivors
from cloister.privacy.plan import Plan, Step
from cloister.vault import Vault

__all__ = ["SparseGrid"]


@dataclass(frozen=True, slots=True)
class SparseGrid:
    """A uniform grid of which cells with a noisy count below the threshold are left out."""

    options: ShapeOptions

    @property
    def threshold(self) -> int:
        """The smallest noisy count that is written down."""
        threshold = self.options.threshold
        if isinstance(threshold, bool) or not isinstance(threshold, int | np.integer) or threshold < 1:
            raise UsageError("the threshold of a sparse grid must be a whole number of at least 1.")
        return int(threshold)

    def parameters(self) -> Mapping[str, object]:
        """The smallest noisy count that is written down."""
        return {"threshold": self.threshold}

    def check(self, domain: Domain, terms: Terms) -> None:
        """Refuse a threshold that is no count, more columns than cells can be numbered for, and noise that cannot be drawn."""
        _, scale = size_and_scale(terms)
        check_cap(len(domain.halves), 2, self.most_cells(scale))

    def most_cells(self, scale: Fraction) -> int:
        """As many cells as can be numbered, and of which no more are drawn for their noise than a dense grid may have."""
        drawn = Survivors(scale, self.threshold, 1).drawn_part()
        return int(min(MOST_CELLS, self.options.most_cells / max(drawn, 1 / MOST_CELLS)))

    def side(self, rows: float, scale: Fraction, columns: int) -> int:
        """Into how many intervals each column is cut: by the rule, and within that."""
        rule = uniform_side(rows, min(LARGEST_EPSILON, float(1 / scale)), columns)
        return min(rule, largest_side(columns, self.most_cells(scale)))

    def plan(self, domain: Domain, terms: Terms, rows: float) -> Plan:
        """What the grid would spend on about so many rows."""
        columns = len(domain.halves)
        size, scale = size_and_scale(terms)
        side = self.side(rows, scale, columns)
        cells = Survivors(scale, self.threshold, 1)
        noise = cells.deviation()["counts"]
        expect = {"cells": f"{side} ** {columns} cells, counts +-{noise:.3g}, those below {self.threshold} left out"}
        facts = {"rows": round(rows), "columns": columns, "method": "uniform-grid", "cells a column": side}
        events = (*([size.event] if size else []), cells.event("cells", terms.counting()))
        return Plan(terms.budget, terms.neighbours, events, expect, facts, unit=terms.protected)

    def build(self, vault: Vault, domain: Domain, terms: Terms, progress: Progress) -> Built:
        """Release the surviving cells inside an open vault."""
        columns = len(domain.halves)
        size, scale = size_and_scale(terms)
        rows = buy_size(vault, size, progress)
        side = self.side(rows, scale, columns)
        progress("cells")
        kernel = GridKeys(tuple(int(h) for h in domain.halves), (side,) * columns)
        released = vault.measure_keyed(kernel, Survivors(scale, self.threshold, side**columns), "cells")
        survivors = released.value
        boxes = grid_boxes(survivors.cells, side, domain)
        cells = even_cells(*boxes, survivors.counts, variance_of(released.deviation))
        is_coarser = side < uniform_side(rows, min(LARGEST_EPSILON, float(1 / scale)), columns)
        notes = (coarser_note(self.most_cells(scale)),) if is_coarser else ()
        return Built(inside_domain(cells, domain), rows, notes)

    def rest(self, terms: Terms) -> Spend:
        """A sparse grid is released by itself."""
        raise AssertionError("nothing follows a sparse grid")


def size_and_scale(terms: Terms) -> tuple[Step | None, Fraction]:
    """The step for the number of rows and the noise scale of the cells. Laplace always: a delta stays unspent."""
    spends = replace(terms, budget=PureDP(terms.budget.epsilon)).shares({"cells": 1})
    assert isinstance(spends["cells"], Fraction)
    return terms.size_step(spends.get("size")), terms.counting().l1("counts") / spends["cells"]
