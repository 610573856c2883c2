"""A column: its name, its kind and its role."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from cloister.errors import SchemaError
from cloister.parameters import check_text
from cloister.schema.kinds import Category, Date, Kind, Number, Text

__all__ = ["Column", "Role", "is_level", "is_weight"]


class Role(StrEnum):
    """What a column may tell about a person."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its kind and its role.

    `guessed` says that a draft guessed the kind and the role. It is a note: two columns that differ in it are equal.
    `weight`, `most_level` and `widest` are wishes for a generalised table: how much the column counts beside the others (1: as
    they do), the highest level of its hierarchy and the widest interval (of dates: days) that it may be published as.
    """

    name: str
    kind: Kind
    role: Role = Role.OTHER
    guessed: bool = field(default=False, compare=False)
    weight: float | None = None
    most_level: int | None = None
    widest: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SchemaError("a column needs a name.")
        check_text(self.name, "the name of a column")
        if not isinstance(self.kind, (Number, Category, Date, Text)):
            raise SchemaError(f'column "{self.name}": kind must be Number, Category, Date or Text.')
        try:
            object.__setattr__(self, "role", Role(self.role))
        except ValueError:
            raise SchemaError(f'column "{self.name}": role must be one of {", ".join(Role)}.') from None
        self._check_wishes()

    def _check_wishes(self) -> None:
        for name, is_wanted, words in (
            ("weight", is_weight, "a number above 0"),
            ("most_level", is_level, "a whole number of at least 0"),
            ("widest", is_weight, "a number above 0"),
        ):
            wish = getattr(self, name)
            if wish is not None and not is_wanted(wish):
                raise SchemaError(f'column "{self.name}": {name} must be {words}.')
        if self.widest is not None and not isinstance(self.kind, Number | Date):
            raise SchemaError(f'column "{self.name}": widest goes with numbers and dates. For other columns say most_level.')


def is_weight(value: object) -> bool:
    """Whether something is a finite number above 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def is_level(value: object) -> bool:
    """Whether something is a whole number of at least 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
