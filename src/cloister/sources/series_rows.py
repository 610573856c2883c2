"""A pandas Series as a row: opened only as far as it consists of pandas' and NumPy's own classes, which run no other code."""

from __future__ import annotations

import sys
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.sources.class_facts import is_a, is_one_of, of_pandas, own_dict
from cloister.sources.known_zones import is_known_zone

__all__ = ["series_cells"]

_PARTS = ("_ndarray", "_data", "_mask", "_left", "_right", "_sparse_values")  # arrays within arrays of pandas


def series_cells(row: Any, width: int) -> list[object]:
    """The first cells of a Series, none if it holds an array of a class that is not known."""
    if type(row) is not of_pandas("Series") or type(own_dict(row).get("_mgr")) is not _manager():
        return []
    cells = row.array
    if type(cells) is _array_kind("NumpyExtensionArray"):  # of a subclass of NumPy's arrays, too, without its methods
        return list(np.asarray(cells._ndarray)[:width])
    return list(islice(cells, width)) if _is_known(cells) else []


def _is_known(cells: Any) -> bool:
    """Whether an array is one of pandas' own, made of nothing but such arrays and NumPy's."""
    if type(cells) is np.ndarray:
        return True
    kinds = vars(sys.modules["pandas.arrays"]).values()
    if not is_one_of(type(cells), (kind for kind in kinds if isinstance(kind, type))):
        return False
    stored = getattr(cells, "_pa_array", None)
    if stored is not None:
        return type(stored) is pa.ChunkedArray and not isinstance(stored.type, pa.BaseExtensionType)
    parts = [getattr(cells, name) for name in _PARTS if hasattr(cells, name)]
    return all(map(_is_known, parts)) and _is_known_dtype(cells.dtype)


def _is_known_dtype(kind: Any) -> bool:
    """Whether what a dtype of pandas itself holds, a zone or categories, is known."""
    if is_a(kind, of_pandas("DatetimeTZDtype")):
        return is_known_zone(kind.tz)
    if is_a(kind, of_pandas("CategoricalDtype")):
        kinds = (of_pandas("Index"), of_pandas("DatetimeIndex"), of_pandas("RangeIndex"), of_pandas("IntervalIndex"))
        return is_one_of(type(kind.categories), kinds) and _is_known(kind.categories._data)
    return True


def _array_kind(name: str) -> Any:
    return vars(sys.modules["pandas.arrays"]).get(name)


@cache
def _manager() -> type:
    """The class that holds the cells of every Series."""
    return type(of_pandas("Series")([0.0])._mgr)
