"""What is publicly known of a column that a release is about: what the call states of it, else what the schema says."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cloister.errors import SchemaError, UsageError, by_door
from cloister.schema.kinds import Category, Date, Kind, Number
from cloister.schema.stated_bounds import check_agrees, read_ends
from cloister.schema.table import Schema

__all__ = ["kind_of", "number_of", "stated_ends"]


def kind_of(
    name: str,
    bounds: Mapping[str, Any],
    domains: Mapping[str, Sequence[str]],
    schema: Schema | None,
    what: str = "a table",
) -> Number | Date | Category:
    """What is publicly known of a column whose values are cells or candidates; `what` needs to know it, for messages."""
    if name in domains:
        domain = tuple(str(value) for value in domains[name])
        known = schema[name].kind if schema is not None and name in schema else None
        if isinstance(known, Category):  # how its cells are written, and where missing ones are counted, stays
            kept = Category(domain=domain, other=known.other, missing=known.missing)
            if known.default is not None and known.default.strip() not in [value.strip() for value in domain]:
                raise UsageError(
                    f'the schema counts unseen values of "{name}" as "{known.default}", which is not in the domain that is '
                    "given for it. Add it there, or take the default out of the schema."
                )
            return replace(kept, default=known.default)
        return Category(domain=domain)
    if name in bounds:
        are_days = isinstance(read_ends(name, bounds[name])[0], datetime.date)
        return date_of(name, bounds, schema) if are_days else number_of(name, bounds, schema)
    if schema is None:
        raise SchemaError(
            f'nothing is known about column "{name}". '
            + by_door(
                f'Give a schema, or domains={{"{name}": [...]}} for a category, or bounds={{"{name}": (low, high)}} for a '
                "number, from what is publicly known.",
                "Describe it in a schema, from what is publicly known (cloister schema FILE drafts one), and give --schema.",
            )
        )
    kind = schema[name].kind
    if isinstance(kind, Category):
        if kind.domain is None:
            raise SchemaError(f'column "{name}" has no domain. Add domain = [...] to its part of the schema.')
        return kind
    if isinstance(kind, Number):
        return number_of(name, bounds, schema)
    if isinstance(kind, Date):
        return date_of(name, bounds, schema)
    raise SchemaError(f'column "{name}" is text, and {what} needs a category, a number or a date.')


def stated_ends(name: str, bounds: Mapping[str, Any], known: Kind | None) -> Any:
    """The bounds that a call gives a column, which agree with what the schema says of it; None: it gives none."""
    if name not in bounds:
        return None
    ends = read_ends(name, bounds[name])
    check_agrees(name, ends, known)
    return ends


def date_of(name: str, bounds: Mapping[str, Any], schema: Schema | None) -> Date:
    """A date with its public bounds."""
    kind = schema[name].kind if schema is not None and name in schema else None
    ends = stated_ends(name, bounds, kind)
    if ends is not None and isinstance(kind, Date):  # how its cells are written stays, and what a missing one counts as
        date = Date(ends, format=kind.format, missing=kind.missing)
        assert date.bounds is not None
        return (
            date if kind.default is None else replace(date, default=min(max(kind.default, date.bounds[0]), date.bounds[1]))
        )
    if ends is not None:
        return Date(ends)
    assert isinstance(kind, Date)
    if kind.bounds is None:
        raise SchemaError(f'column "{name}" has no bounds. Add bounds = [first, last] to its part of the schema.')
    return kind


def number_of(name: str, bounds: Mapping[str, Any], schema: Schema | None) -> Number:
    """A number with its public bounds."""
    kind = schema[name].kind if schema is not None and name in schema else None
    ends = stated_ends(name, bounds, kind)
    if ends is not None and isinstance(ends[0], datetime.date):
        raise UsageError(
            f'the bounds of column "{name}" are days, and sums, means and quantiles are of numbers. Leave it out of them.'
        )
    if ends is not None and isinstance(kind, Number):  # how its cells are written stays, and what a missing one counts as
        number = Number(ends, decimal=kind.decimal, thousands=kind.thousands, missing=kind.missing)
        assert number.bounds is not None
        low, high = number.bounds
        return number if kind.default is None else replace(number, default=min(max(kind.default, low), high))
    if ends is not None:
        return Number(ends)
    if not isinstance(kind, Number):
        raise SchemaError(
            f'column "{name}" has to be a number with public bounds. Say so in a schema{by_door(", or in bounds=", "")}.'
        )
    if kind.bounds is None:
        raise SchemaError(f'column "{name}" has no bounds. Add bounds = [low, high] to its part of the schema.')
    return kind
