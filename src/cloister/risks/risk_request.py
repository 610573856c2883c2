"""What is asked about a table's risk: which columns others may know, which must not be learned, and what labels stand for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloister.column_names import missing_column
from cloister.errors import UsageError
from cloister.parameters import check_names
from cloister.schema import Category, Role, Schema
from cloister.schema.hierarchies import Hierarchy, find_hierarchies, read_hierarchy

__all__ = ["Hierarchies", "RiskRequest", "read_hierarchies", "read_request"]

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
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    target: str | None
    person: str | None
    search: int | None
    is_quasi_named: bool

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
) -> RiskRequest:
    """The request for a table with these columns; roles come from the schema where no columns are named."""
    named = _listed(quasi) or _with_role(schema, Role.QUASI)
    hidden = _listed(sensitive) or [name for name in _with_role(schema, Role.SENSITIVE) if name in names]
    person = schema.unit if schema is not None and schema.unit in names else None
    known = named
    if not named:
        unknown = {*_with_role(schema, Role.IDENTIFIER), *hidden, target, person}
        known, search = [name for name in names if name not in unknown], search or LONGEST_COMBINATION
    request = RiskRequest(tuple(known), tuple(hidden), target, person, search, bool(named))
    _check_present(request.columns, names)
    both = [name for name in request.sensitive if name in request.quasi]
    if both:
        raise UsageError(f'column "{both[0]}" cannot be known to others and sensitive at once. Take it off one list.')
    if target in request.quasi:
        raise UsageError(f'column "{target}" is what should be predicted: take it off the quasi-identifiers.')
    return request


def read_hierarchies(hierarchies: Hierarchies | None, schema: Schema | None, quasi: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchy of each column that has one: as given, else as the schema says."""
    sources: dict[str, Hierarchy | str | os.PathLike[str]] = {}
    for column in schema.columns if schema is not None else ():
        if isinstance(column.kind, Category) and column.kind.hierarchy is not None:
            sources[column.name] = column.kind.hierarchy
    if isinstance(hierarchies, Mapping):
        sources |= hierarchies
    elif hierarchies is not None:
        sources |= find_hierarchies(Path(hierarchies), quasi)
    return {
        name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree)
        for name, tree in sources.items()
        if name in quasi
    }


def _listed(columns: Sequence[str] | str | None) -> list[str]:
    """Names from a list, or from one text with commas; each once."""
    if columns is None:
        return []
    names = columns.split(",") if isinstance(columns, str) else check_names(columns, "the list of columns")
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


def _with_role(schema: Schema | None, role: Role) -> list[str]:
    return [column.name for column in schema.columns if column.role is role] if schema is not None else []


def _check_present(wanted: Sequence[str], names: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            raise missing_column(name, names, wanted)
