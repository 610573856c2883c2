"""Every error that Cloister raises on purpose.

::

    CloisterError
    ├── UsageError            what was asked for makes no sense; also a ValueError      (exit code 2)
    │   ├── SchemaError       a fault of the schema, or a column that does not fit it
    │   ├── Unattainable      no table holds what was asked for, not even one of a single class
    │   ├── SourceError       data that is missing or of an unknown format
    │   └── SinkError         an output that exists already or cannot be written
    ├── BudgetExceeded        the table's total would be passed                         (exit code 1)
    ├── LedgerError           the ledger cannot be reached, read or understood          (exit code 1)
    ├── DataError             data that breaks while it is read, retold without values  (exit code 1)
    └── EngineError           an engine that cannot be started or that failed           (exit code 1)

A message says what, how much, and what to do next, in the user's words. It never holds a data value. The sentences of
`BudgetExceeded`, which several modules raise, are all written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, Self

__all__ = [
    "BudgetExceeded",
    "CloisterError",
    "DataError",
    "EngineError",
    "LedgerError",
    "SchemaError",
    "Shortfall",
    "SinkError",
    "SourceError",
    "Unattainable",
    "UsageError",
    "raise_alone",
]


class CloisterError(Exception):
    """Base of all errors that Cloister raises on purpose."""

    exit_code = 1


class UsageError(CloisterError, ValueError):
    """What was asked for makes no sense: nothing was charged and no row was read."""

    exit_code = 2


class SchemaError(UsageError):
    """The schema is wrong, or a column that it names does not fit the data."""


class SourceError(UsageError):
    """The data cannot be found or its format is not known."""


class Unattainable(UsageError):
    """No recoding of a table meets the guards: not even its most general one does."""


class SinkError(UsageError):
    """The output exists already or cannot be written."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """An epsilon or a delta of which a table has less left than a release needs; amounts as they are shown."""

    parameter: str  # epsilon or delta
    needed: str
    left: str
    total: str
    is_used_up: bool  # nothing at all is left

    def advice(self) -> str:
        """What to do about it."""
        if not self.is_used_up:
            return f"Lower --{self.parameter} to {self.left} or less."
        if self.parameter == "delta":
            return "Leave --delta out."
        return "No further private release of this table fits its total."


class BudgetExceeded(CloisterError):
    """A release would pass the total that its table may spend, or its steps the budget of the release."""

    @classmethod
    def of_table(cls, table: str, shortfalls: Sequence[Shortfall]) -> Self:
        """The ledger refuses a charge: it would pass the table's total."""
        needs: list[str] = []
        for short in shortfalls:
            place = f' for table "{table}"' if not needs else ""
            needs.append(f"needs {short.parameter} {short.needed}, and {short.left} of {short.total} is left{place}")
        return cls(f"this release {'; it '.join(needs)}. {' '.join(short.advice() for short in shortfalls)}")

    @classmethod
    def of_planned_release(cls, table: str) -> Self:
        """A dry run foresees that the ledger would refuse the charge."""
        return cls(f'it needs more than is left for table "{table}". See: cloister ledger show')

    @classmethod
    def of_step(cls, step: str, budget: object) -> Self:
        """The vault refuses a step: it would pass the budget of its release."""
        return cls(f'step "{step}" would pass the budget of this release, {budget}. Nothing was read for it.')

    @classmethod
    def of_release(cls, budget: object) -> Self:
        """The vault refuses a certificate: the steps cost more than was charged."""
        return cls(f"the steps of this release add up to more than {budget}. Nothing is released.")


class LedgerError(CloisterError):
    """The ledger cannot be reached, read or understood."""


class DataError(CloisterError):
    """Data broke while it was read; the message is retold without its values."""


class EngineError(CloisterError):
    """An engine cannot be started, or failed on the way."""


def raise_alone(error: Exception) -> NoReturn:
    """Raise an error that retells another one, without the other.

    Privacy: `raise ... from None` only keeps the first error from being printed. It stays in `__context__`, with its message and
    the frames it came through, where a crash reporter would find values of the data.
    """
    try:
        raise error
    finally:
        error.__context__ = None
