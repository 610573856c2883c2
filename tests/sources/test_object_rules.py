"""Objects in cells and rows: none of their own code runs, so none can end the process or take all of its memory."""

from __future__ import annotations

import array
import datetime
import os
import uuid
import zoneinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any

import dateutil.tz
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cloister.kernels.per_unit import people
from cloister.schema.cell_values import days, numbers
from cloister.sources import object_rules
from cloister.sources.in_memory import array_column
from cloister.sources.object_rules import read_cell
from cloister.sources.python_cells import cell_column, named_cells, row_cells, text_column
from cloister.sources.python_tables import is_rows


def leave(*_: object, **__: object) -> Any:
    raise SystemExit("a method of a cell ran")


class LeavingClass(type):
    """A class that leaves when it is hashed, compared or asked for a name."""

    __hash__ = leave
    __eq__ = leave

    def __getattribute__(cls, name: str) -> Any:
        return leave() if name in ("__module__", "__name__", "__mro__") else super().__getattribute__(name)


METHODS = [
    *("__float__", "__int__", "__index__", "__str__", "__repr__", "__bytes__", "__sub__", "__add__", "__eq__", "__hash__"),
    *(
        "__len__",
        "__iter__",
        "__getitem__",
        "__bool__",
        "__floordiv__",
        "__truediv__",
        "__array__",
        "utcoffset",
        "astimezone",
    ),
    *("replace", "isoformat", "toordinal", "encode", "decode", "item", "view"),
]
FACTS = [
    *(
        "__class__",
        "asm8",
        "tzinfo",
        "ndim",
        "dtype",
        "itemsize",
        "numerator",
        "denominator",
        "int",
        "left",
        "right",
        "year",
    ),
    *("days", "array", "shape"),
]


def hostile(base: type, *made_of: Any) -> Any:
    """A value of a class all of whose methods leave."""
    facts = {**dict.fromkeys(METHODS, leave), **{name: property(leave) for name in FACTS}}
    return base.__new__(type("Leaving", (base,), facts), *made_of)


class LeavingZone(datetime.tzinfo):
    utcoffset = dst = tzname = fromutc = leave


def leaving_uuid() -> uuid.UUID:
    """Made as any other, then all of its methods leave."""
    kind = type("Leaving", (uuid.UUID,), dict.fromkeys(METHODS, leave))
    cell = object.__new__(kind)
    object.__setattr__(cell, "int", 5)
    return cell


def leaving_zone() -> datetime.tzinfo:
    """A zone of a known class, on which a method was set."""
    zone = dateutil.tz.tzoffset("leaving", 4321)
    zone.utcoffset = leave
    return zone


MOMENT = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
CELLS = {
    "Decimal": (lambda: hostile(Decimal, "2.5"), ("float", 2.5)),
    "Fraction": (lambda: hostile(Fraction, 1, 2), ("float", 0.5)),
    "int": (lambda: hostile(int, 3), ("int", 3)),
    "float": (lambda: hostile(float, 0.5), ("float", 0.5)),
    "str": (lambda: hostile(str, "a"), ("text", "a")),
    "bytes": (lambda: hostile(bytes, b"a"), ("bytes", b"a")),
    "bytearray": (lambda: hostile(bytearray), ("bytes", b"")),
    "tuple": (lambda: hostile(tuple, [hostile(tuple, ())]), ("text", None)),
    "UUID": (leaving_uuid, ("text", str(uuid.UUID(int=5)))),
    "date": (lambda: hostile(datetime.date, 1970, 1, 2), ("D", 1)),
    "datetime": (lambda: hostile(datetime.datetime, 1970, 1, 1, 0, 0, 1), ("us", 10**6)),
    "timedelta": (lambda: hostile(datetime.timedelta, 0, 1), ("duration us", 10**6)),
    "time": (lambda: hostile(datetime.time, 1, 2), ("time", 62 * 60 * 10**6)),
    "zone": (lambda: MOMENT.replace(tzinfo=LeavingZone()), ("text", None)),
    "zone of a time": (lambda: datetime.time(1, tzinfo=LeavingZone()), ("text", None)),
    "float64": (lambda: hostile(np.float64, 0.5), ("float", 0.5)),
    "int64": (lambda: hostile(np.int64, 5), ("int", 5)),
    "object": (lambda: hostile(object), ("text", None)),
    "class": (lambda: LeavingClass("Leaving", (), {})(), ("text", None)),
    "class of a number": (lambda: LeavingClass("Leaving", (np.int64,), {})(5), ("int", 5)),
    "class of a zone": (lambda: MOMENT.replace(tzinfo=LeavingClass("Leaving", (datetime.tzinfo,), {})()), ("text", None)),
    "class of a datetime": (
        lambda: datetime.datetime.__new__(LeavingClass("Leaving", (datetime.datetime,), {}), 1970, 1, 1, 0, 0, 1),
        ("us", 10**6),
    ),
    "class of an end": (lambda: pd.Interval(LeavingClass("Leaving", (int,), {})(5), 6), ("text", None)),
    "method of a zone": (lambda: MOMENT.replace(tzinfo=leaving_zone()), ("text", None)),
}


@pytest.mark.parametrize("name", sorted(CELLS))
def test_no_method_of_a_cell_runs(name: str) -> None:
    """A cell that raised SystemExit ended the process after the charge. What its base class stored is read."""
    make, expected = CELLS[name]
    assert read_cell(make()) == expected


def test_no_method_of_a_row_runs() -> None:
    """Rows of subclasses are read by what their base class stored."""
    kind = type(
        "Leaving", (np.ndarray,), {**dict.fromkeys(METHODS, leave), "ndim": property(leave), "shape": property(leave)}
    )
    assert list(row_cells(np.ndarray.view(np.array([1.0, 2.0]), kind), 2)) == [1.0, 2.0]
    facts = dict.fromkeys(("__iter__", "__len__", "__getitem__"), leave)
    assert list(row_cells(type("Leaving", (list,), facts)([1, 2]), 2)) == [1, 2]
    assert list(named_cells(type("Leaving", (dict,), dict.fromkeys(METHODS, leave))(a=1), ("b", "a"))) == [None, 1]
    assert list(row_cells(LeavingClass("Leaving", (), {})(), 2)) == [None, None]
    posing = type("Leaving", (np.ndarray,), {"__class__": property(leave)})
    assert list(row_cells(np.ndarray.view(np.array([1.0, 2.0]), posing), 2)) == [1.0, 2.0]
    assert is_rows([LeavingClass("Leaving", (), {})()])


def test_a_real_interrupt_still_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may come in the middle of any rule: it is caught nowhere."""

    def interrupted(cell: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setitem(object_rules._RULES, id(str), interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_cell("a")


@pytest.mark.parametrize(
    "row",
    [
        range(10**12),
        np.broadcast_to(np.float64(0), 10**12),
        np.ma.MaskedArray(np.broadcast_to(np.float64(0), 10**8), np.broadcast_to(False, 10**8)),
        pd.Series(np.broadcast_to(np.float64(0), 10**8)),
    ],
    ids=["range", "broadcast", "masked", "Series"],
)
def test_of_a_long_row_only_the_first_cells_are_looked_at(row: Any) -> None:
    """A range of 10^12 takes no memory until somebody lists it, and then all there is."""
    assert [float(cell) for cell in row_cells(row, 2)] == [0.0, 1.0 if isinstance(row, range) else 0.0]


def test_common_rows_are_read_as_ever() -> None:
    """Masked cells hold nothing, arrays of another shape are no rows."""
    assert list(row_cells(np.ma.MaskedArray([1.0, 2.0, 3.0], [False, True, False]), 3)) == [1.0, None, 3.0]
    assert list(row_cells(np.zeros((2, 2)), 2)) == [None, None]
    assert list(row_cells(array.array("d", [1.0]), 2)) == [1.0, None]
    assert list(row_cells(pd.Series([1, 2, 3]), 2)) == [1, 2]


def test_moments_beyond_every_calendar_are_people_of_their_own() -> None:
    """Instants before the first year and after the last, and days that Arrow cannot count, in a list and in an array."""
    early, late = datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23)
    zones = [datetime.timezone(datetime.timedelta(hours=hours)) for hours in (5, 6, -5, -6)]
    cells = [early.replace(tzinfo=zones[0]), early.replace(tzinfo=zones[1]), late.replace(tzinfo=zones[2])]
    cells += [late.replace(tzinfo=zones[3]), late.replace(tzinfo=datetime.UTC)]
    assert len(np.unique(people(cell_column(cells)), axis=0)) == len(cells)
    days = np.array([2**40, 2**40 + 1, -(2**40), 5, "NaT", 2**31 - 1, 2**31], "M8[D]")
    column = array_column(days, cell_column)
    assert people(column).tolist() == people(cell_column(list(days))).tolist()
    assert len(np.unique(people(column), axis=0)) == len(days)
    assert numbers(column[2:5]).tolist()[1:2] == [5.0]
    assert [people(column[i : i + 1]).tolist()[0] for i in range(len(days))] == people(column).tolist()


def test_times_of_day_are_told_apart_by_their_zones() -> None:
    """A zone without one offset is no part of a time's text: 01:02 in Berlin, in Paris and without a zone were one person."""
    zones = [zoneinfo.ZoneInfo("Europe/Berlin"), zoneinfo.ZoneInfo("Europe/Paris"), dateutil.tz.gettz("Europe/Rome"), None]
    zones += [datetime.UTC, datetime.timezone(datetime.timedelta(hours=1))]
    cells = [datetime.time(1, 2, tzinfo=zone) for zone in zones]
    for column in (cell_column(cells), cell_column([("ann", cell) for cell in cells])):
        assert len(np.unique(people(column), axis=0)) == len(cells)
    assert text_column(cells).to_pylist()[:4] == ["01:02:00"] * 4
    with open(os.path.join(zoneinfo.TZPATH[0], "Europe/Berlin"), "rb") as file:
        assert read_cell(datetime.time(1, 2, tzinfo=zoneinfo.ZoneInfo.from_file(file))) == object_rules.UNREADABLE
    leaving = zoneinfo.ZoneInfo.no_cache(type("Leaving", (str,), {"__repr__": leave, "__str__": leave})("Europe/Berlin"))
    assert read_cell(datetime.time(1, 2, tzinfo=leaving)) == object_rules.UNREADABLE


def test_a_pair_with_an_unreadable_part_is_unreadable() -> None:
    """It had a name that other pairs had too. A part that is missing is known to be that."""
    for part in (1j, frozenset({1}), np.void(b"a"), object(), [1]):
        assert read_cell(("ann", part)) == object_rules.UNREADABLE
    cells = [("ann", None), ("bob", None), ("ann", pd.NaT), ("ann", pd.NA), ("ann", "None"), ("ann", float("nan")), ("ann",)]
    assert len(np.unique(people(cell_column(cells)), axis=0)) == len(cells)


def test_moments_of_pandas_beyond_the_calendar_read_as_in_a_column_of_their_own() -> None:
    """With a zone, as objects, they had neither a name nor a day."""
    counts = np.array([10**12, 2 * 10**12, -(10**12), -(10**12) + 1, 86_400 * 5 - 1, 2**60], "M8[s]")
    for zone in ("UTC", "Asia/Tokyo", "-05:00"):
        # one by one: pandas 2.1 itself ends the process where it goes through a column of them
        column = cell_column([pd.Timestamp(count).tz_localize("UTC").tz_convert(zone) for count in counts])
        assert len(np.unique(people(column), axis=0)) == len(counts)
        assert days(column).tolist() == days(pa.array(counts).cast(pa.timestamp("s", zone))).tolist()


def test_intervals_of_moments_are_told_apart_by_the_instants_of_their_ends() -> None:
    """pandas 2.1 writes midnights without a time and a zone, and so many an interval alike."""
    first, last = pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")
    zones = (None, "UTC", "Europe/Berlin", "America/New_York")
    spans = [
        pd.Interval(first.tz_localize(zone), last.tz_localize(zone), closed)
        for zone in zones
        for closed in ("left", "right")
    ]
    spans += [pd.Interval(first, last + pd.Timedelta(1, "ns")), pd.Interval(last - first, 2 * (last - first))]
    assert len(set(map(tuple, people(cell_column(spans)).tolist()))) == len(spans)
    moved = pd.Interval(spans[2].left.tz_convert("Asia/Tokyo"), spans[2].right.tz_convert("Asia/Tokyo"), "left")
    assert len(set(map(tuple, people(cell_column([spans[2], moved])).tolist()))) == 1  # an instant is the same in all zones
    assert text_column(spans[:1]).to_pylist() == ["[2020-01-01 00:00:00, 2020-01-02 00:00:00)"]


@pytest.mark.filterwarnings("ignore:.*BDay freq is deprecated:FutureWarning")
def test_far_spans_keep_their_names() -> None:
    """pandas 2.1 has no moments beyond 2262; the span of a day, or of a business day, begins there all the same."""
    spans = [pd.Period("9000-01-03", freq) for freq in ("B", "2D", "3D")] + [pd.Period("9000-01-06", "B")]
    column = cell_column(spans)
    assert len(set(map(tuple, people(column).tolist()))) == 4
    assert days(column).tolist() == [2567657, 2567657, 2567657, 2567660]


def test_rows_are_read_by_keys_of_numpy_too() -> None:
    """A dict whose keys come out of a NumPy array; those of any other class are not asked what they equal."""
    row = dict(zip(np.array(["a", "b"]), [1, 2], strict=True))
    assert list(named_cells(row, ("b", "a"))) == [2, 1]
    own = type("Own", (np.str_,), {})
    assert list(named_cells({own("a"): 1}, ("a",))) == [None]
