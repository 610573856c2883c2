"""A record batch and public facts -> grid integers and category codes, row by row.

Privacy
-------
A row's integers depend on that row and on public facts alone: not on its batch, its place, or the engine. What cannot
be read becomes its column's public default; no row is dropped, counted or shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.errors import SchemaError
from cloister.schema import Category
from cloister.schema.arrow_numpy import to_numbers
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import days, numbers, shared_values, texts
from cloister.schema.value_steps import ValueSteps, short_text

__all__ = ["BinGrid", "Bins", "Coder", "Codes", "Encoded", "Encoding", "Grid", "MadeUp", "pull_into_ball"]

_CHUNK = 8_192  # rows at a time: the temporaries of a column stay in the cache
_INT32 = 2**31 - 1
_NO_VALUE = "\0"  # stands in a domain for what is in none; a cell that holds it is in none either


@dataclass(frozen=True, slots=True)
class Encoded:
    """Rows as kernels see them: integers only."""

    numbers: NDArray[np.int32]  # (n, d), C-contiguous grid integers
    codes: NDArray[np.int32]  # (n, c), C-contiguous category codes

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class Grid:
    """A number column on its public grid: value -> clip(rint((value - center) / step), -half, half).

    `default` is the grid integer of what cannot be read: null, NaN, text among numbers. Numbers beyond the grid,
    infinite ones too, are clipped to its edge.
    """

    name: str
    center: float
    step: float
    half: int
    default: int = 0
    form: CellFormat = PLAIN  # how its cells are written
    values: ValueSteps | None = None  # which values the column has, where the schema gives a step: for what is shown

    def __post_init__(self) -> None:
        if not (math.isfinite(self.center) and math.isfinite(self.step) and self.step > 0):
            raise SchemaError(f'column "{self.name}": the grid needs a finite center and a step above 0.')
        if not 0 <= self.half <= _INT32:
            raise SchemaError(f'column "{self.name}": the grid needs between 0 and {_INT32:,} steps to each side.')
        if abs(self.default) > self.half:
            raise SchemaError(f'column "{self.name}": the default lies outside the grid.')

    @classmethod
    def over(
        cls,
        name: str,
        bounds: tuple[float, float],
        step: float | None = None,
        default: float | None = None,
        form: CellFormat = PLAIN,
        finest: int = 1,
    ) -> Grid:
        """The grid between public bounds, whose ends are the bounds themselves: what lies beyond counts as one of them.

        Where the step divides the width, the values low, low + step, ... are grid points. `finest`: about how many grid steps
        it has to each side of the middle, or more if the values are more.

        >>> grid = Grid.over("age", (0, 99), 1)
        >>> grid.center, grid.step, grid.half
        (49.5, 0.5, 99)
        """
        low, high = (Fraction(repr(float(end))) for end in bounds)
        steps = Fraction(1) if step is None else (high - low) / Fraction(repr(float(step)))
        values = max(1, int(steps))
        half = values * max(1, finest // values)
        grid = cls(name, float((low + high) / 2), float((high - low) / (2 * half)), half, form=form)
        if default is None:
            return grid
        return replace(grid, default=int(grid.put(np.array([default], dtype=np.float64))[0]))

    @property
    def default_value(self) -> float | str:
        """What a cell that cannot be read counts as, in the column's own units: as it was stated, not as a fine grid has it."""
        return float(short_text(self.center + self.default * self.step, self.step / 2))

    def read(self, values: pa.Array) -> NDArray[np.float64]:
        """Each cell as a number; NaN where there is none."""
        return numbers(values, self.form)

    def made_up(self, values: pa.Array) -> NDArray[np.bool_]:
        """Which cells count as the default because they cannot be read."""
        return np.isnan(self.read(values))

    def put(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers, NaN where unreadable -> grid integers, kept as floats; the input is not touched."""
        with np.errstate(over="ignore", invalid="ignore"):
            placed = values - self.center
            placed /= self.step
        np.rint(placed, out=placed)
        np.clip(placed, -self.half, self.half, out=placed)
        unreadable = np.isnan(placed)
        if unreadable.any():
            placed[unreadable] = self.default
        return placed


@dataclass(frozen=True, slots=True)
class DayGrid(Grid):
    """A date column on a grid of days since 1970-01-01."""

    @property
    def default_value(self) -> str:
        """The day that a cell which cannot be read counts as."""
        return str(np.datetime64(round(self.center + self.default * self.step), "D"))

    def read(self, values: pa.Array) -> NDArray[np.float64]:
        """Each cell as a day; NaN where there is none."""
        return days(values, self.form)


@dataclass(frozen=True, slots=True)
class BinGrid(Grid):
    """A number column cut into bins: a grid integer is how many cuts lie at or below a value, from 0 to `half`.

    Each value is compared with the cuts itself: on a grid over wide bounds, values beside a cut would be rounded across it.
    """

    cuts: tuple[float, ...] = ()  # ascending
    ends: tuple[float, float] = (-math.inf, math.inf)  # public bounds: what lies beyond counts as one of them
    stated: float = 0.0  # the default, as a value

    @classmethod
    def cut(
        cls, name: str, cuts: Sequence[float], ends: tuple[float, float], default: float, form: CellFormat = PLAIN
    ) -> BinGrid:
        """The bins between public cuts.

        >>> BinGrid.cut("pay", (100.0, 1000.0), (0, 1e7), 0.0).put(np.array([99, 100, 1e9, np.nan])).tolist()
        [0.0, 1.0, 2.0, 0.0]
        """
        grid = cls(name, 0.0, 1.0, len(cuts), form=form, cuts=tuple(cuts), ends=ends, stated=default)
        return replace(grid, default=int(grid.put(np.array([default], dtype=np.float64))[0]))

    @property
    def default_value(self) -> float:
        """What a cell that cannot be read counts as, in the column's own units."""
        return self.stated

    def put(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers, NaN where unreadable -> how many cuts lie at or below each."""
        placed = np.searchsorted(self.cuts, np.clip(values, *self.ends), side="right").astype(np.float64)
        return np.where(np.isnan(values), float(self.default), placed)


@dataclass(frozen=True, slots=True)
class Codes:
    """A category column: value -> its place in the public domain; any other value -> `default`.

    A null reads as the empty text, so that a domain that lists "" counts nulls as a value of their own. A truth value reads as
    "true" or "false", which are also "True" and "False" (or any other case) where the domain has those alone.
    """

    name: str
    domain: tuple[str, ...]
    default: int = 0
    form: CellFormat = PLAIN  # how its cells are written

    def __post_init__(self) -> None:
        if not self.domain:
            raise SchemaError(f'column "{self.name}": the domain is empty.')
        if not 0 <= self.default < len(self.domain):
            raise SchemaError(f'column "{self.name}": the default is not in the domain.')

    @classmethod
    def over(cls, name: str, kind: Category) -> Codes:
        """The codes of a category with a domain: its values, and "(other)" where the schema gives it that.

        >>> Codes.over("sex", Category(domain=("f", "m"), other=True)).domain
        ('f', 'm', '(other)')
        """
        stripped = [value.strip() for value in kind.cells]
        default = 0 if kind.fallback is None else stripped.index(kind.fallback.strip())
        return cls(name, kind.cells, default, kind.form)

    @property
    def default_value(self) -> str:
        """What any other value counts as."""
        return self.domain[self.default]

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each cell."""
        domain = pc.utf8_trim_whitespace(pa.array(self.domain, pa.string()))
        if shared := shared_values(values):
            by_code = np.append(self.look_up(shared[0]), self._code_of_null(domain)).astype(np.int32)
            codes: NDArray[np.int32] = by_code[shared[1]]
            return codes
        cells = texts(values, self.form).fill_null("")
        words, meant = self._truth_values(domain.to_pylist())
        known = pa.concat_arrays([domain, pa.array(words, domain.type)])
        places = to_numbers(pc.index_in(cells, value_set=known.cast(cells.type)).fill_null(len(known)))
        by_place = np.array([*range(len(domain)), *meant, self.default], dtype=np.int32)
        found: NDArray[np.int32] = by_place[places]
        return found

    @staticmethod
    def _truth_values(domain: list[str]) -> tuple[list[str], list[int]]:
        """The words for truth values that the domain has in another case alone, and the codes of what they mean."""
        lowered = [value.lower() for value in domain]
        words: list[str] = [word for word in ("true", "false") if word in lowered and word not in domain]
        return words, [lowered.index(word) for word in words]

    def made_up(self, values: pa.Array) -> NDArray[np.bool_]:
        """Which cells count as the default because they hold no value of the domain."""
        beyond = replace(self, domain=(*self.domain, _NO_VALUE), default=len(self.domain))
        is_beyond: NDArray[np.bool_] = beyond.look_up(values) == beyond.default
        return is_beyond

    def _code_of_null(self, domain: pa.Array) -> int:
        code: int = pc.index(domain, "").as_py()
        return self.default if code < 0 else code


@dataclass(frozen=True, slots=True)
class Bins:
    """A number column cut at public edges: value -> how many edges lie at or below it.

    What cannot be read falls where zero falls.
    """

    name: str
    edges: tuple[float, ...]  # ascending

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        """The cell of each value."""
        read = numbers(values)
        return np.searchsorted(self.edges, np.where(np.isnan(read), 0.0, read), side="right").astype(np.int32)


@dataclass(frozen=True, slots=True)
class MadeUp:
    """1 where the cell of a column counts as its default because it holds no value that can be read, else 0."""

    column: Grid | Codes

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        """Whether the value of each cell is made up."""
        return self.column.made_up(values).astype(np.int32)


class Coder(Protocol):
    """A column of codes: each depends on its own cell and on public facts, or on what the holder knows anyway."""

    @property
    def name(self) -> str: ...

    def look_up(self, values: pa.Array) -> NDArray[np.int32]: ...


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the columns of a table become integers.

    Parameters
    ----------
    numbers : tuple of Grid; categories : tuple of Codes, of Bins, of any other Coder
    radius : int, optional
        The numbers of a row are pulled into the ball of this integer radius, after their own clipping.

    Privacy
    -------
    Values are put on the grid first and the integers are clipped afterwards: rounding after a clip would break the
    bound that the sensitivity rests on.
    """

    numbers: tuple[Grid, ...] = ()
    categories: tuple[Coder, ...] = ()
    radius: int | None = None

    def __post_init__(self) -> None:
        if self.radius is None:
            return
        if not 0 < self.radius <= _INT32:
            raise SchemaError(f"the radius of the ball must be between 1 and {_INT32:,} grid steps.")
        if sum(grid.half**2 for grid in self.numbers) > 2**62:
            raise SchemaError("the grid is too fine for a ball: squared lengths would not fit 64 bits.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, numbers first, each once."""
        return tuple(dict.fromkeys([*(grid.name for grid in self.numbers), *(codes.name for codes in self.categories)]))

    def no_rows(self) -> Encoded:
        """What a batch without rows encodes to."""
        return Encoded(np.empty((0, len(self.numbers)), np.int32), np.empty((0, len(self.categories)), np.int32))

    def encode(self, batch: pa.RecordBatch) -> Encoded:
        """Rows -> integers."""
        n = batch.num_rows
        placed = np.empty((n, len(self.numbers)), np.int32)  # (n, d)
        coded = np.empty((n, len(self.categories)), np.int32)  # (n, c)
        values = [grid.read(_cells(batch, grid.name)) for grid in self.numbers]
        for start in range(0, n, _CHUNK):
            rows = slice(start, start + _CHUNK)
            for j, grid in enumerate(self.numbers):
                placed[rows, j] = grid.put(values[j][rows])
        for j, codes in enumerate(self.categories):
            coded[:, j] = codes.look_up(_cells(batch, codes.name))
        if self.radius is not None:
            pull_into_ball(placed, self.radius)
        return Encoded(placed, coded)

    @property
    def defaults(self) -> dict[str, float | str]:
        """What stands for a cell without a value that can be read, by column: public facts."""
        described = (column for column in (*self.numbers, *self.categories) if isinstance(column, Grid | Codes))
        return {column.name: column.default_value for column in described}

    def decode(self, points: NDArray[np.number]) -> NDArray[np.float64]:
        """Points in grid units -> the columns' own units."""
        step = np.array([grid.step for grid in self.numbers])  # (d,)
        center = np.array([grid.center for grid in self.numbers])  # (d,)
        units: NDArray[np.float64] = np.asarray(points, np.float64) * step + center  # (k, d)
        return units


def _cells(batch: pa.RecordBatch, name: str) -> pa.Array:
    place = batch.schema.get_field_index(name)
    if place < 0:
        raise SchemaError(f'column "{name}" is not in the data, or is there twice.')
    return batch.column(place)


def pull_into_ball(points: NDArray[np.int32], radius: int) -> None:
    """Shorten, in place, every integer vector that is longer than the radius.

    |v| R // q with q = ceil(|v|_2) has a squared length of at most R^2 |v|_2^2 / q^2 <= R^2, in integers throughout.
    """
    for start in range(0, len(points), _CHUNK):
        rows = points[start : start + _CHUNK]
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.int64)  # (n,)
        outside = squares > radius * radius
        if not outside.any():
            continue
        long = rows[outside].astype(np.int64)  # (m, d)
        length = _ceil_sqrt(squares[outside])  # (m,)
        rows[outside] = np.sign(long) * (np.abs(long) * radius // length[:, None])


def _ceil_sqrt(squares: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least q with q^2 >= square, exactly, for squares from 1 to 2^62."""
    root = np.sqrt(squares.astype(np.float64)).astype(np.int64)  # off by one at most
    root -= (root - 1) * (root - 1) >= squares
    root += root * root < squares
    return root
