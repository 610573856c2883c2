"""Where rows may lie: public bounds, and the integer grid that comes from them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Codes, Encoding, Grid
from cloister.errors import SchemaError, UsageError, by_door
from cloister.kernels import BallClip, BoxClip, Clip
from cloister.parameters import check_reach
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.stated_bounds import has_days
from cloister.schema.value_steps import ValueSteps

__all__ = ["Ball", "Domain", "Lattice", "check_scale", "distance_unit", "from_bounds", "widen_narrow", "with_categories"]

GRID_BITS = 19  # a column spans 2**20 grid steps: squared distances stay exact in float64 up to 8,192 columns
EXACT_BITS = 52
Lattice = tuple[float, float]
"""The values of a column that has a public step: one of them, and the step."""


@dataclass(frozen=True, slots=True)
class Ball:
    """Bounds in the form of a ball: rows farther than `radius` from `center` are pulled onto it.

    Parameters
    ----------
    radius : float
        Public; above 0.
    center : sequence of float, optional
        Public; the origin when not given.
    """

    radius: float
    center: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.radius, np.floating | np.integer) and not isinstance(self.radius, np.timedelta64):
            object.__setattr__(self, "radius", float(self.radius))  # short ones cannot be compared with the largest float
        is_number = isinstance(self.radius, int | float) and not isinstance(self.radius, bool)
        if not is_number or not 0 < self.radius <= sys.float_info.max:
            raise UsageError("a ball needs a finite radius above 0, which comes first: Ball(30, center=[20, 20]).")


@dataclass(frozen=True, slots=True)
class Domain:
    """The grid of the numbers, the values of the categories, the clip that holds for every encoded row, and the way back."""

    encoding: Encoding
    clip: Clip
    halves: NDArray[np.int64] = field(repr=False)  # (d,) half-width of each column in grid steps
    unit: float  # the length of a grid step in reported distances: in column widths, or in the data's own units
    order: tuple[str, ...] = ()  # the columns as the user has them; none: numbers, then categories

    @property
    def columns(self) -> tuple[str, ...]:
        return self.order or self.encoding.columns

    @property
    def categories(self) -> tuple[Codes, ...]:
        """The category columns."""
        return tuple(codes for codes in self.encoding.categories if isinstance(codes, Codes))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each category column has."""
        return tuple(len(codes.domain) for codes in self.categories)

    @property
    def is_ball(self) -> bool:
        return isinstance(self.clip, BallClip)

    @property
    def shape(self) -> str:
        """How a certificate names the form of the bounds."""
        return "ball" if self.is_ball else "box"

    @property
    def bounds(self) -> list[list[float]]:
        """The lowest and highest value of each column, in its own units, as a certificate lists them."""
        return [[g.center - g.half * g.step, g.center + g.half * g.step] for g in self.encoding.numbers]

    @property
    def radius(self) -> float:
        """Distance from the middle to the farthest place, in grid steps."""
        return float(np.sqrt(self.clip.l2_squared))

    def put(self, points: NDArray[np.float64]) -> NDArray[np.int32]:
        """Points in grid steps -> the nearest grid points of the domain. Post-processing of released points."""
        points = np.clip(points, -self.halves, self.halves)
        if self.is_ball:
            length = np.sqrt((points**2).sum(axis=1, keepdims=True))
            points = points * np.minimum(1.0, self.radius / np.maximum(length, 1e-300))
        return np.ascontiguousarray(np.rint(points), dtype=np.int32)

    def decode(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """Points in grid steps -> the columns' own units."""
        return self.encoding.decode(points)

    def records(self, points: NDArray[Any], codes: NDArray[np.int32] | None = None) -> list[list[float | str]]:
        """Points in grid steps and their category codes -> values in the columns' own units, in the order of `columns`."""
        cells: dict[str, list[Any]] = {
            grid.name: column.tolist() for grid, column in zip(self.encoding.numbers, self.decode(points).T, strict=True)
        }
        for column, places in zip(self.categories, () if codes is None else codes.T, strict=True):
            cells[column.name] = [column.domain[place] for place in places]
        return [list(record) for record in zip(*(cells[name] for name in self.columns), strict=True)]

    def by_column(self, of_numbers: Sequence[Any], others: Any = None) -> list[Any]:
        """What each number column has, in the order of `columns`; the others have the same."""
        named = dict(zip((grid.name for grid in self.encoding.numbers), of_numbers, strict=True))
        return [named.get(name, others) for name in self.columns]

    def nearest_values(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers in the columns' own units, (n, d) -> the nearest values that the columns have, where that is public."""
        columns = [
            numbers[:, j] if grid.values is None else grid.values.nearest(numbers[:, j])
            for j, grid in enumerate(self.encoding.numbers)
        ]
        return np.column_stack(columns)

    def lengths(self) -> NDArray[np.float64]:
        """One grid step of each column in its own units, (d,)."""
        return np.array([grid.step for grid in self.encoding.numbers])


def from_bounds(
    names: Sequence[str],
    bounds: Any,
    scale: str | None,
    defaults: Sequence[float] | None = None,
    forms: Sequence[CellFormat] | None = None,
    lattices: Sequence[Lattice | None] | None = None,
) -> Domain:
    """The domain of these columns under bounds: a pair (low, high) of numbers or of one number a column, or a `Ball`.

    With ``scale="bounds"`` every column's width counts the same in a distance; with None distances are in the data's own
    units. A ball always is in the data's own units.
    """
    columns = len(names)
    if columns < 1:
        raise SchemaError(
            "there is no number column to work on. Name some with "
            f"{by_door('columns', '--columns')}, with bounds in the schema."
        )
    half = half_width(columns)
    written = [PLAIN] * columns if forms is None else forms
    if isinstance(bounds, Ball):
        center = spread(0.0 if bounds.center is None else bounds.center, columns, "the centre of the ball")
        for place in center.tolist():
            check_reach(place - float(bounds.radius), place + float(bounds.radius), "the ends of a ball")
        step = float(bounds.radius) / half
        defaults_at = default_places(
            defaults, center, np.full(columns, step), np.full(columns, half)
        )  # rows are pulled in later
        grids = tuple(
            Grid(name, float(c), step, half, at, form)
            for name, c, at, form in zip(names, center, defaults_at, written, strict=True)
        )
        return Domain(Encoding(grids, radius=half), BallClip(half, columns), np.full(columns, half, dtype=np.int64), step)
    check_scale(scale)
    low, high = pair(bounds, columns)
    widths = (high - low) / 2
    steps = widths / half if scale == "bounds" else np.full(columns, widths.max() / half)
    halves = np.minimum(half, np.floor(widths / steps + 1e-9)).astype(np.int64)
    if (halves < 1).any():
        narrow = names[int(np.argmin(halves))]
        raise UsageError(
            f'column "{narrow}" is so narrow beside the widest that its values cannot be told apart in common units. '
            + by_door('Use scale="bounds", or leave it out.', "Use --scale bounds, or leave it out.")
        )
    middles = low + widths
    values = [
        None if lattice is None else ValueSteps(*lattice, float(a), float(b))
        for lattice, a, b in zip(lattices or [None] * columns, low, high, strict=True)
    ]
    grids = tuple(
        Grid(name, float(middle), float(step), int(h), at, form, shown)
        for name, middle, step, h, at, form, shown in zip(
            names, middles, steps, halves, default_places(defaults, middles, steps, halves), written, values, strict=True
        )
    )
    unit = 1 / (2 * half) if scale == "bounds" else float(steps[0])
    return Domain(Encoding(grids), BoxClip(tuple(int(h) for h in halves)), halves, unit)


def distance_unit(domain: Domain, scale: str | None) -> str:
    """What a squared distance is counted in."""
    return "squared column widths" if scale == "bounds" and not domain.is_ball else "squared units of the data"


def default_places(
    defaults: Sequence[float] | None, middles: NDArray[np.float64], steps: NDArray[np.float64], halves: NDArray[np.int64]
) -> list[int]:
    """Where the stated default of each column lies on its grid, at its end if beyond; the middle where none is stated."""
    public = np.full(len(middles), np.nan) if defaults is None else np.asarray(defaults, dtype=np.float64)
    places = np.where(np.isnan(public), 0.0, (public - middles) / steps)
    return [int(place) for place in np.clip(np.rint(places), -halves, halves)]


def with_categories(numbers: Domain | None, categories: Sequence[Codes], order: Sequence[str]) -> Domain:
    """The domain of numbers with category columns beside them; None: categories alone, between which distances are counts."""
    if numbers is None:
        return Domain(Encoding(categories=tuple(categories)), BoxClip(()), np.empty(0, np.int64), 1.0, tuple(order))
    return replace(numbers, encoding=replace(numbers.encoding, categories=tuple(categories)), order=tuple(order))


def widen_narrow(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds in common units in which every column has a grid step to either side: `from_bounds` would refuse narrower ones.

    For bounds that are estimated inside the budget: after a charge nothing is refused.
    """
    least = (high - low).max() / half_width(len(low)) * (1 + 1e-6)
    rounding = np.spacing(np.maximum(np.abs(low), np.abs(high)) + least)  # of the ends that are returned
    short = np.where(high - low < least, (least - (high - low)) / 2 + rounding, 0.0)
    return low - short, high + short


def check_scale(scale: str | None) -> None:
    """Refuse a scale that does not exist."""
    if scale is not None and not (isinstance(scale, str) and scale == "bounds"):
        raise UsageError('scale must be "bounds" (each column\'s width counts the same) or None (own units).')


def half_width(columns: int) -> int:
    """Grid steps from the middle of a column to its edge, such that squared distances stay exact in float64."""
    bits = min(GRID_BITS, (EXACT_BITS - int(np.ceil(np.log2(columns)))) // 2 - 1)
    return int(2**bits)


def pair(bounds: Any, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Low and high of every column."""
    if is_pair_a_column(bounds, columns):
        raise UsageError(
            "bounds has one pair a column. Give one pair instead: (lows, highs), each one number or one a column, such as "
            '([0, 0], [110, 250000]); or pairs by name: {"age": (0, 110), "income": (0, 250000)}.'
        )
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise UsageError('bounds must be a pair (low, high), pairs by name, {"age": (0, 110)}, or a Ball(radius).') from None
    low, high = spread(low, columns, "the low bounds"), spread(high, columns, "the high bounds")
    if not (low < high).all():
        raise UsageError(
            "every low bound must lie below its high bound. Give "
            + by_door(
                "bounds=(low, high), or ([low, ...], [high, ...]) with one a column.",
                "--bounds LOW,HIGH, or --bounds NAME=LOW:HIGH for each column.",
            )
        )
    for ends in zip(low.tolist(), high.tolist(), strict=True):
        check_reach(*ends, "bounds")
    return low, high


def is_pair_a_column(bounds: Any, columns: int) -> bool:
    """Whether bounds are (low, high) of each column by itself: a list of tuples, or what can be nothing else.

    >>> is_pair_a_column(((0, 100), (0, 100)), 2)
    True
    >>> is_pair_a_column([[0, 0], [110, 250_000]], 2)
    False
    """
    try:
        pairs = np.asarray(bounds, dtype=np.float64)  # (d, 2)
    except (ValueError, TypeError, OverflowError):
        return False
    if columns < 2 or pairs.shape != (columns, 2):
        return False
    tuples = isinstance(bounds, list) and all(isinstance(pair, tuple) for pair in bounds)
    return columns > 2 or tuples or bool((pairs[:, 0] < pairs[:, 1]).all() and (pairs[0] >= pairs[1]).any())


def spread(value: Any, columns: int, what: str) -> NDArray[np.float64]:
    """One finite number a column, from one number or one a column."""
    if has_days(value):
        raise UsageError(f"{what} are days, and distances are between numbers. Leave dates out, or make them numbers.")
    try:
        given = np.asarray(value, dtype=np.float64)
        numbers = np.broadcast_to(given, (columns,) if given.ndim == 0 else given.shape)
        if numbers.shape != (columns,):
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise UsageError(f"{what} must be one number, or one for each of the {columns} columns.") from None
    if not np.isfinite(numbers).all():
        raise UsageError(f"{what} must be finite numbers.")
    return numbers
