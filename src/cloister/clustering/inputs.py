"""What users hand to `fit` and `predict`: an array as in scikit-learn, or anything that `cloister.sources` reads."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.errors import UsageError
from cloister.sources.class_facts import is_a
from cloister.sources.in_memory import from_array
from cloister.sources.opening import NOTHING_STATED
from cloister.sources.pandas_frames import is_frame
from cloister.sources.python_cells import row_width
from cloister.sources.python_tables import from_rows, is_unnamed
from cloister.sources.stated_names import StatedNames, is_place
from cloister.vault import open_data

__all__ = ["Input", "check_width", "named_columns", "read_input", "read_to_label"]


@dataclass(frozen=True, slots=True)
class Input:
    """Data with the names of its columns."""

    data: Any
    names: tuple[str, ...]
    named: bool = False  # the names are the user's own, not x0, x1, ... of an array or a list of rows

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text; files such as CSV do not say."""
        return tuple(getattr(self.data, "texts", ()))

    @property
    def declared_texts(self) -> tuple[str, ...]:
        """Those of them that are of a type of text.

        Columns of Python objects and of categories do not say what they hold; those of lists and structs are refused by their own
        name where they would be read.
        """
        others = {*getattr(self.data, "untold", ()), *getattr(self.data, "nested", ())}
        return tuple(name for name in self.texts if name not in others)


def named_columns(columns: Sequence[str] | Input) -> Input:
    """What a plan is made for: data that is opened and not read, or names alone.

    Privacy: names keep their class. Those of a first line may be data, and no message quotes them (`column_names.FirstLine`).
    """
    if isinstance(columns, Input):
        return columns
    return Input(None, columns if isinstance(columns, tuple) else tuple(columns))


def read_input(X: Any, engine: Any, names: StatedNames = NOTHING_STATED) -> Input:
    """The user's data, checked for its form and never for its values; `names`: what is said of columns without any."""
    source = open_data(check_form(X), engine, names)
    return Input(source, source.names, named=not is_unnamed(X) or not is_place(source.names[0]))


def read_to_label(X: Any, columns: tuple[str, ...], engine: Any, model: str = "KMeans") -> Any:
    """Rows to be labelled: arrays and lists have the columns that were clustered, anything else names its own.

    An error names the model, as scikit-learn does.
    """
    check_width(X, len(columns), model)
    X = in_order(X, columns, model)
    if not is_unnamed(X):
        return open_data(X, engine, StatedNames(columns=columns))
    if isinstance(X, np.ndarray):
        return from_array(X, columns)
    width = len(columns)
    if X and not any(isinstance(row, dict) or row_width(row, width + 1) == width for row in X):
        # labels are for the holder, who may be told of rows
        raise UsageError(
            f"no row of X is a list of as many cells as the {width} columns that were clustered. Give rows of these cells, in "
            "that order, or dicts, or a data frame."
        )
    return from_rows(X, columns)


def in_order(X: Any, columns: tuple[str, ...], model: str) -> Any:
    """A frame for a model that was fitted to columns without names has them in their order, with scikit-learn's warning.

    What has another number of columns, or has them by these very names, is left as it is.
    """
    polars = sys.modules.get("polars")
    is_table, is_polars = isinstance(X, pa.Table), polars is not None and is_a(X, polars.DataFrame)
    if not all(map(is_place, columns)) or not (is_frame(X) or is_table or is_polars):
        return X
    names = [str(name) for name in (X.column_names if is_table else X.columns)]
    if len(names) != len(columns) or set(columns) & set(names):
        return X
    warnings.warn(f"X has feature names, but {model} was fitted without feature names", UserWarning, stacklevel=2)
    if is_table:
        return X.rename_columns(list(columns))
    return X.set_axis(list(columns), axis=1) if is_frame(X) else X.rename(dict(zip(X.columns, columns, strict=True)))


def check_width(X: Any, columns: int, model: str) -> None:
    """Refuse an array that has not as many columns as were clustered, in scikit-learn's words."""
    if isinstance(check_form(X), np.ndarray) and X.shape[1] != columns:
        raise UsageError(f"X has {X.shape[1]} features, but {model} is expecting {columns} features as input.")


def check_form(X: Any) -> Any:
    """Refuse arrays of another form than scikit-learn takes, in its words; what is not a number is read cell by cell later."""
    if hasattr(type(X), "tocsr"):
        raise UsageError("Sparse data is not supported. Convert it with X.toarray().")
    if not isinstance(X, np.ndarray):
        return X
    if X.dtype.kind == "c":
        raise UsageError("Complex data not supported. Give real numbers.")
    if X.ndim != 2:
        raise UsageError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data with X.reshape(-1, 1).")
    if X.shape[1] == 0:
        raise UsageError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X
