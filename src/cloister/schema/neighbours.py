"""Which two tables must not be told apart: the neighbour relation."""

from __future__ import annotations

from enum import StrEnum


class Neighbours(StrEnum):
    """The neighbour relation of a guarantee.

    ADD_REMOVE: the tables differ by one row more or less; the number of rows is private.
    REPLACE_ONE: one row is changed; the number of rows is public.

    An add-remove epsilon is worth 2 epsilon under replace-one; a replace-one epsilon is worth nothing under add-remove.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
