"""Which number and category columns are clustered together, and what is publicly known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cloister.clustering.inputs import Input
from cloister.clustering.number_columns import (
    NumberColumns,
    choose_columns,
    has_numbers,
    may_be_number,
    no_number_column,
    untold_numbers,
)
from cloister.column_names import missing_column
from cloister.encode import Codes
from cloister.errors import SchemaError, UsageError, by_door
from cloister.schema import Category, Column, Number, Role, Schema

__all__ = ["choose_mixed_columns", "pick_model", "with_domains"]


def with_domains(schema: Schema | None, domains: Mapping[str, Sequence[str]] | None) -> Schema | None:
    """The schema with the categories that a user lists beside it."""
    if not domains:
        return schema
    if not isinstance(domains, Mapping):
        raise UsageError('categories must be a dict from a column to its values, such as {"sex": ["f", "m"]}.')
    stated = []
    for name, values in domains.items():
        try:
            listed = values if isinstance(values, str) else tuple(values)
            stated.append(Column(name, Category(domain=listed, other=True)))  # type: ignore[arg-type]
        except (SchemaError, TypeError) as error:
            raise UsageError(f'categories of "{name}": {error}') from None
    columns = () if schema is None else tuple(column for column in schema.columns if column.name not in domains)
    return Schema(tuple(stated)) if schema is None else replace(schema, columns=(*columns, *stated))


def pick_model(schema: Schema | None, columns: Sequence[str] | None) -> str:
    """k-means, k-prototypes or k-modes, from the kinds of the chosen columns: public facts."""
    if schema is None:
        return "kmeans"
    names = [name for name in schema.names if is_usable(schema, name)] if columns is None else columns
    has_categories = any(is_category(schema, name) for name in names)
    if not has_categories:
        return "kmeans"
    return "kprototypes" if any(may_be_number(schema, name) for name in names) else "kmodes"


def choose_mixed_columns(
    rows: Input, schema: Schema | None, columns: Sequence[str] | None, bounds: Any, model: str
) -> NumberColumns:
    """The columns that a user named, or all that the schema describes; for "kmodes" the categories among them.

    A category needs its domain: from the schema, or from the call. Everything else is read as `choose_columns` does.
    """
    if schema is None or not any(is_category(schema, name) for name in schema.names):
        raise no_categories(model)
    names = list(columns) if columns is not None else usable_names(rows, schema, bounds, model)
    if missing := [name for name in names if rows.names and name not in rows.names]:
        raise missing_column(missing[0], rows.names, names, described=schema.names)
    categories = tuple(codes_of(schema, name) for name in names if is_category(schema, name))
    if not categories:
        raise no_categories(model)
    numbers = choose_numbers(rows, schema, [name for name in names if not is_category(schema, name)], bounds, model)
    return replace(numbers, categories=categories, order=tuple(names))


def usable_names(rows: Input, schema: Schema, bounds: Any, model: str) -> list[str]:
    """The columns that are clustered when none are named."""
    names = [name for name in schema.names if is_usable(schema, name)]
    if isinstance(bounds, Mapping):
        names += [name for name in bounds if name not in schema]
    elif bounds is not None and not has_numbers(schema):  # what is not named is a number, between these bounds
        if model == "kprototypes" and not getattr(rows.data, "typed", True):
            raise untold_numbers()
        names += [name for name in rows.names if name not in schema and name not in rows.texts]
    return [name for name in names if model == "kprototypes" or is_category(schema, name)]


def choose_numbers(rows: Input, schema: Schema, numbers: list[str], bounds: Any, model: str) -> NumberColumns:
    """The columns beside the categories: numbers with bounds, of k-modes none."""
    if model == "kmodes":
        if numbers:
            raise SchemaError(
                f'column "{numbers[0]}" is no category, and k-modes counts differing categories. Leave it out of '
                f"{by_door('columns', '--columns')}, or use {by_door('KPrototypes', '--model kprototypes')}."
            )
        return NumberColumns([], None)
    if not numbers:
        raise UsageError(
            f"there is no number among the columns. Use {by_door('KModes', '--model kmodes')}, which is k-prototypes without "
            "numbers, or name numbers too."
        )
    for name in numbers:
        if not may_be_number(schema, name):
            raise no_number_column(schema, name)
    chosen = choose_columns(rows, schema, numbers, bounds)
    if chosen.bounds is None:
        raise UsageError(
            "k-prototypes needs the bounds of its numbers: they weigh numbers against categories. "
            + by_door("Give bounds=(low, high), or a schema with bounds.", "Give --bounds, or a schema with bounds.")
        )
    return chosen


def is_category(schema: Schema, name: str) -> bool:
    """Whether the schema says that a column holds categories."""
    return name in schema and isinstance(schema[name].kind, Category)


def is_usable(schema: Schema, name: str) -> bool:
    """Whether a column is clustered when none are named: a number, or a category with a domain, that identifies nobody."""
    column = schema[name]
    if name == schema.unit or column.role is Role.IDENTIFIER:
        return False
    return isinstance(column.kind, Number) or (isinstance(column.kind, Category) and column.kind.domain is not None)


def codes_of(schema: Schema, name: str) -> Codes:
    """The codes of a category column."""
    column = schema[name]
    assert isinstance(column.kind, Category)
    if name == schema.unit or column.role is Role.IDENTIFIER:
        raise no_number_column(schema, name)
    if column.kind.domain is None:
        raise SchemaError(
            f'column "{name}" has no domain. Add domain = [...] to its part of the schema, from what is publicly known about it.'
        )
    if len(column.kind.cells) < 2:
        raise SchemaError(
            f'column "{name}" has one value, so it tells no rows apart. Leave it out of {by_door("columns", "--columns")}, or '
            "give it other = true."
        )
    return Codes.over(name, column.kind)


def no_categories(model: str) -> UsageError:
    """There is nothing that only this model can do."""
    title = {"kprototypes": "k-prototypes", "kmodes": "k-modes"}[model]
    return UsageError(
        f"{title} needs category columns with the values that they may hold. "
        + by_door(
            'List them: categories={"sex": ["f", "m"]}, or a schema; numbers alone are for KMeans.',
            "Describe them in a schema (cloister schema FILE drafts one); numbers alone are for --model kmeans.",
        )
    )
