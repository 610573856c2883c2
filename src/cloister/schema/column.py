"""A column: its name, its kind and its role."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from cloister.errors import SchemaError
from cloister.parameters import check_text
from cloister.schema.kinds import Category, Date, Kind, Number, Text

__all__ = ["Column", "Role"]


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
    """

    name: str
    kind: Kind
    role: Role = Role.OTHER
    guessed: bool = field(default=False, compare=False)

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
