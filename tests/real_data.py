"""Where the tests find real data sets: CLOISTER_DATA, or a folder beside the repository. Nothing is fetched."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cloister.datasets import Dataset, load
from cloister.datasets.load import SETS

FOLDER = Path(os.environ.get("CLOISTER_DATA", Path(__file__).parent.parent / "../shared/data"))


def real(name: str) -> Path:
    """A real file, or a skipped test (in CI: a failed one, as `conftest` has it)."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not there: set CLOISTER_DATA to the folder of the real data sets")
    return path


def real_set(name: str) -> Dataset:
    """A real data set with its columns, classes and schema, or a skipped test."""
    for file in SETS[name].files:
        real(file.name)
    return load(name, folder=FOLDER, fetch=False)


def as_numbers(dataset: Dataset) -> NDArray[np.float64]:
    """The columns of a data set as an array, (n, d)."""
    return np.column_stack([column.to_numpy() for column in dataset.data.columns]).astype(np.float64)
