"""The hierarchy of each column that has one: as a call or the schema names it, or as the schema's public facts make it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cloister.errors import UsageError
from cloister.parameters import check_path
from cloister.schema.hierarchies.build import calendar, flat
from cloister.schema.hierarchies.read import find_hierarchies, read_hierarchy
from cloister.schema.hierarchies.tree import Hierarchy
from cloister.schema.kinds import Category, Date, Kind
from cloister.schema.table import Schema

__all__ = ["fit_to_cells", "read_hierarchies"]


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
        trees[name] = tree if isinstance(tree, Hierarchy) else read_hierarchy(check_path(tree, "a hierarchy"))
    return trees
