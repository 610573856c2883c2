"""What is written back as CSV looks like what was read: delimiter, encoding, byte order mark, line ends, decimal comma."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import cloister as cl
from cloister.errors import UnprotectedColumns, UsageError
from cloister.sinks import file_hashes
from cloister.sources.csv_dialect import STANDARD
from cloister.sources.opening import open_source

NAMES = "alter;größe;ort"
CITIES = ["Köln", 'Bern; "Stadt"', "Zürich\nWest", "Graz"]


def table(encoding: str = "utf-8", end: str = "\r\n", cities: list[str] = CITIES) -> bytes:
    """Forty rows with everything that needs quotes."""
    quoted = ['"' + city.replace('"', '""') + '"' for city in cities]
    rows = [f"{20 + i % 4};1,{50 + i};{quoted[i % len(quoted)]}" for i in range(40)]
    return end.join([NAMES, *rows, ""]).encode(encoding)


def rows_of(path: Path) -> list[dict[str, str | None]]:
    """All rows."""
    source = open_source(path)
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


def published(tmp_path: Path, raw: bytes, dialect: str = "input") -> tuple[cl.TopDownSpecialization, bytes]:
    """The bytes that are published of a file of these bytes."""
    (tmp_path / "in.csv").write_bytes(raw)
    model = cl.TopDownSpecialization(k=2, quasi=["alter"], keep_unique=["größe"])
    model.publish(tmp_path / "in.csv", tmp_path / "out.csv", dialect=dialect)
    kept = [(row["größe"], row["ort"]) for row in rows_of(tmp_path / "in.csv")]
    assert [(row["größe"], row["ort"]) for row in rows_of(tmp_path / "out.csv")] == kept
    return model, (tmp_path / "out.csv").read_bytes()


@pytest.mark.parametrize(
    ("raw", "start"),
    [
        (table(), '"alter";"größe";"ort"\r\n'.encode()),
        (table(end="\n"), '"alter";"größe";"ort"\n'.encode()),
        (b"\xef\xbb\xbf" + table(), '\ufeff"alter";"größe";"ort"\r\n'.encode()),
        (table("cp1252"), '"alter";"größe";"ort"\r\n'.encode("cp1252")),
        (table("utf-16"), '"alter";"größe";"ort"\r\n'.encode("utf-16")),
        (table().replace(b";", b"\t"), '"alter"\t"größe"\t"ort"\r\n'.encode()),
    ],
    ids=["semicolons", "lf", "mark", "cp1252", "utf-16", "tabs"],
)
def test_the_output_is_written_as_the_input(tmp_path: Path, raw: bytes, start: bytes) -> None:
    """And it is read back with the same cells."""
    model, out = published(tmp_path, raw)
    assert out.startswith(start)
    assert model.dialect_ != STANDARD


def test_the_standard_may_be_asked_for(tmp_path: Path) -> None:
    """Commas, UTF-8, line feeds."""
    model, out = published(tmp_path, table("cp1252"), "standard")
    assert out.startswith('"alter","größe","ort"\n'.encode())
    assert model.dialect_ == STANDARD


def test_another_word_is_refused(tmp_path: Path) -> None:
    """Before a row is read."""
    with pytest.raises(UsageError, match='dialect "excel" is not known'):
        published(tmp_path, table(), "excel")


def test_characters_that_the_encoding_lacks_make_it_utf8(tmp_path: Path) -> None:
    """A cell in UTF-8 among others in Windows-1252: the output is UTF-8, and says so by its mark."""
    raw = table("cp1252").replace(b"Graz", "Łódź".encode())
    model, out = published(tmp_path, raw)
    assert out.startswith(b"\xef\xbb\xbf")
    assert str(model.dialect_) == "semicolons, UTF-8 with a byte order mark"


def test_a_cell_that_would_read_otherwise_makes_it_utf8(tmp_path: Path) -> None:
    """In Windows-1252 two signs may be the bytes of one in UTF-8."""
    _, out = published(tmp_path, table("cp1252").replace(b"Graz", "Ã¤".encode()))
    assert out.startswith(b"\xef\xbb\xbf")


def test_files_of_different_dialects_are_published_in_the_standard(tmp_path: Path) -> None:
    """As before."""
    (tmp_path / "a.csv").write_bytes(table())
    (tmp_path / "b.csv").write_bytes(table("cp1252"))
    model = cl.TopDownSpecialization(k=2, quasi=["alter"], keep_unique=["größe"])
    model.publish([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes().startswith('"alter","größe","ort"\n'.encode())


def test_averages_have_the_decimal_comma_of_their_column(tmp_path: Path) -> None:
    """They are read again with it, and counted."""
    (tmp_path / "in.csv").write_bytes(table())
    schema = cl.Schema.from_text('[columns."größe"]\nkind = "number"\ndecimal = ","\n')
    cl.Microaggregation(k=5, columns=["größe"], schema=schema).publish(tmp_path / "in.csv", tmp_path / "out.csv")
    cells = [row["größe"] for row in rows_of(tmp_path / "out.csv")]
    assert len(cells) == 40
    assert all(cell is not None and cell.startswith("1,") for cell in cells)
    cl.Microaggregation(k=5, columns=["größe"], schema=schema).publish(
        tmp_path / "in.csv", tmp_path / "plain.csv", dialect="standard"
    )
    assert all(str(row["größe"]).startswith("1.") for row in rows_of(tmp_path / "plain.csv"))


@pytest.mark.parametrize("sensitive", [None, ["pay"]])
@pytest.mark.parametrize("form", ["xlsx", "frame", "csv"])
def test_semicolons_are_written_as_a_german_excel_opens_them(tmp_path: Path, form: str, sensitive: list[str] | None) -> None:
    """From a workbook too: decimal commas of numbers, also of sensitive ones; labels, days and words keep their points."""
    names = ["age", "pay", "town", "day"]
    rows = [[20.5 + i % 4, 1000.25 + i % 7, 'Köln; "Süd"' if i % 2 else "Bonn", "01.02"] for i in range(40)]
    data: object = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    if form == "xlsx":
        import xlsxwriter

        data = tmp_path / "in.xlsx"
        with xlsxwriter.Workbook(str(data)) as book:
            sheet = book.add_worksheet()
            for place, row in enumerate([names, *rows]):
                sheet.write_row(place, 0, row)
    elif form == "csv":
        data = tmp_path / "in.csv"
        lines = [f'{age},{pay},"{str(town).replace(chr(34), chr(34) * 2)}",{day}' for age, pay, town, day in rows]
        data.write_text("\n".join([",".join(names), *lines]))
    model = cl.TopDownSpecialization(k=2, quasi=["age"], sensitive=sensitive, l_diversity=2 if sensitive else None)
    release = model.publish(data, tmp_path / "out.csv", dialect="semicolon")
    raw = (tmp_path / "out.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf" + b'"age";"pay";"town";"day"\r\n')
    assert str(model.dialect_) == "semicolons, UTF-8 with a byte order mark"
    written = rows_of(tmp_path / "out.csv")
    assert [row["pay"] for row in written] == [str(pay).replace(".", ",") for _, pay, _, _ in rows]
    assert [(row["town"], row["day"]) for row in written] == [(town, day) for _, _, town, day in rows]
    assert not any("," in str(row["age"]) and "[" not in str(row["age"]) and "(" not in str(row["age"]) for row in written)
    assert release.files == file_hashes(tmp_path / "out.csv")


def test_averages_may_be_written_with_semicolons(tmp_path: Path) -> None:
    """Numbers that the schema calls words are none."""
    table = {"pay": [1.5 + i % 7 for i in range(40)], "code": ["7.5"] * 40, "rate": ["7.5"] * 40}
    schema = cl.Schema.from_text('[columns.code]\nkind = "category"\n')
    model = cl.Microaggregation(k=5, columns=["pay"], keep=["code", "rate"], schema=schema)
    with pytest.warns(UnprotectedColumns):
        model.publish(table, tmp_path / "out.csv", dialect="semicolon")
    rows = rows_of(tmp_path / "out.csv")
    assert {(row["code"], row["rate"]) for row in rows} == {("7.5", "7,5")}
    assert all("." not in str(row["pay"]) for row in rows)


def test_decimal_commas_are_not_compared_with_points(tmp_path: Path) -> None:
    """Averages with commas would be words beside the numbers of the original, and look far safer than they are."""
    rows = np.random.default_rng(0)
    original = pa.table({"age": rows.integers(18, 90, 200), "pay": rows.normal(3000, 500, 200).round(1)})
    csv.write_csv(original, tmp_path / "original.csv")
    for dialect in ("semicolon", "input"):
        cl.Microaggregation(k=5, columns=["age", "pay"]).publish(
            tmp_path / "original.csv", tmp_path / f"{dialect}.csv", dialect=dialect
        )
    with pytest.raises(UsageError, match=r"--dialect semicolon.*cannot be compared"):
        cl.risk(tmp_path / "semicolon.csv", against=tmp_path / "original.csv")
    assert cl.risk(tmp_path / "semicolon.csv", ["age", "pay"]).risk.k >= 5
    cl.risk(tmp_path / "input.csv", against=tmp_path / "original.csv")
