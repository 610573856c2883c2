"""`compiled`: a loop compiled by numba, kept on disk for the next process where that can be done.

numba raises where it finds no folder to write to (a home that is read-only), where the disk is full, and where a kept file is
damaged. A loop runs after a charge, so none of that may stop it: it is then compiled for this process alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba as nb
from numba.core.caching import FunctionCache

__all__ = ["add_one", "compiled"]

F = TypeVar("F", bound=Callable[..., Any])


class KeptCode(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Compiled code on disk, or none where it cannot be read or written."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with suppress(Exception):  # whatever a damaged file makes pickle raise
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


def compiled(**options: Any) -> Callable[[F], F]:
    """A decorator: compile a function, with numba's options for it, without Python's lock."""

    def compile_function(function: F) -> F:
        dispatcher: F = nb.njit(nogil=True, **options)(function)
        with suppress(RuntimeError):  # no folder can be written to
            dispatcher._cache = KeptCode(function)  # type: ignore[attr-defined]  # as cache=True does
        return dispatcher

    return compile_function


@compiled()
def add_one(number: int) -> int:
    """A loop to try: whether anything can be compiled here."""
    return number + 1
