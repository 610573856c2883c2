"""Every error that Cloister raises on purpose.

::

    CloisterError
    ├── UsageError            what was asked for makes no sense; also a ValueError      (exit code 2)
    │   ├── SchemaError       a fault of the schema, or a column that does not fit it
    │   ├── SourceError       data that is missing or of an unknown format
    │   └── SinkError         an output that exists already or cannot be written
    ├── BudgetExceeded        the table's total would be passed                         (exit code 1)
    ├── LedgerError           the ledger cannot be reached, read or understood          (exit code 1)
    ├── DataError             data that breaks while it is read, retold without values  (exit code 1)
    └── EngineError           an engine that cannot be started or that failed           (exit code 1)

A message says what, how much, and what to do next, in the user's words. It never holds a data value.
"""

from __future__ import annotations

from typing import NoReturn

__all__ = [
    "BudgetExceeded",
    "CloisterError",
    "DataError",
    "EngineError",
    "LedgerError",
    "SchemaError",
    "SinkError",
    "SourceError",
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


class SinkError(UsageError):
    """The output exists already or cannot be written."""


class BudgetExceeded(CloisterError):
    """A release would pass the total that its table may spend."""


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
