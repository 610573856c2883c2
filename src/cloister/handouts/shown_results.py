"""What the files of a release hold, as blocks of its report: pictures, and the first rows of a table of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cloister.handouts.shown_pictures import draw_inline, result_pictures, table_rows_pictures
from cloister.privacy.release import Release
from cloister.report.document import Sentence, TextTable
from cloister.report.handout_blocks import PaperBlock
from cloister.tabulation.saved_tables import read_rows_beside
from cloister.tabulation.table_workbooks import is_workbook

__all__ = ["show_result"]

TABLES = ("table", "local estimate")  # kinds whose files are numbers by group, which may be shown as they are
CERTIFICATE_SUFFIX = ".release.json"
MOST_ROWS, MOST_COLUMNS = 25, 8
NUMBERS = 4  # columns of numbers that are shown beside the labels at least: the counts with their errors
MOST_DRAWN = 100_000  # rows of a table that are read for its pictures


def show_result(release: Release, path: Path) -> tuple[PaperBlock, ...]:
    """The content of a release that was checked, as far as a page has room for it."""
    if release.kind not in TABLES:
        return draw_inline(result_pictures(release, path))
    rows, count = _first_rows(path.with_name(path.name.removesuffix(CERTIFICATE_SUFFIX)), release)
    by = [str(name) for name in release.parameters.get("by", ())]
    drawn = (
        draw_inline(table_rows_pictures(by, rows, release.parameters.get("bins", ()))) if by and count == len(rows) else ()
    )
    return (*drawn, *_table(rows[:MOST_ROWS], count, {*by, *release.parameters.get("questions", ())}))


def _table(rows: list[Mapping[str, Any]], count: int, labels: set[str]) -> Iterator[PaperBlock]:
    if not rows:
        return
    every = list(rows[0])
    heads = every[: max(MOST_COLUMNS, len(labels) + NUMBERS)]
    cells = [[_cell(row.get(head), head in labels) for head in heads] for row in rows]
    yield TextTable.of(heads, cells, title="The released numbers, which are noisy")
    if count > len(rows):
        yield Sentence(f"... and {count - len(rows):,} rows more in the file.")
    if left_out := every[len(heads) :]:
        yield Sentence(f"... and {len(left_out):,} columns more in the file: {', '.join(left_out)}.")


def _first_rows(path: Path, release: Release) -> tuple[list[Mapping[str, Any]], int]:
    """The rows of a table that was released, as far as they are shown or drawn, and how many it has."""
    if path.suffix.lower() == ".json":
        import json

        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        return rows[:MOST_DRAWN], len(rows)
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return table.slice(0, MOST_DRAWN).to_pylist(), table.num_rows
    if is_workbook(path):
        cells = read_rows_beside(path, release)
        return list(cells[:MOST_DRAWN]), len(cells)
    import csv

    with path.open(encoding="utf-8", newline="") as opened:
        reader = csv.DictReader(opened)
        rows = [row for row, _ in zip(reader, range(MOST_DRAWN), strict=False)]
        return rows, len(rows) + sum(1 for _ in reader)


def _cell(value: Any, is_label: bool) -> str:
    """A cell as it is shown: labels as they are, numbers no longer than they are worth."""
    if value is None:
        return ""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if is_label:
        return str(value)
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
