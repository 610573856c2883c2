"""Text files as people have them: without a header, below a title, with Excel's own first line, with a delimiter at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cloister import Files
from cloister.errors import SourceError, UsageError
from cloister.schema import Schema
from cloister.sources.opening import open_source
from cloister.sources.stated_names import names_stated


def rows_of(data: Any, stated: Any = None) -> list[dict[str, Any]]:
    """All rows."""
    source = open_source(data) if stated is None else open_source(data, stated)
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


def written(path: Path, text: str | bytes) -> str:
    """A file with this text."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


TWO = [{"age": "31", "sex": "f"}, {"age": "40", "sex": "m"}]


def test_a_file_without_a_header_has_the_stated_names(tmp_path: Path) -> None:
    """The first line is a row."""
    path = written(tmp_path / "t.csv", "31,f\n40,m\n")
    assert rows_of(Files(path, names=["age", "sex"])) == TWO


def test_the_delimiter_of_a_file_without_a_header_is_stated(tmp_path: Path) -> None:
    """A row does not say it; a name that ends in .tsv does."""
    path = written(tmp_path / "t.csv", "31;f\n40;m\n")
    assert rows_of(Files(path, names=["age", "sex"], delimiter=";")) == TWO
    path = written(tmp_path / "t.tsv", "31\tf\n40\tm\n")
    assert rows_of(Files(path, names=["age", "sex"])) == TWO


def test_rows_of_other_widths_in_a_file_without_a_header_are_filled_and_cut(tmp_path: Path) -> None:
    """As ragged lines are below a header: the first row decides nothing."""
    path = written(tmp_path / "t.csv", "31\n40,m,extra\n")
    assert rows_of(Files(path, names=["age", "sex"])) == [{"age": "31", "sex": None}, {"age": "40", "sex": "m"}]


@pytest.mark.parametrize("first", ["{", "[1", "<a>", "PAR1", '"open', "sep=;"])
def test_the_first_row_of_a_file_without_a_header_decides_nothing(tmp_path: Path, first: str) -> None:
    """Neither the format nor the delimiter comes from it."""
    path = written(tmp_path / "t.csv", f"31,f\n40,m\n{first}\n")
    below = rows_of(Files(path, names=["age", "sex"]))
    path = written(tmp_path / "t2.csv", f"{first}\n31,f\n40,m\n") if first != '"open' else path
    assert rows_of(Files(path, names=["age", "sex"]))[-2:] == (TWO if first != '"open' else below[-2:])


def test_title_lines_are_passed_over(tmp_path: Path) -> None:
    """As many lines as an editor counts, blank ones and quotes included, whatever ends them."""
    for end in ("\n", "\r\n", "\r"):
        path = written(tmp_path / "t.csv", end.join(['Our "report', "", "age,sex", "31,f", "40,m", ""]))
        assert rows_of(Files(path, skip=2)) == TWO
        path = written(tmp_path / "t.csv", end.join(["title", "31,f", "40,m", ""]))
        assert rows_of(Files(path, skip=1, names=["age", "sex"])) == TWO


def test_more_title_lines_than_lines_leave_an_empty_file(tmp_path: Path) -> None:
    """One sentence says that there is no header."""
    with pytest.raises(SourceError, match="needs a header line"):
        open_source(Files(written(tmp_path / "t.csv", "age,sex\n31,f\n"), skip=9))


@pytest.mark.parametrize("line", ["sep=;", "SEP=;", '"sep=;"', "sep=;;"])
def test_the_line_that_tells_excel_the_delimiter_is_no_header(tmp_path: Path, line: str) -> None:
    """It says the delimiter, also behind a byte order mark."""
    text = f"{line}\r\nage,in years;sex\r\n31;f\r\n40;m\r\n"
    for mark in (b"", b"\xef\xbb\xbf"):
        path = written(tmp_path / "t.csv", mark + text.encode())
        assert rows_of(path) == [{"age,in years": row["age"], "sex": row["sex"]} for row in TWO]


def test_a_delimiter_at_the_end_of_the_header_makes_no_column(tmp_path: Path) -> None:
    """With and without one at the end of the rows."""
    assert rows_of(written(tmp_path / "t.csv", "age;sex;\n31;f;\n40;m;\n")) == TWO
    assert rows_of(written(tmp_path / "t.csv", "age;sex;\n31;f\n40;m\n")) == TWO


def test_a_title_is_not_taken_for_a_header(tmp_path: Path) -> None:
    """What Excel writes of a title above the table has fields without names; the message says what to do."""
    with pytest.raises(SourceError, match="skip"):
        open_source(written(tmp_path / "t.csv", "Report;;;\na;b;c;d\n1;2;3;4\n"))


def test_a_schema_says_it_once(tmp_path: Path) -> None:
    """Its part [file] holds for the table's files, and what a call says goes before it."""
    schema = Schema.from_text('[file]\nnames = ["age", "sex"]\nskip = 1\ndelimiter = "semicolon"\n')
    assert Schema.from_text(schema.to_toml()) == schema
    path = written(tmp_path / "t.csv", "title\n31;f\n40;m\n")
    assert rows_of(path, names_stated(schema)) == TWO
    path = written(tmp_path / "u.csv", "age;sex\n31;f\n40;m\n")
    assert rows_of(Files(path, names=[], skip=0), names_stated(schema)) == TWO


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[file]\nnames = 3\n", "list of names"),
        ("[file]\nskip = -1\n", "whole number"),
        ("[file]\nskip = true\n", "whole number"),
        ('[file]\ndelimiter = "x"\n', "delimiter must be"),
        ("[file]\nheader = false\n", "unknown key"),
        ("file = 3\n", "must be a table"),
    ],
)
def test_a_schema_that_says_it_wrongly_is_refused(text: str, said: str) -> None:
    """One sentence names the key."""
    with pytest.raises(UsageError, match=said):
        Schema.from_text(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"names": "age,sex"}, "list of names"),
        ({"names": ["age", "age"]}, "twice"),
        ({"names": ["age", " "]}, "blank"),
        ({"skip": 1.5}, "whole number"),
        ({"delimiter": "::"}, "delimiter must be"),
        ({"format": "xml"}, "format must be"),
    ],
)
def test_wrong_options_of_files_are_refused(options: dict[str, Any], said: str) -> None:
    """One sentence names the option."""
    with pytest.raises(UsageError, match=said):
        Files("t.csv", **options)


def test_options_of_text_are_refused_for_typed_files(tmp_path: Path) -> None:
    """A Parquet file names its own columns; what a schema says of other files of the table is no fault."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"age": ["31"]}), tmp_path / "t.parquet")
    with pytest.raises(SourceError, match="names means nothing"):
        open_source(Files(tmp_path / "t.parquet", names=["age"]))
    assert rows_of(tmp_path / "t.parquet", names_stated(Schema.from_text("[file]\nskip = 1\n"))) == [{"age": "31"}]
