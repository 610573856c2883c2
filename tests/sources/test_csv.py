"""CSV as it comes: dialects, encodings, compression and ragged lines."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cloister as cl
from cloister.errors import DataError, SchemaError, SourceError
from cloister.sources.csv import open_csv
from cloister.sources.opening import open_source
from cloister.sources.places import find
from tests.engines import kernels
from tests.real_data import real


def cells_of(path: Path, columns: list[str] | None = None) -> list[list[str | None]]:
    """All rows of a file."""
    source = open_source(path)
    wanted = list(source.names if columns is None else columns)
    return [[row[name] for name in wanted] for batch in source.batches(wanted) for row in batch.to_pylist()]


def written(path: Path, content: bytes | str) -> Path:
    """A file with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    """Each of the four delimiters is recognised from the header, even when others stand in quotes."""
    header = delimiter.join(["a", '"b,;|,;|\tx"', "c"])
    path = written(tmp_path / "t.csv", f"{header}\n{delimiter.join('123')}\n")
    assert cells_of(path) == [["1", "2", "3"]]


@pytest.mark.parametrize(
    "content",
    [
        "name,n\nÉlodie,1\n".encode(),
        "name,n\nÉlodie,1\n".encode("utf-8-sig"),
        "name,n\nÉlodie,1\n".encode("cp1252"),
        "name,n\nÉlodie,1\n".encode("utf-16"),
        "name,n\r\nÉlodie,1".encode(),
    ],
    ids=["utf-8", "BOM", "Windows-1252", "utf-16", "CRLF"],
)
def test_encodings_are_found(tmp_path: Path, content: bytes) -> None:
    """Text reads the same in the encodings that spreadsheets write."""
    path = written(tmp_path / "t.csv", content)
    assert open_source(path).names == ("name", "n")
    assert cells_of(path) == [["Élodie", "1"]]


def test_a_line_in_another_encoding_changes_no_other_line(tmp_path: Path) -> None:
    """Encodings are decided cell by cell: one person's line cannot change how another's is read."""
    head, other, mixed = b"name\n", "Zoë\n".encode(), b"\xe9\x81\n"
    alone = cells_of(written(tmp_path / "alone.csv", head + other))
    both = cells_of(written(tmp_path / "both.csv", head + mixed + other))
    assert both == [["é\x81"], *alone]


def test_a_cell_in_another_encoding_changes_no_other_cell_of_its_line(tmp_path: Path) -> None:
    """One bad byte in a note made another person of whom the line belongs to: René became RenÃ©."""
    line = "René,x,".encode() + b"caf\xe9\x81\n"
    for ragged in (b"", b"Zoe,x\n"):
        read = cells_of(written(tmp_path / "t.csv", b"who,c,note\n" + line + ragged + line))
        assert read[0] == read[-1] == ["René", "x", "café\x81"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("odd", ["", '"a', "\x1f"], ids=["plain", "open quote", "slow"])
def test_a_blank_line_is_a_row_of_a_file_with_one_column(tmp_path: Path, end: str, odd: str) -> None:
    """A missing value there is a blank line; it was dropped, and the number of rows, which is public, told of it."""
    lines = ["1", "", "", "2", "", odd or "3", ""]
    path = written(tmp_path / "t.csv", end.join(["", "c", *lines]) + end)
    expected = [[line] for line in lines]
    assert cells_of(path) == expected
    for window in range(8, 20):
        source = open_csv(find(path)[0], window=window)
        assert [list(row.values()) for batch in source.batches(["c"]) for row in batch.to_pylist()] == expected


def test_a_blank_line_is_no_row_of_a_file_with_more_columns(tmp_path: Path) -> None:
    """There a row without any value has its delimiters."""
    assert cells_of(written(tmp_path / "t.csv", "a,b\n\n1,2\n\n,\n\n")) == [["1", "2"], ["", ""]]


def test_a_file_of_one_column_has_no_delimiter(tmp_path: Path) -> None:
    """A comma that no other column's name needs is a part of the cell: 5,9 was cut to 5."""
    path = written(tmp_path / "t.csv", 'c\n5,9\n1;2\t|\n"6,1"\n')
    assert cells_of(path) == [["5,9"], ["1;2\t|"], ["6,1"]]
    assert open_source(written(tmp_path / "t.csv", '"a,b"\n1\n')).names == ("a,b",)


def test_no_private_verb_reads_utf_16(tmp_path: Path) -> None:
    """A line with an odd number of bytes shifted all lines behind it; a holder's own look still reads such files."""
    path = written(tmp_path / "t.csv", "a,b\n1,2\n".encode("utf-16"))
    assert cells_of(path) == [["1", "2"]]
    url = str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(3))
    with pytest.raises(SourceError, match="UTF-16"):
        cl.KMeans(1, 1.0, (0, 9), columns=["a"], table="people", ledger=url).fit(path)
    assert kernels.spent(url) == 0
    many = [path, written(tmp_path / "u.csv", "a,b\n1,2\n")]
    with pytest.raises(SourceError, match="UTF-16"):
        cl.KMeans(1, 1.0, (0, 9), columns=["a"]).fit(many)


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("csv", gzip.compress)])
def test_compressed_files_are_read(tmp_path: Path, suffix: str, pack: object) -> None:
    """Compression is recognised by the first bytes, whatever the file is called."""
    path = written(tmp_path / f"t.{suffix}", pack(b"a,b\n1,2\n"))  # type: ignore[operator]
    assert cells_of(path) == [["1", "2"]]


def test_zstd_is_read(tmp_path: Path) -> None:
    """Zstandard is recognised too."""
    with pa.CompressedOutputStream(str(tmp_path / "t.csv.zst"), "zstd") as file:
        file.write(b"a,b\n1,2\n")
    assert cells_of(tmp_path / "t.csv.zst") == [["1", "2"]]


def test_ragged_lines_are_kept(tmp_path: Path) -> None:
    """A short line is filled with nulls, a long one is cut, and neither moves the others."""
    path = written(tmp_path / "t.csv", 'a,b,c\n1,2,3\n4\n5,6,7,8\n\n"9,","",\n')
    expected = [["1", "2", "3"], ["4", None, None], ["5", "6", "7"], ["9,", "", ""]]
    assert cells_of(path) == expected
    assert cells_of(path, ["c", "a"]) == [[row[2], row[0]] for row in expected]


def test_ragged_lines_in_a_large_file_are_kept(tmp_path: Path) -> None:
    """Ragged lines far apart, quoted line ends around them: every row is where it was written."""
    lines = [f'{i},"a\n{i}"' if i % 3 else f"{i},x" for i in range(30_000)]
    for i in range(0, 30_000, 7_000):
        lines[i] = f"{i}"
    rows = cells_of(written(tmp_path / "t.csv", "n,t\n" + "\n".join(lines)))
    assert [row[0] for row in rows] == [str(i) for i in range(30_000)]
    assert [i for i, row in enumerate(rows) if row[1] is None] == list(range(0, 30_000, 7_000))
    assert rows[1] == ["1", "a\n1"]


def test_columns_come_in_the_order_asked_for(tmp_path: Path) -> None:
    """Only the columns asked for are there, in that order; without columns the rows still count."""
    path = written(tmp_path / "t.csv", "a,b,c\n1,2,3\n4,5,6\n")
    assert cells_of(path, ["c", "a"]) == [["3", "1"], ["6", "4"]]
    assert sum(batch.num_rows for batch in open_source(path).batches([])) == 2


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    """A file with a header only opens, and has no rows."""
    assert cells_of(written(tmp_path / "t.csv", "a,b\n\n\n")) == []


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", categories=("L", "N", "P", "Zs", "S")), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(st.lists(st.one_of(CELL, st.just("a\nb")), min_size=1, max_size=4), max_size=30),
    window=st.integers(130, 200),
)
def test_rows_do_not_depend_on_block_boundaries(tmp_path: Path, rows: list[list[str]], window: int) -> None:
    """Small windows, ragged rows among good ones: the cells are those that were written, padded or cut."""
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["a", "b", "c"], *rows])
    path = written(tmp_path / "t.csv", file.getvalue())
    source = open_csv(find(path)[0], window=window)
    found = [list(row.values()) for batch in source.batches(source.names) for row in batch.to_pylist()]
    assert found == [(row + [None] * 3)[:3] for row in rows]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("a,b,a\n1,2,3\n", "columns 1 and 3"),
        ("a,,c\n1,2,3\n", "column 2"),
        ("39,State-gov,77516,13\n50,Private,83311,13\n", "looks like data"),
        ("14.23,1.71\n", "looks like data"),
        ("  664159    550946\n", "looks like data"),
        ('{"a": 1}\n', "unknown format"),
    ],
)
def test_files_without_a_header_are_refused(tmp_path: Path, content: str, hint: str) -> None:
    """A fault of the header is told by its place, without any of the file's text."""
    with pytest.raises(SourceError, match=hint) as caught:
        open_source(written(tmp_path / "t.csv", content))
    assert not any(word in str(caught.value) for word in ("State-gov", "77516", "14.23", "664159"))


@pytest.mark.parametrize("header", ["id,2019,2020,2021", "0,1,2,3", "a,b2,3c"])
def test_whole_numbers_in_order_may_be_names(tmp_path: Path, header: str) -> None:
    """Years and places are names that people use."""
    assert ",".join(open_source(written(tmp_path / "t.csv", header + "\n")).names) == header


def test_an_absent_column_is_told_before_any_row(tmp_path: Path) -> None:
    """Asking for a column that is not there fails at once; where another one is found, the nearest name is offered."""
    source = open_source(written(tmp_path / "t.csv", "income,age\n1,2\n"))
    with pytest.raises(SchemaError, match=r'no column "incomes". Did you mean "income"'):
        source.batches(["age", "incomes"])


def test_a_broken_file_is_told_without_its_values(tmp_path: Path) -> None:
    """A compressed file that ends too early is a data error that quotes nothing."""
    packed = gzip.compress(b"a,b\n" + b"".join(b"secret%d,%d\n" % (i, i * i) for i in range(50_000)))
    path = written(tmp_path / "t.csv.gz", packed[: len(packed) // 2])
    with pytest.raises(DataError, match="damaged or incomplete") as caught:
        cells_of(path)
    assert "secret" not in str(caught.value)


def test_adult_is_read_whole() -> None:
    """The Adult table with semicolons has 30,162 rows and 18,109 distinct tuples of its eight quasi-identifiers."""
    quasi = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    rows = cells_of(real("adult-30162.csv"), quasi)
    assert len(rows) == 30_162
    assert len(set(map(tuple, rows))) == 18_109


def test_a_large_compressed_file_is_read_whole(tmp_path: Path) -> None:
    """Covertype, 581,012 rows in a compressed file, comes through with a header of our own put before it."""
    names = ",".join(f"c{j}" for j in range(55)) + "\n"
    path = written(tmp_path / "covtype.csv.gz", gzip.compress(names.encode()) + real("covtype.data.gz").read_bytes())
    batches = list(open_source(path).batches(["c0", "c54"]))
    assert sum(batch.num_rows for batch in batches) == 581_012
    assert sum(sum(map(int, batch.column("c54").to_pylist())) for batch in batches[:1]) > 0


@pytest.mark.parametrize(
    "content",
    [
        b"x" * (4 << 20),
        b"x" * (9 << 20),
        b"1" * (1 << 20) + b"x",
        b"a,b\n" + b"y" * (9 << 20),
        b'"' * (4 << 20),
        b'a,"' * (1 << 20),
    ],
    ids=["4 MB", "9 MB", "digits", "a row of 9 MB", "quotes", "open quotes"],
)
def test_megabytes_without_a_line_end_are_read_or_refused_soon(tmp_path: Path, content: bytes) -> None:
    """4 MB without a line end never opened: every character began a search of its own."""
    path = written(tmp_path / "t.csv", content)
    began = time.process_time()
    with suppress(SourceError):
        cells_of(path)
    assert time.process_time() - began < 5


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    """A first line of a million fields is no header."""
    with pytest.raises(SourceError, match="more than 100,000 fields"):
        open_source(written(tmp_path / "t.csv", ",".join(f"c{i}" for i in range(100_001)) + "\n"))


def test_quotes_that_never_close_take_linear_time(tmp_path: Path) -> None:
    """Each of these lines opens a quote anew, and no record that begins in one ends: all were searched to the end."""
    path = written(tmp_path / "t.csv", b"a,b\n" + b'"x","\n' * 250_000)
    began = time.process_time()
    assert len(cells_of(path)) == 250_000
    assert time.process_time() - began < 20


ODD_STARTS = [
    "",
    "\ufeff",
    "\ufeff\ufeff",
    "\ufeff\r\n",
    '\ufeff"',
    "\ufffe",
    "\0",
    "\x0b",
    "\x1a",
    "\u2028",
    "\x85",
    " ",
    "'",
    "#",
    "\\",
]


@given(
    st.lists(
        st.tuples(st.sampled_from(ODD_STARTS), st.sampled_from(["a,1\n", "b\n", '"c ""d""",2\n', "e,3,4\r"])), max_size=12
    ),
    st.integers(1, 200),
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_line_start_is_lost_wherever_a_run_begins(tmp_path: Path, lines: list[tuple[str, str]], window: int) -> None:
    """The fast reader and the slow one agree in every run, whatever stands at the starts of lines: a byte order mark too."""
    text = "".join(start + line for start, line in lines)
    source = open_csv(find(written(tmp_path / "t.csv", "x,y\n" + text))[0], window=max(window, 24))
    slow = [
        [*row, *[None] * 2][:2]
        for run in source.grammar.runs(io.BytesIO(text.encode()), source.window)
        for row in source.grammar.rows(run.raw.decode(), run.quoted)
    ]
    for run in source.grammar.runs(io.BytesIO(text.encode()), source.window):
        with suppress(pa.ArrowInvalid):  # a ragged run, which goes the slow way
            if run.quoted and run.raw.strip(b"\r\n"):
                fast = source._fast(run.raw, [0, 1])
                assert [list(row.values()) for row in fast.to_pylist()] == list(source.grammar.rows(run.raw.decode()))
    read = [list(row.values()) for batch in source.batches(["x", "y"]) for row in batch.to_pylist()]
    if window >= 200:
        assert read == slow


def test_a_row_of_a_byte_order_mark_alone_is_a_row(tmp_path: Path) -> None:
    """The mark that a file begins with is none of its text; any other is."""
    assert cells_of(written(tmp_path / "t.csv", b"\xef\xbb\xbfx\n\xef\xbb\xbf\na\n")) == [["\ufeff"], ["a"]]


def test_one_line_more_moves_no_other_record_into_a_mark(tmp_path: Path) -> None:
    """A byte order mark before a quote: a run began there or not, by the length of the file, and 49,801 rows became one."""
    row, mark, quote, tail, rows = b"a,1\n", b'\xef\xbb\xbf"k,1\n', b'q",1\n', b"b\n", 200_000
    before = ((rows * len(row) + len(mark) + len(quote) + len(tail)) // 2) // len(row)
    body = row * before + mark + row * (rows // 4 - 200) + quote + row * (rows - before - (rows // 4 - 200))
    for content in (body, body + tail):
        cells = cells_of(written(tmp_path / "t.csv", b"x,y\n" + content), ["x"])
        assert sum(cell == ["a"] for cell in cells) == rows
