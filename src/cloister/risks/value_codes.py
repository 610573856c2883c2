"""Which cells of a sensitive column are one value: by what each reads as, not by how it is written or what else is there."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.schema import Category, Date, Kind, Number
from cloister.schema.cell_values import days as read_days
from cloister.schema.cell_values import numbers as read_numbers

__all__ = ["ValueCodes", "code_values"]


_EXACT = 2.0**53  # whole numbers from here on are not told apart by a float


@dataclass(frozen=True, slots=True, eq=False)
class ValueCodes:
    """The code of each cell as it is published, and what the schema takes each code for.

    Values that have an order are coded in it, and a blank comes last.
    """

    codes: NDArray[np.int32]  # (v,)
    merged: NDArray[np.int32]  # (blank + 1,) codes that the schema takes for one value have the same number here
    is_quantity: bool  # whether they are numbers or days, all of them readable
    is_ordered: bool  # whether the codes follow an order: of numbers, of days, or of the schema's domain

    @property
    def blank(self) -> int:
        """The code of a blank."""
        return len(self.merged) - 1


def code_values(
    cells: Sequence[Hashable],
    kind: Kind | None,
    numbers: NDArray[np.float64],
    days: NDArray[np.float64],
    domain: Sequence[Hashable] = (),
    missing: Collection[Hashable] = (),
) -> ValueCodes:
    """Codes of the values of a column.

    Two cells are one value by a rule that looks at these two alone, so that no other row, of this table or of one that is
    published from it, decides how many values there are. As published, what reads as the same number is one value (1, 1.0
    and 01), so is what reads as the same day, and other cells are texts. The schema may take several of these for one: what
    cannot be read as the numbers or dates that it names, and the words that it lists as missing, are blanks; of a domain each
    listed value is one, with all cells that read as the same number or day; all others are one value where the domain has
    `other`.

    Parameters
    ----------
    cells : sequence
        What tells the different cells of the column apart, blanks aside.
    kind : Kind, optional
        What the schema says of the column.
    numbers, days : array of float64, (v,)
        What each cell reads as; NaN where it is none, or stands for none by the schema.
    domain : sequence
        The values that the schema lists, told apart as the cells are.
    missing : collection
        The words that the schema lists as missing, told apart as the cells are.

    Examples
    --------
    >>> numbers = np.array([1.0, 1.0, 2.0, np.nan])
    >>> coded = code_values(["1", "1.0", "2", "unknown"], None, numbers, np.full(4, np.nan))
    >>> coded.codes.tolist(), coded.blank
    ([0, 0, 1, 2], 3)
    >>> coded = code_values(["1", "1.0", "2", "unknown"], Number(), numbers, np.full(4, np.nan))
    >>> coded.codes.tolist(), coded.merged.tolist()
    ([0, 0, 1, 2], [0, 1, 2, 2])
    """
    if isinstance(kind, Number | Date):
        nothing = np.full(len(cells), np.nan)
        numbers, days = (nothing, days) if isinstance(kind, Date) else (numbers, nothing)
    values = [_value(*each) for each in zip(cells, numbers.tolist(), days.tolist(), strict=True)]
    is_missing = np.array([cell in missing for cell in cells], bool)
    if isinstance(kind, Number | Date):
        meant = _quantities(days if isinstance(kind, Date) else numbers)
        is_quantity = is_ordered = not np.isnan((numbers if isinstance(kind, Number) else days)[~is_missing]).any()
    elif isinstance(kind, Category) and kind.domain is not None:
        meant, is_quantity, is_ordered = _listed(cells, values, kind, domain), False, True
    else:
        meant, is_quantity = _as_published(values)
        is_ordered = is_quantity
    blank = int(meant.max(initial=-1)) + 1
    meant = np.where(is_missing | (meant < 0), blank, meant)
    # codes in the order of what is meant; within that numbers, then days, then texts
    order = sorted(set(zip(meant.tolist(), values, strict=True)), key=lambda pair: (pair[0], *_place(pair[1])))
    code = {pair: i for i, pair in enumerate(order)}
    codes = np.array([code[pair] for pair in zip(meant.tolist(), values, strict=True)], np.int32)
    return ValueCodes(codes, np.array([*(pair[0] for pair in order), blank], np.int32), is_quantity, is_ordered)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A number or a day: what is no text."""

    is_day: bool
    amount: float


def _value(cell: Hashable, number: float, day: float) -> Hashable:
    """What a cell stands for, whatever else the column holds."""
    if abs(number) < _EXACT:
        return _Quantity(False, number + 0.0)
    return _Quantity(True, day) if np.isfinite(day) else cell


def _place(value: Hashable) -> tuple[Any, ...]:
    """Where a value stands among those that mean the same: numbers, days, texts."""
    return (0, value.is_day, value.amount) if isinstance(value, _Quantity) else (1, value)


def _quantities(amounts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Codes of numbers or days in their order; -1 for what is none."""
    different = np.unique(amounts[~np.isnan(amounts)])
    return np.where(np.isnan(amounts), -1, np.searchsorted(different, amounts))


def _as_published(values: Sequence[Hashable]) -> tuple[NDArray[np.int64], bool]:
    """Codes of values that the schema says nothing of, numbers and days in their order; whether they are nothing else."""
    place = {value: i for i, value in enumerate(sorted(set(values), key=_place))}
    kinds = {value.is_day if isinstance(value, _Quantity) else None for value in place}
    return np.array([place[value] for value in values], np.int64), len(kinds) == 1 and None not in kinds


def _listed(
    cells: Sequence[Hashable], values: Sequence[Hashable], kind: Category, domain: Sequence[Hashable]
) -> NDArray[np.int64]:
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
    return np.array([*codes, len(domain) - 1], np.int64)[:-1]
