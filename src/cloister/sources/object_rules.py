"""How one Python object is read: by its class alone, and without running code of a class that is not listed here.

Privacy
-------
What a cell becomes depends on the cell alone. A subclass may answer with anything, or end the process, so none is asked: what is
read of it is what its listed base class has stored, by the base class's own slots; where there are none, it is unreadable.

What a cell becomes also tells it from every other cell, because a cell may be the name of a person (`kernels.per_unit`): bytes
stay bytes, and what reads as a rounded number, or as none, has a name beside it.
"""

from __future__ import annotations

import datetime
import math
import re
import uuid
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.sources.class_facts import bases, is_one_of, of_pandas
from cloister.sources.known_zones import is_known_zone

__all__ = ["KINDS", "MOST_DIGITS", "TIMES", "UNREADABLE", "Cell", "read_cell"]

MOST_DIGITS = 76  # of a whole number that keeps all of them
KINDS = {
    "text": pa.large_string(),  # wide offsets: no batch holds too much text for them
    "float": pa.float64(),
    "float32": pa.float32(),
    "float16": pa.float16(),
    "int": pa.int64(),
    "uint": pa.uint64(),
    "whole": pa.decimal256(MOST_DIGITS, 0),
    "bool": pa.bool_(),
    "bytes": pa.large_binary(),
    "named": pa.struct([("number", pa.float64()), ("name", pa.large_binary())]),  # NaN: there is no number to read
    "named text": pa.struct([("number", pa.large_string()), ("name", pa.large_binary()), ("day", pa.int64())]),
    **{
        f"zoned {unit}": pa.struct([("number", pa.timestamp(unit)), ("name", pa.large_binary()), ("day", pa.int64())])
        for unit in ("s", "ms", "us", "ns")
    },
    "D": pa.date32(),
    **{unit: pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"duration {unit}": pa.duration(unit) for unit in ("s", "ms", "us", "ns")},
    "time": pa.time64("us"),
}
TIMES = {kind: pa.int32() if kind == "D" else pa.int64() for kind, type in KINDS.items() if pa.types.is_temporal(type)}
"""The kinds that are counts of units, and the integers that count them."""

Cell = tuple[str, Any]
"""The kind of a cell, a key of `KINDS`, and its value; None: there is none to read. A text that UTF-8 lacks comes as bytes."""
UNREADABLE: Cell = ("text", None)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!/)")
_WIDEST = 1_000  # cells of a tuple that is told from others

_EPOCH = datetime.datetime(1970, 1, 1)
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY_NANOSECONDS = 86_400 * 10**9
_MICROSECOND = datetime.timedelta(microseconds=1)
_PARTS = [
    getattr(datetime.datetime, part)
    for part in ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo")  # as its constructor has them
]
_TIME_PARTS = [getattr(datetime.time, part) for part in ("hour", "minute", "second", "microsecond")]


def read_cell(cell: object) -> Cell:
    """The kind and the value of any Python object. Never raises.

    >>> [read_cell(cell) for cell in (0.5, 3, True, "a", [1], 1j)]
    [('float', 0.5), ('int', 3), ('bool', True), ('text', 'a'), ('text', None), ('text', None)]
    """
    if type(cell) is float:  # the most common cell, without the search for its rule
        return "float", cell
    try:
        for base in bases(type(cell)):
            rule = _RULES.get(id(base))  # by identity: classes may have hashes of their own
            if rule is not None:
                return rule(cell)
        return _read_span(cell)
    except KeyboardInterrupt:
        raise
    except BaseException:  # such as a time that no calendar has; of whatever class, since an object may raise SystemExit
        return UNREADABLE


def _read_span(cell: Any) -> Cell:
    if type(cell) is of_pandas("Period"):
        return _read_period(cell)
    if type(cell) is of_pandas("Interval"):
        return _read_interval(cell)
    return UNREADABLE


def _read_interval(cell: Any) -> Cell:
    """The text that newer versions of pandas give it: older ones leave out the zones of its ends, and times at midnight.

    One of moments in a zone is named by their instants, as a moment is: the text may lack the seconds of an offset.
    """
    ends, moment = (cell.left, cell.right), of_pandas("Timestamp")
    known = (int, float, np.int64, np.float64, moment, of_pandas("Timedelta"))
    if not all(is_one_of(type(end), known) and is_known_zone(getattr(end, "tzinfo", None)) for end in ends):
        return UNREADABLE
    closed = cell.closed
    opening, closing = "[" if closed in ("left", "both") else "(", "]" if closed in ("right", "both") else ")"
    written = f"{opening}{ends[0]!s}, {ends[1]!s}{closing}"
    if type(ends[0]) is not moment or ends[0].tzinfo is None:
        return "text", written
    instants = [_read_zoned_timestamp(end)[1][1].decode() for end in ends]
    return "named text", (written, f"interval {closed} {' '.join(instants)}".encode(), None)


def _read_period(cell: Any) -> Cell:
    """A span of time is its text, and has a name beside it where that text is also one of spans of another length."""
    written = str(cell)
    try:
        is_plain = type(cell)(written).freqstr == cell.freqstr
    except ValueError:  # such as a week's text, which is that of nothing else
        is_plain = False
    if is_plain:
        return "text", written
    return "named text", (written, f"period {cell.freqstr} {cell.ordinal}".encode(), _first_day(cell, written))


def _first_day(cell: Any, written: str) -> int | None:
    """The day that a span begins at, where its text says one and pandas has a moment for it."""
    if not _DAY.match(written):
        return None
    try:
        return int(cell.asfreq("D", "start").ordinal)
    except (ValueError, OverflowError):  # the span is told from others all the same
        return None


def _read_str(cell: str) -> Cell:
    raw = str.encode(cell, "utf-8", "surrogatepass")
    try:
        return "text", raw.decode("utf-8")
    except UnicodeDecodeError:  # lone surrogates
        return "text", raw


def _named(number: float, name: str) -> Cell:
    """A number that other cells read as too. Names begin with what they are of: digits may be those of several kinds."""
    return "named", (number, name.encode())


def _unreadable(name: str) -> Cell:
    """No number and no text, but not the same as any other such cell."""
    return _named(float("nan"), name)


def _read_tuple(cell: tuple[object, ...]) -> Cell:
    """A tuple holds no single value; as a name it is its cells, unless one cannot be read, is a tuple, or there are too many."""
    parts = tuple(tuple.__iter__(cell)) if tuple.__len__(cell) <= _WIDEST else ()
    if not parts or any(base is tuple for part in parts for base in bases(type(part))):
        return UNREADABLE
    written = []
    for part in parts:
        kind, value = read_cell(part)
        if value is None and not _is_nothing(part):  # another such part would make the same name
            return UNREADABLE
        written.append(f"{kind} {value!r}" if value is not None else f"nothing {type(part).__name__}")
    return _unreadable("tuple " + "".join(f"{len(part)} {part}" for part in written))


def _is_nothing(part: object) -> bool:
    return part is None or part is of_pandas("NaT") or part is of_pandas("NA")


def _read_uuid(cell: uuid.UUID) -> Cell:
    number = uuid.UUID.__dict__["int"].__get__(cell)
    return ("text", str(uuid.UUID(int=number))) if type(number) is int else UNREADABLE


def _read_int(cell: int) -> Cell:
    whole = int.__int__(cell)
    if -(2**63) <= whole < 2**63:
        return "int", whole
    if 0 < whole < 2**64:
        return "uint", whole
    if abs(whole) < 10**MOST_DIGITS:
        return "whole", Decimal(whole)
    try:
        number = float(whole)
    except OverflowError:
        number = float("inf") if whole > 0 else float("-inf")
    return _named(number, f"int {whole:x}")


def _read_numpy(cell: Any) -> Cell:
    """A number of NumPy's own types; of a subclass what its base has stored."""
    kind: Any = next(base for base in bases(type(cell)) if is_one_of(base, (*_NUMPY_FLOATS, *_NUMPY_INTEGERS, np.bool_)))
    if kind is np.float32 or kind is np.float16:
        return kind.__name__, kind(kind.__float__(cell))
    if kind is np.float64:
        return "float", float.__float__(cell)
    if kind is np.longdouble and type(cell) is kind:
        number = float(cell)  # rounded, as a column of them is
        is_whole = cell == number or cell != cell
        return ("float", number) if is_whole else _named(number, f"float {np.format_float_scientific(cell)}")
    if kind is np.bool_:
        return "bool", bool(cell)
    return _read_int(kind.__int__(cell)) if is_one_of(kind, _NUMPY_INTEGERS) else UNREADABLE


def _read_decimal(cell: Decimal) -> Cell:
    plain = Decimal(cell)
    if plain.is_finite() and plain.adjusted() < MOST_DIGITS and plain == plain.to_integral_value():
        return _read_int(int(plain))  # a whole number keeps all its digits, as an int does
    number = float(plain)  # infinite beyond the largest
    if not plain.is_finite() or Decimal(repr(number)) == plain:
        return "float", number
    sign, digits, exponent = plain.as_tuple()
    written = "".join(map(str, digits))
    short = written.rstrip("0")
    return _named(number, f"decimal {'-' * sign}{short}e{int(exponent) + len(written) - len(short)}")


def _read_fraction(cell: Fraction) -> Cell:
    above, below = (Fraction.__dict__[part].__get__(cell) for part in ("_numerator", "_denominator"))
    if type(above) is not int or type(below) is not int:
        return UNREADABLE
    try:
        number = above / below
    except OverflowError:
        number = float("inf") if above > 0 else float("-inf")
    is_exact = math.isfinite(number) and Fraction(number) == Fraction(above, below)
    return ("float", number) if is_exact else _named(number, f"fraction {above:x}/{below:x}")


def _read_date(cell: datetime.date) -> Cell:
    return "D", datetime.date.toordinal(cell) - _EPOCH.toordinal()


def _read_datetime(cell: datetime.datetime) -> Cell:
    moments = (of_pandas("Timestamp"), type(of_pandas("NaT")))
    zone = datetime.datetime.tzinfo.__get__(cell)
    if not is_known_zone(zone):
        return UNREADABLE
    if is_one_of(type(cell), moments):  # with a unit of its own; that of NaT is no number
        return _read_datetime64(cell.asm8) if zone is None else _read_zoned_timestamp(cell)  # type: ignore[attr-defined]
    fold = datetime.datetime.fold.__get__(cell)
    plain = datetime.datetime(*(part.__get__(cell) for part in _PARTS), fold=fold)
    count = (plain.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    offset, day = plain.utcoffset(), plain.toordinal() - _EPOCH.toordinal()
    # in whole numbers: the instant of a moment in the first or last year may lie outside of what a datetime can be
    return ("us", count) if offset is None else _zoned("us", count - offset // _MICROSECOND, day)


def _read_zoned_timestamp(cell: Any) -> Cell:
    """A moment of pandas that knows its zone, of any year."""
    unit, _ = np.datetime_data(cell.asm8.dtype)
    count = int(cell.asm8.view(np.int64))
    if datetime.MINYEAR <= cell.year <= datetime.MAXYEAR:
        return _zoned(unit, count, cell.toordinal() - _EPOCH.toordinal())
    local = int(cell.tz_localize(None).asm8.view(np.int64))
    return _zoned(unit, count, local * _NANOSECONDS[unit] // _DAY_NANOSECONDS)


def _zoned(unit: str, count: int, day: int) -> Cell:
    """An instant, which is its name in whatever zone, and the day that a calendar of the cell's own zone shows."""
    return f"zoned {unit}", (count, b"moment %d" % (count * _NANOSECONDS[unit]), day)


def _read_time(cell: datetime.time) -> Cell:
    zone = datetime.time.tzinfo.__get__(cell)
    if not is_known_zone(zone):
        return UNREADABLE
    if zone is None:
        hour, minute, second, microsecond = (part.__get__(cell) for part in _TIME_PARTS)
        return "time", ((hour * 60 + minute) * 60 + second) * 10**6 + microsecond
    written = datetime.time.isoformat(cell)
    if zone.utcoffset(None) is not None:  # then the text has it
        return "text", written
    if type(zone) is zoneinfo.ZoneInfo and type(zone.key) is not str:  # it has no name, or one that runs code
        return UNREADABLE
    return "named text", (written, f"time {written} {zone!r}".encode(), None)


def _read_timedelta(cell: datetime.timedelta) -> Cell:
    if type(cell) is of_pandas("Timedelta"):  # with a unit of its own
        return _read_timedelta64(cell.asm8)  # type: ignore[attr-defined]
    plain = datetime.timedelta(
        *(getattr(datetime.timedelta, part).__get__(cell) for part in ("days", "seconds", "microseconds"))
    )
    return _counted("duration us", plain // _MICROSECOND)


def _read_datetime64(cell: np.datetime64) -> Cell:
    return _read_units(cell, "") if type(cell) is np.datetime64 else UNREADABLE


def _read_timedelta64(cell: np.timedelta64) -> Cell:
    return _read_units(cell, "duration ") if type(cell) is np.timedelta64 else UNREADABLE


def _read_units(cell: np.datetime64 | np.timedelta64, kind: str) -> Cell:
    unit, step = np.datetime_data(cell.dtype)
    if np.isnat(cell):
        return UNREADABLE
    count = int(cell.view(np.int64)) * step
    if not kind and unit in ("Y", "M") and abs(count) < _MOST_MONTHS:
        return _counted("D", int(cell.astype("datetime64[D]").view(np.int64)))
    unit, factor = _COARSE.get(f"{kind}{unit}", (unit, 1))
    return _counted(f"{kind}{unit}", count * factor)


def _counted(kind: str, count: int) -> Cell:
    """A time as a count of units, if there is such a kind and it has room for the count."""
    has_room = kind in TIMES and abs(count) < 2 ** (31 if kind == "D" else 63)
    return (kind, count) if has_room else _unreadable(f"{kind} {count}")


_MOST_MONTHS = 10**8  # or years; the days of so many can be counted
_COARSE = {  # units of NumPy that Arrow lacks, as so many of one that it has
    "W": ("D", 7), "h": ("s", 3_600), "m": ("s", 60),
    "duration W": ("s", 604_800), "duration D": ("s", 86_400), "duration h": ("s", 3_600), "duration m": ("s", 60),
}  # fmt: skip
_NUMPY_FLOATS = (np.float64, np.float32, np.float16, np.longdouble)
_NUMPY_INTEGERS = [np.dtype(code).type for code in "bhilqBHILQ"]
_READ: dict[type, Callable[[Any], Cell]] = {
    str: _read_str,
    bytes: lambda cell: ("bytes", bytes.__getitem__(cell, slice(None))),
    bytearray: lambda cell: ("bytes", bytes(bytearray.__getitem__(cell, slice(None)))),
    tuple: _read_tuple,
    uuid.UUID: _read_uuid,
    bool: lambda cell: ("bool", cell),
    float: lambda cell: ("float", float.__float__(cell)),
    int: _read_int,
    np.bool_: _read_numpy,
    np.floating: _read_numpy,
    np.integer: _read_numpy,
    Decimal: _read_decimal,
    Fraction: _read_fraction,
    datetime.date: _read_date,
    datetime.datetime: _read_datetime,
    datetime.time: _read_time,
    datetime.timedelta: _read_timedelta,
    np.datetime64: _read_datetime64,
    np.timedelta64: _read_timedelta64,
}
_RULES = {id(kind): rule for kind, rule in _READ.items()}
