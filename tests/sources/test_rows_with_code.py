"""Rows that hold objects with code of their own: none of it is run, and none of it ends the process."""

from __future__ import annotations

import datetime
import types
from typing import Any

import dateutil.tz
import numpy as np
import pandas as pd
import pytest
from pandas.api.extensions import ExtensionArray, ExtensionDtype

import cloister as cl
from cloister.schema.cell_values import texts
from cloister.sources.object_rules import UNREADABLE, read_cell
from cloister.sources.python_cells import cell_column, row_cells

CALLED: list[str] = []


def ends(*_: Any, **__: Any) -> Any:
    """What the methods of these objects do, once they are armed."""
    CALLED.append("code of a row")
    raise SystemExit("ended by a row")


class Armed(np.ndarray[Any, Any]):
    """An array whose methods end the process."""

    is_armed = False

    def __getitem__(self, place: Any) -> Any:
        return ends() if Armed.is_armed else super().__getitem__(place)

    def __array_finalize__(self, other: Any) -> None:
        if Armed.is_armed:
            ends()


class Ending(list[Any]):
    """A list that cannot be looked at."""

    __getitem__ = __len__ = __iter__ = __bool__ = ends


class ForeignDtype(ExtensionDtype):  # type: ignore[misc]
    """A dtype that pandas lets anybody define."""

    name = "foreign"
    type = object

    @classmethod
    def construct_array_type(cls) -> Any:
        return ForeignArray


class ForeignArray(ExtensionArray):  # type: ignore[misc]
    """Cells of any class."""

    dtype = ForeignDtype()
    nbytes = 0

    def __len__(self) -> int:
        return 1

    def isna(self) -> Any:
        return np.zeros(1, bool)

    def copy(self) -> Any:
        return self

    __iter__ = __getitem__ = ends


def armed_mask() -> Any:
    masked = np.ma.MaskedArray([7.0], [False])
    masked._mask = np.array([False]).view(Armed)
    return masked


def zoned(**attributes: Any) -> list[Any]:
    zone = dateutil.tz.gettz.nocache("Europe/Berlin")
    vars(zone).update(attributes)
    return [datetime.datetime(2020, 1, 1, tzinfo=zone)]


def in_part_of_zone() -> list[Any]:
    """What a zone holds has attributes, too."""
    row = zoned()
    part = next(part for part in vars(row[0].tzinfo).values() if type(part).__module__.startswith("dateutil"))
    name = next(name for base in type(part).__mro__ for name in getattr(base, "__slots__", ()) or vars(part))
    setattr(part, name, Ending())
    return row


ROWS = {
    "masked array of a subclass": lambda: np.ma.array(np.array([7.0]).view(Armed)),
    "mask of a subclass": armed_mask,
    "Series of a subclass": lambda: pd.Series(np.array([7.0]).view(Armed)),
    "Series of a foreign array": lambda: pd.Series(ForeignArray()),
    "Series with another manager": lambda: with_manager(pd.Series([7.0])),
    "zone with other data": lambda: zoned(**{name: Ending() for name in ("_trans_local", "_trans_list", "_ttinfos")}),
    "zone with a method": lambda: zoned(utcoffset=ends),
    "zone whose parts have other data": in_part_of_zone,
}


def with_manager(row: Any) -> Any:
    object.__setattr__(row, "_mgr", types.SimpleNamespace(array_values=ends))
    return row


@pytest.mark.parametrize("name", ROWS)
def test_no_code_of_a_row_is_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would end the process after the charge."""
    row = ROWS[name]()
    CALLED.clear()
    monkeypatch.setattr(Armed, "is_armed", True)
    made = cl.tabulate(
        [[5.0]] * 100 + [row], by=["x"], bounds={"x": (0, 100)}, bins={"x": 2}, budget=50, columns=["x"]
    )  # fmt: skip
    assert abs(made.total - 101) < 5
    assert not CALLED


@pytest.mark.parametrize(
    "row",
    [
        pd.Series([1, None], dtype="Int64"), pd.Series([0.5, None], dtype="Float32"), pd.Series(["a", None], dtype="string"),
        pd.Series(["a", None], dtype="category"), pd.Series([0.5, 2], dtype="category"), pd.Series(["a", "b"]),
        pd.Series(pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Berlin")), pd.Series([1, "a"], dtype=object),
        pd.Series(pd.to_datetime(["2020-01-01", None])), pd.Series(pd.period_range("2020", periods=2, freq="D")),
        pd.Series(pd.IntervalIndex.from_breaks([0, 1, 2])), pd.Series([0.0, 1.0], dtype=pd.SparseDtype("float64")),
        pd.Series(pd.to_timedelta([1, 2])), pd.Series([True, None], dtype="boolean"),
        np.ma.MaskedArray([1.0, 2.0], [False, True]), np.ma.MaskedArray([1.0, 2.0]),
    ],
    ids=lambda row: str(row.dtype),
)  # fmt: skip
def test_rows_of_known_classes_keep_their_cells(row: Any) -> None:
    """As they are when each is taken out of the row."""
    assert [read_cell(cell) for cell in row_cells(row, 2)] == [
        read_cell(None if cell is np.ma.masked else cell) for cell in row
    ]


def test_zones_of_dateutil_are_read() -> None:
    """With all the lists that they hold."""
    for zone in (dateutil.tz.gettz("Europe/Berlin"), dateutil.tz.UTC, dateutil.tz.tzlocal(), dateutil.tz.tzoffset("x", 60)):
        assert read_cell(datetime.datetime(2020, 1, 1, tzinfo=zone)) != UNREADABLE


def test_a_zone_is_looked_at_anew_for_every_column() -> None:
    """It may have changed between two of them."""
    cells = zoned()
    assert texts(cell_column(cells)).null_count == 0
    vars(cells[0].tzinfo)["utcoffset"] = ends
    CALLED.clear()
    assert texts(cell_column(cells)).null_count == 1
    assert not CALLED
