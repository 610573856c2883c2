"""The law of rows in text without a header, below titles, and in JSON Lines: one line more is one record more."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from cloister import Files
from cloister.sources.opening import open_source
from tests.laws.hostile_objects import draw_float, draw_text
from tests.laws.row_readings import NAMES
from tests.laws.test_csv_row_laws import draw_line, draw_record

CASES = 300


def cells_of(data: Any) -> list[tuple[Any, ...]]:
    """All rows, by their cells."""
    source = open_source(data)
    return [tuple(row.values()) for batch in source.batches(source.names) for row in batch.to_pylist()]


def check_one_more(few: list[Any], more: list[Any], place: int) -> None:
    """One row more at this place, and the others as they were."""
    assert len(more) == len(few) + 1
    assert more[:place] + more[place + 1 :] == few


def test_any_line_may_be_added_to_a_file_without_a_header(tmp_path: Path) -> None:
    """Also above all others, where a header would be: broken, marked, or like another format."""
    starts = [b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"BZh91AY&SY", b"sep=;", b"{", b"<html>", b"\xff\xfe", b"x0;x1;x2;x3"]
    for number in range(CASES):
        chance = random.Random(number)
        delimiter = chance.choice(",;\t|")
        records = [draw_record(chance, delimiter) for _ in range(chance.randrange(1, 6))]
        place = chance.choice((0, chance.randrange(len(records) + 1)))
        odd = chance.choice([*starts, draw_line(chance, delimiter, quotes=False)]) + b"\n"
        title = b'a "title\n' * chance.randrange(2)
        files = Files(tmp_path / "rows.csv", names=NAMES, delimiter=delimiter, skip=title.count(b"\n"))
        (tmp_path / "rows.csv").write_bytes(title + b"".join(records))
        few = cells_of(files)
        (tmp_path / "rows.csv").write_bytes(title + b"".join([*records[:place], odd, *records[place:]]))
        check_one_more(few, cells_of(files), place)


def draw_object(chance: random.Random) -> bytes:
    """A line of JSON."""
    cells = [draw_text(chance), draw_float(chance), None, True, [1], {"x0": 1}, 10**40, chance.randrange(9)]
    keys = chance.sample(["x0", "x1", "x2", ""], chance.randrange(4))
    return json.dumps({key: chance.choice(cells) for key in keys}, ensure_ascii=chance.random() < 0.5).encode(
        "utf-8", "replace"
    )


def test_any_line_may_be_added_to_json_lines(tmp_path: Path) -> None:
    """Whatever it holds it is one row, unless it is blank."""
    odd_lines = [
        b"{",
        b"[1]",
        b"3",
        b'"x"',
        b'{"x0": NaN}',
        b"\xff\xfe",
        b"\x1f\x8b",
        b"{}{}",
        b"[" * 9999,
        b'{"x0": "\\ud800"}',
    ]
    for number in range(CASES):
        chance = random.Random(number)
        lines = [draw_object(chance) for _ in range(chance.randrange(1, 6))]
        place = chance.choice((0, chance.randrange(len(lines) + 1)))
        odd = chance.choice([*odd_lines, draw_object(chance), draw_line(chance, ",", quotes=True).strip() or b"-"])
        files = Files(tmp_path / "rows.jsonl", names=NAMES)
        (tmp_path / "rows.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        few = cells_of(files)
        (tmp_path / "rows.jsonl").write_bytes(b"\n".join([*lines[:place], odd, *lines[place:]]) + b"\n")
        check_one_more(few, cells_of(files), place)
