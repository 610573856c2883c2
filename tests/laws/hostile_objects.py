"""Cells and rows that nobody expects, drawn for the laws of rows: any type, any shape, any value."""

from __future__ import annotations

import array
import datetime
import random
import uuid
from collections import namedtuple
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa

Pair = namedtuple("Pair", "first second")


class Spiteful:
    """Raises whatever it is asked."""

    def _refuse(self, *args: object) -> NoReturn:
        raise RuntimeError("no")

    __float__ = __int__ = __len__ = __iter__ = __array__ = __bool__ = __index__ = __getitem__ = _refuse
    __str__ = __repr__ = __eq__ = __lt__ = __getattr__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class BrokenText(str):
    """A text that does not behave like one."""

    def __str__(self) -> str:
        raise ValueError("no")

    def encode(self, *args: Any, **kwargs: Any) -> bytes:
        raise ValueError("no")


class BrokenNumber(float):
    """A number that does not behave like one."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("no")

    def __float__(self) -> float:
        raise ValueError("no")

    __hash__ = None  # type: ignore[assignment]


class BrokenList(list):  # type: ignore[type-arg]
    """A list whose length and cells cannot be had."""

    def __len__(self) -> int:
        raise ValueError("no")

    def __iter__(self) -> NoReturn:
        raise ValueError("no")


class KeyOfAnything:
    """A key of a dict that claims to be whatever is looked for."""

    def __hash__(self) -> int:
        return hash("x0")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


NUMPY_TYPES = "?bhilqBHILQefdgFDSUmMO"
TEXTS = [
    "", " ", "?", "NA", "nan", "NaN", "inf", "-inf", "Infinity", "true", "false", "True", "0",
    "-0", "+1", "1", "1.0", "1,5", "1.5",
    "1e5", "1e999", "-1e999", "1e-999", "1_000", "1,000", "1,000.5", "36.993,09", "0x10", "0b1",
    "1/2", "½", "١٢", "１２", "1d", "1f",
    "2024-01-31", "2024-02-31", "31.01.2024", "2024-01-31T12:00:00Z", "0000-00-00", "99999-01-01",
    "--1", "1.", ".5", ".", "e5",
    "\0", "a\0b", "\ud800", "\u202e1", "\ufeff1", "\x1f", "a,b", 'a"b', '"', "a\nb", "a\r\nb",
    "\t1\t", "9" * 400, "0." + "0" * 400 + "1",
    "0.1", "0.10000000149011612", "🙂", "x" * 5000, "null", "None", "[1]", "{}",
]  # fmt: skip
CELLS: list[Any] = [
    None, [], {}, (), set(), [1], [[1]], {"a": 1}, (1, 2), object(), Spiteful(), BrokenText("7"),
    BrokenNumber(7), BrokenList([1]),
    b"", b"\xff", b"1.5", bytearray(b"2"), memoryview(b"3"), True, False, 0, -1, 1, 3, 2**53 + 1,
    2**63 - 1, 2**63, 2**64 - 1, 2**64,
    -(2**63), -(2**63) - 1, 10**30, 10**76, 10**400, -(10**400), 10**5000, 0.0, -0.0, 0.1, 0.5,
    1e-320, 1e308, 1e20, 2.0**63,
    float("inf"), float("-inf"), float("nan"), 1j, complex("nan"), Decimal("1.50"), Decimal("NaN"),
    Decimal("sNaN"), Decimal("Infinity"),
    Decimal("-1e99999"), Decimal("1e-99999"), Fraction(1, 3), Fraction(10**400, 3), Fraction(1, 10**400), pd.NA, pd.NaT,
    pd.Timestamp("2024-01-31 06:00:00.123456789"), pd.Timestamp("2024-01-31", tz="Europe/Berlin"),
    pd.Timestamp.max, pd.Timedelta(days=1.5),
    pd.Period("2024-01"), pd.Interval(0, 1), datetime.date(2024, 1, 31), datetime.date.min,
    datetime.date.max, datetime.datetime.min,
    datetime.datetime.max, datetime.datetime(2024, 1, 31, 6, tzinfo=datetime.UTC),
    datetime.datetime.max.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-12))),
    datetime.time(6), datetime.timedelta.max,
    datetime.timedelta.min, datetime.timedelta(hours=6), np.datetime64("NaT"),
    np.datetime64("2024"), np.datetime64(2**62, "D"),
    np.datetime64(2**62, "s"), np.array(["2024-01-31"], "datetime64[25s]")[0],
    np.timedelta64("NaT"), np.timedelta64(3, "Y"), np.timedelta64(2**62, "s"),
    np.float16(0.1), np.float32(0.1), np.float64(0.1), np.longdouble("0.1"),
    np.longdouble("1e4000"), np.float32("inf"), np.int8(-3),
    np.uint64(2**64 - 1), np.bool_(True), np.complex64(1), np.str_("5"), np.bytes_(b"6"),
    np.void(b"7"), np.array(5.0), np.array([5.0]),
    np.zeros((0,)), np.zeros((2, 2)), np.ma.masked, pa.scalar(1.5), pa.NULL, Ellipsis,
    NotImplemented, int, print, uuid.UUID(int=5),
    Colour.RED, Level.LOW, range(3), slice(1), iter([1]), (x for x in [1]), Exception("no"),
    pd.Series([1.0]), pd.DataFrame({"a": [1.0]}),
]  # fmt: skip


def draw_text(chance: random.Random) -> str:
    """A text: a listed one, the text of a number, or any characters."""
    which = chance.random()
    if which < 0.5:
        return chance.choice(TEXTS)
    if which < 0.75:
        return repr(draw_float(chance))
    return "".join(chr(chance.choice((chance.randrange(128), chance.randrange(0xD800)))) for _ in range(chance.randrange(9)))


def draw_float(chance: random.Random) -> float:
    """A number, with any bits or of a usual size."""
    if chance.random() < 0.5:
        return float(np.frombuffer(chance.randbytes(8), np.float64)[0])
    return chance.choice((chance.random(), chance.uniform(-100, 100), float(chance.randrange(-100, 100))))


def draw_scalar(chance: random.Random) -> Any:
    """A NumPy scalar of any dtype."""
    kind = np.dtype(chance.choice(NUMPY_TYPES))
    if kind.char == "O":
        return None
    if kind.char in "SU":
        return np.array([chance.choice(("1", "a", "0.5"))], kind)[0]
    if kind.char in "mM":
        unit = chance.choice(("Y", "M", "W", "D", "h", "s", "ms", "us", "ns", "ps", "as"))
        return np.frombuffer(chance.randbytes(8), f"{kind.char}8[{unit}]")[0]
    with np.errstate(all="ignore"):
        if kind.char in "gFD?":
            return kind.type(chance.choice((0, 1, 0.1)))
        return np.frombuffer(chance.randbytes(kind.itemsize), kind)[0]


def draw_cell(chance: random.Random) -> Any:
    """Any object."""
    return chance.choice((lambda c: c.choice(CELLS), draw_text, draw_float, draw_scalar))(chance)


def draw_row(chance: random.Random, width: int) -> Any:
    """Any object in the place of a row: often of the right width, often not, sometimes no row at all."""
    which = chance.random()
    if which < 0.2:
        return draw_cell(chance)
    cells = [draw_cell(chance) for _ in range(width if which < 0.6 else chance.randrange(5))]
    if which < 0.8:
        return chance.choice((list, tuple))(cells)
    numbers = [draw_float(chance) for _ in cells]
    return chance.choice(
        (
            lambda: np.array(numbers),
            lambda: np.array(numbers, np.float32, ndmin=chance.randrange(1, 4)),
            lambda: np.ma.masked_invalid(numbers),
            lambda: array.array("d", numbers),
            lambda: range(len(cells)),
            lambda: Pair(*(cells * 2)[:2]) if cells else Pair(None, None),
            lambda: BrokenList(cells),
            lambda: dict(enumerate(cells)),
            lambda: iter(cells),
            lambda: pd.Series(numbers),
            lambda: object_array(cells) if chance.random() < 0.5 else cells,
        )
    )()


def object_array(cells: list[Any]) -> Any:
    """An array of objects, none of which is asked for anything on the way."""
    made = np.empty(len(cells), object)
    for i, cell in enumerate(cells):
        made[i] = cell
    return made
