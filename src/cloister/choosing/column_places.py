"""The places of a column, from public facts: the values of its domain, the steps between its bounds, its days."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from cloister.column_names import nearest_name
from cloister.encode import Codes, DayGrid, Encoding, Grid
from cloister.errors import SchemaError, UsageError, by_door
from cloister.parameters import LONGEST_QUOTED, check_reach
from cloister.schema import Category, Date, Number, Schema
from cloister.schema.cell_format import PLAIN
from cloister.schema.cell_values import days as days_of
from cloister.schema.numerals import exact_number
from cloister.schema.stated_kinds import kind_of

__all__ = ["CategoryPlaces", "PublicValues", "DayPlaces", "NumberPlaces", "public_values"]

MOST_PLACES = 10**7  # a table that has every one of so many values takes about a gigabyte, however many rows it has
EPOCH = datetime.date(1970, 1, 1)


class PublicValues(Protocol):
    """The values of a column in their public order: place i is its value i."""

    @property
    def size(self) -> int: ...

    @property
    def encoding(self) -> Encoding:
        """How a cell becomes its place; one column is read."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a certificate says of the places."""

    def value(self, place: int) -> Any:
        """The value at a place, as plain data."""

    def place(self, option: Any) -> int:
        """The place of an option that a user named; one that is no value of the column is refused."""

    def named(self, option: Any) -> Any:
        """An option that has a place, as plain data: a number as it was typed, not the value at its place."""


@dataclass(frozen=True, slots=True)
class CategoryPlaces:
    """The domain of a category, and "(other)" where it has that."""

    name: str
    kind: Category

    @property
    def size(self) -> int:
        return len(self.kind.cells)

    @property
    def encoding(self) -> Encoding:
        stripped = [value.strip() for value in self.kind.cells]
        default = 0 if self.kind.fallback is None else stripped.index(self.kind.fallback.strip())
        return Encoding(categories=(Codes(self.name, self.kind.cells, default, self.kind.form),))

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"values": self.size}

    def value(self, place: int) -> str:
        return self.kind.cells[place]

    def place(self, option: Any) -> int:
        stripped = [value.strip() for value in self.kind.cells]
        if not isinstance(option, str) or option.strip() not in stripped:
            is_short = isinstance(option, str) and len(option) <= LONGEST_QUOTED and option.isprintable()
            which = f'option "{option}"' if is_short else "an option"
            hint = nearest_name(option, stripped) if is_short else ""
            raise UsageError(f'{which} is not in the domain of "{self.name}".{hint} Give values of its domain, as texts.')
        return stripped.index(option.strip())

    def named(self, option: Any) -> str:
        return self.value(self.place(option))


@dataclass(frozen=True, slots=True)
class NumberPlaces:
    """The numbers low, low + step, ... up to the upper bound; a number between two of them counts as the nearest."""

    name: str
    kind: Number
    low: Fraction
    step: Fraction
    size: int

    @classmethod
    def between(cls, name: str, kind: Number, parts: int | None) -> NumberPlaces:
        """By the column's own step; without one the bounds are cut into so many parts."""
        assert kind.bounds is not None
        check_reach(*kind.bounds, f'the bounds of "{name}"')
        low, high = (Fraction(repr(end)) for end in kind.bounds)
        if kind.step is not None:
            assert kind.worlds is not None
            return cls(name, kind, low, Fraction(repr(kind.step)), kind.worlds)
        if parts is None:
            raise SchemaError(
                f'column "{name}" has no step, so that its values cannot be counted one by one. Add step = ... to its part of '
                f"the schema, or give {by_door('step=', '--step')}."
            )
        return cls(name, kind, low, (high - low) / parts, parts + 1)

    @property
    def encoding(self) -> Encoding:
        assert self.kind.fallback is not None
        default = min(max(0, round((Fraction(repr(self.kind.fallback)) - self.low) / self.step)), self.size - 1)
        grid = Grid(self.name, float(self.low), float(self.step), self.size - 1, default, self.kind.form)
        return Encoding(numbers=(grid,))

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"values": self.size, "low": float(self.low), "step": float(self.step)}

    def value(self, place: int) -> float | int:
        exact = self.low + place * self.step
        return int(exact) if exact.denominator == self.step.denominator == 1 else float(exact)

    def place(self, option: Any) -> int:
        try:
            exact = exact_number(option)
        except ValueError:
            raise UsageError(f'an option is no number. Give numbers within the bounds of "{self.name}".') from None
        place = round((exact - self.low) / self.step)
        assert self.kind.bounds is not None
        if not 0 <= place < self.size or not self.low <= exact <= Fraction(repr(self.kind.bounds[1])):
            raise UsageError(f'an option lies outside the bounds of "{self.name}". Give numbers within them.')
        return place

    def named(self, option: Any) -> float | int:
        exact = exact_number(option)
        return int(exact) if exact.denominator == 1 else float(exact)


@dataclass(frozen=True, slots=True)
class DayPlaces:
    """The days between the bounds."""

    name: str
    kind: Date

    @property
    def first(self) -> datetime.date:
        """The day at place 0."""
        assert self.kind.bounds is not None
        return self.kind.bounds[0]

    @property
    def size(self) -> int:
        assert self.kind.worlds is not None
        return self.kind.worlds

    @property
    def encoding(self) -> Encoding:
        assert self.kind.fallback is not None
        default = (self.kind.fallback - self.first).days
        start = float((self.first - EPOCH).days)
        return Encoding(numbers=(DayGrid(self.name, start, 1.0, self.size - 1, default, self.kind.form),))

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"values": self.size, "low": str(self.first), "step": "1 day"}

    def value(self, place: int) -> str:
        return str(self.first + datetime.timedelta(days=place))

    def place(self, option: Any) -> int:
        day = as_day(option, self.kind)
        if day is None:
            raise UsageError(f'an option is no day. Give days such as 1950-01-01 within the bounds of "{self.name}".')
        place = (day - self.first).days
        if not 0 <= place < self.size:
            raise UsageError(f'an option lies outside the bounds of "{self.name}". Give days within them.')
        return place

    def named(self, option: Any) -> str:
        return self.value(self.place(option))


def as_day(option: Any, kind: Date) -> datetime.date | None:
    """A day that was given as one, or as a text: ISO, or as the column writes it."""
    if isinstance(option, str):
        for form in (PLAIN, kind.form):
            (number,) = days_of(pa.array([option]), form)
            if not np.isnan(number) and (form is not PLAIN or len(option.strip()) == len("1950-01-01")):
                return EPOCH + datetime.timedelta(days=int(number))
        return None
    return option if isinstance(option, datetime.date) and not isinstance(option, datetime.datetime) else None


def stated_kind(
    name: str, schema: Schema | None, bounds: Any, step: Any, domain: Sequence[str] | None
) -> Number | Date | Category:
    """What is publicly known of a column, by what the call states of it or else the schema says."""
    stated = {} if bounds is None else {name: bounds}
    domains = {} if domain is None else {name: domain}
    if bounds is not None and domain is not None:
        raise UsageError(f'bounds are for a number and a domain is for a category. Which is "{name}"? Give one of them.')
    if schema is None and not stated and not domains:
        raise SchemaError(
            f'nothing is known about column "{name}". '
            + by_door(
                "Give a schema, or domain=[...] for a category, or bounds=(low, high) for a number, from what is publicly known.",
                "Describe it in a schema, from what is publicly known (cloister schema FILE drafts one), and give --schema; or "
                "give --bounds and --step for a number.",
            )
        )
    kind = kind_of(name, stated, domains, schema, what="a choice")
    if step is not None and not isinstance(kind, Number):
        raise UsageError(f'a step is for numbers, and "{name}" is none. Leave it out.')
    if not isinstance(kind, Number) or (step is None and bounds is None):
        return kind
    return replace(kind, step=schema_step(name, kind, schema) if step is None else step)


def schema_step(name: str, kind: Number, schema: Schema | None) -> float | None:
    """The step that the schema gives a column whose bounds are stated beside it; they must begin at one of its values."""
    known = schema[name].kind if schema is not None and name in schema else None
    if not isinstance(known, Number) or known.step is None:
        return None
    assert kind.bounds is not None
    origin = 0.0 if known.bounds is None else known.bounds[0]
    low, start, step = (Fraction(repr(float(number))) for number in (kind.bounds[0], origin, known.step))
    if (low - start) % step:
        raise UsageError(
            f'the lower bound that is given for "{name}" is none of the values that the step of the schema makes. Give one of '
            f"them, or {by_door('step=', '--step')} too."
        )
    return known.step


def public_values(name: str, kind: Number | Date | Category, parts: int | None) -> PublicValues:
    """The places of a column of this kind.

    `parts`: into how many the bounds of a number without a step are cut; None: it needs one.
    """
    if isinstance(kind, Category):
        return CategoryPlaces(name, kind)
    places: NumberPlaces | DayPlaces
    places = DayPlaces(name, kind) if isinstance(kind, Date) else NumberPlaces.between(name, kind, parts)
    if places.size > MOST_PLACES:
        raise UsageError(
            f'column "{name}" has {places.size:,} values, and at most {MOST_PLACES:,} can be chosen from. Give a wider '
            f"{by_door('step=', '--step')}."
        )
    return places
