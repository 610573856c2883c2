"""The public facts that a synopsis needs, gathered and checked before anything is charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.clustering.columns import choose_columns
from cloister.clustering.domain import Domain, from_bounds
from cloister.clustering.inputs import Input, read_input
from cloister.clustering.synopsis.steps import Terms
from cloister.errors import UsageError
from cloister.privacy.budgets import as_budget, relation
from cloister.schema import Schema
from cloister.schema.unit import unit_of

__all__ = ["Facts", "gather"]


@dataclass(frozen=True, slots=True)
class Facts:
    """Where the rows are, where their values may lie, what may be spent, and in whose name."""

    data: Any
    domain: Domain
    terms: Terms
    table: str | None


@dataclass(frozen=True, slots=True)
class Reader:
    """What `read_input` asks of an estimator."""

    engine: Any


def gather(
    data: Any,
    budget: Any,
    bounds: Any,
    scale: str | None,
    columns: Sequence[str] | None,
    schema: Any,
    neighbours: str | None,
    table: str | None,
    engine: Any,
) -> Facts:
    """The facts that a user gave; `data` may be an `Input` that has names and no rows, for a plan."""
    rows = data if isinstance(data, Input) else read_input(data, Reader(engine))
    spend = as_budget(budget)
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema.from_toml(schema)
    chosen = choose_columns(rows, schema, columns, bounds)
    if chosen.bounds is None and chosen.names:
        raise UsageError(
            "the bounds of the data are not known, and a grid needs them. Give bounds=(low, high) or --bounds low,high from "
            "what is publicly known, or a schema with bounds."
        )
    domain = from_bounds(chosen.names, chosen.bounds, scale, chosen.defaults)
    said = neighbours or (schema.neighbours if schema else None)
    terms = Terms(spend, relation(spend, said), unit_of(schema))
    return Facts(rows.data, domain, terms, table or (schema.table if schema else None))
