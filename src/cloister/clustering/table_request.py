"""What a user says of a table when asking for clusters or a synopsis of it. Checked before anything is charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from cloister.clustering.inputs import Input, read_input
from cloister.clustering.number_columns import NumberColumns, choose_columns, kinds_of, stated_bounds, stated_names
from cloister.clustering.terms import Terms
from cloister.encode import Encoding
from cloister.errors import UsageError, by_door
from cloister.parameters import check_names, check_path, check_text
from cloister.privacy.budgets import Rho, as_budget, relation
from cloister.privacy.notes import defaults_note, guarantee_notes
from cloister.privacy.worlds import settle_worlds
from cloister.schema import Schema
from cloister.schema.kinds import repeated
from cloister.schema.unit import unit_of
from cloister.vault import Vault

if TYPE_CHECKING:
    from cloister.privacy.ledger import Ledger

__all__ = ["TableRequest"]


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """The budget, the columns and where their values may lie, and the table that is charged. No rows.

    The fields are what users of `KMeans` and `synopsis` know; `terms` and `table_name` are what they mean together.
    """

    budget: Any = 1.0
    bounds: Any = None
    scale: str | None = "bounds"
    columns: Sequence[str] | None = None
    schema: Any = None
    neighbours: str | None = None
    table: str | None = None
    ledger: str | Ledger | None = None
    engine: Any = None

    def __post_init__(self) -> None:
        if self.schema is not None and not isinstance(self.schema, Schema):
            object.__setattr__(self, "schema", Schema.from_toml(check_path(self.schema, "schema")))
        if self.columns is not None:
            object.__setattr__(self, "columns", list(check_names(self.columns, "columns")))
            if twice := repeated(self.columns):
                raise UsageError(f'column "{twice[0]}" is there twice in {by_door("columns", "--columns")}.')
        for what in ("table", "neighbours"):
            if getattr(self, what) is not None:
                check_text(getattr(self, what), what)
        _ = self.terms  # refuses an invalid budget or relation

    @property
    def terms(self) -> Terms:
        """What may be spent, under which relation, and whom it protects."""
        budget = as_budget(self.budget)
        neighbours = self.neighbours or (self.schema.neighbours if self.schema else None)
        return Terms(budget, relation(budget, neighbours), unit_of(self.schema))

    def settled(self, rows: Input) -> Self:
        """The same request with the worlds of its rho counted over the columns that it uses, where they were left to them.

        Every station after it works on what this gives: the plan, the charge and the certificate have the number.
        """
        budget = as_budget(self.budget)
        if not isinstance(budget, Rho) or not budget.is_open:
            return self
        columns = self.choose_columns(rows)
        if not columns.all_names:  # refused where the columns are worked on
            return self
        return replace(self, budget=settle_worlds(budget, kinds_of(columns, self.facts), stated_bounds(columns)))

    @property
    def facts(self) -> Schema | None:
        """What is publicly known of the columns."""
        schema: Schema | None = self.schema  # a path was read when the request was made
        return schema

    @property
    def table_name(self) -> str | None:
        """The table's name in the ledger; None: unledgered."""
        return self.table if self.table is not None else self.schema.table if self.schema else None

    def read(self, data: Any) -> Input:
        """The user's data with the names of its columns; no row is read."""
        if isinstance(data, Input):
            return data
        return read_input(data, self.engine, stated_names(self.schema, self.columns, self.bounds))

    def count_columns(self) -> int:
        """How many columns bounds with one number a column are for; 0 where nothing says it."""
        return 0 if self.columns is not None or self.schema is not None else stated_names(None, None, self.bounds).count or 0

    def choose_columns(self, rows: Input) -> NumberColumns:
        """The columns to work on, with the bounds that are known of them."""
        return choose_columns(rows, self.schema, self.columns, self.bounds)

    def check_readable(self, rows: Input, encoding: Encoding) -> None:
        """Refuse opened data that a vault would not take; of names alone nothing is known."""
        if rows.data is not None:
            Vault.check(rows.data, encoding, engine=self.engine, unit=self.terms.unit)

    def open_vault(self, rows: Input, encoding: Encoding, purpose: str) -> Vault:
        """A vault over the rows, with this request's budget; entering it charges the ledger."""
        terms = self.terms
        return Vault.open(
            rows.data,
            encoding,
            budget=terms.budget,
            neighbours=terms.neighbours,
            purpose=purpose,
            engine=self.engine,
            table=self.table_name,
            ledger=self.ledger,
            unit=terms.unit,
        )

    def notes(self, encoding: Encoding, rows: float | None = None) -> tuple[str, ...]:
        """What a reader of the certificate should know; `rows`, released, to judge delta by."""
        return (*guarantee_notes(self.terms.budget, self.terms.unit, rows), defaults_note(encoding.defaults))
