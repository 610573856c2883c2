"""The second door: exact results for whoever holds the table anyway, stamped so and written into the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.base import Backend, OpenedData, Shuffle
from cloister.errors import UsageError
from cloister.kernels import Kernel, Rows, Summary
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.exact import Exact, open_exact
from cloister.kernels.keyed import Keyed, KeyedKernel
from cloister.kernels.loops.choose import expect_rows
from cloister.kernels.row_maps import RowMap
from cloister.privacy import noise
from cloister.sinks.dialect_writer import write_again, write_decimal_commas
from cloister.sources.csv_dialect import SEMICOLON, STANDARD, CsvDialect, dialect_of
from cloister.sources.misread_files import warn_of_misreading
from cloister.sources.source import Source
from cloister.sources.with_column import WithColumn
from cloister.vault.access import pass_over
from cloister.vault.booking import Booking

__all__ = ["Holder", "Unprotected"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unprotected(Generic[T]):
    """An exact result for the holder of the table. It is not a private release."""

    value: T
    purpose: str
    stamp: str = "for the holder only: not a private release"


class Holder:
    """A table in the hands of its holder: exact counts and rewritten rows, none of them a private release.

    `Vault.holding` makes one. The ledger records it once, when `record` is called or rows are labelled.
    """

    def __init__(self, data: OpenedData, backend: Backend, purpose: str, booking: Booking) -> None:
        self._data = data
        self._backend = backend
        self._purpose = purpose
        self._booking = booking
        self._is_seeded = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        return self._data.names

    @property
    def keeps_order(self) -> bool:
        """Whether rows are read and written in one order: then two tables can be laid side by side."""
        return self._backend.keeps_order

    @property
    def engine_title(self) -> str:
        """The name, in messages, of the engine that reads the table."""
        return self._backend.title

    @property
    def is_seeded(self) -> bool:
        """Whether a secret order was drawn with seeded noise: what was written then is stamped."""
        return self._is_seeded

    @property
    def in_ledger(self) -> dict[str, str | int | None] | None:
        """How a certificate names the entry in the ledger; None: unledgered."""
        return self._booking.in_release()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the certificate should know of earlier releases of the table."""
        return self._booking.notes

    def record(self) -> None:
        """Write into the ledger that the holder gets exact results: before the first row is read."""
        self._booking.record_holder(self._purpose)
        warn_of_misreading(self._data)

    def complete(self, digest: str) -> None:
        """Tie what was recorded to the certificate of what came of it."""
        self._booking.complete(digest)

    def reopen(self, path: str) -> Holder:
        """What was written to a path, opened by the same engine; no ledger records its uses."""
        return Holder(self._backend.open_data(path), self._backend, self._purpose, Booking(None, None))

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns."""
        with pass_over(self._data, Encoding(), self._backend) as engine:
            return engine.types(columns)

    def distinct(self, kernel: DistinctValues) -> Unprotected[pa.Table]:
        """The different values of some columns."""
        with pass_over(self._data, Encoding(), self._backend) as engine:
            return self._stamped(engine.distinct(kernel))

    def count(self, encoding: Encoding, kernel: KeyedKernel, person: str | None = None) -> Unprotected[Keyed]:
        """How many rows have each key; with `person`, how many of each person."""
        with pass_over(self._data, encoding, self._backend) as engine:
            return self._stamped(engine.fold_by_key(kernel, person))

    @contextmanager
    def folding(self, encoding: Encoding) -> Iterator[Callable[[Kernel], Unprotected[Summary]]]:
        """Exact summaries of the rows, one kernel after another; the rows are read and encoded once."""
        with pass_over(self._data, encoding, self._backend, as_text=False, once=False) as engine:
            self.record()
            expect_rows(
                float(open_exact(engine.fold(Rows()))["counts"][0])
            )  # the holder's own: a small table needs no numba
            try:
                yield lambda kernel: self._stamped(engine.fold(kernel))
            finally:
                expect_rows()

    def label(self, encoding: Encoding, work: Callable[[Encoded], NDArray[Any]], name: str) -> Unprotected[Any]:
        """A number for each row: an array, or on Spark the DataFrame with one more column, computed when read."""
        with pass_over(self._data, encoding, self._backend, as_text=False) as engine:
            # no warning of how its rows look: labels are asked for beside private releases, whose log holds nothing exact
            self._booking.record_holder(self._purpose)
            return self._stamped(engine.label(work, name))

    def gather(self, row_map: RowMap) -> Unprotected[pa.Table]:
        """Every row, mapped, in memory and in the order of the table; only where rows have one (`keeps_order`)."""
        with pass_over(self._data, Encoding(), self._backend) as engine:
            return self._stamped(engine.gather(row_map))

    def with_column(self, name: str, numbers: NDArray[np.int32]) -> Holder:
        """The same table with a number beside each row, in the order of `gather`; no ledger records its uses again."""
        assert isinstance(self._data, Source), "only where rows have an order"
        data = WithColumn(self._data, name, numbers)
        return Holder(data, self._backend, self._purpose, Booking(None, None))

    def write_dialect(self, path: Path, format: str, dialect: str, decimal: str = ".") -> CsvDialect:
        """Write a CSV file that `rewrite` wrote again as the table's own files are written, and return how that is.

        `decimal`: of numbers that are made anew, where it is not the delimiter too.
        """
        if format != "csv" or dialect == "standard":
            return STANDARD
        if dialect == "semicolon":
            if not path.is_file():
                raise UsageError(f"{self.engine_title} writes a .csv as a folder of parts, with commas. Drop the dialect.")
            return write_again(path, replace(SEMICOLON, decimal="."))  # `write_decimals` follows when all is counted again
        asked = dialect_of(self._data)
        return write_again(path, asked if asked.delimiter == decimal else replace(asked, decimal=decimal))

    def write_decimals(
        self, path: Path, format: str, dialect: str, names: Sequence[str], labels: Sequence[str]
    ) -> dict[str, str]:
        """Write numbers with decimal commas where the dialect of semicolons was asked for, but for `labels`.

        After the output was counted again: its labels and values are known by their points. What its certificate says of that is
        returned: whoever measures the output must know how its numbers are written.
        """
        if format != "csv" or dialect != "semicolon":
            return {}
        write_decimal_commas(path, frozenset(place for place, name in enumerate(names) if name not in labels))
        return {"decimal": ","}

    def rewrite(self, row_map: RowMap, path: str, format: str, shuffled: int | None = None) -> None:
        """Write every row, mapped; shuffled, if the number of rows is given."""
        shuffle = None if shuffled is None else Shuffle(shuffled, noise.integers, noise.permutation)
        mark = noise.seeding_mark()
        with pass_over(self._data, Encoding(), self._backend) as engine:
            engine.rewrite(row_map, path, format, shuffle)
        self._is_seeded |= shuffle is not None and noise.seeded_since(mark)

    def _stamped(self, exact: Exact[T]) -> Unprotected[T]:
        return Unprotected(open_exact(exact), self._purpose)
