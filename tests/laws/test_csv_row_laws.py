"""The law of rows in CSV files: one line more, of any bytes, adds one record, changes no other, and decides nothing.

The file before it is quoted properly. What is added inside it holds no quote, for a quote that is left open belongs to the form
of a file, not to a row: docs/guarantees.md says so. What is added at the end may hold any.
"""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest

import cloister as cl
from cloister.errors import SourceError
from cloister.sources.csv import open_csv
from cloister.sources.opening import open_source
from cloister.sources.places import find
from tests.laws.hostile_objects import draw_float, draw_text
from tests.laws.row_readings import CASES, NAMES, check_company, check_law, read

HEADERS = {",": b"x0,x1\n", ";": b"\xef\xbb\xbf\nx0;x1\r\n", "\t": b'x0\t x1 \t"x\'2"\n', "|": b'"x0"|x1\r'}


def proper_record(cells: list[str], delimiter: str) -> bytes:
    """A record as a program writes it; a blank line would be none."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(cells)
    return text.getvalue().encode("utf-8", "replace")


def draw_record(chance: random.Random, delimiter: str) -> bytes:
    cells = [chance.choice((draw_text(chance), repr(draw_float(chance)))) for _ in range(chance.choice((2, 2, 2, 1, 3)))]
    return proper_record(cells, delimiter)


def draw_line(chance: random.Random, delimiter: str, quotes: bool) -> bytes:
    """A line of any bytes: broken encodings, NUL, stray delimiters, any number of fields."""
    parts = [
        chance.randbytes(4),
        draw_text(chance).encode("utf-16", "replace"),
        b"\0",
        b"1.5",
        b'"',
        b'"a',
        b"\xff",
        delimiter.encode() * 3,
        b"x",
    ]
    line = b"".join(chance.choice(parts) for _ in range(chance.randrange(1, 6))).replace(b"\n", b"").replace(b"\r", b"")
    line = chance.choice((b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb")) + line
    return (line if quotes else line.replace(b'"', b"")) or b"-"


def file_of(path: Path, delimiter: str, records: list[bytes]) -> Path:
    path.write_bytes(HEADERS[delimiter] + b"".join(records))
    return path


def test_any_line_may_be_added_to_a_file(tmp_path: Path) -> None:
    """One line more is one record more, and all others read as they did."""
    for number in range(max(CASES, 300)):
        chance = random.Random(number)
        delimiter = chance.choice(sorted(HEADERS))
        records = [draw_record(chance, delimiter) for _ in range(chance.randrange(1, 6))] * chance.choice((1, 3))
        at_end = chance.random() < 0.5
        place = len(records) if at_end else chance.randrange(len(records))
        odd = draw_line(chance, delimiter, quotes=at_end) + (b"" if at_end and chance.random() < 0.5 else b"\n")
        few = read(file_of(tmp_path / "rows.csv", delimiter, records))
        more = read(file_of(tmp_path / "rows.csv", delimiter, [*records[:place], odd, *records[place:]]))
        check_law(few, more, place)


def test_a_record_reads_alike_in_any_company(tmp_path: Path) -> None:
    """Records of any cells, ragged ones too, read in one file as they do among a few others."""
    chance = random.Random(0)
    for _ in range(-(-CASES // 100)):
        delimiter = chance.choice(sorted(HEADERS))

        def make(records: list[Any], delimiter: str = delimiter) -> Path:
            return file_of(tmp_path / "rows.csv", delimiter, records)

        check_company(make, [draw_record(chance, delimiter) for _ in range(100)], chance)


def one_column(path: Path, lines: list[bytes], end: bytes, window: int) -> list[bytes]:
    """The cells of a file of one column, as bytes, read in windows of this size."""
    path.write_bytes(end.join([b"x0", *lines, b""]))
    batches = open_csv(find(path)[0], window=window).batches(["x0"])
    return [cell.encode() for batch in batches for cell in batch.column(0).to_pylist()]


def test_every_line_of_a_file_with_one_column_is_a_row(tmp_path: Path) -> None:
    """Blank lines, delimiters and broken bytes: as many rows as lines, and each line reads as it does alone."""
    for number in range(max(CASES, 300)):
        chance = random.Random(number)
        end = chance.choice((b"\n", b"\r\n", b"\r"))
        pieces = [
            b"",
            b"",
            b"1,5",
            b"a;b",
            b"\xc3\xa9",
            b"\xff\xe9",
            b"\t|",
            b"\0",
            b"\x1f",
            draw_line(chance, ",", quotes=False),
        ]
        lines = [chance.choice(pieces) for _ in range(chance.randrange(1, 12))]
        alone = [cell for line in lines for cell in one_column(tmp_path / "t.csv", [line], end, 1 << 22)]
        assert len(alone) == len(lines)
        assert all(cell == line for cell, line in zip(alone, lines, strict=True) if line.isascii())
        longest = max(map(len, lines))
        window = chance.randrange(longest + 3, longest + 9)  # a line longer than a window is cut
        assert one_column(tmp_path / "t.csv", lines, end, window) == alone


@pytest.mark.parametrize("row", [b'1,"', b'1,2"\n3,4', b"1,2\0", b"\0\0"])
def test_no_row_decides_what_a_file_is(tmp_path: Path, row: bytes) -> None:
    """Names and format come from the first line, whatever its line ends are; an open quote there is refused."""
    for end in (b"\n", b"\r\n", b"\r"):
        file = tmp_path / "rows.CSV"
        file.write_bytes(end + b"x0,x1" + end + b"1,2" + end + row.replace(b"\n", end) + end)
        assert open_source(file).names == tuple(NAMES)
        file.write_bytes(b'x0,"x1' + end + b"1,2" + end + row.replace(b"\n", end) + end)
        with pytest.raises(SourceError, match="not closed"):
            open_source(file)


def test_a_compressed_file_is_known_by_any_case_of_its_ending(tmp_path: Path) -> None:
    """What a file is called does not depend on capital letters: JSON is no CSV, compressed or not."""
    for name in ("rows.json.gz", "rows.JSON.GZ", "rows.json.GZ"):
        (tmp_path / name).write_bytes(b"x0,x1\n1,2\n")
        with pytest.raises(SourceError, match="unknown format"):
            open_source(tmp_path / name)


def test_a_fit_goes_through_whatever_a_line_holds(tmp_path: Path) -> None:
    """Broken lines are rows like any other, also for a whole fit."""
    file = file_of(tmp_path / "rows.csv", ",", [b"0.5,0.5\n"] * 50 + [b'\xff\0,"\n', b"a,b,c,d\n", b'"'])
    assert cl.KMeans(2, 1.0, (0, 1), columns=NAMES).fit(file).release_.adds_up()
