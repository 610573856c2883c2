"""What users hand to `fit` and `predict`: an array as in scikit-learn, or anything that `cloister.sources` reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.errors import UsageError
from cloister.sources import open_source
from cloister.sources.in_memory import ArraySource
from cloister.vault import open_data

__all__ = ["Input", "read_input"]


@dataclass(frozen=True, slots=True)
class Input:
    """Data with the names of its columns."""

    data: Any
    names: tuple[str, ...]
    named: bool = False  # the names are the user's own, not made up for an array

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text; files such as CSV do not say."""
        return tuple(getattr(self.data, "texts", ()))

    def remember(self, estimator: Any, columns: Sequence[str]) -> None:
        """Keep how many columns were used and what they were called, as scikit-learn does."""
        estimator.n_features_in_ = len(columns)
        if self.named:
            estimator.feature_names_in_ = np.asarray(columns, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_


def read_input(X: Any, estimator: Any, fitted: bool = False) -> Input:
    """The user's data, checked for its form and never for its values."""
    if isinstance(X, np.ndarray | list | tuple) and not is_paths(X):
        array = to_array(X)
        if fitted and array.shape[1] != estimator.n_features_in_:
            raise UsageError(
                f"X has {array.shape[1]} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input."
            )
        names = tuple(getattr(estimator, "feature_names_in_", ())) if fitted else ()
        source = ArraySource(array, names) if names else open_source(array)
        return Input(source, source.names)
    if hasattr(type(X), "tocsr"):
        raise UsageError("Sparse data is not supported. Convert it with X.toarray().")
    source = open_data(X, estimator.engine)
    return Input(source, source.names, named=True)


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
    """A list of rows as an array: of numbers where it is that, otherwise of objects.

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
