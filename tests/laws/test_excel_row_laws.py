"""The law of rows in workbooks: one row more, of any cells, adds at most one record, changes no other, and decides nothing."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from tests.laws.hostile_objects import draw_float, draw_text
from tests.laws.row_readings import CASES, check_company, check_law, read

FORMATS = ("General", "0", "0.00", "yyyy-mm-dd", "hh:mm", "[h]:mm:ss", "0%", "@", '"day" 0', "dd.mm.yyyy hh:mm", "[Red]0;-0")


def plain_text(chance: random.Random) -> str:
    """A text that a workbook can hold: no control characters, no halves of pairs, not too long."""
    text = "".join(sign for sign in draw_text(chance) if sign.isprintable() and not "\ud800" <= sign <= "\udfff")
    return text[:1000] or "x"


def draw_cell(chance: random.Random) -> tuple[str, Any, str]:
    """How a cell is written, what it holds, and its format."""
    kind = chance.choice(("number", "number", "text", "text", "truth", "error", "formula", "day"))
    form = chance.choice(FORMATS)
    if kind == "number":
        number = draw_float(chance)
        return kind, number if abs(number) < 1e308 else 5.0, form
    if kind == "day":
        return "number", chance.choice((-1, 0, 0.5, 59, 60, 61, 43_890.25, 2_958_465, 3e9)), form
    return kind, {"text": plain_text(chance), "truth": chance.random() < 0.5}.get(kind, chance.choice((2, "a"))), form


def written(path: Path, rows: list[list[tuple[str, Any, str]]]) -> Path:
    """A workbook of drawn cells."""
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet()
    forms = {form: book.add_format({"num_format": form}) for form in FORMATS}
    sheet.write_row(0, 0, ["x0", "x1"])
    for number, row in enumerate(rows, 1):
        for place, (kind, value, form) in enumerate(row):
            write = {
                "number": sheet.write_number,
                "text": sheet.write_string,
                "truth": sheet.write_boolean,
            }.get(kind)
            if write is not None:
                write(number, place, value, forms[form])
            else:
                sheet.write_formula(number, place, "=1/0", forms[form], "#DIV/0!" if kind == "error" else value)
    book.close()
    return path


def draw_row(chance: random.Random) -> list[tuple[str, Any, str]]:
    """A row with some value, so that it is one."""
    return [("text", "-", "@"), draw_cell(chance)] if chance.random() < 0.5 else [draw_cell(chance), ("number", 1.5, "0")]


@pytest.mark.parametrize("number", range(max(CASES // 10, 25)))
def test_any_row_may_be_added_to_a_sheet(tmp_path: Path, number: int) -> None:
    """One row more is one record more, and all others read as they did."""
    chance = random.Random(number)
    rows = [draw_row(chance) for _ in range(chance.randrange(1, 5))]
    place = chance.randrange(len(rows) + 1)
    more = [*rows[:place], draw_row(chance), *rows[place:]]
    few = read(written(tmp_path / "few.xlsx", rows))
    check_law(few, read(written(tmp_path / "more.xlsx", more)), place)


def test_a_row_reads_alike_in_any_company(tmp_path: Path) -> None:
    """Rows of any cells read in one sheet as they do among a few others."""
    chance = random.Random(0)
    check_company(lambda rows: written(tmp_path / "rows.xlsx", rows), [draw_row(chance) for _ in range(100)], chance)


def test_no_cell_is_taken_for_its_neighbours_kind(tmp_path: Path) -> None:
    """A column of numbers with one date in it stays a column of numbers with one date in it."""
    rows = [[("number", float(number), "0"), ("text", "a", "@")] for number in range(5)]
    odd = [("number", 43_890.0, "yyyy-mm-dd"), ("text", "a", "@")]
    readings, _ = read(written(tmp_path / "rows.xlsx", [*rows, odd]))
    assert [reading[4] for reading in readings] == ["0", "1", "2", "3", "4", dt.date(2020, 2, 29).isoformat()]
