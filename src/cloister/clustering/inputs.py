"""What users hand to `fit` and `predict`: an array as in scikit-learn, or anything that `cloister.sources` reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.errors import UsageError
from cloister.sources.in_memory import ArraySource
from cloister.sources.opening import open_source
from cloister.vault import open_data

__all__ = ["Input", "read_input", "read_to_label"]


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


def read_input(X: Any, engine: Any) -> Input:
    """The user's data, checked for its form and never for its values."""
    if is_array(X):
        source = open_source(to_array(X))
        return Input(source, source.names)
    source = open_data(X, engine)
    return Input(source, source.names, named=True)


def read_to_label(X: Any, columns: tuple[str, ...], engine: Any) -> Any:
    """Rows to be labelled: an array has the columns that were clustered, anything else names its own."""
    if not is_array(X):
        return open_data(X, engine)
    array = to_array(X)
    if array.shape[1] != len(columns):
        raise UsageError(f"X has {array.shape[1]} features, but KMeans is expecting {len(columns)} features as input.")
    return ArraySource(array, columns)


def is_array(X: Any) -> bool:
    """Whether this is rows of cells without names: an array, or a list of rows."""
    if hasattr(type(X), "tocsr"):
        raise UsageError("Sparse data is not supported. Convert it with X.toarray().")
    return isinstance(X, np.ndarray | list | tuple) and not is_paths(X)


def is_paths(X: Any) -> bool:
    """Whether a list is a list of files."""
    return (
        isinstance(X, list | tuple)
        and len(X) > 0
        and all(isinstance(item, str) or hasattr(item, "__fspath__") for item in X)
    )


def to_array(X: Any) -> Any:
    """A two-dimensional array; what is not a number is read cell by cell later, and never aborts."""
    array = X if isinstance(X, np.ndarray) else from_list(X)
    if array.dtype.kind == "c":
        raise UsageError("Complex data not supported. Give real numbers.")
    if array.ndim != 2:
        raise UsageError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data with X.reshape(-1, 1).")
    if array.shape[1] == 0:
        raise UsageError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return array


def from_list(rows: Any) -> Any:
    """A list of rows as an array: of numbers where all cells are numbers, otherwise of objects.

    A row that is shorter than the first is filled up, a longer one is cut, as in a file.
    """
    try:
        array = np.asarray(rows)
        if array.dtype.kind in "biuf":
            return array
    except (ValueError, TypeError, OverflowError):
        pass
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return np.asarray(rows, dtype=object)
    width = len(rows[0])
    array = np.empty((len(rows), width), dtype=object)
    for i, row in enumerate(rows):
        array[i] = [*row[:width], *[None] * (width - len(row))]
    return array
