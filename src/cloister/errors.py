"""Every error that Cloister raises on purpose.

::

    CloisterError             whatever has no code of its own                          (exit code 1)
    ├── UsageError            what was asked for makes no sense; also a ValueError      (exit code 2)
    │   ├── SchemaError       a fault of the schema, or a column that does not fit it
    │   ├── Unattainable      no table holds what was asked for, not even one of a single class
    │   ├── SourceError       data that is missing or of an unknown format
    │   │   └── ChangedRelease  a release that was changed since, or contradicts itself  (exit code 5)
    │   └── SinkError         an output that exists already or cannot be written
    ├── BudgetExceeded        the table's total would be passed                         (exit code 3)
    ├── LedgerError           the ledger cannot be reached, read or understood          (exit code 4)
    │   └── BrokenChain       it is damaged, or a record was changed, removed or put in (exit code 5)
    ├── NotChecked            what was to be checked cannot be read                     (exit code 2)
    │   └── LedgerNotAsked    the ledger that was to be asked about it is not there     (exit code 4)
    ├── UnwrittenRelease      a release that was paid for and could not be written      (exit code 1)
    ├── DataError             data that breaks while it is read, retold without values  (exit code 1)
    │   └── VerificationFailed  what was checked does not hold                          (exit code 5)
    ├── EngineError           an engine that cannot be started or that failed           (exit code 1)
    ├── PlanError             a step that the frozen plan does not have: a bug          (exit code 70)
    └── ReleaseFailed         what a UsageError becomes after a charge                  (exit code 1)

The exit codes are those of `ExitCode`, the same for every verb; a command that a signal ends has 128 and its number (Ctrl-C:
130), and an exception that is none of these is a bug (70).

A message says what, how much, and what to do next, in the user's words. It never holds a data value. An error that leaves a
release after its charge says what stays charged, at the end of its message and in `charged`. The sentences of
`BudgetExceeded`, which several modules raise, are all written here. Where a message names an option, `by_door` says it as a
parameter in Python and as a flag on the command line.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import NoReturn, Self

__all__ = [
    "BrokenChain",
    "BudgetExceeded",
    "ChangedRelease",
    "Charge",
    "CloisterError",
    "DataError",
    "EngineError",
    "ExitCode",
    "FittedStep",
    "LedgerError",
    "LedgerNotAsked",
    "LostClusters",
    "NotChecked",
    "PlanError",
    "ReleaseFailed",
    "SchemaError",
    "Shortfall",
    "SinkError",
    "SourceError",
    "Unattainable",
    "UnmeasuredLoss",
    "UnsignedRelease",
    "UntoldLedger",
    "UnwrittenRelease",
    "UsageError",
    "VerificationFailed",
    "at_shell",
    "by_door",
    "out_of_memory",
    "raise_alone",
    "warn_of_release",
]


_AT_SHELL = False


@contextmanager
def at_shell() -> Iterator[None]:
    """While a command runs, messages speak of flags: see `by_door`."""
    global _AT_SHELL
    before, _AT_SHELL = _AT_SHELL, True
    try:
        yield
    finally:
        _AT_SHELL = before


def by_door(python: str, shell: str) -> str:
    """The words of a message that depend on where its reader is: in Python, or on the command line.

    >>> by_door("Give bounds=(low, high)", "Give --bounds LOW,HIGH")
    'Give bounds=(low, high)'
    >>> with at_shell():
    ...     by_door("Give bounds=(low, high)", "Give --bounds LOW,HIGH")
    'Give --bounds LOW,HIGH'
    """
    return shell if _AT_SHELL else python


class ExitCode(IntEnum):
    """What a command tells the program that ran it; 0 alone says that the result is there."""

    FAILURE = 1
    USAGE = 2
    BUDGET_REFUSED = 3
    LEDGER_UNREACHABLE = 4
    VERIFICATION_FAILED = 5
    BUG = 70
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Charge:
    """What a release was charged before it failed; amounts as they are shown."""

    amount: str  # such as: epsilon 1, delta 0.000001
    table: str | None  # None: no ledger keeps it
    entry: int | None

    def __str__(self) -> str:
        if self.table is None:
            return f"Rows may have been read: count {self.amount} as spent, which no ledger keeps."
        return f'What was charged stays charged: {self.amount}, table "{self.table}", ledger entry {self.entry}.'


class CloisterError(Exception):
    """Base of all errors that Cloister raises on purpose."""

    exit_code: int = ExitCode.FAILURE
    charged: Charge | None = None  # what stays charged, where the error came after a charge


class UsageError(CloisterError, ValueError):
    """What was asked for makes no sense: nothing was charged and no row was read."""

    exit_code = ExitCode.USAGE


class SchemaError(UsageError):
    """The schema is wrong, or a column that it names does not fit the data."""


class SourceError(UsageError):
    """The data cannot be found or its format is not known."""


class ChangedRelease(SourceError):
    """A certificate, or what it certifies, is not what was written: it was changed, or contradicts itself."""

    exit_code = ExitCode.VERIFICATION_FAILED


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
    rho: str | None = None  # of a release that was asked for by its rho: the largest one that fits

    def advice(self) -> str:
        """What to do about it."""
        if not self.is_used_up and self.rho is not None:
            return f"Lower {by_door('', '--')}rho to {self.rho} or less."
        if not self.is_used_up:
            return f"Lower {by_door('', '--')}{self.parameter} to {self.left} or less."
        if self.parameter == "delta":
            return f"Leave {by_door('', '--')}delta out."
        return "No further private release of this table fits its total."


class BudgetExceeded(CloisterError):
    """A release would pass the total that its table may spend, or its steps the budget of the release."""

    exit_code = ExitCode.BUDGET_REFUSED

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

    exit_code = ExitCode.LEDGER_UNREACHABLE


class BrokenChain(LedgerError):
    """The ledger was read, and is not what was written: it is damaged, or a record was changed, removed or put in."""

    exit_code = ExitCode.VERIFICATION_FAILED


class NotChecked(CloisterError):
    """What was to be checked cannot be read: nothing is said about it."""

    exit_code = ExitCode.USAGE


class LedgerNotAsked(NotChecked):
    """A ledger that was to be checked, or asked about a release, is not there or cannot be read."""

    exit_code = ExitCode.LEDGER_UNREACHABLE


class UnwrittenRelease(CloisterError):
    """A private release was charged and could not be written where it was wanted; the message says how to get it."""

    def __init__(self, message: str, is_kept: bool = True) -> None:
        super().__init__(message)
        self.is_kept = is_kept


class UntoldLedger(UserWarning):
    """A release was charged and made, and its ledger could not be told of it: the result is there all the same."""


class UnprotectedColumns(UserWarning):
    """Columns were published as they are because their holder said so."""


class LikelyMisread(UserWarning):
    """A file of the holder looks as if it were meant to be read otherwise: another delimiter, a title above the header."""


class FittedStep(UserWarning):
    """A step that was fitted to the rows stands before a private estimator in a Pipeline: no budget covers what it learned."""


class LostClusters(UserWarning):
    """Clusters were released, and there were more than so many rows and so much budget tell apart from the noise."""


class UnmeasuredLoss(UserWarning):
    """Clusters are scored by a released loss that is no larger than its own noise, and so tells nothing of them."""


class UnsignedRelease(UserWarning):
    """A certificate is not signed, because the key of this host cannot be used."""


class DataError(CloisterError):
    """Data broke while it was read; the message is retold without its values."""


class VerificationFailed(DataError):
    """What was checked does not hold: a file was changed, another key signed, a ledger does not know it."""

    exit_code = ExitCode.VERIFICATION_FAILED


class EngineError(CloisterError):
    """An engine cannot be started, or failed on the way."""


class PlanError(CloisterError):
    """A method takes a step that its frozen plan does not have next: a bug of the method, never of its user."""

    exit_code = ExitCode.BUG

    @classmethod
    def of_unplanned(cls, step: str) -> Self:
        """A step that is not pure needs a plan."""
        return cls(
            f'step "{step}" of this release belongs to no plan, so nothing is read for it. This is a bug: please report it.'
        )

    @classmethod
    def of_step(cls, step: str, expected: str | None) -> Self:
        """Another step was to come."""
        plan = f'comes before "{expected}", which its plan has next' if expected else "comes after the end of its plan"
        return cls(f'step "{step}" of this release {plan}, and nothing is read for it. This is a bug: please report it.')


class ReleaseFailed(CloisterError):
    """A release stopped after it was charged, for a reason that would have been a `UsageError` before."""


def out_of_memory(when: str) -> EngineError:
    """What is said where memory ran out, whoever noticed it."""
    return EngineError(
        f"there was not enough memory when {when}. Give the process more, or give it fewer columns, fewer clusters or a coarser "
        "grid."
    )


def raise_alone(error: Exception) -> NoReturn:
    """Raise an error that retells another one, without the other.

    Privacy: `raise ... from None` only keeps the first error from being printed. It stays in `__context__`, with its message and
    the frames it came through, where a crash reporter would find values of the data.
    """
    try:
        raise error
    finally:
        error.__context__ = None


def warn_of_release(message: str, category: type[Warning], stacklevel: int) -> None:
    """Warn of something about a release that was paid for; where warnings are errors it is shown, and nothing is raised.

    Under ``-W error`` an error would take the release away. `stacklevel` counts from the caller, as in `warnings.warn`.
    """
    try:
        warnings.warn(message, category, stacklevel + 1)
    except Exception:
        with warnings.catch_warnings(), suppress(Exception):
            warnings.simplefilter("always", category)
            warnings.warn(message, category, stacklevel + 1)
