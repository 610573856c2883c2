"""What a column may hold, as public facts: a number, a category, a date or free text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

from cloister.errors import SchemaError
from cloister.parameters import check_text
from cloister.schema.cell_format import PLAIN, CellFormat

__all__ = ["OTHER", "Category", "Date", "Kind", "Number", "Text", "repeated"]

MOST_STEPS = 10**18  # between bounds: more values than a column has
OTHER = "(other)"  # the cell of missing and unseen values, where a category has one

End = TypeVar("End", float, date)  # of a column's bounds


class Bounded(Generic[End]):
    """What numbers and dates share: bounds, and a default inside them."""

    __slots__ = ()
    bounds: tuple[End, End] | None
    default: End | None

    @property
    def fallback(self) -> End | None:
        """What a value that cannot be read counts as; None without default and bounds."""
        if self.default is not None or self.bounds is None:
            return self.default
        low, high = self.bounds
        return low + (high - low) // 2 if isinstance(low, date) else low + (high - low) / 2

    def check_default(self, low: End, high: End) -> None:
        """Refuse a default outside the bounds."""
        if self.default is not None and not low <= self.default <= high:
            shown = [f"{end:g}" if isinstance(end, float) else str(end) for end in (self.default, low, high)]
            raise SchemaError(f"default {shown[0]} lies outside the bounds [{shown[1]}, {shown[2]}].")


@dataclass(frozen=True, slots=True)
class Number(Bounded[float]):
    """A number between public bounds, on a public grid.

    Parameters
    ----------
    bounds : pair of float, optional
        Lowest and highest value that the column may hold. None: not stated yet.
    step : float, optional
        Distance between two values of the grid.
    default : float, optional
        What a missing value, or one that cannot be read, counts as. None: the middle of the bounds.
    decimal : "." or ",", default "."
        What stands before the decimals.
    thousands : str, optional
        What parts groups of three digits: ``,`` ``.`` ``'`` ``_`` or a blank. None: nothing may.
    missing : tuple of str
        Texts that stand for no value, such as "?" or "NA".

    Privacy
    -------
    All are public facts. They come from what the column means and how it is written, never from what its rows hold.
    """

    bounds: tuple[float, float] | None = None
    step: float | None = None
    default: float | None = None
    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", self.form.missing)
        object.__setattr__(self, "step", _finite("step", self.step))
        object.__setattr__(self, "default", _finite("default", self.default))
        if self.step is not None and self.step <= 0:
            raise SchemaError(f"step must be above 0, and it is {self.step:g}.")
        if self.bounds is None:
            return
        low, high = _pair(self.bounds)
        lo, hi = _finite("bounds", low), _finite("bounds", high)
        if lo is None or hi is None:
            raise SchemaError("bounds must be two numbers, [low, high].")
        if lo >= hi:
            raise SchemaError(f"bounds must be [low, high] with low below high, and they are [{lo:g}, {hi:g}].")
        if math.isinf(hi - lo):
            raise SchemaError("bounds are too far apart for a floating-point number. Give narrower ones.")
        object.__setattr__(self, "bounds", (lo, hi))
        if self.step is not None and self.step > hi - lo:
            raise SchemaError(f"step {self.step:g} is wider than the bounds [{lo:g}, {hi:g}].")
        if self.step is not None and self.step < (hi - lo) / MOST_STEPS:
            raise SchemaError(
                f"step {self.step:g} is too fine for the bounds [{lo:g}, {hi:g}]: give one of at least "
                f"{(hi - lo) / MOST_STEPS:g}, or none."
            )
        self.check_default(lo, hi)

    @property
    def form(self) -> CellFormat:
        """How its cells are written."""
        return CellFormat(decimal=self.decimal, thousands=self.thousands, missing=self.missing)

    @property
    def worlds(self) -> int | None:
        """How many values the grid has; None without bounds or step.

        Counted on the decimals as they were typed: [0, 0.7] in steps of 0.1 has 8 values, though 0.7 / 0.1 < 7 in
        floating point.

        >>> Number(bounds=(0, 1), step=1e-4).worlds
        10001
        """
        if self.bounds is None or self.step is None:
            return None
        lo, hi, step = (Fraction(repr(number)) for number in (*self.bounds, self.step))
        return int((hi - lo) // step) + 1


@dataclass(frozen=True, slots=True)
class Category:
    """One of a public list of values.

    Parameters
    ----------
    domain : tuple of str, optional
        Every value that the column may hold. None: not stated yet, or stated by the hierarchy.
    hierarchy : str, optional
        Path of a file that generalises the values, one row a value, from the value to ``*``.
    default : str, optional
        What any other value counts as. None: the first value of the domain.
    other : bool, default False
        Missing and unseen values are counted in a cell of their own, "(other)", rather than as a value that somebody has.
    missing : tuple of str
        Texts that stand for no value, such as "?" or "NA".

    Privacy
    -------
    The domain is a public fact. Listed from the data, a value that only a few rows hold would give those rows away.
    """

    domain: tuple[str, ...] | None = None
    hierarchy: str | None = None
    default: str | None = None
    other: bool = False
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", self.form.missing)
        if not isinstance(self.other, bool):
            raise SchemaError("other must be true or false.")
        if self.other and self.default is not None:
            raise SchemaError("default and other = true both say what an unseen value counts as. Keep one of them.")
        for key, text in (("hierarchy", self.hierarchy), ("default", self.default)):
            if text is not None and not isinstance(text, str):
                raise SchemaError(f"{key} must be a text in quotes.")
        if self.domain is None:
            return
        object.__setattr__(self, "domain", _checked_domain(self.domain))
        stripped = [value.strip() for value in self.domain]
        if self.default is not None and self.default.strip() not in stripped:
            raise SchemaError("default is not in the domain.")
        if clash := [word for word in self.missing if word and word in stripped]:
            raise SchemaError(
                f'"{clash[0]}" is in the domain and stands for a missing value. Take it out of one of the two.'
            )

    @property
    def form(self) -> CellFormat:
        """How its cells are written."""
        return CellFormat(missing=self.missing) if self.missing else PLAIN

    @property
    def cells(self) -> tuple[str, ...]:
        """The domain, and "(other)" where the column has it; nothing without a domain."""
        return (*(self.domain or ()), *([OTHER] if self.other and self.domain else []))

    @property
    def worlds(self) -> int | None:
        """How many values the domain has; None without one.

        "(other)" stands for values that nobody listed, so it is no value among equally likely ones. It counts beside a single
        value alone, from which it can be told apart.

        >>> Category(("yes", "no"), other=True).worlds, Category(("yes",), other=True).worlds
        (2, 2)
        """
        return None if self.domain is None else max(len(self.domain), min(len(self.cells), 2))

    @property
    def fallback(self) -> str | None:
        """What any value outside the domain counts as; None without default and domain."""
        if self.other:
            return OTHER
        if self.default is not None or self.domain is None:
            return self.default
        return self.domain[0]


@dataclass(frozen=True, slots=True)
class Date(Bounded[date]):
    """A calendar day between public bounds.

    Parameters
    ----------
    bounds : pair of date, optional
        First and last day that the column may hold.
    default : date, optional
        What a missing value, or one that cannot be read, counts as. None: the day in the middle of the bounds.
    format : str, optional
        How dates are written, in the words of strptime, such as ``%d.%m.%Y``; months have English names, and ``%y`` means
        1969 to 2068. None: ISO 8601.
    missing : tuple of str
        Texts that stand for no value, such as "?" or "NA".
    """

    bounds: tuple[date, date] | None = None
    default: date | None = None
    format: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", self.form.missing)
        if self.default is not None:
            _day("default", self.default)
        if self.bounds is None:
            return
        first, last = (_day("bounds", end) for end in _pair(self.bounds))
        if first >= last:
            raise SchemaError(f"bounds must be [first, last] with first before last, and they are [{first}, {last}].")
        object.__setattr__(self, "bounds", (first, last))
        self.check_default(first, last)

    @property
    def form(self) -> CellFormat:
        """How its cells are written."""
        return CellFormat(date=self.format, missing=self.missing)

    @property
    def worlds(self) -> int | None:
        """How many days the bounds hold; None without bounds."""
        return None if self.bounds is None else (self.bounds[1] - self.bounds[0]).days + 1


@dataclass(frozen=True, slots=True)
class Text:
    """Free text: it is never encoded, and no private release takes it; `anonymize` publishes it unless it is an identifier."""

    @property
    def form(self) -> CellFormat:
        """How its cells are written."""
        return PLAIN

    @property
    def worlds(self) -> None:
        """Nobody can count texts."""
        return


Kind: TypeAlias = Number | Category | Date | Text


def _checked_domain(domain: object) -> tuple[str, ...]:
    """A domain as a tuple, or a refusal."""
    if isinstance(domain, str) or not isinstance(domain, Iterable):
        raise SchemaError('domain must be a list of texts, such as ["yes", "no"].')
    values = tuple(domain)
    if not values:
        raise SchemaError("domain is empty. List every value that the column may hold.")
    if not all(isinstance(value, str) for value in values):
        raise SchemaError('domain must hold texts only. Put others in quotes too: ["1", "2"], ["true", "false"].')
    stripped = [check_text(value, "domain").strip() for value in values]
    if twice := repeated(stripped):
        raise SchemaError(f'domain lists "{twice[0]}" twice (blanks around a value do not count).')
    if OTHER in stripped:
        raise SchemaError(f'domain lists "{OTHER}". Leave it out, and say other = true for a cell of that name.')
    return values


def repeated(names: Iterable[str]) -> list[str]:
    """The names that are there more than once, sorted."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _pair(bounds: object) -> tuple[object, object]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise SchemaError("bounds must be two values, [low, high].")
    return bounds[0], bounds[1]


def _finite(key: str, number: object) -> float | None:
    if number is None:
        return None
    # bool is an int in Python, but `step = true` in a schema is a slip
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise SchemaError(f"{key} must be a number.")
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise SchemaError(f"{key} must be a finite number.")
    return value


def _day(key: str, day: object) -> date:
    if isinstance(day, datetime) or not isinstance(day, date):
        raise SchemaError(f"{key} must be a day without a time, such as 2024-01-31.")
    return day
