"""What users hand to `fit` and `predict`: an array as in scikit-learn, or anything that `cloister.sources` reads."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.sources.in_memory import RowsSource, from_array, from_rows
from cloister.sources.opening import open_source
from cloister.sources.source import Source
from cloister.vault import open_data

__all__ = ["Input", "read_input", "read_to_label"]

MOST_COLUMNS = 100_000  # of a list of rows


@dataclass(frozen=True, slots=True)
class Input:
    """Data with the names of its columns."""

    data: Any
    names: tuple[str, ...]
    named: bool = False  # the names are the user's own, not x0, x1, ... of an array

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text; files such as CSV do not say."""
        return tuple(getattr(self.data, "texts", ()))


def read_input(X: Any, engine: Any, width: int | None = None) -> Input:
    """The user's data, checked for its form and never for its values; `width`: how many cells a row of a list has."""
    if is_rows(X):
        source: Source = from_rows(X, list_width(width))
        return Input(source, source.names)
    if isinstance(X, np.ndarray):
        source = open_source(to_array(X))
        return Input(source, source.names)
    source = open_data(X, engine)
    return Input(source, source.names, named=True)


def read_to_label(X: Any, columns: tuple[str, ...], engine: Any) -> Any:
    """Rows to be labelled: arrays and lists have the columns that were clustered, anything else names its own."""
    if is_rows(X):
        return RowsSource(X, columns)
    if not isinstance(X, np.ndarray):
        return open_data(X, engine)
    array = to_array(X)
    if array.shape[1] != len(columns):
        raise UsageError(f"X has {array.shape[1]} features, but KMeans is expecting {len(columns)} features as input.")
    return from_array(array, columns)


def is_rows(X: Any) -> bool:
    """Whether this is a list of rows. A list of nothing but texts and paths is one of files."""
    if hasattr(type(X), "tocsr"):
        raise UsageError("Sparse data is not supported. Convert it with X.toarray().")
    return isinstance(X, list | tuple) and not (X and all(issubclass(type(item), (str, PathLike)) for item in X))


def list_width(width: int | None) -> int:
    """The number of columns of a list of rows, which a caller must state: taken from the rows, one of them could change it."""
    if width is None:
        raise UsageError(
            "a list of rows does not say how many columns it has. State them: "
            'columns=["x0", "x1"], or bounds with one number a column; or pass numpy.array(rows, dtype=float).'
        )
    if not 1 <= width <= MOST_COLUMNS:
        raise UsageError(f"a list of rows may have 1 to {MOST_COLUMNS:,} columns.")
    return width


def to_array(X: NDArray[Any]) -> NDArray[Any]:
    """An array of two dimensions; what is not a number is read cell by cell later, and never aborts."""
    if X.dtype.kind == "c":
        raise UsageError("Complex data not supported. Give real numbers.")
    if X.ndim != 2:
        raise UsageError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data with X.reshape(-1, 1).")
    if X.shape[1] == 0:
        raise UsageError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X
