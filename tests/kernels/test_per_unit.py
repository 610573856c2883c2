"""Whose row it is: names of people, however they are stored."""

from __future__ import annotations

import datetime
import zoneinfo
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa

from cloister.kernels.per_unit import people

YEARS = ("Y", "Y-MAR", "2Y") if int(pd.__version__[0]) > 2 else ("A", "A-MAR", "2A")  # their names in pandas


def test_bytes_that_are_no_text_are_names() -> None:
    """Two people whose ids cannot be read are two people, plain and as codes; bytes that could be read are not trimmed."""
    one, other = b"\xc8B\x0f\0", b"\xc9B\x0f\0"
    for kind in (pa.binary(), pa.large_binary(), pa.binary(4)):
        cells = pa.array([one, other, one, None], kind)
        for stored in (cells, cells.dictionary_encode()):
            owners = people(stored)
            assert len(np.unique(owners, axis=0)) == 3
            assert np.array_equal(owners[0], owners[2])
    text, other_text, blank, null = people(pa.array(["ann", " ann ", "", None]))
    raw, other_raw, empty, none = people(pa.array([b"ann", b" ann ", b"", None]))
    assert np.array_equal(text, other_text)
    assert len(np.unique([text, raw, other_raw], axis=0)) == 3
    assert len(np.unique([blank, null, empty, none], axis=0)) == 1


def test_people_are_told_apart_by_the_cells_not_by_their_repaired_texts() -> None:
    """Cells that differ are different people, where the text of both is the same or where they have none."""
    from cloister.sources.python_cells import cell_column

    latin = pa.array([b"\xe9", b"\xe8", "\xe9".encode()], pa.binary())
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(15) + b"\x80", bytes(15) + b"\x81"], pa.binary(16)))
    out_of_calendar = pa.array([2**62, 2**62 + 1], pa.int64())
    arrays = [
        latin.view(pa.string()),
        latin.view(pa.string()).dictionary_encode(),
        latin.cast(pa.binary_view()).view(pa.string_view()),
        uuids,
        *(out_of_calendar.view(kind) for kind in (pa.duration("ns"), pa.timestamp("s"), pa.timestamp("ms", "UTC"))),
        pa.array([1, 2, 0, 86_400_000], pa.int64()).view(pa.date64()),
        pa.array([(1, 2, 3), (1, 2, 4)], pa.month_day_nano_interval()),
        cell_column([b"\x80\x01", b"\x81\x01", "\ud800", "\ud801", b"\xed\xa0\x80", "a", b"a", bytearray(b"b")]),
        cell_column(
            [Decimal("0.12345678901234567890"), Decimal("0.12345678901234567891"), Decimal("1e-999"), Decimal("2e-999")]
        ),
        cell_column([Fraction(1, 3), Fraction(10**30, 3 * 10**30 + 1), 1 / 3, 10**80, 10**80 + 1, 1e80]),
        cell_column([("a", 1), ("a", 2), ("b", 1), (None,), ("1 a", ""), ("1", "a")]),
        cell_column([np.datetime64(1, "Y"), np.datetime64(2, "Y"), np.timedelta64(1, "s"), np.timedelta64(2, "s")]),
    ]
    for cells in arrays:
        assert len(np.unique(people(cells), axis=0)) == len(cells), cells.type


def test_equal_numbers_are_one_person_whatever_their_type() -> None:
    """A number that a float holds exactly has the name of the float."""
    from cloister.sources.python_cells import cell_column

    owners = people(cell_column([0.5, Decimal("0.50"), Fraction(1, 2), np.float32(0.5), np.longdouble(0.5), "0.5"]))
    assert len(np.unique(owners, axis=0)) == 1


def test_cells_of_one_text_are_several_people_where_their_values_differ() -> None:
    """Narrow floats, moments with and without a zone, spans of several lengths, numbers of which one's digits are another's."""
    from cloister.sources.python_cells import cell_column

    noon = datetime.datetime(2020, 1, 1, 12)
    digits = "1234567" * 10 + "e10"
    for cells in (
        [0.1, np.float32(0.1), np.float16(0.1), 0.25],
        [noon, noon.replace(tzinfo=datetime.UTC), noon.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1)))],
        [pd.Timestamp(noon), pd.Timestamp(noon, tz="UTC"), pd.Timestamp(noon, tz="Europe/Berlin")],
        [pd.Period("2020", kind) for kind in YEARS] + [pd.Period("2020-01-01", kind) for kind in ("D", "2D", "h")],
        [Decimal(digits), int(digits, 16)],
    ):
        assert len(np.unique(people(cell_column(cells)), axis=0)) == len(cells), cells


def test_one_instant_is_one_person_in_every_zone() -> None:
    """A moment with a zone is its instant, of whatever class and unit it is."""
    from cloister.sources.python_cells import cell_column

    noon = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    cells = [noon, noon.astimezone(berlin), pd.Timestamp(noon), pd.Timestamp(noon).tz_convert(berlin).as_unit("ns")]
    assert len(np.unique(people(cell_column(cells)), axis=0)) == 1


def test_a_moment_with_a_zone_shows_the_day_of_its_zone() -> None:
    """As a text with an offset has the day that is written."""
    from cloister.schema.cell_values import days, texts
    from cloister.sources.python_cells import cell_column, text_column

    zone = datetime.timezone(datetime.timedelta(hours=-5))
    cells = [datetime.datetime(1970, 1, 2, 22, tzinfo=zone), pd.Timestamp("1970-01-02 22:00", tz="America/New_York")]
    assert np.floor(days(cell_column(cells))).tolist() == [1, 1]
    assert texts(cell_column(cells)).to_pylist() == text_column(cells).to_pylist() == ["1970-01-03 03:00:00"] * 2
