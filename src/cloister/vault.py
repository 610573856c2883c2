"""The only door between rows and the world.

An engine reads rows and knows nothing of noise; a mechanism adds noise and never sees a row; the vault knows both. It has
three doors: `measure` (a private release: charged, then read, then noised), `holder` (exact results for whoever holds the
table anyway, stamped so) and `public` (data that is already private).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import Any, Generic, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.errors import BudgetExceeded, SchemaError, UsageError
from cloister.kernels import Kernel, Rows, Summary
from cloister.privacy import noise
from cloister.privacy.accounting import Event, GaussianEvent, LaplaceEvent, SampledEvent, within
from cloister.privacy.budgets import Budget
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms import Mechanism, Released, add_noise
from cloister.privacy.release import Guarantee, Release
from cloister.privacy.secret_draws import secret_draw
from cloister.schema import Neighbours
from cloister.sources import Source, open_source

__all__ = ["Exact", "Released", "Sample", "Unprotected", "Vault"]

T = TypeVar("T")


class Exact(Generic[T]):
    """A value that has not been paid for. It hides itself and cannot be pickled; only this module opens it."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Exact(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an exact value does not leave the vault")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("an exact value is not compared outside the vault")

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Unprotected(Generic[T]):
    """An exact result for the holder of the table. It is not a private release."""

    value: T
    purpose: str
    stamp: str = "for the holder only: not a private release"


class Engine(Protocol):
    """What the vault asks of an engine."""

    def fold(self, kernel: Kernel) -> Summary: ...
    def map(self, function: Callable[[Encoded], T]) -> Iterator[T]: ...
    def sample(self, keep: Callable[[NDArray[np.uint64]], NDArray[np.bool_]]) -> Any: ...
    def people(self) -> int: ...
    def close(self) -> None: ...


class Folder(Protocol):
    """Anything that folds: an engine, or a secret sample of its rows."""

    def fold(self, kernel: Kernel) -> Summary: ...


def make_engine(data: Any, encoding: Encoding, engine: str | None) -> Engine:
    """The engine that a user named, or the one that fits the data."""
    if engine not in (None, "local", "spark"):
        raise UsageError(f'engine must be "local" or "spark", not "{engine}".')
    from cloister.engines.local import LocalEngine

    source = data if isinstance(data, Source) else open_source(data)
    missing = [name for name in encoding.columns if name not in source.names]
    if missing:
        raise SchemaError(f'the data has no column "{missing[0]}". Its columns: {", ".join(source.names[:20])}.')
    return LocalEngine(source, encoding)


class Vault:
    """Rows behind a door. Use `Vault.open` as a context; it is charged on entry and checked on exit."""

    def __init__(
        self,
        engine: Engine,
        budget: Budget,
        neighbours: Neighbours,
        ledger: Ledger | None,
        table: str | None,
        purpose: str,
    ) -> None:
        self._engine = engine
        self._budget = budget
        self._neighbours = neighbours
        self._ledger = ledger
        self._table = table
        self._purpose = purpose
        self._entry: int | None = None
        self._events: list[Event] = []
        self._seeded = noise.is_seeded()
        self._open = False

    @classmethod
    def open(
        cls,
        data: Any,
        encoding: Encoding,
        *,
        budget: Budget,
        neighbours: Neighbours,
        purpose: str,
        engine: str | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
    ) -> Vault:
        """Find the data and its columns; nothing is charged and no row is read until the vault is entered."""
        if ledger is not None and table is None:
            raise UsageError("a ledger needs to know which table this is. Name it: table = ... in the schema, or --table.")
        book = None
        if table is not None:
            book = ledger if isinstance(ledger, Ledger) else Ledger(ledger) if ledger else Ledger.default()
        return cls(make_engine(data, encoding, engine), budget, neighbours, book, table, purpose)

    def __enter__(self) -> Vault:
        if self._ledger is not None and self._table is not None:
            self._entry = self._ledger.charge(
                self._table, self._neighbours.value, self._budget.epsilon, self._budget.delta, self._purpose
            )
        self._open = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open = False

    # The first door.

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A private release: the event is checked against what is left, the rows are read, the noise is added."""
        released, event = self._measure(self._engine, kernel, mechanism, step)
        self._events.append(event)
        return released

    def size(self, mechanism: Mechanism | None, step: str = "size") -> float:
        """The number of rows: public under replace-one, bought with this mechanism under add-remove; at least 1."""
        if self._neighbours is Neighbours.REPLACE_ONE:
            return max(1.0, float(self._engine.fold(Rows())["counts"][0]))
        assert mechanism is not None, "under add-remove the number of rows is bought"
        return max(1.0, float(self.measure(Rows(), mechanism, step).value["counts"][0]))

    @contextmanager
    def sample(self, step: str, rate: Fraction) -> Iterator[Sample]:
        """A secret Poisson sample of the rows at this rate; all that is measured on it is charged as one, amplified.

        Only under add-remove: a Poisson sample does not amplify a replace-one mechanism.
        """
        if self._neighbours is not Neighbours.ADD_REMOVE:
            raise UsageError("a Poisson sample is amplified under add-remove neighbours only.")
        inner = Sample(self, self._engine.sample(secret_draw(rate).keep), step, rate)
        try:
            yield inner
        finally:
            self._events.append(inner.event())

    def _measure(
        self, rows: Folder, kernel: Kernel, mechanism: Mechanism, step: str, sample: Sample | None = None
    ) -> tuple[Released[Summary], LaplaceEvent | GaussianEvent]:
        if not self._open:
            raise UsageError("the vault is closed: a release needs a new charge.")
        event = mechanism.event(step, kernel.sensitivity(self._neighbours))
        ahead: list[Event] = [*self._events, sample.event(event) if sample else event]
        if not within(ahead, self._budget):
            raise BudgetExceeded(f'step "{step}" would pass the budget of this release, {self._budget}. Nothing was read.')
        self._seeded = self._seeded or noise.is_seeded()
        exact = Exact(rows.fold(kernel))
        return Released(add_noise(mechanism, exact._value), mechanism.deviation()), event

    # The second door.

    @staticmethod
    def holder(
        data: Any,
        encoding: Encoding,
        work: Callable[[Encoded], T],
        *,
        purpose: str,
        engine: str | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
    ) -> Unprotected[list[T]]:
        """Exact results for the holder, batch by batch in the order of the rows; the ledger records that it happened."""
        book = None
        if table is not None:
            book = ledger if isinstance(ledger, Ledger) else Ledger(ledger) if ledger else Ledger.default()
        made = make_engine(data, encoding, engine)
        if book is not None and table is not None:
            book.record_holder(table, purpose)
        return Unprotected(list(made.map(work)), purpose)

    # The third door.

    @staticmethod
    def public(data: Any, encoding: Encoding, kernel: Kernel, engine: str | None = None) -> Summary:
        """The exact summary of data that is already private, such as collected reports: nothing is charged."""
        return make_engine(data, encoding, engine).fold(kernel)

    # Leaving.

    def release(
        self,
        kind: str,
        parameters: dict[str, Any],
        result: dict[str, Any],
        notes: tuple[str, ...] = (),
        unit: str = "row",
    ) -> Release:
        """The certificate: the events are added up again and must stay within what was charged."""
        if not within(self._events, self._budget):
            raise BudgetExceeded(f"the steps of this release add up to more than {self._budget}. Nothing is released.")
        guarantee = Guarantee(self._budget.epsilon, self._budget.delta, self._neighbours, unit)
        release = Release(
            kind=kind,
            guarantee=guarantee,
            events=tuple(self._events),
            parameters=parameters,
            result=result,
            seeded=self._seeded,
            ledger={"table": self._table, "entry": self._entry} if self._entry is not None else None,
            notes=notes,
        )
        if self._ledger is not None and self._entry is not None:
            self._ledger.complete(self._entry, release.digest())
        return release


class Sample:
    """A secret sample inside the vault: what is measured on it shares one amplified charge."""

    def __init__(self, vault: Vault, rows: Folder, step: str, rate: Fraction) -> None:
        self._vault = vault
        self._rows = rows
        self._step = step
        self._rate = rate
        self._events: list[LaplaceEvent | GaussianEvent] = []

    def event(self, *more: LaplaceEvent | GaussianEvent) -> SampledEvent:
        """The charge so far, with some events more."""
        return SampledEvent(self._step, self._rate, (*self._events, *more))

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A private release of the sampled rows."""
        released, event = self._vault._measure(self._rows, kernel, mechanism, step, self)
        self._events.append(event)
        return released
