"""What the files of a release hold, as blocks of its report: the first rows of a table of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cloister.privacy.release import Release
from cloister.report.document import Sentence, TextTable
from cloister.report.handout_blocks import PaperBlock

__all__ = ["show_result"]

TABLES = ("table", "local estimate")  # kinds whose files are numbers by group, which may be shown as they are
MOST_ROWS, MOST_COLUMNS = 25, 8


def show_result(release: Release, path: Path) -> tuple[PaperBlock, ...]:
    """The content of a release that was checked, as far as a page has room for it."""
    labels = {*release.parameters.get("by", ()), *release.parameters.get("questions", ())}
    return tuple(_rows(path, labels)) if release.kind in TABLES else ()


def _rows(path: Path, labels: set[str]) -> Iterator[PaperBlock]:
    rows, count = _first_rows(_table_file(path))
    if not rows:
        return
    heads = list(rows[0])[:MOST_COLUMNS]
    cells = [[_cell(row.get(head), head in labels) for head in heads] for row in rows]
    yield TextTable.of(heads, cells, title="The released numbers, which are noisy")
    if count > len(rows):
        yield Sentence(f"... and {count - len(rows):,} rows more in the file.")


def _table_file(path: Path) -> Path:
    """The file of numbers, where its certificate was named."""
    return path.with_name(path.name.removesuffix(".release.json")) if path.name.endswith(".release.json") else path


def _first_rows(path: Path) -> tuple[list[Mapping[str, Any]], int]:
    """The first rows of a table that was released, and how many it has."""
    import json

    if path.suffix.lower() == ".json":
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        return rows[:MOST_ROWS], len(rows)
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return table.slice(0, MOST_ROWS).to_pylist(), table.num_rows
    import csv

    with path.open(encoding="utf-8", newline="") as opened:
        reader = csv.DictReader(opened)
        rows = [row for row, _ in zip(reader, range(MOST_ROWS), strict=False)]
        return rows, len(rows) + sum(1 for _ in reader)


def _cell(value: Any, is_label: bool) -> str:
    """A cell as it is shown: labels as they are, numbers no longer than they are worth."""
    if value is None:
        return ""
    try:
        number = float(value)
    except ValueError:
        return str(value)
    if is_label:
        return str(value)
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
