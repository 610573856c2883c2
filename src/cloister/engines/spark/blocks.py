"""Encoded rows as Arrow: many rows in one cell.

An engine that moves rows one by one pays for each cell; a block of rows in one binary cell is moved as it lies in memory.
All blocks of a batch lie behind one another, so reading them back copies nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels import Kernel, Summary

__all__ = ["FOLD_ROWS", "cells", "pack", "pieces", "summary_bytes", "summary_from", "unpack"]

BLOCK_BYTES = 16_384  # of a cell: a batch of 10,000 cells stays at 160 MB
FOLD_ROWS = 65_536


def pack(rows: Encoded, owners: NDArray[np.uint64] | None = None) -> pa.RecordBatch:
    """Columns rows, numbers and codes (and owners), one line a block."""
    width = 4 * (rows.numbers.shape[1] + rows.codes.shape[1]) + (0 if owners is None else 16)
    step = max(1, BLOCK_BYTES // max(1, width))
    ends = np.append(np.arange(0, len(rows), step), len(rows)).astype(np.int32)  # (blocks + 1,)
    columns = {
        "rows": pa.array(np.diff(ends), pa.int32()),
        "numbers": binaries(rows.numbers, ends),
        "codes": binaries(rows.codes, ends),
    }
    if owners is not None:
        columns["owners"] = binaries(owners, ends)
    return pa.RecordBatch.from_pydict(columns)


def unpack(batch: pa.RecordBatch, columns: tuple[int, int]) -> tuple[NDArray[np.uint64] | None, Encoded]:
    """What `pack` packed: the owners, if there are any, and the rows, without a copy."""
    count = int(np.sum(batch.column("rows").to_numpy(zero_copy_only=False), dtype=np.int64))
    numbers = cells(batch.column("numbers"), np.int32).reshape(count, columns[0])
    codes = cells(batch.column("codes"), np.int32).reshape(count, columns[1])
    owners = cells(batch.column("owners"), np.uint64).reshape(count, 2) if "owners" in batch.schema.names else None
    return owners, Encoded(numbers, codes)


def pieces(batch: pa.RecordBatch, columns: tuple[int, int]) -> Iterator[Encoded]:
    """The rows of a batch in pieces of a size that folds well."""
    rows = unpack(batch, columns)[1]
    for start in range(0, len(rows), FOLD_ROWS):
        piece = slice(start, start + FOLD_ROWS)
        yield Encoded(rows.numbers[piece], rows.codes[piece])


def binaries(array: NDArray[Any], ends: NDArray[np.int32]) -> pa.Array:
    """Rows ends[i] to ends[i + 1] of an array as one binary cell each, where they lie."""
    array = np.ascontiguousarray(array)
    offsets = ends * np.int32(array.itemsize * array.shape[1])
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(array)])


def cells(column: pa.Array, kind: type) -> NDArray[Any]:
    """All binary cells of a column behind one another, as they lie."""
    wide = pa.types.is_large_binary(column.type)
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int64 if wide else np.int32)
    start, end = int(offsets[column.offset]), int(offsets[column.offset + len(column)])
    data = column.buffers()[2]
    if data is None or start == end:
        return np.empty(0, dtype=kind)
    raw = data.slice(start, end - start)
    if raw.address % np.dtype(kind).itemsize:  # misaligned: copied to where the loops may read it
        raw = pa.py_buffer(raw.to_pybytes())
    values: NDArray[Any] = np.frombuffer(raw, dtype=kind)
    return values


def summary_bytes(kernel: Kernel, summary: Summary) -> bytes:
    """A summary as one cell."""
    return b"".join(np.ascontiguousarray(summary[part], dtype=np.int64).tobytes() for part in kernel.parts)


def summary_from(kernel: Kernel, raw: NDArray[np.int64]) -> Summary:
    """The summary that was a cell."""
    parts, start = {}, 0
    for part, shape in kernel.parts.items():
        size = int(np.prod(shape, dtype=np.int64))
        parts[part] = raw[start : start + size].reshape(shape)
        start += size
    return Summary(parts)
