"""A private table as it is asked for: checked, planned without a row, and run in the vault."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from cloister.errors import UsageError, by_door
from cloister.kernels import Histogram
from cloister.kernels.per_unit import for_unit
from cloister.kernels.tables import TableCounts
from cloister.parameters import check_facts, check_names, check_path, check_progress, check_text
from cloister.privacy.budgets import Budget, Number, as_budget, relation
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms import shares
from cloister.privacy.notes import defaults_note, guarantee_notes, missing_counts, missing_note
from cloister.privacy.plan import Plan, Step, make_step
from cloister.privacy.worlds import settle_worlds
from cloister.schema import Neighbours, Schema
from cloister.schema.kinds import Kind
from cloister.schema.kinds import Number as NumberKind
from cloister.schema.stated_kinds import kind_of, number_of
from cloister.schema.unit import Unit, unit_of
from cloister.sinks import set_aside
from cloister.sources.stated_names import BY_COLUMNS, names_stated
from cloister.tabulation.axes import TableContents, TableLayout, lay_out
from cloister.tabulation.margins import Axes
from cloister.tabulation.private_table import MOST_COLUMNS, PrivateTable
from cloister.tabulation.settle import settle
from cloister.vault import Vault, open_data

__all__ = ["PlannedTable", "TabulationRequest"]

MOST_CELLS = 2**18  # a table of so many takes seconds to write; of 4 million it took 101 s and 2.5 GB after the charge
CELLS_WEIGHT, MARGIN_WEIGHT, SUM_WEIGHT = 2, 1, 2
MISSING_WEIGHT = Fraction(1, 4)  # how many values were made up need not be known well
COUNTS_NOTE = "Counts are estimates: none is negative, all are whole, and margins are exactly the sums of their cells."
SUMS_NOTE = (
    "Sums are estimates without a limit: noise can take one below 0, or beyond what its count and the bounds allow, above all "
    "in small cells. Its standard error says how far."
)
CLIPPED_NOTE = (
    "Values outside the bounds of their column count as the nearest bound: the first and the last bin hold them, whatever their "
    "labels say."
)
MEANS_NOTE = (
    "Means are noisy sums over noisy counts, clipped into the bounds of their column. A cell has none where its noisy count is "
    "below three times its standard error, or where noise leaves as much doubt as the bounds do."
)
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
        rows = prod(size + 1 for size in self.layout.shape)
        texts = sum(text_bytes(axis.name) + max(map(text_bytes, axis.labels)) for axis in self.layout.axes)
        shown = (*self.layout.contents.measures, *self.layout.contents.means)
        sums = sum(2 * text_bytes(name) for name in shown)
        numbers = 4 + 2 * len(shown)
        return rows * (texts + sums + NUMBER_BYTES * numbers)

    def as_plan(self) -> Plan:
        """What it spends, and what to expect of it."""
        noise = self.step.mechanism.deviation()["cells"]
        facts = {
            "cells": prod(self.layout.shape),
            "bought margins": len(self.kernel.margins),
            "sums": len(self.layout.halves),
            **({"counts of missing": len(self.layout.missing)} if self.layout.missing else {}),
        }
        expect = {"table": f"cells +-{noise:.3g} before least squares"}
        return Plan(self.budget, self.neighbours, (self.step.event,), expect, facts, unit=str(self.unit or "row"))


@dataclass(frozen=True, slots=True)
class TabulationRequest:
    """What is asked of `tabulate`, which documents the fields."""

    by: Sequence[str]
    budget: Any = None  # None is refused
    measures: Sequence[str] = ()
    means: Sequence[str] = ()
    bins: Mapping[str, Any] | None = None
    bounds: Mapping[str, tuple[float, float]] | None = None
    domains: Mapping[str, Sequence[str]] | None = None
    margins: bool | None = None
    schema: Any = None  # given as a Schema or its path, kept as a Schema
    neighbours: str | None = None
    count_missing: bool = False
    columns: Any = None  # given as a list, kept as a tuple

    def __post_init__(self) -> None:
        # before it becomes a tuple: a string would become its letters
        if isinstance(self.by, str):
            raise UsageError(f"by is a list of columns. Give {by_door('by=[...]', '--by A,B')}.")
        by = check_names(self.by, "by")
        if not by:
            raise UsageError(f"which columns make the cells? Give {by_door('by=[...]', '--by A,B')}.")
        object.__setattr__(self, "by", by)
        for what in ("measures", "means"):
            if isinstance(getattr(self, what), str):
                raise UsageError(f"{what} is a list of columns. Give {what}=[...].")
            object.__setattr__(self, what, check_names(getattr(self, what), what))
        if self.neighbours is not None:
            check_text(self.neighbours, "neighbours")
        if self.columns is not None:
            object.__setattr__(self, "columns", check_names(self.columns, "columns"))
        for what in ("bins", "bounds", "domains"):
            check_facts(getattr(self, what), what)
        domains = {name: check_names(values, f'the domain of "{name}"') for name, values in (self.domains or {}).items()}
        object.__setattr__(self, "domains", domains)
        if self.schema is not None and not isinstance(self.schema, Schema):
            object.__setattr__(self, "schema", Schema.from_toml(check_path(self.schema, "schema")))

    def plan(self, names: Sequence[str]) -> Plan:
        """What it would spend on a table with these columns; no row is read and nothing is charged."""
        return self.on(names).as_plan()

    def dry_run(self, data: Any, engine: Any = None) -> Plan:
        """The same for data that is opened as a run opens it; refuses what a run would refuse before its charge."""
        rows, planned = self._open(data, engine)
        Vault.check(rows, planned.layout.encoding, engine=engine, unit=planned.unit)
        return planned.as_plan()

    def _open(self, data: Any, engine: Any) -> tuple[Any, PlannedTable]:
        """The data with the names of its columns, and the request fitted to them; room for the table is set aside."""
        rows = open_data(data, engine, names_stated(self.schema, self.columns, BY_COLUMNS))
        planned = self.on(rows.names)
        set_aside(planned.most_bytes())
        return rows, planned

    def run(
        self,
        data: Any,
        *,
        table: str | None = None,
        ledger: str | Ledger | None = None,
        engine: Any = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> PrivateTable:
        """Make the table in one pass over the rows; under replace-one, where their number is public, another pass counts them."""
        progress = check_progress(progress)
        rows, planned = self._open(data, engine)
        layout, kernel = planned.layout, planned.kernel
        with Vault.open(
            rows,
            layout.encoding,
            budget=planned.budget,
            neighbours=planned.neighbours,
            purpose=f"table by {', '.join(self.by)}",
            engine=engine,
            table=table if table is not None else self.schema.table if self.schema else None,
            ledger=ledger,
            unit=planned.unit,
        ) as vault:
            vault.follow(planned.as_plan())
            progress("table")
            released = vault.measure(kernel, planned.step.mechanism, "table")
            public_rows = vault.size(None) if planned.neighbours is Neighbours.REPLACE_ONE else None
            counted = settle(
                layout,
                kernel,
                released.value.parts,
                released.deviation,
                public_rows,
                planned.step.mechanism.interval_width(),
            )
            parameters = {
                "by": list(self.by),
                "measures": list(self.measures),
                **({"means": list(self.means)} if self.means else {}),
                "bins": {axis.name: list(axis.labels) for axis in layout.axes if axis.edges is not None},
                "cells": prod(kernel.cells.shape),
                "bought_margins": [[layout.axes[axis].name for axis in kept] for kept in layout.in_order(kernel.margins)],
                "defaults": layout.encoding.defaults,
            }
            result: dict[str, Any] = {"total": counted.total, "rows_sha256": counted.fingerprint()}
            notes: tuple[str, ...] = (
                *guarantee_notes(planned.budget, planned.unit, result["total"]),
                defaults_note(layout.encoding.defaults),
                COUNTS_NOTE,
            )
            if layout.edges:
                notes = (*notes, CLIPPED_NOTE)
            if self.measures:
                notes = (*notes, SUMS_NOTE)
            if self.means:
                notes = (*notes, MEANS_NOTE)
            if layout.missing:
                counts = missing_counts(layout.missing, released.value["missing"], released.deviation["missing"])
                result["missing"] = counts
                notes = (*notes, missing_note(counts))
            return counted.certified(vault.release("table", parameters, result, notes))

    def on(self, names: Sequence[str]) -> PlannedTable:
        """The request fitted to a table with these columns."""
        contents = TableContents(tuple(self.measures), tuple(self.means))
        layout = lay_out(
            tuple(self.by), contents, self.bins or {}, self.bounds or {}, self.domains or {}, self.schema, names,
            self.count_missing,
        )  # fmt: skip
        budget = settle_worlds(as_budget(self.budget), *self._known())
        neighbours = relation(budget, self.neighbours or (self.schema.neighbours if self.schema else None))
        unit = unit_of(self.schema)
        kernel, step = plan_step(layout, budget, neighbours, unit, self.margins)
        return PlannedTable(layout, budget, neighbours, unit, kernel, step)

    def _known(self) -> tuple[dict[str, Kind | None], dict[str, tuple[float, float]]]:
        """What is publicly known of the columns that are counted and summed, and the bounds that the call gives numbers."""
        bounds, domains = self.bounds or {}, self.domains or {}
        kinds: dict[str, Kind | None] = {
            name: number_of(name, bounds, self.schema) for name in (*self.measures, *self.means)
        }
        kinds |= {name: kind_of(name, bounds, domains, self.schema) for name in self.by}
        stated: dict[str, tuple[float, float]] = {}
        for name, kind in kinds.items():
            if name in bounds and isinstance(kind, NumberKind) and kind.bounds is not None:
                stated[name] = kind.bounds
                if self.schema is not None and name in self.schema:
                    kinds[name] = self.schema[name].kind  # which knows the step
        return kinds, stated


def text_bytes(text: str) -> int:
    """How many bytes a text takes in a JSON file, with what stands around it."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="replace")) + 8


def plan_step(
    layout: TableLayout, budget: Budget, neighbours: Neighbours, unit: Unit | None, margins: bool | None
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
    kernel = TableCounts(Histogram(layout.edges, layout.sizes), tuple(bought), layout.halves, len(layout.missing))
    weights: dict[str, Number] = {"cells": CELLS_WEIGHT}
    weights |= {f"margin {i}": MARGIN_WEIGHT for i in range(len(bought))}
    weights |= {f"sum {i}": SUM_WEIGHT for i in range(len(layout.halves))}
    weights |= {"missing": MISSING_WEIGHT} if layout.missing else {}
    spend = shares(budget, {"table": 1})["table"]
    return kernel, make_step("table", for_unit(kernel, unit).sensitivity(neighbours), spend, weights)
