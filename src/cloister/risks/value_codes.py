"""Which cells of a sensitive column are one value: by what each reads as, not by how it is written or what else is there."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.schema import Category, Date, Kind, Number
from cloister.schema.cell_values import days as read_days
from cloister.schema.cell_values import numbers as read_numbers

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

    Two cells are one value by a rule that looks at these two alone, so that no other row, of this table or of one that is
    published from it, decides how many values there are. What reads as the same number is one value (1, 1.0 and 01), so is
    what reads as the same day, and other cells are texts. What cannot be read as the numbers or dates that the schema names is
    a blank. Of a domain each listed value is one, with all cells that read as the same number or day; all others are one
    value where the domain has `other`.

    Parameters
    ----------
    cells : sequence
        What tells the different cells of the column apart, blanks aside.
    kind : Kind, optional
        What the schema says of the column.
    numbers, days : array of float64, (v,)
        What each cell reads as; NaN where it is none.
    domain : sequence
        The values that the schema lists, told apart as the cells are.

    Examples
    --------
    >>> numbers = np.array([1.0, 1.0, 2.0, np.nan])
    >>> coded = code_values(["1", "1.0", "2", "unknown"], None, numbers, np.full(4, np.nan))
    >>> coded.codes.tolist(), coded.blank
    ([0, 0, 1, 2], 3)
    """
    if isinstance(kind, Number | Date):
        quantities = days if isinstance(kind, Date) else numbers
        different = np.unique(quantities[~np.isnan(quantities)])
        codes = np.searchsorted(different, quantities)  # NaN sorts last: a blank
        is_whole = not np.isnan(quantities).any()
        return ValueCodes(codes.astype(np.int32), len(different), is_whole, is_whole)
    values = [_value(*each) for each in zip(cells, numbers.tolist(), days.tolist(), strict=True)]
    if isinstance(kind, Category) and kind.domain is not None:
        return _code_listed(cells, values, kind, domain)
    # numbers come in their order, then days in theirs, then texts
    amounts = sorted(
        {value for value in values if isinstance(value, _Quantity)}, key=lambda value: (value.is_day, value.amount)
    )
    place: dict[Hashable, int] = {value: i for i, value in enumerate(amounts)}
    for value in values:
        place.setdefault(value, len(place))
    is_quantity = bool(values) and len(place) == len(amounts) and len({value.is_day for value in amounts}) == 1
    return ValueCodes(np.array([place[value] for value in values], np.int32), len(place), is_quantity, is_quantity)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A number or a day: what is no text."""

    is_day: bool
    amount: float


def _value(cell: Hashable, number: float, day: float) -> Hashable:
    """What a cell stands for, whatever else the column holds."""
    if np.isfinite(number):
        return _Quantity(False, number + 0.0)
    return _Quantity(True, day) if np.isfinite(day) else cell


def _code_listed(
    cells: Sequence[Hashable], values: Sequence[Hashable], kind: Category, domain: Sequence[Hashable]
) -> ValueCodes:
    """Codes in the order of a domain; what it does not list, and does not mean as a number or a day, comes after it."""
    listed = {cell: i for i, cell in enumerate(domain)}
    texts = pa.array([value.strip() for value in kind.domain or ()], pa.string())
    meant: dict[Hashable, int] = {}
    for i, (cell, number, day) in enumerate(
        zip(domain, read_numbers(texts).tolist(), read_days(texts).tolist(), strict=True)
    ):
        meant.setdefault(_value(cell, number, day), i)
    codes, others = [], dict[Hashable, int]()
    for cell, value in zip(cells, values, strict=True):
        code = listed.get(cell, meant.get(value))
        if code is None:
            code = len(domain) + (0 if kind.other else others.setdefault(value, len(others)))
        codes.append(code)
    return ValueCodes(np.array(codes, np.int32), max([*codes, len(domain) - 1]) + 1, False, True)
