"""What is asked about a table's risk: which columns others may know, which must not be learned, and what labels stand for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cloister.column_names import missing_column
from cloister.errors import UsageError
from cloister.parameters import check_names, check_path, check_text, check_whole
from cloister.schema import Category, Kind, Role, Schema
from cloister.schema.hierarchies import Hierarchy
from cloister.schema.hierarchies.of_columns import read_hierarchies

__all__ = ["Hierarchies", "RiskRequest", "listed_names", "read_request"]

LONGEST_COMBINATION = 3  # columns of a combination, when no quasi-identifiers are named

Hierarchies = str | os.PathLike[str] | Mapping[str, Hierarchy | str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class RiskRequest:
    """The columns of a table, by what is asked about them.

    Attributes
    ----------
    quasi : columns that others may know; where none was named, all that they might know
    sensitive : columns whose values must not be learned
    target : the column that a classifier should predict
    person : the column that says whose a row is, if people are counted
    search : look for combinations of up to so many columns that single people out; None: do not look
    is_quasi_named : whether the quasi-identifiers were named; if not, the worst combination takes their place
    kinds : how the cells of the columns are read, where a schema says so
    trees : what the labels of the quasi-identifiers stand for, where a hierarchy says so
    notes : what a reader of the report should know of the request
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    target: str | None
    person: str | None
    search: int | None
    is_quasi_named: bool
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are counted."""
        return (*self.quasi, *self.sensitive, *([self.target] if self.target else []))

    def check_original(self, names: Sequence[str]) -> None:
        """Refuse an original without the columns that are compared."""
        if self.is_quasi_named:
            _check_present([*self.quasi, *([self.target] if self.target else [])], names)

    def check_population(self, names: Sequence[str]) -> None:
        """Refuse a population without the quasi-identifiers."""
        if self.is_quasi_named:
            _check_present(self.quasi, names)


def read_request(
    names: Sequence[str],
    schema: Schema | None,
    *,
    quasi: Sequence[str] | str | None,
    sensitive: Sequence[str] | str,
    target: str | None,
    search: int | None,
    hierarchies: Hierarchies | None = None,
    nested: Sequence[str] = (),
) -> RiskRequest:
    """The request for a table with these columns; roles come from the schema where no columns are named.

    Columns that are `nested` hold no single values: they are left out where no quasi-identifiers are named.
    """
    if target is not None:
        check_text(target, "target")
    if search is not None:
        search = check_whole(search, "search", 1)
    named = listed_names(quasi) or _with_role(schema, Role.QUASI)
    hidden = listed_names(sensitive) or [name for name in _with_role(schema, Role.SENSITIVE) if name in names]
    unit = schema.unit if schema is not None else None
    person, notes = unit if unit in names else None, []
    if unit is not None and person is None:
        notes.append(
            f'the table has no column "{unit}", which says whose a row is: rows are counted, and somebody who has several makes '
            "a class look larger than it is."
        )
    known = named
    if not named:
        unknown = {*_with_role(schema, Role.IDENTIFIER), *hidden, target, person}
        known, search = [name for name in names if name not in unknown], search or LONGEST_COMBINATION
        if left_out := [name for name in known if name in nested]:
            known = [name for name in known if name not in nested]
            notes.append(f"columns that hold lists or records were left out: {', '.join(left_out)}.")
    kinds = {column.name: column.kind for column in schema.columns} if schema is not None else {}
    trees = _read_trees(hierarchies, schema, known, names)
    request = RiskRequest(tuple(known), tuple(hidden), target, person, search, bool(named), kinds, trees, tuple(notes))
    _check_present(request.columns, names, tuple(kinds))
    both = [name for name in request.sensitive if name in request.quasi]
    if both:
        raise UsageError(f'column "{both[0]}" cannot be known to others and sensitive at once. Take it off one list.')
    if target in request.quasi:
        raise UsageError(f'column "{target}" is what should be predicted: take it off the quasi-identifiers.')
    return request


def _read_trees(
    hierarchies: Hierarchies | None, schema: Schema | None, quasi: Sequence[str], names: Sequence[str]
) -> dict[str, Hierarchy]:
    """The hierarchy of each column that has one, as `anonymize` reads it; given for other columns, it is not needed."""
    given: Any = hierarchies
    if isinstance(hierarchies, Mapping):
        given = {name: tree for name, tree in hierarchies.items() if name in quasi}
    elif hierarchies is not None:
        given = check_path(hierarchies, "hierarchies")
    # the values of the original are the leaves where a domain has no room for others: it may hold more than the domain
    described = [column for column in schema.columns if not _is_bare_list(column.kind)] if schema is not None else []
    return read_hierarchies(given, quasi, names, Schema(tuple(described)))


def _is_bare_list(kind: Kind) -> bool:
    return isinstance(kind, Category) and kind.hierarchy is None and not kind.other


def listed_names(columns: Sequence[str] | str | None) -> list[str]:
    """Names from a list, or from one text with commas; each once."""
    if columns is None:
        return []
    if isinstance(columns, str):
        return list(dict.fromkeys(name.strip() for name in columns.split(",") if name.strip()))
    return list(dict.fromkeys(name for name in check_names(columns, "the list of columns") if name.strip()))


def _with_role(schema: Schema | None, role: Role) -> list[str]:
    return [column.name for column in schema.columns if column.role is role] if schema is not None else []


def _check_present(wanted: Sequence[str], names: Sequence[str], described: Sequence[str] = ()) -> None:
    for name in wanted:
        if name not in names:
            raise missing_column(name, names, wanted, described=described)
