"""Values that have not been paid for: engines hand them out wrapped, and only the vault unwraps them.

A test reads the source of every other module and fails where one of them calls `open_exact`.
"""

from __future__ import annotations

from typing import Generic, NoReturn, TypeVar

__all__ = ["Exact", "open_exact"]

T = TypeVar("T")


class Exact(Generic[T]):
    """A value computed from rows, without noise. It hides itself, cannot be pickled and is not compared."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Exact(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an exact value does not leave the vault")

    def __getstate__(self) -> NoReturn:
        raise TypeError("an exact value does not leave the vault")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("an exact value is not compared outside the vault")

    __hash__ = None  # type: ignore[assignment]


def open_exact(exact: Exact[T]) -> T:
    """The value itself. Only the vault may ask for it: to add noise, or to hand it to the holder with a stamp."""
    return exact._value
