"""What a form as printed gives, stamped `Claimed`: what the paper says of it, what is proved, and that it is not private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cloister.privacy.guarantees import Claimed
from cloister.privacy.release import Release

__all__ = ["PrintedResult", "stamp"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PrintedResult(Generic[T]):
    """A result of an algorithm as printed. It is not a private release."""

    value: T
    release_: Release


def stamp(value: T, claimed: Claimed, **parameters: Any) -> PrintedResult[T]:
    """A result with its stamp; `parameters` are what it was run with, as plain data.

    >>> print(stamp(3, Claimed("003", "epsilon 1", "nothing"), clusters=3).release_)
    Release of printed: claimed by paper 003: epsilon 1; proved: nothing (claimed, NOT PRIVATE)
    """
    facts: Mapping[str, Any] = {"paper": claimed.paper, **parameters}
    return PrintedResult(value, Release("printed", claimed, (), facts, {}))
