"""Tables whose encoding is the encoded rows themselves, so that laws over encoded rows can be tried on any engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cloister.encode import Codes, Encoded, Encoding, Grid


def identity(columns: int, half: int, sizes: tuple[int, ...]) -> Encoding:
    """Numbers n0, n1, ... are grid integers, categories c0, c1, ... are codes."""
    grids = tuple(Grid(f"n{j}", 0.0, 1.0, half) for j in range(columns))
    return Encoding(grids, tuple(Codes(f"c{j}", tuple(map(str, range(size)))) for j, size in enumerate(sizes)))


def table(rows: Encoded, people: np.ndarray | None = None) -> pa.Table:
    """The table that `identity` encodes to these rows; `who` says whose they are."""
    columns: dict[str, np.ndarray] = {f"n{j}": rows.numbers[:, j] for j in range(rows.numbers.shape[1])}
    columns |= {f"c{j}": rows.codes[:, j] for j in range(rows.codes.shape[1])}
    columns["id"] = np.arange(len(rows))
    if people is not None:
        columns["who"] = people
    return pa.table(columns)


def write(folder: Path, name: str, rows: Encoded, people: np.ndarray | None = None) -> Path:
    """The same as a Parquet file."""
    path = folder / f"{name}.parquet"
    pq.write_table(table(rows, people), path, row_group_size=50)
    return path


def random_rows(seed: int, count: int, columns: int, half: int, sizes: tuple[int, ...]) -> Encoded:
    random = np.random.default_rng(seed)
    numbers = random.integers(-half, half, (count, columns), dtype=np.int32, endpoint=True)
    codes = np.column_stack([random.integers(0, size, count) for size in sizes]) if sizes else np.empty((count, 0))
    return Encoded(numbers, np.ascontiguousarray(codes, dtype=np.int32))
