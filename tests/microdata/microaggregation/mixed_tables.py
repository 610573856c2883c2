"""Small mixed tables for the tests of microaggregation, and the rows of real ones."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

from cloister.kernels.loops.arrays import F64
from cloister.microdata.microaggregation.mixed_rows import MixedRows, NumberColumn, WordColumn


def mixed_rows(n: int, seed: int = 0, numbers: int = 2, words: int = 1, persons: int = 0) -> MixedRows:
    """Rows in a few clumps, with some ties."""
    random = np.random.default_rng(seed)
    clumps = random.integers(0, 4, n)
    columns: list[NumberColumn | WordColumn] = [
        NumberColumn(f"n{j}", np.round(clumps + random.normal(0, 0.3, n), 1), False) for j in range(numbers)
    ]
    columns += [
        WordColumn(f"w{j}", ((clumps + random.integers(0, 2, n)) % 4).astype(np.int32), pa.array(list("abcd")))
        for j in range(words)
    ]
    people = random.integers(0, persons, n) if persons else np.zeros(0)
    return MixedRows(tuple(columns), np.unique(people, return_inverse=True)[1].astype(np.int32), n)


def number_rows(values: F64) -> MixedRows:
    """Rows of numbers alone, (n, d)."""
    columns = tuple(NumberColumn(str(j), values[:, j].copy(), False) for j in range(values.shape[1]))
    return MixedRows(columns, np.zeros(0, np.int32), len(values))


def people_table(n: int = 200, seed: int = 0) -> pa.Table:
    """People with an identifier, numbers, a date, a category and a diagnosis."""
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "patient_id": [f"p{i}" for i in range(n)],
            "age": random.integers(18, 90, n),
            "height": np.round(random.normal(170, 10, n), 1),
            "born": pa.array(random.integers(-10_000, 10_000, n).astype(np.int32)).cast(pa.date32()),
            "city": random.choice(["Ahaus", "Bonn", "Celle"], n),
            "diagnosis": random.choice(["x", "y"], n),
            "note": [f"note {i}" for i in range(n)],
        }
    )


def tuples_of(path: Path, names: list[str]) -> Counter[tuple[str, ...]]:
    """How often each tuple of some columns is in a CSV file."""
    with path.open(encoding="utf-8") as file:
        return Counter(tuple(row[name] for name in names) for row in csv.DictReader(file))
