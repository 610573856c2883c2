"""The first station: the table and perhaps a population, opened as a request asks, and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cloister.anonymization.counting.column_values import MOST_CODES, MOST_VALUES, fetch_values
from cloister.anonymization.counting.count_table import (
    CountedTable,
    add_population,
    count_holders,
    count_on_step,
    count_range,
    count_table,
)
from cloister.anonymization.counting.leaf_coder import class_coder, value_coder
from cloister.anonymization.counting.mixed_cells import check_on_step, check_one_kind, find_on_step
from cloister.anonymization.counting.quasi_columns import column_from_values
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.request import Request
from cloister.anonymization.searching.limits import check_limit
from cloister.schema import Date, Number, Schema
from cloister.schema.hierarchies import Hierarchy
from cloister.schema.hierarchies.of_columns import read_hierarchies
from cloister.sinks.column_types import check_have_text
from cloister.sinks.csv_header import check_header
from cloister.sources.stated_names import names_stated
from cloister.vault import Holder, Vault, open_data

__all__ = ["OpenedTables", "count_tables", "open_tables"]


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTables:
    """A table in the hands of its holder, the request fitted to its columns, their hierarchies, and a population if any."""

    request: Request
    table: Holder
    hierarchies: Mapping[str, Hierarchy]
    population: Holder | None


def open_tables(request: Request, X: Any, purpose: str, format: str | None = None) -> OpenedTables:
    """Open what a request needs and check the columns; the ledger records it, and no row is read yet.

    `format` is that of the output, where there is one.
    """
    stated = names_stated(request.schema)
    rows = open_data(X, request.engine, stated)
    table = Vault.holding(rows, purpose=purpose, engine=request.engine, table=request.table, ledger=request.ledger)
    fitted = request.on(table.names)
    hierarchies = read_hierarchies(fitted.hierarchies, fitted.quasi, table.names, fitted.schema)
    for limit in fitted.limits:  # of other columns the rows must be counted first
        if limit.is_set and (limit.name in hierarchies or _is_ordered(limit.name, fitted.schema)):
            check_limit(limit, hierarchies.get(limit.name))
    population = None
    if fitted.population is not None:
        everybody = open_data(fitted.population, fitted.engine, stated)
        population = Vault.holding(everybody, purpose="k-map", engine=fitted.engine)
        fitted = fitted.on_population(population.names)
    if format is not None:
        written = [name for name in table.names if name not in fitted.dropped or name in fitted.pseudonyms]
        check_header(table.names, written, format)
    table.record()
    return OpenedTables(fitted, table, hierarchies, population)


def _is_ordered(name: str, schema: Schema | None) -> bool:
    return schema is not None and name in schema and isinstance(schema[name].kind, Number | Date)


def count_tables(opened: OpenedTables) -> CountedTable:
    """The tuples of the table with their counts: one pass, and one before it where the values of a column are not known."""
    request, table, population = opened.request, opened.table, opened.population
    compared = [*request.sensitive, *([request.target] if request.target else [])]
    person = [request.person] if request.person else []
    named = dict.fromkeys([*request.quasi, *compared, *person, *request.pseudonyms])
    check_have_text(table.types(list(named)), list(named))
    without_hierarchy = {name: MOST_CODES for name in request.quasi if name not in opened.hierarchies}
    wanted = [(table, {**without_hierarchy, **dict.fromkeys(compared, MOST_VALUES)})]
    if population is not None:
        wanted.append((population, without_hierarchy))
    values = fetch_values(wanted, request.schema, compared)
    columns: dict[str, Hierarchy | Scale] = {}
    for name in request.quasi:
        if name in opened.hierarchies:
            columns[name] = opened.hierarchies[name]
            continue
        if request.schema is None or name not in request.schema:
            check_one_kind(values[name], request.k, partial(count_holders, table, name, request.person))
        count = partial(count_range, table, name, request.k, request.person)
        column = column_from_values(values[name], request.schema, count)
        if isinstance(column, Scale):
            on_step = partial(count_on_step, table, request.person)
            column = find_on_step(column, values[name], request.k, on_step, by_people=request.person is not None)
        columns[name] = column
    sensitive = [value_coder(values[name], request.schema, is_ordered=request.ordered) for name in request.sensitive]
    target = class_coder(values[request.target], request.schema) if request.target else None
    counted = count_table(table, columns, sensitive, target, request.person)
    if population is not None:
        whose = person if request.person in population.names else []
        check_have_text(population.types(whose), whose)
        counted = add_population(counted, population, *whose)
    check_on_step(counted, values, request.schema, request.k)
    return counted
