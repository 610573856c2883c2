"""The law of rows in memory: any object may be appended as a row, and moves nothing but its own part of any summary.

Every row that two neighbouring tables share must read alike in both, and neither may be refused. Then every kernel, whose own
laws are tested on encoded rows, moves by one row at most. `CLOISTER_FUZZ=60000` sets how many rows are tried, here and in
`test_typed_row_laws`.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.sources.python_tables import from_rows
from tests.laws.hostile_objects import KeyOfAnything, draw_cell, draw_float, draw_row, draw_text
from tests.laws.row_readings import CASES, NAMES, check_company, check_law, read

INF = float("inf")
ONE_OF_EACH = [
    INF, 0.1, np.float16(0.1), np.float32(0.1), np.float64(0.1), np.longdouble(0.1), 7, 2**63, np.uint8(7), True,
    datetime.timedelta(0.3), datetime.datetime(2024, 1, 31, 7), pd.Timestamp("2024-01-31 06:00:00.123456789"),
    pd.Timedelta("1 day 00:00:00.000000007"), np.datetime64("2024-01-31", "ms"), np.timedelta64(7, "s"),
    pd.Timestamp("2024-01-31 07:00", tz="Europe/Berlin"),
]  # fmt: skip


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


def any_dict(chance: random.Random) -> Any:
    """A row that is a dict: of these columns, of some of them, of others, with keys that are no texts."""
    keys = chance.sample([*NAMES, "other", "X0", 0, None, 1.5, ("x0",)], chance.randrange(6))
    cells = {key: draw_cell(chance) for key in keys}
    return cells if "x0" in cells or chance.random() < 0.5 else {**cells, KeyOfAnything(): draw_cell(chance)}


def dict_or_list(chance: random.Random) -> Any:
    return chance.choice((any_dict, any_row))(chance)


def narrow_or_not(chance: random.Random) -> Any:
    """A row of as many cells as were chosen of a schema's columns, or any other."""
    return chance.choice(([draw_cell(chance)], dict_or_list(chance)))


def columns_of(rows: list[Any]) -> Any:
    """A dict of columns, one of them a list, the other an array of objects."""
    return {NAMES[0]: [row[0] for row in rows], NAMES[1]: object_array(rows)[:, 1]}


FORMS: dict[str, tuple[Callable[[list[Any]], Any], Callable[[random.Random], Any], Callable[[random.Random], Any]]] = {
    # how rows become a table, how its rows are drawn, how the odd one is drawn
    "list": (list, each(draw_float), any_row),
    "list of anything": (list, any_row, any_row),
    "list of dicts": (list, any_dict, dict_or_list),
    "list of two widths": (lambda rows: from_rows(rows, NAMES, NAMES[1:]), dict_or_list, narrow_or_not),
    "dict of columns": (columns_of, each(draw_cell), each(draw_cell)),
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


@pytest.mark.parametrize(
    ("rows", "odd"),
    [
        ([[INF, 0.0]] * 2000, []),
        ([np.array([0.1, 0.3], np.float32)] * 1000, ["a", "b"]),
        ([[0.1, 0.2]] * 50, None),
        ([[0.1, 0.2]] * 50, [10**5000, 1j]),
    ],
    ids=["infinite", "float32", "none", "huge"],
)
def test_one_row_sends_no_list_another_way(rows: list[Any], odd: Any) -> None:
    """A short row, a row of text, no row at all: equal vectors beside it vote as they did (a histogram moved by 2,001)."""
    check_law(rows, [*rows, odd], len(rows))
    cl.KMeans(2, 1.0, ([0, 0], [1, 1])).fit([*rows, odd])


@pytest.mark.parametrize("number", ONE_OF_EACH, ids=lambda cell: type(cell).__name__)
def test_a_number_reads_alike_beside_numbers_and_beside_texts(number: Any) -> None:
    """A column that pandas makes one of objects, because of one "?", holds the numbers that it held."""
    few, more = ({name: [number] * 30 + odd for name in NAMES} for odd in ([], ["?"]))
    check_law(pd.DataFrame(few), pd.DataFrame(more), 30)
    assert str(pd.DataFrame(more).dtypes.iloc[0]) == "object"


def test_a_list_reads_as_the_array_of_the_same_numbers() -> None:
    """Lists and arrays, of float32 or float64, give the same integers, to the last bit."""
    floats = np.random.default_rng(0).normal(0, 1, (500, 2))
    for array in (floats, floats.astype(np.float32), (floats * 1e9).astype(np.int64)):
        assert read(list(array))[1].numbers.tolist() == read(array)[1].numbers.tolist()


def test_a_categorical_is_not_clustered_as_the_middle_of_its_bounds() -> None:
    """Its dtype does not say that it holds numbers; whoever names it gets its values, whatever type its categories have."""
    frame = pd.DataFrame({"x0": pd.Series([0.25, 0.75, 0.75], dtype="category"), "x1": [0.1, 0.2, 0.3]})
    with pytest.raises(UsageError, match='"x0" holds text, or else no numbers'):
        cl.KMeans(2, 1.0, (0, 1)).fit(frame)
    typed = frame.astype(float)
    mixed = frame.assign(x0=pd.Series([0.25, 0.75, "?"], dtype="category"))
    assert read(frame)[1].numbers.tolist() == read(typed)[1].numbers.tolist()
    assert read(mixed)[0][:2] == read(typed)[0][:2]


def test_periods_and_intervals_are_texts_wherever_they_stand() -> None:
    """pandas makes a column of periods one of objects as soon as one cell is something else."""
    periods = [pd.Period("2024-01")] * 3
    few, more = (pd.DataFrame(dict.fromkeys(NAMES, periods + odd)) for odd in ([], ["?"]))
    check_law(few, more, 3)


def test_a_reader_that_looks_at_all_rows_is_caught() -> None:
    """The law fails for lists that become an array of numbers when all of their cells are numbers."""

    def by_all_rows(rows: list[Any]) -> Any:
        try:
            return np.array(rows, dtype=float)
        except (ValueError, TypeError):
            return np.array([[*map(str, row)] for row in rows])

    rows = [[INF, 0.0]] * 3
    with pytest.raises(AssertionError):
        check_law(by_all_rows(rows), by_all_rows([*rows, ["?", "?"]]), 3)
    with pytest.raises(AssertionError):
        check_company(by_all_rows, [*rows * 9, ["?", "?"], *rows * 9], random.Random(0))
