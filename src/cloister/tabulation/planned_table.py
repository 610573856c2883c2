"""A private table fitted to the columns of its data: its kernel, its one step, and what to expect. Public facts alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from cloister.errors import UsageError
from cloister.kernels import Histogram
from cloister.kernels.per_unit import for_unit
from cloister.kernels.tables import TableCounts
from cloister.privacy.budgets import Budget, Number
from cloister.privacy.mechanisms import shares
from cloister.privacy.plan import Plan, Step, make_step
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.tabulation.axes import TableLayout
from cloister.tabulation.cell_quantiles import fit_ranks
from cloister.tabulation.margins import Axes
from cloister.tabulation.saved_tables import COUNTED, MOST_COLUMNS
from cloister.tabulation.table_workbooks import XLSX, check_workbook

__all__ = ["PlannedTable", "plan_step"]

MOST_CELLS = 2**18  # a table of so many takes seconds to write; of 4 million it took 101 s and 2.5 GB after the charge
MOST_VALUE_COUNTS = 2**20  # noisy counts of values, in all cells
CELLS_WEIGHT, MARGIN_WEIGHT, SUM_WEIGHT, QUANTILES_WEIGHT = 2, 1, 2, 4
MISSING_WEIGHT = Fraction(1, 4)  # how many values were made up need not be known well
NUMBER_BYTES = 48  # of a number in a JSON file, with its name and the blanks before it
WORTH = 16  # a margin is bought when each of its cells adds up more than so many cells


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A request fitted to the columns of a table: public facts alone."""

    layout: TableLayout
    budget: Budget
    neighbours: Neighbours
    unit: Unit | None
    kernel: TableCounts
    step: Step

    def most_bytes(self) -> int:
        """How large its file can become: every cell and margin as JSON, which takes the most."""
        contents = self.layout.contents
        rows = prod(size + 1 for size in self.layout.shape)
        texts = sum(text_bytes(axis.name) + max(map(text_bytes, axis.labels)) for axis in self.layout.axes)
        shown = [name for name in (*contents.measures, *contents.means) for _ in range(2)]
        shown += [name for name, quantiles in contents.quantiles for _ in range(3 * len(quantiles))]
        return rows * (texts + sum(map(text_bytes, shown)) + NUMBER_BYTES * (4 + len(shown)))

    def check_written(self, ending: str | None) -> None:
        """Refuse a file that cannot hold it, by the ending of its name; None: it is not known where it goes."""
        if ending != XLSX:
            return
        contents, axes = self.layout.contents, self.layout.axes
        statistics = 2 * len((*contents.measures, *contents.means)) + sum(3 * len(asked) for _, asked in contents.quantiles)
        names = (
            *(axis.name for axis in axes),
            *contents.measures,
            *contents.means,
            *(name for name, _ in contents.quantiles),
        )
        labels = (label for axis in axes for label in axis.labels)
        rows = prod(size + 1 for size in self.layout.shape)
        check_workbook(rows, len(axes) + len(COUNTED) + statistics, (*names, *labels))

    def as_plan(self) -> Plan:
        """What it spends, and what to expect of it."""
        facts = {
            "cells": prod(self.layout.shape),
            "bought margins": len(self.kernel.margins),
            "sums": len(self.layout.halves),
            **({"counted values": sum(map(prod, self._value_parts()))} if self.layout.ranked else {}),
            **({"counts of missing": len(self.layout.missing)} if self.layout.missing else {}),
        }
        expect = {"table": ", ".join(self._errors())}
        return Plan(self.budget, self.neighbours, (self.step.event,), expect, facts, unit=str(self.unit or "row"))

    def _value_parts(self) -> list[tuple[int, ...]]:
        return [shape for name, shape in self.kernel.parts.items() if name.startswith("values")]

    def _errors(self) -> list[str]:
        """What the noise of a cell is worth: standard errors before margins make them smaller."""
        noise = self.step.mechanism.deviation()
        errors = [f"cells +-{noise['cells']:.3g} before least squares"]
        for i, grid in enumerate(self.layout.summed):
            around = noise[f"sum {i}"] * grid.step
            error = (around**2 + (grid.center * noise["cells"]) ** 2) ** 0.5
            errors += [f"sum of {grid.name} +-{error:.3g}"] if grid.name in self.layout.contents.measures else []
            # of a mean near the middle of the bounds; elsewhere the noise of the count comes in, too
            errors += [f"mean of {grid.name} +-{around:.3g}/count"] if grid.name in self.layout.contents.means else []
        for i, bins in enumerate(self.layout.ranked):
            variances = tuple(noise[f"values {i} level {j}"] ** 2 for j in range(len(bins.levels.widths)))
            ranks = max(fit_ranks(bins.levels, variances, noise["cells"] ** 2).rank_errors(bins.quantiles[0]))
            errors.append(f"quantiles of {bins.name} up to +-{ranks:.3g} ranks")
        return errors


def text_bytes(text: str) -> int:
    """How many bytes a text takes in a JSON file, with what stands around it."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="replace")) + 8


def plan_step(
    layout: TableLayout, budget: Budget, neighbours: Neighbours, unit: Unit | None, margins: bool | None
) -> tuple[TableCounts, Step]:
    """The kernel and the one step of a table."""
    check_size(layout)
    shape = layout.shape
    bought: list[Axes] = []
    if len(shape) > 1 and margins is not False:
        bought = [(axis,) for axis in range(len(shape)) if margins or prod(shape) / shape[axis] > WORTH]
    values = tuple(bins.levels for bins in layout.ranked)
    cells = Histogram(layout.edges, layout.sizes)
    kernel = TableCounts(cells, tuple(bought), layout.halves, len(layout.missing), values)
    weights: dict[str, Number] = {"cells": CELLS_WEIGHT}
    weights |= {f"margin {i}": MARGIN_WEIGHT for i in range(len(bought))}
    weights |= {f"sum {i}": SUM_WEIGHT for i in range(len(layout.halves))}
    weights |= {
        f"values {i} level {j}": Fraction(QUANTILES_WEIGHT, len(levels.widths))
        for i, levels in enumerate(values)
        for j in range(len(levels.widths))
    }
    weights |= {"missing": MISSING_WEIGHT} if layout.missing else {}
    spend = shares(budget, {"table": 1})["table"]
    return kernel, make_step("table", for_unit(kernel, unit).sensitivity(neighbours), spend, weights)


def check_size(layout: TableLayout) -> None:
    """Refuse a table that would be too large."""
    if len(layout.axes) > MOST_COLUMNS:
        raise UsageError(f"a table has at most {MOST_COLUMNS} columns in by, and {len(layout.axes)} were given.")
    cells = prod(layout.shape)
    if cells > MOST_CELLS:
        raise UsageError(
            f"the table would have {cells:,} cells, and at most {MOST_CELLS:,} are allowed. Use fewer columns or bins."
        )
    values = cells * sum(sum(bins.levels.sizes) for bins in layout.ranked)
    if values > MOST_VALUE_COUNTS:
        raise UsageError(
            f"quantiles in {cells:,} cells take {values:,} noisy counts, and at most {MOST_VALUE_COUNTS:,} are allowed. Use "
            "fewer columns or bins, or ask for quantiles of fewer numbers."
        )
