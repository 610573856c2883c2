"""Which cells of a sensitive column are one value: by what its kind reads, not by how a cell is written."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.schema import Category, Date, Kind, Number

__all__ = ["ValueCodes", "code_values"]


@dataclass(frozen=True, slots=True, eq=False)
class ValueCodes:
    """The code of each cell; values that have an order are coded in it, and a blank comes last."""

    codes: NDArray[np.int32]  # (v,)
    blank: int
    is_quantity: bool  # whether they are numbers or days, all of them readable
    is_ordered: bool  # whether the codes follow an order: of numbers, of days, or of the schema's domain


def code_values(
    cells: Sequence[Hashable],
    kind: Kind | None,
    numbers: NDArray[np.float64],
    days: NDArray[np.float64],
    domain: Sequence[Hashable] = (),
) -> ValueCodes:
    """Codes of the values of a column.

    Values are those of the column's kind, not spellings: 1 and 1.0 are one number, all that a domain with `other` does not
    list is one value, and what cannot be read as the kind that the schema names is a blank. Without a schema a column holds
    numbers or days if each of its cells reads so, otherwise texts.

    Parameters
    ----------
    cells : sequence
        What tells the different cells of the column apart, blanks aside.
    kind : Kind, optional
        What the schema says of the column.
    numbers, days : array of float64, (v,)
        What each cell reads as; NaN where it is none, and for a number that is written like a code (007) without a kind.
    domain : sequence
        The values that the schema lists, told apart as the cells are.

    Examples
    --------
    >>> coded = code_values(["1", "1.0", "2"], None, np.array([1.0, 1.0, 2.0]), np.full(3, np.nan))
    >>> coded.codes.tolist(), coded.blank
    ([0, 0, 1], 2)
    """
    quantities = _quantities(kind, numbers, days)
    if quantities is not None:
        different = np.unique(quantities[~np.isnan(quantities)])
        codes = np.searchsorted(different, quantities)  # NaN sorts last: a blank
        is_whole = not np.isnan(quantities).any()
        return ValueCodes(codes.astype(np.int32), len(different), is_whole, is_whole)
    place: dict[Hashable, int] = {}
    is_listed = isinstance(kind, Category) and kind.domain is not None
    if isinstance(kind, Category) and is_listed:
        place = {value: i for i, value in enumerate(domain)}
        others = [cell for cell in cells if cell not in place]
        place |= {cell: len(domain) + (0 if kind.other else i) for i, cell in enumerate(others)}
    else:
        place = {cell: i for i, cell in enumerate(cells)}
    blank = max(place.values(), default=-1) + 1
    return ValueCodes(np.array([place[cell] for cell in cells], np.int32), blank, False, is_listed)


def _quantities(kind: Kind | None, numbers: NDArray[np.float64], days: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The cells as numbers or days, NaN for what stands for none; None where they are texts."""
    if isinstance(kind, Date):
        return days
    if isinstance(kind, Number):
        return numbers
    if kind is None and len(numbers):
        if np.isfinite(numbers).all():
            return numbers
        if np.isfinite(days).all():
            return days
    return None
