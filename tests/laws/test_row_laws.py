"""The law of rows in memory: any object may be appended as a row, and moves nothing but its own part of any summary.

Every row that two neighbouring tables share must read alike in both, and neither may be refused. Then every kernel, whose own
laws are tested on encoded rows, moves by one row at most. `CLOISTER_FUZZ=60000` sets how many rows are tried, here and in
`test_typed_row_laws`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.laws.hostile_objects import draw_cell, draw_float, draw_row, draw_text
from tests.laws.row_readings import CASES, NAMES, check_company, check_law

INF = float("inf")


def object_array(rows: list[Any]) -> Any:
    cells = np.empty((len(rows), len(NAMES)), object)
    for i, row in enumerate(rows):
        cells[i, 0], cells[i, 1] = row
    return cells


def object_frame(rows: list[Any]) -> Any:
    return pd.DataFrame(object_array(rows), columns=NAMES, dtype=object)


def polars_frame(rows: list[Any]) -> Any:
    return pl.DataFrame(rows, dict.fromkeys(NAMES, pl.String), orient="row")


def inferred_frame(rows: list[Any]) -> Any:
    """A frame whose dtypes pandas itself finds."""
    return pd.DataFrame({name: pd.Series([row[j] for row in rows]) for j, name in enumerate(NAMES)})


def categorical_frame(rows: list[Any]) -> Any:
    return pd.DataFrame({name: pd.Series([row[j] for row in rows], dtype="category") for j, name in enumerate(NAMES)})


def each(draw: Callable[[random.Random], Any]) -> Callable[[random.Random], Any]:
    """A row of cells that are drawn alike."""
    return lambda chance: [draw(chance) for _ in NAMES]


def any_row(chance: random.Random) -> Any:
    """Any object but a text: a list of nothing but texts is one of files."""
    row = draw_row(chance, len(NAMES))
    return [row] if isinstance(row, str) else row


def stored_text(chance: random.Random) -> str:
    """A text that pandas and Polars can store."""
    return draw_text(chance).encode("utf-8", "replace").decode()


def float_or_text(chance: random.Random) -> Any:
    return chance.choice((draw_float, stored_text))(chance)


def text_or_none(chance: random.Random) -> Any:
    return chance.choice((stored_text(chance), None))


def plain(chance: random.Random) -> Any:
    """What pandas takes for a category: hashable, and no True that pandas takes for a 1."""
    return chance.choice((stored_text(chance), chance.randrange(9), chance.random(), None))


FORMS: dict[str, tuple[Callable[[list[Any]], Any], Callable[[random.Random], Any], Callable[[random.Random], Any]]] = {
    # how rows become a table, how its rows are drawn, how the odd one is drawn
    "list": (list, each(draw_float), any_row),
    "list of anything": (list, any_row, any_row),
    "object array": (object_array, each(draw_cell), each(draw_cell)),
    "object frame": (object_frame, each(draw_cell), each(draw_cell)),
    "inferred frame": (inferred_frame, each(draw_float), each(float_or_text)),
    "categorical frame": (categorical_frame, each(plain), each(plain)),
    "text frame": (lambda rows: pd.DataFrame(rows, columns=NAMES, dtype="str"), each(text_or_none), each(text_or_none)),
    "Polars": (polars_frame, each(text_or_none), each(text_or_none)),
}


every_form = pytest.mark.parametrize("form", sorted(FORMS))


@pytest.mark.filterwarnings("ignore")
@every_form
def test_any_object_may_be_added_as_a_row(form: str) -> None:
    """Whatever is added as a row, at any place, no other row is read otherwise, and no kernel moves by more than a row."""
    make, draw, draw_odd = FORMS[form]
    for number in range(CASES // 10):
        chance = random.Random(f"{form} {number}")
        rows = [draw(chance) for _ in range(chance.randrange(1, 6))] * chance.choice((1, 1, 3))
        place = chance.randrange(len(rows) + 1)
        check_law(make(rows), make([*rows[:place], draw_odd(chance), *rows[place:]]), place)


@pytest.mark.filterwarnings("ignore")
@every_form
def test_a_row_reads_alike_in_any_company(form: str) -> None:
    """Hundreds of odd rows in one table read as they do among a few others."""
    make, draw, draw_odd = FORMS[form]
    chance = random.Random(form)
    for _ in range(-(-CASES // 300)):
        check_company(make, [chance.choice((draw, draw_odd))(chance) for _ in range(min(CASES, 300))], chance)
