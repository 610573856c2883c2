"""How each quasi-identifier generalises: by a hierarchy, or, where there is none, as a scale or a list of its own values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.column_values import MOST_CODES, ColumnValues
from cloister.anonymization.counting.scale import Scale
from cloister.errors import SchemaError, UsageError
from cloister.schema import Category, Date, Kind, Number, Schema
from cloister.schema.cell_format import PLAIN
from cloister.schema.hierarchies import Hierarchy, calendar, find_hierarchies, flat, read_hierarchy
from cloister.schema.hierarchies.build import round_width

__all__ = ["column_from_values", "read_hierarchies"]


def read_hierarchies(
    hierarchies: Any, quasi: Sequence[str], names: Sequence[str], schema: Schema | None
) -> dict[str, Hierarchy]:
    """The hierarchies of the quasi-identifiers, as far as there are any, for cells as the schema says that they are written.

    Parameters
    ----------
    hierarchies : path of a directory, mapping of columns to paths or Hierarchy, or None
    """
    trees = find_trees(hierarchies, quasi, names, schema)
    return {
        name: fit_to_cells(tree, schema[name].kind if schema and name in schema else None) for name, tree in trees.items()
    }


def fit_to_cells(tree: Hierarchy, kind: Kind | None) -> Hierarchy:
    """A hierarchy that reads cells as the schema says, with a leaf for missing and unseen values where it asks for one."""
    if kind is None:
        return tree
    has_other = isinstance(kind, Category) and kind.other
    return replace(tree.with_other() if has_other else tree, form=kind.form)


def find_trees(hierarchies: Any, quasi: Sequence[str], names: Sequence[str], schema: Schema | None) -> dict[str, Hierarchy]:
    """The hierarchies that a call or the schema names, or that the schema's public facts make."""
    trees: dict[str, Hierarchy] = {}
    for name in quasi:
        kind = schema[name].kind if schema is not None and name in schema else None
        if isinstance(kind, Category) and kind.hierarchy is not None:
            trees[name] = read_hierarchy(kind.hierarchy)
        elif isinstance(kind, Category) and kind.domain is not None:
            trees[name] = flat([value.strip() for value in kind.domain], f'the domain of column "{name}"')
        elif isinstance(kind, Date) and kind.bounds is not None:
            trees[name] = calendar(*kind.bounds, origin=f'the bounds of column "{name}"')
    if hierarchies is None:
        return trees
    if isinstance(hierarchies, (str, os.PathLike)):
        files = find_hierarchies(hierarchies, names)
        return {**trees, **{name: read_hierarchy(path) for name, path in files.items() if name in quasi}}
    if not isinstance(hierarchies, Mapping):
        raise UsageError("hierarchies must be a directory, or a mapping from columns to files.")
    for name, tree in hierarchies.items():
        if name not in quasi:
            raise UsageError(
                f'there is a hierarchy for "{name}", which is no quasi-identifier. Add it to quasi, or drop it.'
            )
        trees[name] = tree if isinstance(tree, Hierarchy) else read_hierarchy(tree)
    return trees


def column_from_values(column: ColumnValues, schema: Schema | None) -> Hierarchy | Scale:
    """What stands for the hierarchy of a quasi-identifier that has none: ordered values to split, or a plain list."""
    kind = schema[column.name].kind if schema is not None and column.name in schema else None
    wants_days = isinstance(kind, Date) or (kind is None and column.is_calendar)
    wants_numbers = isinstance(kind, Number) or (kind is None and not wants_days and column.is_numeric)
    cells = column.days if wants_days else column.numbers
    form = PLAIN if kind is None else kind.form
    if not len(cells):  # nothing but blanks
        return flat([""])
    if wants_days or wants_numbers:
        if not np.isfinite(cells).all():
            what = "dates" if wants_days else "numbers"
            raise SchemaError(
                f'column "{column.name}": some cells cannot be read as {what}. Correct them or its kind in the schema, or give '
                "it a hierarchy."
            )
        bounds = kind.bounds if isinstance(kind, Number) else None
        if wants_days:
            cells = np.floor(cells)
            values = np.arange(cells.min(), cells.max() + 1) if column.is_many else np.unique(cells)
            return Scale(values, is_date=True, form=form)
        return replace(binned(cells, bounds) if column.is_many else Scale(np.unique(cells), bounds=bounds), form=form)
    if column.is_many:
        raise SchemaError(
            f'column "{column.name}" has more than {MOST_CODES:,} different texts and no hierarchy. Give it one '
            "(cloister schema --hierarchies DIR drafts it), or name it an identifier."
        )
    return fit_to_cells(flat(column.words), kind)


def binned(cells: NDArray[np.float64], bounds: tuple[float, float] | None) -> Scale:
    """Very many different numbers as intervals of a round width."""
    low, high = float(cells.min()), float(cells.max())
    width = Fraction(repr(round_width((high - low) / (MOST_CODES // 2))))
    first, last = Fraction(low) // width, Fraction(high) // width
    starts = [float(i * width) for i in range(int(first), int(last) + 2)]  # exact multiples of the decimal width
    if bounds is not None and bounds[0] <= low and high <= bounds[1]:  # intervals end at the public bounds
        starts[0], starts[-1] = max(starts[0], bounds[0]), min(starts[-1], bounds[1])
    return Scale(np.array(starts[:-1]), top=starts[-1], bounds=bounds)
