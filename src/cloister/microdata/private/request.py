"""Private rows as they are asked for: checked, planned without a row, and made in the vault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.clustering.chance import public_chance
from cloister.clustering.terms import Terms
from cloister.errors import UsageError, by_door
from cloister.microdata.private.private_rows import PrivateRows
from cloister.microdata.private.row_columns import RowColumns, choose_row_columns
from cloister.microdata.private.row_methods import DEFAULT_METHOD, find_row_method
from cloister.microdata.private.row_task import MadeRows, Progress, RowMethod, RowTask
from cloister.parameters import check_facts, check_names, check_path, check_progress, check_text, check_whole
from cloister.privacy.budgets import as_budget, relation
from cloister.privacy.ledger import Ledger
from cloister.privacy.notes import defaults_note, guarantee_notes
from cloister.privacy.plan import Plan
from cloister.privacy.worlds import settle_worlds
from cloister.schema import Category, Number, Schema
from cloister.schema.kinds import repeated
from cloister.schema.unit import unit_of
from cloister.sinks.batch_writer import check_storable
from cloister.sinks.csv_header import check_header
from cloister.sources.stated_names import BY_COLUMNS, names_stated
from cloister.vault import Vault, open_data

__all__ = ["RowsRequest"]

MADE_UP_NOTE = (
    "The rows are made up from what the steps released: none of them is a person's, and the place of a row says nothing."
)
UNCOUNTED_NOTE = (
    "No ledger counts this release: the table has no name. With one (table = ... in the schema) what was spent is added up, and "
    "refused beyond a total."
)
OPTIONS = {"n_clusters": "clusters", "k": "insensitive", "bins": "marginals"}  # option -> the one method that takes it


@dataclass(frozen=True, kw_only=True)
class RowsRequest:
    """What is asked of `PrivateMicrodata`, which documents the fields."""

    budget: Any = None  # None is refused
    method: str = DEFAULT_METHOD
    n_clusters: int | None = None
    k: int | None = None
    bins: Mapping[str, Any] | None = None
    columns: Any = None  # given as a list, kept as a tuple
    bounds: Mapping[str, tuple[Any, Any]] | None = None
    domains: Mapping[str, Sequence[str]] | None = None
    schema: Any = None  # given as a Schema or its path, kept as a Schema
    neighbours: str | None = None
    table: str | None = None
    ledger: str | Ledger | None = None
    engine: Any = None
    random_state: Any = None

    def __post_init__(self) -> None:
        if self.schema is not None and not isinstance(self.schema, Schema):
            object.__setattr__(self, "schema", Schema.from_toml(check_path(self.schema, "schema")))
        if self.columns is not None:
            object.__setattr__(self, "columns", check_names(self.columns, "columns"))
            if twice := repeated(self.columns):
                raise UsageError(f'column "{twice[0]}" is there twice in {by_door("columns", "--columns")}.')
        for what in ("bounds", "domains", "bins"):
            check_facts(getattr(self, what), what)
        if self.bins is not None:
            stated = {name: read_bins(name, bins) for name, bins in self.bins.items() if bins is not None}
            object.__setattr__(self, "bins", stated)
        for what in ("table", "neighbours"):
            if getattr(self, what) is not None:
                check_text(getattr(self, what), what)
        self._check_options()
        as_budget(self.budget)
        public_chance(self.random_state)

    def _check_options(self) -> None:
        find_row_method(self.method)
        for option, method in OPTIONS.items():
            if getattr(self, option) is not None and self.method != method:
                raise UsageError(misplaced(option, method, self.method))
        if self.n_clusters is not None:
            object.__setattr__(self, "n_clusters", check_whole(self.n_clusters, "n_clusters", 1))
        if self.k is not None:
            object.__setattr__(self, "k", check_whole(self.k, "k", 1))

    def plan(self, rows: float, names: Sequence[str] = ()) -> Plan:
        """What it would spend on a table of about so many rows with these columns; no row is read."""
        task = self.task(names)
        return self._method.plan(task, rows)

    def dry_run(self, data: Any, rows: float, written_as: str | None = None) -> Plan:
        """The same for data that is opened as a run opens it; refuses what a run would refuse before its charge."""
        opened = open_data(data, self.engine, names_stated(self.schema, self.columns, BY_COLUMNS))
        task = self.task(opened.names)
        check_written(opened.names, task, written_as)
        Vault.check(opened, self._method.encoding(task), engine=self.engine, unit=task.terms.unit)
        return self._method.plan(task, rows)

    def task(self, names: Sequence[str]) -> RowTask:
        """What the method is to do on a table with these columns, checked as far as it can be without the rows."""
        columns = choose_row_columns(names, self.columns, self.bounds or {}, self.domains or {}, self.schema)
        budget = settle_worlds(as_budget(self.budget), dict(columns.kinds), stated_ends(columns))
        neighbours = relation(budget, self.neighbours or (self.schema.neighbours if self.schema else None))
        terms = Terms(budget, neighbours, unit_of(self.schema))
        task = RowTask(columns, terms, self.n_clusters, self.k, self.bins or {})
        self._method.check(task)
        return task

    @property
    def _method(self) -> RowMethod:
        return find_row_method(self.method)

    def run(self, data: Any, *, progress: Progress = lambda _: None, written_as: str | None = None) -> PrivateRows:
        """Charge the budget, make the rows in the vault, and hand them out; `written_as`: the format of the file they go to."""
        progress = check_progress(progress)
        rows = open_data(data, self.engine, names_stated(self.schema, self.columns, BY_COLUMNS))
        task, method, random = self.task(rows.names), self._method, public_chance(self.random_state)
        check_written(rows.names, task, written_as)
        vault = Vault.open(
            rows,
            method.encoding(task),
            budget=task.terms.budget,
            neighbours=task.terms.neighbours,
            purpose=f"private rows by {method.name}",
            engine=self.engine,
            table=self.table_name,
            ledger=self.ledger,
            unit=task.terms.unit,
        )
        if method.counts_first:
            method.plan(task, vault.public_size())  # refuses what so many rows cannot carry
        with vault:
            made = method.make(vault, task, random, progress)
            progress("rows")
            table = task.columns.table(made.shuffled(random).values)
            release = vault.release(
                "rows", parameters_of(method, task, made), result_of(made), self._notes(method, task, made)
            )
            return PrivateRows(table, release)

    @property
    def table_name(self) -> str | None:
        """The table's name in the ledger; None: unledgered."""
        return self.table if self.table is not None else self.schema.table if self.schema else None

    def _notes(self, method: RowMethod, task: RowTask, made: MadeRows) -> tuple[str, ...]:
        left = task.columns.left_behind
        behind: tuple[str, ...] = (
            (f"{len(left):,} column{'s' * (len(left) > 1)} of the table that nobody described stayed behind.",)
            if left
            else ()
        )
        if self.table_name is None:
            behind += (UNCOUNTED_NOTE,)
        notes = guarantee_notes(task.terms.budget, task.terms.unit, made.size)
        return (*notes, defaults_note(method.encoding(task).defaults), MADE_UP_NOTE, *behind)


def misplaced(option: str, method: str, chosen: str) -> str:
    """What to say of an option that the chosen method does not take."""
    flag = by_door(option, {"n_clusters": "--clusters", "k": "--k", "bins": "--bins"}[option])
    if option == "k":
        averaging = by_door(
            "cl.Microaggregation(k=5), which is not private", "--method microaggregation, which is not private"
        )
        return f'method "{chosen}" has no groups of k. Leave {flag} out, or average rows in groups of k: {averaging}.'
    return f'{flag} is for method "{method}", and the method is "{chosen}". Leave one of them out.'


def stated_ends(columns: RowColumns) -> dict[str, tuple[float, float]]:
    """The bounds of the numbers, which say how many values a rho is among."""
    return {
        name: kind.bounds for name, kind in columns.kinds.items() if isinstance(kind, Number) and kind.bounds is not None
    }


def parameters_of(method: RowMethod, task: RowTask, made: MadeRows) -> dict[str, Any]:
    """The public choices, for the certificate."""
    columns = task.columns
    bounds = {name: kind.bounds for name, kind in columns.kinds.items() if not isinstance(kind, Category)}
    return {
        "method": method.name,
        "columns": list(columns.names),
        "bounds": {name: [as_plain(end) for end in ends] for name, ends in bounds.items() if ends is not None},
        "choices": dict(made.choices),
        "defaults": method.encoding(task).defaults,
        **({"bins": {name: plain_bins(bins) for name, bins in task.bins.items()}} if task.bins else {}),
    }


def read_bins(name: str, bins: Any) -> int | list[Any]:
    """Stated bins: how many, or edges; numbers as Python has them, so that the certificate can."""
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        return int(bins)
    if isinstance(bins, str | bytes) or not isinstance(bins, Iterable):
        raise UsageError(f'bins of "{name}": give a number of bins, or a list of edges.')
    return [edge.item() if isinstance(edge, np.generic) else edge for edge in bins]


def plain_bins(bins: int | list[Any]) -> Any:
    """Stated bins as JSON has them."""
    return bins if isinstance(bins, int) else [as_plain(edge) for edge in bins]


def as_plain(end: Any) -> float | str:
    """A bound as JSON has it: a number, or a day as text."""
    return float(end) if isinstance(end, int | float) else str(end)


def result_of(made: MadeRows) -> dict[str, Any]:
    """What was released beside the rows."""
    return {"rows": made.rows, "size": float(made.size), **made.result}


def check_written(names: Sequence[str], task: RowTask, format: str | None) -> None:
    """Refuse a format that cannot hold the rows, or whose writer is not installed, before anything is charged."""
    if format is not None:
        check_header(names, task.columns.names, format)
        check_storable(pa.schema([(name, pa.string()) for name in task.columns.names]), format)
