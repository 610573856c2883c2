"""A private table on a screen, in a terminal or a notebook: its first rows and the total; and one number laid out in two ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cloister.column_names import nearest_name
from cloister.errors import UsageError
from cloister.parameters import check_text
from cloister.report.document import Document, Section, Sentence, TextTable
from cloister.tabulation.axes import ALL

__all__ = ["describe_rows", "pivot_rows"]

SHOWN = 20  # rows on a screen
NO_NUMBER = "-"  # a cell with too few rows for one


def describe_rows(by: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Document:
    """The first rows and the total; ends of intervals stand in one column."""
    shown = rows[:SHOWN] if len(rows) <= SHOWN + 1 else [*rows[:SHOWN], rows[-1]]
    heads = [name for name in rows[0] if not (name in ("low", "high") or name.startswith(("low of ", "high of ")))]
    cells = [[cell for name in heads for cell in _cells(row, name, name in by)] for row in shown]
    titles = [title for name in heads for title in _titles(rows[0], name)]
    table = TextTable.of(titles, cells, title="private table (every number is noisy; * adds a column up)", align="content")
    left_out = len(rows) - len(shown)
    more = [f"... and {left_out:,} rows more; the last row is the total"] if left_out else []
    if any(cell is None for row in shown for cell in row.values()):
        more.append(f"{NO_NUMBER}: too few rows for a mean or a quantile beside the noise")
    return Document((Section((table, *map(Sentence, more))),))


def _titles(row: Mapping[str, Any], name: str) -> list[str]:
    if name == "count":
        return ["count", "std error", "95% interval"]
    if name.startswith("standard_error"):
        return ["std error"] if name != "standard_error" else []
    return [name, "95% interval"] if f"low of {name}" in row else [name]


def _cells(row: Mapping[str, Any], name: str, is_label: bool) -> list[str]:
    if is_label:
        return [str(row[name])]
    if name == "count":
        return [_text(row["count"]), _text(row["standard_error"]), f"{_text(row['low'])} to {_text(row['high'])}"]
    if name == "standard_error":
        return []
    low = row.get(f"low of {name}")
    if f"low of {name}" not in row:
        return [_text(row[name])]
    return [_text(row[name]), NO_NUMBER if low is None else f"{_text(low)} to {_text(row[f'high of {name}'])}"]


def _text(number: float | None) -> str:
    """A number with the digits that it has: those that are noise were left out before."""
    if number is None:
        return NO_NUMBER
    if isinstance(number, int) or (number.is_integer() and abs(number) < 2**53):
        return f"{int(number):,}"
    return f"{number:,.12g}" if 1e-4 <= abs(number) < 1e15 else f"{number:.6g}"


def pivot_rows(by: Sequence[str], labels: Sequence[str], rows: pa.Table, value: str) -> pa.Table:
    """A number of a table: a row for each cell of all columns but the last, a column for each label of that, and "*"."""
    *front, last = by
    choices = [name for name in rows.column_names if name not in by]
    if check_text(value, "the number of a pivot") not in choices:
        raise UsageError(f'the table has no number "{value}".{nearest_name(value, choices)} It has: {", ".join(choices)}.')
    if clash := [name for name in front if name in (*labels, ALL)]:
        raise UsageError(f'a value of "{last}" is called "{clash[0]}", as a column is. Put another column last in by.')
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows.select([*by, value]).to_pylist():
        line = lines.setdefault(tuple(row[name] for name in front), {name: row[name] for name in front})
        line[row[last]] = row[value]
    number = rows.schema.field(value).type
    schema = pa.schema([*((name, pa.string()) for name in front), *((label, number) for label in (*labels, ALL))])
    return pa.Table.from_pylist(list(lines.values()), schema)
