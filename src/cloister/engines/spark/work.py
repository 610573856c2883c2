"""What Spark's workers do with batches: the same kernels as anywhere, between Arrow batches.

Each piece of work is plain data with a call that maps an iterator of record batches to another. An error on a worker reaches
the driver without its message, which might quote a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.base import Draw
from cloister.engines.sampling import add_up, sample_people
from cloister.engines.spark.blocks import cells, pack, pieces, summary_bytes, unpack
from cloister.errors import CloisterError, raise_alone
from cloister.kernels import Kernel
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.loops.choose import allow_compiled
from cloister.kernels.per_unit import at_most, first_rows, owned_hashes, people, row_hashes
from cloister.kernels.row_maps import RowMap
from cloister.schema.unit import Unit
from cloister.silent_reading import silent_steps

Batches = Iterator[pa.RecordBatch]
Work = Callable[[Batches], Batches]

TOP_BIT = np.uint64(2**63)
BLOCKS = "rows int, numbers binary, codes binary"
OWNED_BLOCKS = BLOCKS + ", owners binary"
OWNED_ROWS = "person_1 bigint, person_2 bigint, place bigint, numbers binary, codes binary"


class WorkerFault(Exception):
    """How an error travels from a worker to the driver: its kind, or a message of Cloister's own, which quotes no value."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """Work whose errors carry no data, and which warns of none."""

    work: Work
    plain: bool = False  # NumPy in place of compiled loops, where workers have no compiler

    def __call__(self, batches: Batches) -> Batches:
        try:
            allow_compiled(not self.plain)
            yield from silent_steps(self.work(batches))
        except ModuleNotFoundError as error:
            raise_alone(WorkerFault(f"[cloister:missing:{error.name}]"))
        except CloisterError as error:
            raise_alone(WorkerFault(f"[cloister:error:{error}]"))
        except Exception as error:
            raise_alone(WorkerFault(f"[cloister:kind:{type(error).__name__}]"))


@dataclass(frozen=True, slots=True)
class Encode:
    """Rows -> blocks of encoded rows."""

    encoding: Encoding

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                yield pack(self.encoding.encode(batch))


@dataclass(frozen=True, slots=True)
class Own:
    """Rows -> encoded rows with their owners, one a line, without the rows of a person beyond the limit."""

    encoding: Encoding
    unit: Unit

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            if not batch.num_rows:
                continue
            owners = people(batch.column(batch.schema.get_field_index(self.unit.column)))
            rows = self.encoding.encode(batch)
            kept = at_most(owners, rows, self.unit.max_rows)
            rows = Encoded(rows.numbers[kept], rows.codes[kept])
            who = owners[kept].view(np.int64)
            places = owned_hashes(owners[kept], rows) ^ TOP_BIT  # signed numbers in the order of the unsigned
            yield pa.RecordBatch.from_pydict(
                {
                    "person_1": who[:, 0].copy(),
                    "person_2": who[:, 1].copy(),
                    "place": places.view(np.int64),
                    "numbers": one_a_line(rows.numbers),
                    "codes": one_a_line(rows.codes),
                }
            )


def one_a_line(array: NDArray[np.int32]) -> pa.Array:
    """Each row as one binary cell."""
    offsets = np.arange(len(array) + 1, dtype=np.int32) * np.int32(4 * array.shape[1])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(array))]
    return pa.Array.from_buffers(pa.binary(), len(array), buffers)


@dataclass(frozen=True, slots=True)
class Bound:
    """Encoded rows, person by person in the order of their places -> blocks with the first few rows of each person."""

    unit: Unit
    columns: tuple[int, int]

    def __call__(self, batches: Batches) -> Batches:
        last, rows_so_far = None, 0  # the person at the end of the batch before, and how many of their rows came so far
        for batch in batches:
            if not batch.num_rows:
                continue
            numbers = cells(batch.column("numbers"), np.int32).reshape(batch.num_rows, self.columns[0])
            codes = cells(batch.column("codes"), np.int32).reshape(batch.num_rows, self.columns[1])
            halves = [batch.column(name).to_numpy(zero_copy_only=False) for name in ("person_1", "person_2")]
            owners = np.ascontiguousarray(np.column_stack(halves)).view(np.uint64)  # (n, 2)
            begins = first_rows(owners)
            starts = np.maximum.accumulate(np.where(begins, np.arange(len(owners)), 0))
            nth = np.arange(len(owners)) - starts  # of the person's rows
            if last is not None and (owners[0] == last).all():
                nth[: int(np.argmax(begins[1:])) + 1 if begins[1:].any() else None] += rows_so_far
            last, rows_so_far = owners[-1].copy(), int(nth[-1]) + 1
            kept = nth < self.unit.max_rows
            yield pack(Encoded(numbers[kept], codes[kept]), owners[kept])


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks -> one summary a task, in one of so many buckets."""

    kernel: Kernel
    columns: tuple[int, int]
    buckets: int

    def __call__(self, batches: Batches) -> Batches:
        total = add_up(self.kernel, (self.kernel.fold(rows) for batch in batches for rows in pieces(batch, self.columns)))
        bucket = partition() % self.buckets
        summary = pa.array([summary_bytes(self.kernel, total)], pa.binary())
        yield pa.RecordBatch.from_pydict({"bucket": pa.array([bucket], pa.int32()), "summary": summary})


def partition() -> int:
    """The number of the partition that this task works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "a worker has a task"
    return int(context.partitionId())


def add_summaries(batches: Batches) -> Batches:
    """Summaries -> their sum; no summary where there are none."""
    total: NDArray[np.int64] | None = None
    for batch in batches:
        for cell in batch.column("summary"):
            part = np.frombuffer(cell.as_buffer(), dtype=np.int64)
            total = part.copy() if total is None else total + part
    if total is not None:
        yield pa.RecordBatch.from_pydict({"summary": pa.array([total.tobytes()], pa.binary())})


@dataclass(frozen=True, slots=True)
class DrawRows:
    """Blocks -> blocks of the rows that a secret draw keeps."""

    keep: Draw
    columns: tuple[int, int]

    def __call__(self, batches: Batches) -> Batches:
        blocks = (rows for batch in batches for rows in pieces(batch, self.columns))
        for number, rows in enumerate(blocks, first_block()):
            mask = self.keep(row_hashes(rows), number)
            yield pack(Encoded(rows.numbers[mask], rows.codes[mask]))


@dataclass(frozen=True, slots=True)
class DrawPeople:
    """Blocks with owners -> blocks of all rows of the people that a secret draw keeps."""

    keep: Draw
    columns: tuple[int, int]

    def __call__(self, batches: Batches) -> Batches:
        owned = (unpack(batch, self.columns) for batch in batches)
        yield from map(pack, sample_people(owned, self.keep, first_block()))  # type: ignore[arg-type]


def first_block() -> int:
    """The number of this partition's first block, farther from that of the next than any partition has blocks."""
    return partition() << 64


@dataclass(frozen=True, slots=True)
class Label:
    """Rows -> the same rows with one more number each, for the holder."""

    function: Callable[[Encoded], NDArray[np.int32]]
    encoding: Encoding
    name: str

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            labels = pa.array(self.function(self.encoding.encode(batch)), pa.int32())
            fields = [*batch.schema, pa.field(self.name, pa.int32())]
            yield pa.RecordBatch.from_arrays([*batch.columns, labels], schema=pa.schema(fields))


@dataclass(frozen=True, slots=True)
class MapRows:
    """Rows -> mapped rows."""

    row_map: RowMap

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            yield self.row_map.map_batch(batch)


@dataclass(frozen=True, slots=True)
class CollectDistinct:
    """Rows -> the different values of some columns, once a task."""

    kernel: DistinctValues

    def __call__(self, batches: Batches) -> Batches:
        values = self.kernel.empty()
        for batch in batches:
            values = self.kernel.merge(values, self.kernel.collect(batch))
        yield from values.to_batches()
