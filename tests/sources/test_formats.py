"""The registry of formats: a new one is one file and one line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cloister.errors import SourceError
from cloister.sources import formats
from cloister.sources.columnar import ColumnarSource, open_columnar
from cloister.sources.opening import open_source
from cloister.sources.places import Place

LETTERS = formats.Format("Letters", b"LTR1", __name__, "open_letters")


class LetterReader:
    """A made-up format: after its magic bytes each byte is a row."""

    def schema(self, file: Any) -> pa.Schema:
        """One column."""
        return pa.schema([("letter", pa.string())])

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """One batch."""
        letters = file.read()[len(LETTERS.magic) :].decode()
        yield pa.record_batch({"letter": list(letters)}).select(columns)


def open_letters(place: Place) -> ColumnarSource:
    """What the registration names."""
    return open_columnar(place, LetterReader())


def test_a_registered_format_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its registration a format is recognised by its first bytes and read, whatever the file is called."""
    (tmp_path / "data.txt").write_bytes(b"LTR1abc")
    monkeypatch.setattr(formats, "FORMATS", (LETTERS, *formats.FORMATS))
    source = open_source(tmp_path / "data.txt")
    assert source.names == ("letter",)
    assert pa.Table.from_batches(source.batches(["letter"]))["letter"].to_pylist() == ["a", "b", "c"]


def test_the_message_lists_what_is_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of an unknown format is refused with the names of all known ones."""
    (tmp_path / "data.bin").write_bytes(b"\0\1\2\3")
    with pytest.raises(SourceError, match=r"Give CSV, JSON Lines, Parquet, Excel, ORC, Stata, SPSS, SAS or Arrow\."):
        open_source(tmp_path / "data.bin")
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, LETTERS))
    with pytest.raises(
        SourceError, match=r"Give CSV, JSON Lines, Parquet, Excel, ORC, Stata, SPSS, SAS, Arrow or Letters\."
    ):
        open_source(tmp_path / "data.bin")


def test_the_registry_is_light() -> None:
    """The command line lists the formats in its help, and does not load pyarrow for it."""
    probe = "import sys, cloister.cli.flags as flags; assert flags.DATA_HELP; print('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("format", formats.FORMATS, ids=lambda format: format.opener)
def test_every_registration_names_a_function(format: formats.Format) -> None:
    """The module of each registered format has the function that opens it."""
    module = formats.import_module(format.module)
    assert callable(getattr(module, format.opener))
