"""What is asked of microaggregation: the parameters, checked, and fitted to the columns of a table. No row is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cloister.column_names import missing_column
from cloister.errors import SchemaError, UsageError, by_door
from cloister.parameters import check_names, check_path, check_whole, unknown_choice
from cloister.schema import Category, Column, Date, Number, Role, Schema
from cloister.schema.hierarchies import Hierarchy, find_hierarchies, read_hierarchy
from cloister.schema.hierarchies.of_columns import fit_to_cells

__all__ = ["DISTANCES", "RULES", "MicroaggregationRequest", "MicroaggregationSettings", "read_microaggregation_request"]

DISTANCES = {
    "mixed": "numbers on a scale from 0 to 1, absolute differences; a differing category adds 1",
    "standardized": "z-scored numbers, squared differences; a differing category adds 2",
}
RULES = {
    "cmd": "two groups at a time while at least 2k are left; the last fewer than k join their nearest groups",
    "mdav": "two groups at a time while at least 3k are left, then one, and the rest is the last",
}
MOST_K = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroaggregationSettings:
    """The parameters of `Microaggregation`, which says what they mean, as plain unchecked values."""

    k: int = 5
    distance: str = "mixed"
    rule: str = "cmd"
    columns: Sequence[str] | None = None
    hierarchies: Any = None
    sensitive: str | Sequence[str] = ()
    keep: str | Sequence[str] = ()
    schema: Any = None
    table: str | None = None
    ledger: Any = None
    engine: Any = None


@dataclass(frozen=True, slots=True)
class MicroaggregationRequest:
    """What is asked for. `on` fits it to the columns of a table."""

    k: int
    distance: str
    rule: str
    columns: tuple[str, ...]  # that are microaggregated
    sensitive: tuple[str, ...]  # that are published as they are
    keep: tuple[str, ...]  # that are published as they are, too
    named: tuple[str, ...]  # by the user, who expects them in the table
    person: str | None  # the column that says whose a row is, where k counts people
    hierarchies: Any
    schema: Schema | None
    table: str | None
    ledger: Any
    engine: Any

    @property
    def purpose(self) -> str:
        """The purpose that the ledger records."""
        return f"microaggregated table, k = {self.k}"

    @property
    def unit_words(self) -> str:
        """Whom k counts."""
        return "row" if self.person is None else f'person (column "{self.person}")'

    @property
    def parameters(self) -> dict[str, Any]:
        """The public choices, for the certificate."""
        return {
            "quasi": list(self.columns),
            "sensitive": list(self.sensitive),
            "keep": list(self.keep),
            "k": self.k,
            "distance": self.distance,
            "rule": self.rule,
            "shuffled": True,
        }

    def on(self, names: Sequence[str]) -> MicroaggregationRequest:
        """The request fitted to a table with these columns: they are all there, and come in its order."""
        described = self.schema.names if self.schema else ()
        for name in self.named:
            if name not in names:
                raise missing_column(name, names, self.named, described=described)
        if absent := next((name for name in self.columns if name not in names), None):
            raise SchemaError(f'the schema names the quasi-identifier "{absent}", which the data does not have.')

        def in_order(some: Sequence[str]) -> tuple[str, ...]:
            return tuple(name for name in names if name in some)

        return replace(self, columns=in_order(self.columns), sensitive=in_order(self.sensitive), keep=in_order(self.keep))

    def riding(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of a table's columns that are published as they are."""
        return tuple(name for name in names if name in self.sensitive or name in self.keep)

    def dropped(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of a table's columns that stay behind: all that nobody asked for."""
        return tuple(name for name in names if name not in self.columns and name not in self.riding(names))

    def kind_of(self, name: str) -> Number | Category | Date | None:
        """What the schema says of a column; None: nothing."""
        kind = self.schema[name].kind if self.schema is not None and name in self.schema else None
        return kind if isinstance(kind, Number | Category | Date) else None

    def trees(self, names: Sequence[str]) -> dict[str, Hierarchy]:
        """The hierarchies of the columns, as far as there are any: named in the call, or in the schema.

        A file of a folder is read for any of the columns; that of a number or a date is then not used.
        """
        paths: dict[str, Any] = {}
        for name in self.columns:
            kind = self.kind_of(name)
            if isinstance(kind, Category) and kind.hierarchy is not None:
                paths[name] = kind.hierarchy
        if isinstance(self.hierarchies, str | os.PathLike):
            files = find_hierarchies(self.hierarchies, names)
            paths |= {name: path for name, path in files.items() if name in self.columns}
        elif self.hierarchies is not None:
            paths |= self.hierarchies
        trees = {
            name: tree if isinstance(tree, Hierarchy) else read_hierarchy(check_path(tree, "a hierarchy"))
            for name, tree in paths.items()
            if not isinstance(self.kind_of(name), Number | Date)
        }
        # a hierarchy of intervals is one of numbers or dates, which are published as means
        return {name: fit_to_cells(tree, self.kind_of(name)) for name, tree in trees.items() if tree.edges is None}

    @property
    def with_named_tree(self) -> tuple[str, ...]:
        """The columns whose hierarchy the call or the schema names: they are categories, whatever their cells look like."""
        by_schema = [name for name in self.columns if getattr(self.kind_of(name), "hierarchy", None) is not None]
        by_call = self.hierarchies if isinstance(self.hierarchies, Mapping) else ()
        return tuple(dict.fromkeys([*by_schema, *by_call]))


def read_microaggregation_request(settings: MicroaggregationSettings) -> MicroaggregationRequest:
    """Check everything that can be checked without the table."""
    k = check_whole(settings.k, "k", 2, MOST_K)  # with 1 every row would be published as it is
    for what, value, known in (("distance", settings.distance, DISTANCES), ("rule", settings.rule, RULES)):
        if not isinstance(value, str) or value not in known:
            raise unknown_choice(what, value, known)
    schema = settings.schema
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema.from_toml(schema)
    named = _names(settings.columns, "columns")
    sensitive = _names(settings.sensitive, "sensitive")
    keep = _names(settings.keep, "keep")
    _check_one_role(named, sensitive, keep)
    columns = named or tuple(name for name in _with_role(schema, Role.QUASI) if name not in sensitive and name not in keep)
    if not columns:
        raise UsageError(
            "which columns are microaggregated? "
            + by_door('Name them (columns=["age", "income"])', "Name them (--columns age,income)")
            + ", or give them the role quasi in a schema."
        )
    by_role = tuple(name for name in _with_role(schema, Role.SENSITIVE) if name not in columns and name not in keep)
    person = schema.unit if schema is not None else None
    _check_described(columns, schema)
    if person in (*columns, *sensitive, *keep):
        raise UsageError(f'column "{person}" says whose a row is, and is not published. Leave it out.')
    _check_hierarchies(settings.hierarchies, columns, schema)
    return MicroaggregationRequest(
        k=k, distance=settings.distance, rule=settings.rule, columns=columns,
        sensitive=sensitive or by_role, keep=keep, named=(*named, *sensitive, *keep, *([person] if person else [])),
        person=person, hierarchies=settings.hierarchies, schema=schema,
        table=settings.table if settings.table is not None else schema.table if schema else None,
        ledger=settings.ledger, engine=settings.engine,
    )  # fmt: skip


def _check_one_role(columns: Sequence[str], sensitive: Sequence[str], keep: Sequence[str]) -> None:
    for one, other, what in (
        (columns, sensitive, "microaggregated and sensitive"),
        (columns, keep, "microaggregated and kept as it is"),
        (sensitive, keep, "sensitive and kept"),
    ):
        if both := next((name for name in one if name in other), None):
            raise UsageError(f'column "{both}" cannot be both {what}. Choose one.')


def _check_described(columns: Sequence[str], schema: Schema | None) -> None:
    """Refuse columns that the schema calls something of which there are no means and no modes."""
    known: list[Column] = [schema[name] for name in columns if name in schema] if schema is not None else []
    for column in known:
        if column.role is Role.IDENTIFIER:
            raise UsageError(
                f'column "{column.name}" is an identifier in the schema: it is dropped, not averaged. Leave it out, or correct '
                "its role."
            )
        if not isinstance(column.kind, Number | Category | Date):
            raise SchemaError(
                f'column "{column.name}" is text in the schema, and microaggregation needs numbers, categories or dates. Leave '
                "it out, or call it a category."
            )


def _check_hierarchies(hierarchies: Any, columns: Sequence[str], schema: Schema | None) -> None:
    if hierarchies is None or isinstance(hierarchies, str | os.PathLike):
        return
    if not isinstance(hierarchies, Mapping):
        raise UsageError("hierarchies must be a directory, or a mapping from columns to files.")
    for name in hierarchies:
        if name not in columns:
            raise UsageError(
                f'there is a hierarchy for "{name}", which is not microaggregated. Add it to columns, or drop it.'
            )
        kind = schema[name].kind if schema is not None and name in schema else None
        if isinstance(kind, Number | Date):
            raise UsageError(
                f'there is a hierarchy for "{name}", which is a number or a date in the schema and is published as a mean. '
                "Drop it, or call the column a category."
            )


def _with_role(schema: Schema | None, role: Role) -> tuple[str, ...]:
    return tuple(column.name for column in schema.columns if column.role is role) if schema else ()


def _names(names: str | Sequence[str] | None, what: str) -> tuple[str, ...]:
    checked = check_names([names] if isinstance(names, str) else names, what)
    if twice := next((name for name in checked if checked.count(name) > 1), None):
        raise UsageError(f'{what} names "{twice}" twice.')
    return checked
