"""LETEO's adaptive grid: a coarse grid first, then each of its cells cut as finely as its noisy count is worth.

Privacy
-------
Released: the noisy number of rows (add-remove only), then the noisy counts of all cells of the first level, then of the
second, whose shape follows from the released first. Neighbours: both relations. Sensitivity: a row lies in one cell of each
level. Budget: a fiftieth for the number of rows; alpha of the rest to the first level. Post-processing: consistency of
the two levels, the total, leaving out cells that lie outside a public ball.

References
----------
LETEO technical report, 2021, section 4.2: the rules, in any number of columns, with constants c1 and c2 that it does not print.
W. Qardaji, W. Yang and N. Li, "Differentially private grids for geospatial data", ICDE 2013: where the rules come from; the
constants that are taken here, c1 = 10 and c2 = 5, are theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cloister.clustering.domain import Domain
from cloister.clustering.progress import Progress
from cloister.clustering.synopsis.consistency import agree, best_total
from cloister.clustering.synopsis.grid_sizes import (
    C1,
    C2,
    capped_sides,
    check_cap,
    coarser_note,
    first_side,
    largest_side,
    rule_epsilon,
    second_sides,
)
from cloister.clustering.synopsis.noisy_cells import Built, Cells, inside_domain, nested_boxes, variance_of
from cloister.clustering.synopsis.shapes import ShapeOptions
from cloister.clustering.terms import Terms, buy_size
from cloister.errors import UsageError
from cloister.kernels.cells import GridCells, NestedCells, most_intervals
from cloister.privacy.budgets import Number, exact
from cloister.privacy.mechanisms import Spend
from cloister.privacy.plan import Plan, Step, make_step
from cloister.vault import Vault

__all__ = ["AdaptiveGrid"]

MOST_CONSTANT = 1_000_000


class Levels(NamedTuple):
    """The steps of an adaptive grid."""

    size: Step | None
    one: Step
    two: Step

    def first_side(self, rows: float, columns: int, c1: float) -> int:
        """Into how many intervals the first level cuts each column."""
        return first_side(rows, rule_epsilon(self.one.mechanism) + rule_epsilon(self.two.mechanism), columns, c1)


@dataclass(frozen=True, slots=True)
class AdaptiveGrid:
    """Two levels, made consistent."""

    options: ShapeOptions

    def parameters(self) -> Mapping[str, object]:
        """The first level's part of the budget, and the constants of both levels."""
        return {"alpha": str(self.options.alpha), "c1": f"{self.c1:g}", "c2": f"{self.c2:g}"}

    @property
    def c1(self) -> float:
        """The constant of the first level."""
        return C1 if self.options.c1 is None else read_constant(self.options.c1, "c1")

    @property
    def c2(self) -> float:
        """The constant of the second level."""
        return C2 if self.options.c2 is None else read_constant(self.options.c2, "c2")

    def steps(self, terms: Terms) -> Levels:
        """The number of rows, alpha of the rest for the first level, 1 - alpha for the second."""
        part = exact(self.options.alpha, "alpha")
        if part >= 1:
            raise UsageError("alpha must lie between 0 and 1: the first level's part of the budget. 0.5 is a good choice.")
        spends = terms.shares({"level 1": part, "level 2": 1 - part})
        one, two = (make_step(name, terms.counting(), spends[name]) for name in ("level 1", "level 2"))
        return Levels(terms.size_step(spends.get("size")), one, two)

    def check(self, domain: Domain, terms: Terms) -> None:
        """Refuse a wrong alpha or constant, and more columns than the coarsest first level can take."""
        self.steps(terms)
        columns = len(domain.halves)
        check_cap(columns, first_side(0, 1, columns, self.c1), self.options.most_cells)
        _ = self.c2

    def plan(self, domain: Domain, terms: Terms, rows: float) -> Plan:
        """What the grid would spend on about so many rows."""
        columns = len(domain.halves)
        steps = self.steps(terms)
        side = min(steps.first_side(rows, columns, self.c1), largest_side(columns, self.options.most_cells))
        noise = {step.name: step.mechanism.deviation()["counts"] for step in (steps.size, steps.one, steps.two) if step}
        expect = {"size": f"number of rows +-{noise['size']:.3g}"} if steps.size else {}
        expect["level 1"] = f"{side} ** {columns} cells, counts +-{noise['level 1']:.3g}"
        expect["level 2"] = f"counts +-{noise['level 2']:.3g}"
        facts = {"rows": round(rows), "columns": columns, "method": "adaptive-grid", "cells a column": side}
        events = (*([steps.size.event] if steps.size else []), steps.one.event, steps.two.event)
        return Plan(terms.budget, terms.neighbours, events, expect, facts, unit=terms.protected)

    def build(self, vault: Vault, domain: Domain, terms: Terms, progress: Progress) -> Built:
        """Release both levels inside an open vault and make them consistent."""
        columns, most = len(domain.halves), self.options.most_cells
        steps = self.steps(terms)
        rows = buy_size(vault, steps.size, progress)
        rule_side = steps.first_side(rows, columns, self.c1)
        side = min(rule_side, largest_side(columns, most))
        halves, sides = tuple(int(h) for h in domain.halves), (side,) * columns
        progress("level 1")
        upper = vault.measure(GridCells(halves, sides), steps.one.mechanism, "level 1")
        wanted = second_sides(upper.value["counts"], rule_epsilon(steps.two.mechanism), columns, self.c2)
        inner = capped_sides(wanted, columns, most, most_intervals(halves) // side)
        is_coarser = side < rule_side or bool((inner < wanted).any())
        progress("level 2")
        lower = vault.measure(NestedCells(halves, sides, inner), steps.two.mechanism, "level 2")
        agreed = agree(
            upper.value["counts"].astype(np.float64),
            variance_of(upper.deviation),
            lower.value["counts"].astype(np.float64),
            variance_of(lower.deviation),
            inner**columns,
        )
        low, high, groups = nested_boxes(side, inner, domain)
        cells = Cells(low, high, (low + high) / 2, agreed.counts, agreed.variances, agreed.common, groups)
        total = best_total(steps.size, rows, float(agreed.totals.sum()), float(agreed.total_variances.sum()))
        return Built(inside_domain(cells, domain), total, (coarser_note(most),) if is_coarser else ())

    def rest(self, terms: Terms) -> Spend:
        """What is left for the rounds that follow."""
        return terms.shares({"levels": 1})["rest"]


def read_constant(value: Number, name: str) -> float:
    """A constant of the rules; one that would make cells as many, or as few, as no rule means is refused."""
    constant = exact(value, name)
    if not 1 <= constant * MOST_CONSTANT <= MOST_CONSTANT**2:
        raise UsageError(
            f"{name} must lie between 1/{MOST_CONSTANT:,} and {MOST_CONSTANT:,}. Leave it out for a good choice."
        )
    return float(constant)
