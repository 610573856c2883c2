"""A uniform grid: all cells of one size, each with a noisy count.

Privacy
-------
Released: the noisy number of rows (add-remove only), then the noisy counts of all cells. Neighbours: both relations.
Sensitivity: a row lies in one cell. Budget: a fiftieth for the number of rows, the rest to the cells. Post-processing: the
total, leaving out cells that lie outside a public ball.

References
----------
D. Su et al., "Differentially private k-means clustering", CODASPY 2016, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cloister.clustering.domain import Domain
from cloister.clustering.progress import Progress
from cloister.clustering.synopsis.consistency import best_total
from cloister.clustering.synopsis.grid_sizes import check_cap, coarser_note, largest_side, rule_epsilon, uniform_side
from cloister.clustering.synopsis.noisy_cells import Built, even_cells, grid_boxes, inside_domain, variance_of
from cloister.clustering.synopsis.shapes import ShapeOptions
from cloister.clustering.terms import Terms, buy_size
from cloister.kernels.cells import GridCells
from cloister.privacy.mechanisms import Spend
from cloister.privacy.plan import Plan, Step, make_step
from cloister.vault import Vault

__all__ = ["UniformGrid"]


@dataclass(frozen=True, slots=True)
class UniformGrid:
    """As many cells as the number of rows and the budget carry."""

    options: ShapeOptions

    def parameters(self) -> Mapping[str, object]:
        """None that the released cells do not show."""
        return {}

    def check(self, domain: Domain, terms: Terms) -> None:
        """Refuse so many columns that two intervals of each are too many cells, and noise that cannot be drawn."""
        check_cap(len(domain.halves), 2, self.options.most_cells)
        steps(terms)

    def plan(self, domain: Domain, terms: Terms, rows: float) -> Plan:
        """What the grid would spend on about so many rows."""
        columns = len(domain.halves)
        size, cells = steps(terms)
        side = self.side(rows, cells, columns)
        expect = {"cells": f"{side} ** {columns} cells, counts +-{cells.mechanism.deviation()['counts']:.3g}"}
        if size is not None:
            expect = {"size": f"number of rows +-{size.mechanism.deviation()['counts']:.3g}", **expect}
        facts = {"rows": round(rows), "columns": columns, "method": "uniform-grid", "cells a column": side}
        events = (*([size.event] if size else []), cells.event)
        return Plan(terms.budget, terms.neighbours, events, expect, facts, unit=terms.protected)

    def build(self, vault: Vault, domain: Domain, terms: Terms, progress: Progress) -> Built:
        """Release the grid inside an open vault."""
        columns = len(domain.halves)
        size, step = steps(terms)
        rows = buy_size(vault, size, progress)
        side = self.side(rows, step, columns)
        progress("cells")
        kernel = GridCells(tuple(int(h) for h in domain.halves), (side,) * columns)
        released = vault.measure(kernel, step.mechanism, "cells")
        counts, variance = released.value["counts"], variance_of(released.deviation)
        cells = even_cells(*grid_boxes(np.arange(len(counts)), side, domain), counts, variance)
        total = best_total(size, rows, float(counts.sum()), variance * len(counts))
        is_coarser = side < uniform_side(rows, rule_epsilon(step.mechanism), columns)
        return Built(inside_domain(cells, domain), total, (coarser_note(self.options.most_cells),) if is_coarser else ())

    def side(self, rows: float, cells: Step, columns: int) -> int:
        """Into how many intervals each column is cut: by the rule, and within the cap."""
        rule = uniform_side(rows, rule_epsilon(cells.mechanism), columns)
        return min(rule, largest_side(columns, self.options.most_cells))

    def rest(self, terms: Terms) -> Spend:
        """What is left for the rounds that follow."""
        return terms.shares({"cells": 1})["rest"]


def steps(terms: Terms) -> tuple[Step | None, Step]:
    """The number of rows, where that is bought, and all cells."""
    spends = terms.shares({"cells": 1})
    return terms.size_step(spends.get("size")), make_step("cells", terms.counting(), spends["cells"])
