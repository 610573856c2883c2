"""The only door between rows and the world.

An engine reads rows and knows nothing of noise; a mechanism adds noise and never sees a row; the vault knows both. It has
three doors: `measure` (a private release: charged, then read, then noised), `holder` (exact results for whoever holds the
table anyway, stamped so) and `public` (data that is already private).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from traceback import clear_frames
from types import TracebackType
from typing import Any, Generic, NoReturn, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.options import Spark, chosen
from cloister.errors import BudgetExceeded, SchemaError, UsageError
from cloister.kernels import Histogram, Kernel, Rows, Sensitivity, Summary
from cloister.kernels.keyed import Keyed, KeyedKernel
from cloister.kernels.per_unit import for_unit
from cloister.kernels.recoding import Recoding
from cloister.privacy import noise
from cloister.privacy.budgets import Budget
from cloister.privacy.events import Event, SampledEvent, within
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms import Mechanism, Released, add_noise
from cloister.privacy.mechanisms.base import KeyedMechanism
from cloister.privacy.release import Guarantee, Release
from cloister.privacy.secret_draws import secret_draw
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.sources import Source, open_source

__all__ = ["Exact", "Holder", "Released", "Sample", "Spark", "Unprotected", "Vault", "open_data"]

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
    def fold_by_key(self, kernel: KeyedKernel, person: str | None = None) -> Keyed: ...
    def rank(self, order: KeyedKernel) -> Keyed: ...
    def map(self, function: Callable[[Encoded], T]) -> Iterator[T]: ...
    def label(self, function: Callable[[Encoded], NDArray[np.int32]], name: str) -> Any: ...
    def sample(self, keep: Callable[[NDArray[np.uint64], int], NDArray[np.bool_]]) -> Any: ...
    def types(self, columns: Sequence[str]) -> pa.Schema: ...
    def distinct_rows(self, recoding: Recoding) -> pa.Table: ...
    def rewrite(self, recoding: Recoding, path: str, format: str = "parquet") -> None: ...
    def close(self) -> None: ...


class Folder(Protocol):
    """Anything that folds: an engine, or a secret sample of its rows."""

    def fold(self, kernel: Kernel) -> Summary: ...


def open_data(data: Any, engine: str | Spark | None = None) -> Any:
    """The data with the names of its columns, here or on Spark; no row is read."""
    options = chosen(engine, data)
    if options is None:
        return data if isinstance(data, Source) else open_source(data)
    from cloister.engines.spark.rows import open_spark

    return open_spark(data, options)


def make_engine(
    data: Any, encoding: Encoding, engine: str | Spark | None, unit: Unit | None = None, once: bool = False
) -> Engine:
    """The engine that a user named, or the one that fits the data; `once`: the rows are gone through one time only."""
    rows = open_data(data, engine)
    wanted = [*encoding.columns, *([unit.column] if unit else [])]
    missing = [name for name in wanted if name not in rows.names]
    if missing:
        raise SchemaError(f'the data has no column "{missing[0]}". Its columns: {", ".join(rows.names[:20])}.')
    if chosen(engine, rows) is not None:
        from cloister.engines.spark.engine import SparkEngine

        return SparkEngine(rows, encoding, unit)
    from cloister.engines.local.engine import LocalEngine

    return LocalEngine(rows, encoding, unit, once)


def forget(trace: TracebackType | None) -> None:
    """Empty the frames that an error came through: a crash reporter would print the rows in them."""
    if not os.environ.get("CLOISTER_DEBUG"):
        clear_frames(trace)


@contextmanager
def opened(data: Any, encoding: Encoding, engine: str | Spark | None) -> Iterator[Engine]:
    """An engine for one pass, closed behind it."""
    made = make_engine(data, encoding, engine, once=True)
    try:
        yield made
    except BaseException as error:
        forget(error.__traceback__)
        raise
    finally:
        made.close()


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
        unit: Unit | None = None,
    ) -> None:
        self._engine = engine
        self._budget = budget
        self._neighbours = neighbours
        self._ledger = ledger
        self._table = table
        self._purpose = purpose
        self._unit = unit
        self._entry: int | None = None
        self._events: list[Event] = []
        self._sample: Sample | None = None
        self._lock = threading.Lock()
        self._seeded_before = noise.seeded_draws()
        self._open = False
        self._remake: Callable[[Encoding], Engine] | None = None

    @classmethod
    def open(
        cls,
        data: Any,
        encoding: Encoding,
        *,
        budget: Budget,
        neighbours: Neighbours,
        purpose: str,
        engine: str | Spark | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
        unit: Unit | None = None,
    ) -> Vault:
        """Find the data and its columns; nothing is charged and no row is read until the vault is entered."""
        if ledger is not None and table is None:
            raise UsageError("a ledger needs to know which table this is. Name it: table = ... in the schema, or --table.")
        if unit is not None and neighbours is Neighbours.REPLACE_ONE:
            raise UsageError(
                "a guarantee per person needs add-remove neighbours: how many rows somebody has is not public. Set "
                'neighbours = "add-remove", and give --epsilon in place of --rho.'
            )
        book = None
        if table is not None:
            book = ledger if isinstance(ledger, Ledger) else Ledger(ledger) if ledger else Ledger.default()
        vault = cls(make_engine(data, encoding, engine, unit), budget, neighbours, book, table, purpose, unit)
        vault._remake = lambda other: make_engine(data, other, engine, unit)
        return vault

    def __enter__(self) -> Vault:
        if self._ledger is not None and self._table is not None:
            purpose = self._purpose + (" [seeded noise: NOT PRIVATE]" if noise.is_seeded() else "")
            self._entry = self._ledger.charge(
                self._table,
                self._neighbours.value,
                self._budget.epsilon,
                self._budget.delta,
                purpose,
                str(self._unit or "row"),
            )
        self._open = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open = False
        self._engine.close()
        forget(trace)

    # The first door.

    @property
    def unit(self) -> Unit | None:
        """Whom the guarantee protects: people with so many rows each; None: a row."""
        return self._unit

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        """How far one row, or one person where the schema names a unit, moves the kernel's summary."""
        return for_unit(kernel, self._unit).sensitivity(self._neighbours)

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A private release: the event is checked against what is left, the rows are read, the noise is added."""
        self._reserve(mechanism.event(step, self.sensitivity(kernel)), step)
        return self._noised(self._engine, kernel, mechanism)

    def measure_keyed(self, kernel: KeyedKernel, mechanism: KeyedMechanism[T], step: str) -> Released[T]:
        """A private release of a histogram with too many keys for an array of all: a sparse grid, the shape of a tree.

        The mechanism sees the keys that occur, in rising order, with their counts, and hands out what its event pays for.
        A row has one key, so the sensitivity is that of any histogram.
        """
        event = mechanism.event(step, self.sensitivity(Histogram()))
        self._reserve(event, step)
        exact = Exact(self._engine.fold_by_key(kernel))
        return Released(mechanism.apply(exact._value.keys[:, 0], exact._value.counts), mechanism.deviation())

    def size(self, mechanism: Mechanism | None, step: str = "size") -> float:
        """The number of rows: public under replace-one, bought with this mechanism under add-remove; at least 1."""
        if self._neighbours is Neighbours.REPLACE_ONE:
            self._must_be_open()
            return max(1.0, float(self._engine.fold(Rows())["counts"][0]))
        assert mechanism is not None, "under add-remove the number of rows is bought"
        return max(1.0, float(self.measure(Rows(), mechanism, step).value["counts"][0]))

    @contextmanager
    def sample(self, step: str, rate: Fraction) -> Iterator[Sample]:
        """A secret Poisson sample of the rows at this rate; all that is measured on it is charged as one, amplified.

        Where the guarantee is per person, people are drawn, each with all their rows: drawing rows would amplify nothing.
        Only under add-remove: a Poisson sample does not amplify a replace-one mechanism.
        """
        if self._neighbours is not Neighbours.ADD_REMOVE:
            raise UsageError("a Poisson sample is amplified under add-remove neighbours only.")
        self._must_be_open()
        if self._sample is not None:
            raise UsageError("one secret sample at a time: leave the block of the first before the second.")
        self._sample = Sample(self, self._engine.sample(secret_draw(rate).keep), step, rate)
        try:
            yield self._sample
        finally:
            with self._lock:
                self._events.append(self._sample.event())
                self._sample = None

    def _noised(self, rows: Folder, kernel: Kernel, mechanism: Mechanism) -> Released[Summary]:
        exact = Exact(rows.fold(kernel))
        return Released(add_noise(mechanism, exact._value), mechanism.deviation())

    def recode(self, encoding: Encoding) -> None:
        """Read the same rows through another encoding from here on; what was spent stays spent."""
        assert self._remake is not None, "a vault is made by Vault.open"
        self._engine.close()
        self._engine = self._remake(encoding)

    def _must_be_open(self) -> None:
        if not self._open:
            raise UsageError("the vault is closed: a release needs a new charge.")

    def _reserve(self, event: Event, step: str, sample: Sample | None = None) -> None:
        """Spend a step's cost before a row is read for it, or refuse the step; what then goes wrong stays spent."""
        with self._lock:
            self._must_be_open()
            if sample is not None and sample is not self._sample:
                raise UsageError("the secret sample is gone: measure inside its block.")
            on_table: list[Event] = [*self._events, *([] if sample else [event])]
            on_sample = [self._sample.event(*([event] if sample else []))] if self._sample else []
            if not within([*on_table, *on_sample], self._budget):
                raise BudgetExceeded(
                    f'step "{step}" would pass the budget of this release, {self._budget}. Nothing was read for it.'
                )
            if sample is None:
                self._events.append(event)
            else:
                sample.events.append(event)

    # The second door.

    @staticmethod
    def holder(
        data: Any,
        encoding: Encoding,
        work: Callable[[Encoded], T],
        *,
        purpose: str,
        engine: str | Spark | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
    ) -> Unprotected[list[T]]:
        """Exact results for the holder, batch by batch in the order of the rows; the ledger records that it happened."""
        book = None
        if table is not None:
            book = ledger if isinstance(ledger, Ledger) else Ledger(ledger) if ledger else Ledger.default()
        with opened(data, encoding, engine) as made:
            if book is not None and table is not None:
                book.record_holder(table, purpose)
            return Unprotected(list(made.map(work)), purpose)

    @staticmethod
    def label(
        data: Any,
        encoding: Encoding,
        work: Callable[[Encoded], NDArray[np.int32]],
        *,
        name: str,
        purpose: str,
        engine: str | Spark | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
    ) -> Unprotected[Any]:
        """A number for each row, for the holder: an array, or on Spark the DataFrame with a column more, made when read."""
        with opened(data, encoding, engine) as made:
            if table is not None:
                book = ledger if isinstance(ledger, Ledger) else Ledger(ledger) if ledger else Ledger.default()
                book.record_holder(table, purpose)
            return Unprotected(made.label(work, name), purpose)

    @staticmethod
    def holding(
        data: Any,
        *,
        purpose: str,
        engine: str | Spark | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
    ) -> Holder:
        """Keep the second door open for several passes: count, look up, rewrite; the ledger records it once."""
        if ledger is not None and table is None:
            raise UsageError("a ledger needs to know which table this is. Name it: table = ... in the schema, or --table.")
        return Holder(open_data(data, engine), purpose, engine, table, ledger)

    # The third door.

    @staticmethod
    def public(data: Any, encoding: Encoding, kernel: Kernel, engine: str | Spark | None = None) -> Summary:
        """The exact summary of data that is already private, such as collected reports: nothing is charged."""
        with opened(data, encoding, engine) as made:
            return made.fold(kernel)

    @staticmethod
    def public_clusters(
        path: str, features: list[str], weight: str, total: float, clusters: int, seed: int, engine: str | Spark
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Weighted k-means on Spark over a file of points that are released already: centres, sizes, squared error."""
        from cloister.engines.spark.kmeans import weighted_kmeans

        options = chosen(engine, None)
        if options is None:
            raise UsageError('this is for Spark: give engine="spark".')
        return weighted_kmeans(path, features, weight, total, clusters, seed, options)

    # Leaving.

    def release(
        self,
        kind: str,
        parameters: dict[str, Any],
        result: dict[str, Any],
        notes: tuple[str, ...] = (),
    ) -> Release:
        """The certificate: the events are added up again and must stay within what was charged."""
        if not within(self._events, self._budget):
            raise BudgetExceeded(f"the steps of this release add up to more than {self._budget}. Nothing is released.")
        guarantee = Guarantee(self._budget.epsilon, self._budget.delta, self._neighbours, str(self._unit or "row"))
        release = Release(
            kind=kind,
            guarantee=guarantee,
            events=tuple(self._events),
            parameters=parameters,
            result=result,
            seeded=noise.is_seeded() or noise.seeded_draws() != self._seeded_before,
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
        self.events: list[Event] = []

    def event(self, *more: Event) -> SampledEvent:
        """The charge so far, with some events more."""
        return SampledEvent(self._step, self._rate, (*self.events, *more))

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        """As of the vault."""
        return self._vault.sensitivity(kernel)

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A private release of the sampled rows."""
        self._vault._reserve(mechanism.event(step, self.sensitivity(kernel)), step, self)
        return self._vault._noised(self._rows, kernel, mechanism)


class Holder:
    """A table in the hands of its holder: exact counts and rewritten rows, none of them a private release."""

    def __init__(
        self, rows: Any, purpose: str, engine: str | Spark | None, table: str | None, ledger: str | Ledger | None
    ) -> None:
        self._rows = rows
        self._purpose = purpose
        self.spark = chosen(engine, rows)
        self._engine = engine
        self.table = table
        self._book: Ledger | None = None
        self.entry: int | None = None
        if table is not None:
            self._book = ledger if isinstance(ledger, Ledger) else Ledger(ledger) if ledger else Ledger.default()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        names: tuple[str, ...] = self._rows.names
        return names

    def record(self) -> None:
        """Write into the ledger that the holder gets exact results: before the first row is read."""
        if self._book is not None and self.table is not None and self.entry is None:
            self.entry = self._book.record_holder(self.table, self._purpose)

    def complete(self, digest: str) -> None:
        """Tie what was recorded to the certificate of what came of it."""
        if self._book is not None and self.entry is not None:
            self._book.complete(self.entry, digest)

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns."""
        return self._run(Encoding(), lambda engine: engine.types(columns))

    def look_up(self, recoding: Recoding) -> Unprotected[pa.Table]:
        """The different rows that a recoding makes of the table."""
        return Unprotected(self._run(Encoding(), lambda engine: engine.distinct_rows(recoding)), self._purpose)

    def count(self, encoding: Encoding, kernel: KeyedKernel, person: str | None = None) -> Unprotected[Keyed]:
        """How many rows have each key; with `person`, how many of each person."""
        return Unprotected(self._run(encoding, lambda engine: engine.fold_by_key(kernel, person)), self._purpose)

    def rewrite(self, recoding: Recoding, path: str, format: str, shuffled: int | None = None) -> None:
        """Write every row, recoded; on Spark, if a number of files is given, in an order that holds nothing of the input's."""
        more = {} if shuffled is None else {"shuffled": shuffled}
        self._run(Encoding(), lambda engine: engine.rewrite(recoding, path, format, **more))

    def _run(self, encoding: Encoding, work: Callable[[Engine], T]) -> T:
        with opened(self._rows, encoding, self._engine) as made:
            return work(made)
