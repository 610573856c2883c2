"""A private table as it is asked for: checked, planned without a row, and run in the vault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from cloister.errors import UsageError, by_door
from cloister.parameters import check_facts, check_names, check_path, check_progress, check_text
from cloister.privacy.budgets import as_budget, relation
from cloister.privacy.ledger import Ledger
from cloister.privacy.notes import defaults_note, guarantee_notes, missing_counts, missing_note
from cloister.privacy.plan import Plan
from cloister.privacy.worlds import settle_worlds
from cloister.schema import Neighbours, Schema
from cloister.schema.kinds import Kind
from cloister.schema.kinds import Number as NumberKind
from cloister.schema.stated_kinds import kind_of, number_of
from cloister.schema.unit import unit_of
from cloister.sinks import set_aside
from cloister.sources.stated_names import BY_COLUMNS, names_stated
from cloister.tabulation.axes import TableContents, TableLayout, lay_out
from cloister.tabulation.planned_table import PlannedTable, plan_step
from cloister.tabulation.private_table import PrivateTable
from cloister.tabulation.quantile_bins import read_quantiles
from cloister.tabulation.settle import settle
from cloister.vault import Vault, open_data

__all__ = ["PlannedTable", "TabulationRequest"]

COUNTS_NOTE = "Counts are estimates: none is negative, all are whole, and margins are exactly the sums of their cells."
SUMS_NOTE = (
    "Sums are estimates without a limit: noise can take one below 0, or beyond what its count and the bounds allow, above all "
    "in small cells. Its standard error says how far."
)
QUANTILES_NOTE = (
    "Quantiles follow from noisy counts of public bins of their column in each cell; a quantile is known no better than its bin, "
    "and its interval is that of the noise alone. A cell has none where its noisy count is below three times its standard "
    "error, or where the interval would be as wide as the bounds."
)
CLIPPED_NOTE = (
    "Values outside the bounds of their column count as the nearest bound: the first and the last bin hold them, whatever their "
    "labels say."
)
MEANS_NOTE = (
    "Means are noisy sums over noisy counts, clipped into the bounds of their column. A cell has none where its noisy count is "
    "below three times its standard error, or where noise leaves as much doubt as the bounds do."
)


@dataclass(frozen=True, slots=True)
class TabulationRequest:
    """What is asked of `tabulate`, which documents the fields."""

    by: Sequence[str]
    budget: Any = None  # None is refused
    measures: Sequence[str] = ()
    means: Sequence[str] = ()
    quantiles: Any = None  # given as a dict, kept as a dict of rising numbers
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
        for what in ("quantiles", "bins", "bounds", "domains"):
            check_facts(getattr(self, what), what)
        object.__setattr__(self, "quantiles", dict(read_quantiles(self.quantiles or {})))
        domains = {name: check_names(values, f'the domain of "{name}"') for name, values in (self.domains or {}).items()}
        object.__setattr__(self, "domains", domains)
        if self.schema is not None and not isinstance(self.schema, Schema):
            object.__setattr__(self, "schema", Schema.from_toml(check_path(self.schema, "schema")))

    @property
    def contents(self) -> TableContents:
        """What is wanted in each cell beside its count."""
        return TableContents(tuple(self.measures), tuple(self.means), tuple(self.quantiles.items()))

    def plan(self, names: Sequence[str]) -> Plan:
        """What it would spend on a table with these columns; no row is read and nothing is charged."""
        return self.on(names).as_plan()

    def dry_run(self, data: Any, engine: Any = None, written_as: str | None = None) -> Plan:
        """The same for data that is opened as a run opens it; refuses what a run would refuse before its charge."""
        rows, planned = self._open(data, engine, written_as)
        Vault.check(rows, planned.layout.encoding, engine=engine, unit=planned.unit)
        return planned.as_plan()

    def _open(self, data: Any, engine: Any, written_as: str | None) -> tuple[Any, PlannedTable]:
        """The data with the names of its columns, and the request fitted to them; room for the table is set aside."""
        rows = open_data(data, engine, names_stated(self.schema, self.columns, BY_COLUMNS))
        planned = self.on(rows.names)
        planned.check_written(written_as)
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
        written_as: str | None = None,
    ) -> PrivateTable:
        """Make the table in one pass over the rows; under replace-one, where their number is public, another pass counts them.

        `written_as`: the ending of the file that it goes to, such as ".xlsx", which cannot hold every table.
        """
        progress = check_progress(progress)
        rows, planned = self._open(data, engine, written_as)
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
                **({"quantiles": quantile_parameters(layout)} if self.quantiles else {}),
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
            if self.quantiles:
                notes = (*notes, QUANTILES_NOTE)
            if layout.missing:
                counts = missing_counts(layout.missing, released.value["missing"], released.deviation["missing"])
                result["missing"] = counts
                notes = (*notes, missing_note(counts))
            return counted.certified(vault.release("table", parameters, result, notes))

    def on(self, names: Sequence[str]) -> PlannedTable:
        """The request fitted to a table with these columns."""
        layout = lay_out(
            tuple(self.by), self.contents, self.bins or {}, self.bounds or {}, self.domains or {}, self.schema, names,
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


def quantile_parameters(layout: TableLayout) -> dict[str, Any]:
    """Which quantiles are in a table, and among how many public bins of their column: for its certificate."""
    return {bins.name: {"quantiles": list(bins.quantiles), "bins": bins.levels.bins} for bins in layout.ranked}
