"""`PublicScaler`: columns scaled by public bounds, as a step of a scikit-learn Pipeline that learns nothing of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from cloister.clustering.domain import pair
from cloister.clustering.inputs import check_form
from cloister.clustering.named_bounds import check_bounded, with_bounds
from cloister.clustering.number_columns import ends_of
from cloister.errors import UsageError
from cloister.sources.python_cells import row_cells, row_width
from cloister.sources.python_tables import MOST_COLUMNS

__all__ = ["PublicScaler"]

NO_NUMBERS = "PublicScaler scales numbers, and these columns are of another type. Choose the number columns."


class PublicScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale columns by public bounds, and clip what lies beyond them.

    Parameters
    ----------
    bounds : pair (low, high) or dict
        Public bounds: one number for all columns, or one a column; or pairs by name, ``{"age": (0, 110)}``, for data that
        names its columns.
    feature_range : pair of float, default (0, 1)
        Where the bounds go: (0, 1), (-1, 1), or others.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Privacy: a cell becomes a number by the bounds alone, whatever else is in the table; `fit` looks at the names of columns and
    at no row. So in front of `KMeans` in a Pipeline it costs nothing and needs no budget, unlike `StandardScaler`,
    `MinMaxScaler` or `PCA`, which carry exact facts of the rows. What it returns are the rows themselves, for their holder.

    A missing number stays missing, and so does what is no number among Python objects: `KMeans` counts it as its default.

    Examples
    --------
    >>> import cloister as cl
    >>> cl.PublicScaler((0, 200)).transform([[50.0, 300.0]])
    array([[0.25, 1.  ]])
    >>> cl.PublicScaler((0, 200), feature_range=(-1, 1)).inverse_transform([[0.5, -1.0]])
    array([[150.,   0.]])
    """

    def __init__(self, bounds: Any, feature_range: tuple[float, float] = (0, 1)) -> None:
        self.bounds = bounds
        self.feature_range = feature_range

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the names of the columns of X, and check that they have bounds. No row is looked at."""
        self._ends(self._checked(X, reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """Each cell between the ends of `feature_range`, as it lies between its bounds."""
        table = self._checked(X, reset=False)
        (low, high), (first, last) = self._ends(table), self._range()
        cells = np.clip(numbers_of(table), low, high)  # a missing number stays one
        return first + (cells - low) / (high - low) * (last - first)

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """Scaled cells, such as centres, in the columns' own units."""
        table = in_memory(X, self._width(X, may_look=True))
        (low, high), (first, last) = self._ends(table), self._range()
        cells: NDArray[np.float64] = low + (numbers_of(table) - first) / (last - first) * (high - low)
        return cells

    def __sklearn_tags__(self) -> Tags:
        """Nothing is learned in `fit`, so that it need not be called."""
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """X with two dimensions; its columns are those of the fit, if there was one."""
        table = in_memory(X, self._width(X, may_look=not reset))
        if reset or hasattr(self, "n_features_in_"):  # a fit is not needed, and without one there are no names to compare
            validate_data(self, table, reset=reset, skip_check_array=True)
        return table

    def _width(self, X: Any, *, may_look: bool) -> int | None:
        """How many columns a list of rows has, by what was said or fitted: no row of it may decide; None: X is no list.

        Where nothing was fitted nothing private follows, and who scales a list for themselves may have its first row looked at.
        """
        if not isinstance(X, list | tuple):
            return None
        bounds = self.bounds
        low: Any = bounds[0] if isinstance(bounds, tuple | list | np.ndarray) and len(bounds) else None
        stated = len(bounds) if isinstance(bounds, Mapping) else len(low) if np.ndim(low) == 1 else None
        width = stated if not may_look else getattr(self, "n_features_in_", stated)
        if width is None and may_look:
            width = row_width(X[0], MOST_COLUMNS) if X else 1
        if width is None:
            raise UsageError(
                "a list of rows does not say how many columns it has. Give bounds of each column, ([0, 0], [110, 60]), or pass "
                "an array, np.array(rows), or a data frame."
            )
        return int(width)

    def _range(self) -> tuple[float, float]:
        try:
            first, last = (float(end) for end in self.feature_range)
        except (TypeError, ValueError, OverflowError):
            first = last = 0.0
        if not (np.isfinite(first) and np.isfinite(last) and first < last):
            raise UsageError("feature_range must be two finite numbers, the lower first, such as (0, 1).")
        return first, last

    def _ends(self, table: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and highest value of each column, (d,)."""
        self._range()
        width = table.shape[1]
        if not isinstance(self.bounds, Mapping):
            return pair(self.bounds, width)
        own_names = table.schema.names if is_arrow(table) else getattr(table, "columns", None)
        names = [str(name) for name in (getattr(self, "feature_names_in_", self.bounds) if own_names is None else own_names)]
        if len(names) != width:
            raise UsageError(f"X has {width} columns without names, and bounds names {len(names)}. Pass a data frame.")
        facts = with_bounds(None, self.bounds)
        check_bounded(names, facts, "X")
        ends = np.array([ends_of(facts, name) for name in names])  # (d, 2)
        return ends[:, 0], ends[:, 1]


def in_memory(X: Any, width: int | None) -> Any:
    """X as a frame, an Arrow table or an array of two dimensions; a list of rows has so many columns.

    Each row of a list is read by itself: cells that it lacks are missing, and those too many are left out.
    """
    if width is not None:
        cells = [number_of(cell) for row in X for cell in row_cells(row, width)]
        return np.array(cells, dtype=np.float64).reshape(len(X), width)
    if hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise UsageError("PublicScaler scales rows that are in memory, and a LazyFrame has none yet. Pass X.collect().")
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    return check_form(X if hasattr(X, "columns") or hasattr(X, "tocsr") else np.asarray(X))


def is_arrow(table: Any) -> bool:
    """Whether it is an Arrow table, whose `columns` are cells and not names."""
    return isinstance(table, pa.Table)


def numbers_of(table: Any) -> NDArray[np.float64]:
    """The cells as numbers, (n, d); among Python objects what is no number is NaN. Columns of text are refused by their type."""
    if is_arrow(table):
        if not all(is_number(field.type) for field in table.schema):
            raise UsageError(NO_NUMBERS)
        columns = [column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) for column in table.columns]
        return np.column_stack(columns) if columns else np.empty((table.num_rows, 0))
    array = np.asarray(table)
    if array.dtype.kind in "iufb":
        return array.astype(np.float64)
    if array.dtype.kind != "O":
        raise UsageError(NO_NUMBERS)
    cells = [number_of(cell) for cell in array.ravel()]
    return np.array(cells, dtype=np.float64).reshape(array.shape)


def number_of(cell: object) -> float:
    """A Python object as a number; NaN where it is none. What is beyond all floating-point numbers is infinite."""
    if not isinstance(cell, Real):
        return np.nan
    try:
        return float(cell)
    except OverflowError:
        is_positive: Any = cell > 0  # type: ignore[operator]
        return np.inf if is_positive else -np.inf
    except (TypeError, ValueError):
        return np.nan


def is_number(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of numbers or of truth values."""
    is_real = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(is_real or pa.types.is_boolean(kind) or pa.types.is_null(kind))
