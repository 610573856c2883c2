"""Between NumPy and Arrow without pyarrow's own conversions: those import pandas, where it is installed, at their first use.

Only what the short paths of the commands need: numbers, truth values, and lists of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["from_mask", "from_numbers", "from_texts", "to_mask", "to_numbers"]

# `DataType.to_pandas_dtype` would import pandas in older versions of pyarrow
_NAMES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
_KINDS = {pa.from_numpy_dtype(np.dtype(name)): np.dtype(name) for name in _NAMES}


def from_numbers(values: NDArray[Any]) -> pa.Array:
    """An array of the same numbers.

    >>> from_numbers(np.array([3, 1], np.int32)).to_pylist()
    [3, 1]
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def from_mask(mask: NDArray[np.bool_]) -> pa.Array:
    """An array of the same truth values.

    >>> from_mask(np.array([True, False, True])).to_pylist()
    [True, False, True]
    """
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(np.packbits(mask, bitorder="little"))])


def from_texts(words: Sequence[str | None]) -> pa.Array:
    """An array of texts; None is a null.

    >>> from_texts(["a", None, "", "é"]).to_pylist()
    ['a', None, '', 'é']
    """
    encoded = [b"" if word is None else word.encode() for word in words]
    ends = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    is_there = np.packbits([word is not None for word in words], bitorder="little") if None in words else None
    buffers = [None if is_there is None else pa.py_buffer(is_there), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(words), buffers).cast(pa.string())


def to_numbers(values: pa.Array, null: int | float | None = None) -> NDArray[Any]:
    """The numbers of an array, with `null` in the place of nulls.

    >>> to_numbers(pa.array([5, 7, None, 9], pa.int32())[1:], null=-1).tolist()
    [7, -1, 9]
    """
    kind = _KINDS[values.type]
    if not len(values):
        return np.empty(0, kind)
    numbers: NDArray[Any] = np.frombuffer(values.buffers()[1], kind, len(values), values.offset * kind.itemsize)
    if not values.null_count:
        return numbers
    assert null is not None, "a null has no number"
    return np.where(to_mask(pc.is_valid(values)), numbers, np.asarray(null, kind))


def to_mask(values: pa.Array) -> NDArray[np.bool_]:
    """The truth values of an array without nulls.

    >>> to_mask(pa.array([True, False, True])[1:]).tolist()
    [False, True]
    """
    assert not values.null_count, "a null is neither true nor false"
    if not len(values):
        return np.empty(0, bool)
    bits = np.frombuffer(values.buffers()[1], np.uint8)
    return np.unpackbits(bits, bitorder="little", count=values.offset + len(values))[values.offset :].astype(bool)
