"""Cells of the original read as a private release reads them, so that a blank and the value that it counts as are no error.

A private release leaves no row out: a number outside its bounds counts as the nearer bound, a cell that is no number as the
column's default, and a word outside the domain as "(other)" or the default. Rows made up from such counts hold these values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cloister.risks.fingerprints import NULL, fingerprint
from cloister.risks.tuples import Tuples, Values
from cloister.risks.value_codes import code_values
from cloister.schema import Category, Date, Kind, Number

__all__ = ["columns_of_a_release", "read_as_released"]


def read_as_released(table: Tuples, kinds: Mapping[str, Kind], names: Collection[str]) -> Tuples:
    """The table with some of its columns as the schema makes a private release read them; others stay as they are."""
    values = tuple(
        _read(each, kinds[name]) if name in names and name in kinds else each
        for name, each in zip(table.names, table.values, strict=True)
    )
    return replace(table, values=values)


def columns_of_a_release(table: Tuples, kinds: Mapping[str, Kind]) -> frozenset[str]:
    """The columns that a private release may have written: every cell counts as itself, and none is blank."""
    return frozenset(
        name
        for name, values in zip(table.names, table.values, strict=True)
        if name in kinds and _is_same(values, _read(values, kinds[name]))
    )


def _is_same(one: Values, other: Values) -> bool:
    assert one.quantities is not None
    assert other.quantities is not None
    return np.array_equal(one.fingerprints, other.fingerprints) and all(
        np.array_equal(*sides, equal_nan=True) for sides in zip(one.quantities, other.quantities, strict=True)
    )


def _read(values: Values, kind: Kind) -> Values:
    if isinstance(kind, Category):
        return _read_words(values, kind)
    if isinstance(kind, Number | Date) and kind.bounds is not None:
        low, high, default = (_amount(each) for each in (*kind.bounds, kind.fallback))
        assert values.quantities is not None
        sides = list(values.quantities)
        side = 1 if isinstance(kind, Date) else 0
        sides[side] = np.where(np.isnan(sides[side]), default, np.clip(sides[side], low, high))
        return replace(values, quantities=(sides[0], sides[1]))
    return values


def _amount(end: object) -> float:
    """A number, or a day as days since 1970."""
    if isinstance(end, int | float):
        return float(end)
    return float(np.datetime64(end, "D").astype(np.int64))  # type: ignore[call-overload]


def _read_words(values: Values, kind: Category) -> Values:
    """Words outside the domain, and blanks, as what the schema says they count as."""
    if kind.domain is None or kind.fallback is None:
        return values
    assert values.quantities is not None
    numbers, days = values.quantities
    real = values.fingerprints != NULL
    domain = [fingerprint(value) for value in kind.domain]
    missing = frozenset(fingerprint(word) for word in kind.form.missing)
    coded = code_values(values.fingerprints[real].tolist(), kind, numbers[real], days[real], domain, missing)
    is_listed = np.zeros(len(values), bool)
    is_listed[real] = coded.merged[coded.codes] < len(domain)
    is_listed[real] &= ~np.isin(values.fingerprints[real], list(missing))  # their code is the next one that is free
    marks: NDArray[np.int64] = np.where(is_listed, values.fingerprints, fingerprint(kind.fallback))
    return replace(values, fingerprints=marks, quantities=(_kept(numbers, is_listed), _kept(days, is_listed)))


def _kept(amounts: NDArray[np.float64], is_kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    kept: NDArray[np.float64] = np.where(is_kept, amounts, np.nan)
    return kept
