"""`tabulate`: private contingency tables and histograms, with totals and margins that agree with the cells.

Privacy
-------
Released, in one look at the rows: the noisy count of every cell, of some margins where that makes them better, and the
noisy sums of bounded numbers by cell. Neighbours: both relations. Sensitivity: `kernels.tables.TableCounts`. Budget: cells
two parts, each bought margin one, each summed number two. Post-processing: least squares over cells and margins, counts that
are not negative, totals, intervals. Empty cells get noise like any other and none is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from cloister.errors import UsageError
from cloister.kernels import Histogram
from cloister.kernels.per_unit import for_unit
from cloister.kernels.tables import TableCounts
from cloister.privacy.budgets import Number, as_budget, relation
from cloister.privacy.ledger import Ledger
from cloister.privacy.notes import unit_note
from cloister.privacy.plan import Plan, Step, make_step, shares
from cloister.schema import Neighbours, Schema
from cloister.schema.unit import unit_of
from cloister.tabulation.axes import Layout, lay_out
from cloister.tabulation.margins import CERTAIN, Axes, fit_cells, not_negative, precisions, spread_of
from cloister.tabulation.private_table import PrivateTable
from cloister.vault import Vault, open_data

__all__ = ["plan_table", "tabulate"]

MOST_CELLS = 2**22
MOST_COLUMNS = 8
CELLS_WEIGHT, MARGIN_WEIGHT, SUM_WEIGHT = 2, 1, 2
LEAST_VARIANCE = 1e-12  # at an absurd epsilon the noise rounds to 0, where weights would divide by it
WORTH = 16  # a margin is bought when each of its cells adds up more than so many cells


def tabulate(
    data: Any,
    by: Sequence[str],
    budget: Any = 1.0,
    *,
    measures: Sequence[str] = (),
    bins: Mapping[str, Any] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    domains: Mapping[str, Sequence[str]] | None = None,
    margins: bool | None = None,
    schema: Any = None,
    neighbours: str | None = None,
    table: str | None = None,
    ledger: str | Ledger | None = None,
    engine: Any = None,
    progress: Callable[[str], None] = lambda _: None,
) -> PrivateTable:
    """Count rows by public categories or bins, and sum bounded numbers, privately.

    Parameters
    ----------
    data : frame, path, or anything that `cloister` reads
    by : list of str
        The columns that make the cells, at most 8. A category needs a public domain, a number public bounds.
    budget : number, PureDP, ApproxDP or Identifiability, default 1.0
    measures : list of str
        Numbers to sum in each cell; they need public bounds.
    bins : dict, optional
        For a number column in `by`: how many bins of equal width, or their edges. Default: one bin for each value of its
        step when there are at most 50, else 10.
    bounds, domains : dict, optional
        Public facts of columns that no schema describes.
    margins : bool, optional
        Whether one-way margins are bought beside the cells. None: those that get better by it.
    schema, neighbours, table, ledger, engine
        As in `KMeans`.

    Privacy
    -------
    Every cell gets noise, empty ones too, and none is suppressed. Values outside a domain count as its default, numbers
    outside their bounds as the nearest bound.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import cloister as cl
    >>> rows = pa.table({"level": ["bachelor"] * 700 + ["master"] * 300})
    >>> made = cl.tabulate(rows, by=["level"], budget=1, domains={"level": ["bachelor", "master"]})
    >>> made.counts.shape
    (2,)
    """
    schema = Schema.from_toml(schema) if schema is not None and not isinstance(schema, Schema) else schema
    rows = open_data(data, engine)
    layout = lay_out(tuple(by), tuple(measures), bins or {}, bounds or {}, domains or {}, schema, rows.names)
    spend = as_budget(budget)
    said = relation(spend, neighbours or (schema.neighbours if schema else None))
    unit = unit_of(schema)
    kernel, step = plan_step(layout, spend, said, unit, margins)
    with Vault.open(
        rows,
        layout.encoding,
        budget=spend,
        neighbours=said,
        purpose=f"table by {', '.join(by)}",
        engine=engine,
        table=table or (schema.table if schema else None),
        ledger=ledger,
        unit=unit,
    ) as vault:
        progress("table")
        released = vault.measure(kernel, step.mechanism, "table")
        public_rows = vault.size(None) if said is Neighbours.REPLACE_ONE else None
        made = settle(layout, kernel, released.value.parts, released.deviation, public_rows, gaussian=bool(spend.delta))
        parameters = {
            "by": list(by),
            "measures": list(measures),
            "bins": {axis.name: list(axis.labels) for axis in layout.axes if axis.edges is not None},
            "cells": prod(kernel.cells.shape),
            "bought_margins": [[layout.axes[axis].name for axis in kept] for kept in layout.in_order(kernel.margins)],
        }
        result = {"total": float(made.counts.sum()), "rows_sha256": made.fingerprint()}
        notes = (unit_note(unit), "Values outside a column's domain count as its default.")
        return made.certified(vault.release("table", parameters, result, notes))


def plan_step(
    layout: Layout, budget: Any, neighbours: Neighbours, unit: Any, margins: bool | None
) -> tuple[TableCounts, Step]:
    """The kernel and the one step of a table."""
    if len(layout.axes) > MOST_COLUMNS:
        raise UsageError(f"a table has at most {MOST_COLUMNS} columns in by, and {len(layout.axes)} were given.")
    shape = layout.shape
    if prod(shape) > MOST_CELLS:
        raise UsageError(
            f"the table would have {prod(shape):,} cells, and at most {MOST_CELLS:,} are allowed. Use fewer columns or bins."
        )
    bought: list[Axes] = []
    if len(shape) > 1 and margins is not False:
        bought = [(axis,) for axis in range(len(shape)) if margins or prod(shape) / shape[axis] > WORTH]
    kernel = TableCounts(Histogram(layout.edges, layout.sizes), tuple(bought), layout.halves)
    weights: dict[str, Number] = {"cells": CELLS_WEIGHT}
    weights |= {f"margin {i}": MARGIN_WEIGHT for i in range(len(bought))}
    weights |= {f"sum {i}": SUM_WEIGHT for i in range(len(layout.halves))}
    spend = shares(budget, {"table": 1})["table"]
    return kernel, make_step("table", for_unit(kernel, unit).sensitivity(neighbours), spend, weights)


def plan_table(
    names: Sequence[str],
    by: Sequence[str],
    budget: Any = 1.0,
    *,
    measures: Sequence[str] = (),
    bins: Mapping[str, Any] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    domains: Mapping[str, Sequence[str]] | None = None,
    margins: bool | None = None,
    schema: Any = None,
    neighbours: str | None = None,
) -> Plan:
    """What `tabulate` would spend and what to expect of it; no row is read and nothing is charged."""
    schema = Schema.from_toml(schema) if schema is not None and not isinstance(schema, Schema) else schema
    layout = lay_out(tuple(by), tuple(measures), bins or {}, bounds or {}, domains or {}, schema, tuple(names))
    spend = as_budget(budget)
    said = relation(spend, neighbours or (schema.neighbours if schema else None))
    unit = unit_of(schema)
    kernel, step = plan_step(layout, spend, said, unit, margins)
    noise = step.mechanism.deviation()["cells"]
    facts = {"cells": prod(layout.shape), "bought margins": len(kernel.margins), "sums": len(layout.halves)}
    expect = {"table": f"cells +-{noise:.3g} before least squares"}
    return Plan(spend, said, (step.event,), expect, facts, unit=str(unit or "row"))


def settle(
    layout: Layout,
    kernel: TableCounts,
    parts: Mapping[str, Any],
    deviation: Mapping[str, float],
    public_rows: float | None,
    gaussian: bool,
) -> PrivateTable:
    """Least squares, counts that are not negative, and what is known of each number's error. Released values only."""
    shape = kernel.cells.shape
    everything = tuple(range(len(shape)))
    measured: dict[Axes, Any] = {everything: parts["cells"].astype(np.float64)}
    variances = {everything: max(LEAST_VARIANCE, deviation["cells"] ** 2)}
    for i, kept in enumerate(kernel.margins):
        measured[kept] = parts[f"margin {i}"].astype(np.float64)
        variances[kept] = max(LEAST_VARIANCE, deviation[f"margin {i}"] ** 2)
    if public_rows is not None:
        measured[()] = np.array(float(public_rows))
        variances[()] = min(variances.values()) / CERTAIN
    known = precisions(shape, variances)
    fitted = fit_cells(shape, measured, variances)
    counts = not_negative(fitted, known)
    errors = {kept: spread_of(shape, known, kept) for kept in known}
    sums, sum_errors = {}, {}
    for i, measure in enumerate(layout.measures):
        sums[measure.name] = parts[f"sum {i}"] * measure.step + measure.center * counts
        own = deviation[f"sum {i}"] * measure.step
        sum_errors[measure.name] = {
            kept: float(np.sqrt(own**2 * prod(shape) / prod(shape[a] for a in kept) + (measure.center * error) ** 2))
            for kept, error in errors.items()
        }
    return PrivateTable.from_layout(layout, counts, fitted, errors, sums, sum_errors, gaussian)
