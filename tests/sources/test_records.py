"""Cutting text into records: the result does not depend on where blocks end."""

from __future__ import annotations

import csv
import io
import re

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

from cloister.sources.records import Grammar

COMMAS = Grammar(",")
MESSY = st.text(alphabet='ab",\n\r', max_size=60)


def rows_of(text: str, window: int = 1 << 20, piece: int | None = None) -> list[list[str]]:
    """All records of a text, read through windows, from a stream that gives `piece` bytes at a time."""
    stream = io.BytesIO(text.encode())
    limited = stream if piece is None else Trickle(stream, piece)
    return [row for run in COMMAS.runs(limited, window) for row in COMMAS.rows(run.raw.decode(), run.quoted)]


class Trickle:
    """A stream that gives little at a time, as networks do."""

    def __init__(self, stream: io.BytesIO, most: int) -> None:
        self._stream, self._most = stream, most

    def read(self, size: int) -> bytes:
        """At most `most` bytes."""
        return self._stream.read(min(size, self._most))


@given(MESSY, st.integers(1, 7))
def test_rows_do_not_depend_on_how_a_stream_arrives(text: str, piece: int) -> None:
    """Bytes that come one by one give the records that they give at once."""
    assert rows_of(text, piece=piece) == rows_of(text)


@given(st.lists(st.lists(st.text(alphabet='ab",\n', max_size=4), min_size=2, max_size=3), max_size=12), st.integers(48, 90))
def test_rows_do_not_depend_on_the_window(rows: list[list[str]], window: int) -> None:
    """Well-formed records no longer than a window are the same through every window."""
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    assert rows_of(file.getvalue(), window) == rows


@given(MESSY)
def test_stray_quotes_lose_no_line(text: str) -> None:
    """Whatever stands in a file, every line with content is in some record."""
    letters = [char for char in text if char in "ab"]
    assert [char for row in rows_of(text) for cell in row for char in cell if char in "ab"] == letters


@given(st.lists(st.text(alphabet='ab"', min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_two_parsers_agree(lines: list[str]) -> None:
    """What Arrow reads, the slow grammar reads alike, cell by cell."""
    text = "".join(f"{line},x\n" for line in lines)
    for run in COMMAS.runs(io.BytesIO(text.encode())):
        if run.quoted:
            try:
                table = arrow_csv.read_csv(
                    pa.BufferReader(run.raw),
                    read_options=arrow_csv.ReadOptions(column_names=["a", "b"], use_threads=False),
                    parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                    convert_options=arrow_csv.ConvertOptions(column_types={"a": pa.string(), "b": pa.string()}),
                )
            except pa.ArrowInvalid:
                continue
            assert [list(row.values()) for row in table.to_pylist()] == list(COMMAS.rows(run.raw.decode()))


def test_a_quote_that_never_closes_costs_its_own_line_only() -> None:
    """A quote that never closes is a plain character, and the lines after it are rows."""
    assert rows_of('a,b\n"c,d\ne,f\n') == [["a", "b"], ['"c', "d"], ["e", "f"]]


def test_a_quote_that_closes_later_joins_lines() -> None:
    """A field left open runs on to the next quote, as CSV has it: the lines between are one record."""
    assert rows_of('"a,b\nc,d\ne",f\ng,h\n') == [["a,b\nc,d\ne", "f"], ["g", "h"]]


def test_a_line_that_no_window_holds_is_one_row() -> None:
    """A line longer than a window is cut to it and stays one row; the line after it is whole."""
    assert rows_of("a" * 50 + "\nb,c\n", window=10) == [["a" * 10], ["b", "c"]]


def test_blank_lines_are_no_rows() -> None:
    """Blank lines are passed over; a quoted empty cell is a row."""
    assert rows_of('\n\na\r\n\r\n""\n\n\n') == [["a"], [""]]


def test_old_line_ends_are_line_ends() -> None:
    """LF, CRLF and CR end a line alike."""
    assert rows_of("a\nb\r\nc\rd") == [["a"], ["b"], ["c"], ["d"]]


def cut_plainly(text: bytes, window: int) -> list[tuple[bytes, bool]]:
    """The rule as it is stated, without any care for time: the records of a window, or its first line alone."""
    runs: list[tuple[bytes, bool]] = []
    if text and not text.endswith((b"\n", b"\r")) and len(text) < window:
        text += b"\n"
    while text:
        view = text[:window]
        cut = COMMAS.whole(view)
        if not cut:
            line_end = re.search(rb"\r\n?|\n", view)
            cut = line_end.end() if line_end else len(view)
        runs.append((view[:cut], bool(COMMAS.whole(view))))
        text = text[cut:]
        if not view.endswith((b"\n", b"\r"), 0, cut):
            rest = re.search(rb"[\r\n]", text)
            text = text[rest.end() :] if rest else b""
        if text and not text.endswith((b"\n", b"\r")) and len(text) < window:
            text += b"\n"
    return runs


@settings(max_examples=500)
@given(st.text(alphabet='a",\n', max_size=60), st.sampled_from([1, 2, 3, 5, 8, 13, 30, 100]))
def test_the_fast_cut_is_the_plain_one(text: str, window: int) -> None:
    """Records that no window holds are found in linear time: the rows are those of the rule as it is stated."""
    plain = [row for raw, quoted in cut_plainly(text.encode(), window) for row in COMMAS.rows(raw.decode(), quoted)]
    assert rows_of(text, window) == plain
