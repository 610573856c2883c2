"""Stata, SPSS and SAS files: columns as the file declares them, a cell by one rule, and no row that decides about others."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import cloister as cl
from cloister.errors import CloisterError, SourceError
from cloister.sources import statistics_files
from cloister.sources.opening import open_source
from tests.sources.sas_tables import write_sas_table

Write = Callable[[Any, Path], None]
MOMENT = dt.datetime(2024, 2, 29, 13, 45, 7)
PEOPLE = pd.DataFrame(
    {
        "x": [0.5, None, -0.25],
        "n": [1, 2, 3],
        "s": ["é", "", "a b"],
        "day": [dt.date(2024, 2, 29), None, dt.date(1899, 1, 1)],
        "at": [MOMENT, pd.NaT, MOMENT],
    }
)
CELLS = [
    {"x": 0.5, "n": 1, "s": "é", "day": dt.date(2024, 2, 29), "at": MOMENT},
    {"x": None, "n": 2, "s": None, "day": None, "at": None},
    {"x": -0.25, "n": 3, "s": "a b", "day": dt.date(1899, 1, 1), "at": MOMENT},
]
WRITERS: dict[str, Write] = {
    "t.dta": pyreadstat.write_dta,
    "old.dta": lambda frame, path: pyreadstat.write_dta(frame, path, version=8),
    "t.sav": pyreadstat.write_sav,
    "packed.sav": lambda frame, path: pyreadstat.write_sav(frame, path, row_compress=True),
    "t.zsav": lambda frame, path: pyreadstat.write_sav(frame, path, compress=True),
    "t.xpt": lambda frame, path: pyreadstat.write_xport(frame, path, file_format_version=5),
    "new.xpt": lambda frame, path: pyreadstat.write_xport(frame, path, file_format_version=8),
}
FEW = pytest.mark.parametrize("name", ["t.dta", "t.sav", "t.xpt"])


def rows_of(path: Path, names: list[str] | None = None) -> list[dict[str, Any]]:
    """All rows as a private verb has them."""
    source: Any = open_source(path)
    return [row for batch in source.keeping_kinds().batches(names or source.names) for row in batch.to_pylist()]


def written(folder: Path, name: str, frame: Any = PEOPLE) -> Path:
    """A file as pyreadstat writes it."""
    WRITERS[name](frame, folder / name)
    return folder / name


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_comes_back_as_it_was_written(tmp_path: Path, name: str) -> None:
    """Numbers, texts, days, moments and missing cells; in another order; without columns the rows are counted."""
    path = written(tmp_path, name)
    assert rows_of(path) == CELLS
    assert rows_of(path, ["s", "n"]) == [{"s": row["s"], "n": row["n"]} for row in CELLS]
    assert sum(batch.num_rows for batch in open_source(path).batches([])) == len(PEOPLE)


def test_a_table_of_sas_is_read(tmp_path: Path) -> None:
    """Days count from 1960, moments in seconds; times of day stay numbers."""
    formats = {"x": None, "s": "$CHAR16", "day": "DATE9", "at": "DATETIME20", "t": "TIME8"}
    rows = [[0.5, b"ab", 0.0, 86400.5, 60.0], [None, b"", None, None, None], [1.0, b"\xff", -1.0, 0.0, 1.0]]
    path = write_sas_table(tmp_path / "t.sas7bdat", formats, rows)
    assert rows_of(path, ["x", "day", "at", "t"]) == [
        {"x": 0.5, "day": dt.date(1960, 1, 1), "at": dt.datetime(1960, 1, 2, 0, 0, 0, 500_000), "t": 60.0},
        {"x": None, "day": None, "at": None, "t": None},
        {"x": 1.0, "day": dt.date(1959, 12, 31), "at": dt.datetime(1960, 1, 1), "t": 1.0},
    ]
    holder = [row["s"] for batch in open_source(path).batches(["s"]) for row in batch.to_pylist()]
    assert holder == ["ab", None, "\ufffd"]


@FEW
def test_one_row_does_not_change_how_the_others_are_read(tmp_path: Path, name: str, monkeypatch: Any) -> None:
    """Pieces of two rows, in one of which all is missing: types and cells of all other rows stay."""
    monkeypatch.setattr(statistics_files, "MOST_CELLS", 10)
    frame = pd.concat([PEOPLE] * 3, ignore_index=True)
    blank = frame.copy()
    blank.loc[[4, 5], ["x", "s", "day", "at"]] = [None, "", None, pd.NaT]
    (tmp_path / "other").mkdir()
    path, other = written(tmp_path, name, frame), written(tmp_path / "other", name, blank)
    changed = rows_of(other)
    assert changed[:4] + changed[6:] == rows_of(path)[:4] + rows_of(path)[6:]
    assert changed[5] == {"x": None, "n": 3, "s": None, "day": None, "at": None}
    schemas = [{batch.schema for batch in open_source(each).batches(["x", "s", "day"])} for each in (path, other)]
    assert schemas[0] == schemas[1]
    assert len(schemas[0]) == 1


@FEW
def test_a_text_of_any_bytes_ends_nothing(tmp_path: Path, name: str) -> None:
    """Bytes that are no text stay in their cell for a private verb, and are replaced for the holder."""
    path = written(tmp_path, name, pd.DataFrame({"n": [1, 2, 3], "s": ["QQQQ", "bbbb", "RRRR"]}))
    path.write_bytes(path.read_bytes().replace(b"QQQQ", b"a\xff\x81b").replace(b"RRRR", b"a\xff\x8db"))
    source: Any = open_source(path)
    raw = [
        cell
        for batch in source.keeping_kinds().batches(["s"])
        for cell in batch.column(0).view(pa.large_binary()).to_pylist()
    ]
    assert raw[1] == b"bbbb"
    assert len(set(raw)) == 3
    assert next(iter(source.batches(["s"]))).column(0).to_pylist()[1] == "bbbb"


def test_missing_values_of_all_kinds_are_missing_and_codes_stay_codes(tmp_path: Path) -> None:
    """Ranges of SPSS, letters of Stata; labels of values are not looked at."""
    frame = pd.DataFrame({"x": [1.0, 99.0, 2.0], "s": ["a", "zz", "b"]})
    labels = {"x": {1.0: "one", 2.0: "two"}}
    pyreadstat.write_sav(
        frame, tmp_path / "t.sav", missing_ranges={"x": [{"lo": 90, "hi": 99}]}, variable_value_labels=labels
    )
    assert [row["x"] for row in rows_of(tmp_path / "t.sav")] == [1.0, None, 2.0]
    tagged = pd.DataFrame({"x": [1.0, "a", 2.0]})
    pyreadstat.write_dta(tagged, tmp_path / "t.dta", missing_user_values={"x": ["a"]})
    assert [row["x"] for row in rows_of(tmp_path / "t.dta")] == [1.0, None, 2.0]


def test_whole_numbers_of_stata_keep_their_width_and_a_day_beyond_the_calendar_is_missing(tmp_path: Path) -> None:
    """By what is declared, whatever the rows hold."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([1, 2], "int32"), "day": [0.0, 1e9]})
    pyreadstat.write_dta(frame, tmp_path / "t.dta", variable_format={"day": "%td"})
    assert open_source(tmp_path / "t.dta").kinds == ("double", "int32", "date32[day]")  # type: ignore[attr-defined]
    assert [row["day"] for row in rows_of(tmp_path / "t.dta")] == [dt.date(1960, 1, 1), None]


@pytest.mark.parametrize("name", ["t.dta", "t.sav", "t.zsav", "t.xpt"])
def test_a_damaged_header_gets_a_sentence(tmp_path: Path, name: str) -> None:
    """Before anything could be charged."""
    path = written(tmp_path, name)
    path.write_bytes(path.read_bytes()[:150])
    with pytest.raises(CloisterError, match="damaged"):
        open_source(path)


def test_rows_that_end_too_early_get_a_sentence_without_a_cell(tmp_path: Path) -> None:
    """A file that was cut while it was copied."""
    path = written(tmp_path, "t.sav", pd.DataFrame({"x": [1.0] * 500, "s": ["secret"] * 500}))
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(CloisterError, match="damaged") as caught:
        rows_of(path)
    assert "secret" not in str(caught.value)


def test_a_transport_file_of_texts_alone_is_refused(tmp_path: Path) -> None:
    """Its last rows would be there or not by what the very last one holds."""
    with pytest.raises(SourceError, match="where its rows end"):
        open_source(written(tmp_path, "t.xpt", pd.DataFrame({"s": ["a", ""]})))


def test_days_and_moments_name_no_people(tmp_path: Path) -> None:
    """Numbers with more places are read as one day, so that two people could be taken for one: such a unit is refused."""
    source: Any = open_source(written(tmp_path, "t.sav"))
    assert source.rounded == ("day", "at")


def test_without_the_extra_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: Any) -> None:
    """The reader is no part of a plain installation."""
    path = written(tmp_path, "t.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(SourceError, match=r"file of SPSS.*cloister\[statistics\]"):
        open_source(path)


def test_private_verbs_read_a_file(tmp_path: Path) -> None:
    """Codes of SPSS are doubles, and are called by their whole numbers."""
    path = written(tmp_path, "t.sav", pd.DataFrame({"x": [0.25] * 30, "sex": [1.0, 2.0] * 15}))
    assert cl.KMeans(1, 1.0, (0, 1), columns=["x"]).fit(path).release_.adds_up()
    table = cl.tabulate(path, ["sex"], 1000, domains={"sex": ["1", "2"]})
    assert list(table.counts) == [15, 15]


def test_files_that_differ_in_what_a_column_holds_are_refused_together(tmp_path: Path) -> None:
    """A number in one and a text in the other are two columns."""
    paths = [written(tmp_path, "t.sav", pd.DataFrame({"x": [1.0]})), written(tmp_path, "t.dta", pd.DataFrame({"x": ["1"]}))]
    with pytest.raises(SourceError, match="of one type"):
        open_source(paths)


def test_an_encoding_in_which_a_text_may_end_the_reading_is_refused_at_once(tmp_path: Path) -> None:
    """In UTF-7 a plus sign opens a passage that a byte behind it may break: no row may decide whether a file is read."""
    for text in (b"plain", b"+\xff~{\x1b"):
        path = written(tmp_path, "t.sav", pd.DataFrame({"x": [1.0], "s": ["plain"]}))
        path.write_bytes(path.read_bytes().replace(b"UTF-8", b"UTF-7").replace(b"plain", text))
        with pytest.raises(SourceError, match="encoding"):
            open_source(path)
