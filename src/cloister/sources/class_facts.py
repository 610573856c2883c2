"""What a class is, without asking it: a class may have a class of its own, which answers with anything, or ends the process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["bases", "has_method", "is_a", "is_one_of", "of_pandas", "own_dict", "own_names"]

bases: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
"""The classes that a class is made from, itself first."""
own_names: Callable[[type], Mapping[str, object]] = type.__dict__["__dict__"].__get__
"""What a class itself defines."""


def is_a(item: object, kind: type) -> bool:
    """Whether an object is of this class or of one made from it, without asking its own class."""
    return any(base is kind for base in bases(type(item)))


def is_one_of(kind: type, kinds: Iterable[type]) -> bool:
    """Whether a class is one of these: asked by identity, because a metaclass may have its own idea of what is equal."""
    return any(kind is other for other in kinds)


def has_method(item: object, name: str) -> bool:
    """Whether the class of an object has a method, without asking the class."""
    return any(name in own_names(base) for base in bases(type(item)))


def own_dict(item: object) -> dict[str, Any]:
    """What was set on this very object; nothing where that is no plain dict."""
    found = object.__getattribute__(item, "__dict__") if has_method(item, "__dict__") else {}
    return found if type(found) is dict else {}


def of_pandas(name: str) -> Any:
    """A class of pandas, which is not imported here; without it, one that nothing has."""
    return getattr(sys.modules.get("pandas"), name, _Nothing)


class _Nothing:
    """The class of no object."""
