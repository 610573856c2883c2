"""Cells as people write them: one rule a column, from end to end of a cell, whatever the other cells hold.

`CLOISTER_FUZZ=50000` tries that many cells in each fuzz.
"""

from __future__ import annotations

import datetime
import math
import os
import random
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cloister.encode import Codes, Encoding, Grid
from cloister.errors import SchemaError
from cloister.schema.cell_format import PLAIN, THOUSANDS, CellFormat
from cloister.schema.cell_values import are_missing, days, numbers, texts
from cloister.sources.python_cells import cell_column

FUZZ = int(os.environ.get("CLOISTER_FUZZ", "4000"))
GERMAN = CellFormat(decimal=",", thousands=".")
ENGLISH = CellFormat(thousands=",")
FORMATS = [
    CellFormat(decimal=decimal, thousands=thousands)
    for decimal in ".,"
    for thousands in (None, *THOUSANDS)
    if thousands != decimal
]
EPOCH = datetime.date(1970, 1, 1)


def days_of(*dates: datetime.date | None) -> list[float]:
    """Days since 1970; NaN for None."""
    return [math.nan if date is None else (date - EPOCH).days for date in dates]


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        (PLAIN, "20,000", math.nan),  # was read as 20
        (PLAIN, "12,5", math.nan),
        (ENGLISH, "20,000", 20_000),
        (ENGLISH, "1,234,567.5", 1_234_567.5),
        (ENGLISH, "20000", 20_000),
        (ENGLISH, "20,00", math.nan),
        (ENGLISH, "2000,000", math.nan),
        (ENGLISH, ",000", math.nan),
        (ENGLISH, "1,000,", math.nan),
        (ENGLISH, "1.000,000", math.nan),
        (GERMAN, "36.993,09", 36_993.09),  # was the default
        (GERMAN, "-1.234", -1_234),
        (GERMAN, "1.5", math.nan),
        (GERMAN, "36,993.09", math.nan),
        (GERMAN, ",5", 0.5),
        (GERMAN, "1,5e3", 1_500),
        (CellFormat(decimal=","), "12,5", 12.5),
        (CellFormat(decimal=","), "12.5", math.nan),
        (CellFormat(thousands="'"), "1'234.5", 1_234.5),
        (CellFormat(decimal=",", thousands="\u202f"), "1\u202f234,5", 1_234.5),
        (CellFormat(decimal=",", thousands=" "), "1 234,5", 1_234.5),
        (CellFormat(decimal=",", thousands=" "), "1 23", math.nan),
    ],
)
def test_a_number_is_read_as_its_format_says(form: CellFormat, text: str, value: float) -> None:
    """A text that does not match from end to end cannot be read, alone or beside others; groups have exactly three digits."""
    expected = [value]
    for cells in ([text], [text, "1"], [text, "no number", ""]):
        assert np.array_equal(numbers(pa.array(cells), form)[:1], expected, equal_nan=True)
        assert np.array_equal(numbers(pa.array(cells).dictionary_encode(), form)[:1], expected, equal_nan=True)


def slow_number(text: str, form: CellFormat) -> float:
    """What a number in text means, read character by character from the format's words."""
    text = text.strip()
    if text in form.missing:
        return math.nan
    if text in ("true", "false"):
        return float(text == "true")
    body, exponent = [*re.split("[eE]", text, maxsplit=1), ""][:2]
    if re.search("[eE]", text) and not re.fullmatch(r"[+-]?[0-9]+", exponent, re.ASCII):
        return math.nan
    sign, body = (body[:1], body[1:]) if body[:1] in ("+", "-") else ("", body)
    whole, _, decimals = body.partition(form.decimal)
    groups = whole.split(form.thousands) if form.thousands else [whole]
    if len(groups) > 1 and (not 1 <= len(groups[0]) <= 3 or any(len(group) != 3 for group in groups[1:])):
        return math.nan
    digits = "".join(groups)
    if not (digits or decimals) or any(character not in "0123456789" for character in digits + decimals):
        return math.nan
    return float(f"{sign}{digits or '0'}.{decimals or '0'}e{exponent or '0'}")


def test_numbers_are_read_as_a_slow_reading_has_them() -> None:
    """Random texts under every format: the columns' way of reading is the slow one, to the last bit, in any batch."""
    chance = random.Random(12)
    marks = ["0", "1", "12", "345", "000", "1234", "+", "-", "e", "E5", "true", "?", " ", "x", *THOUSANDS]
    for _ in range(FUZZ // 40):
        form = chance.choice(FORMATS)
        if chance.random() < 0.3:
            form = CellFormat(form.decimal, form.thousands, None, ("?", "x"))
        cells = ["".join(chance.choices(marks, k=chance.randint(0, 6))) for _ in range(40)]
        slow = [slow_number(cell, form) for cell in cells]
        assert np.array_equal(numbers(pa.array(cells), form), slow, equal_nan=True)
        one = chance.randrange(40)
        assert np.array_equal(numbers(pa.array(cells[one : one + 1]), form), slow[one : one + 1], equal_nan=True)


def test_the_slow_reading_would_find_a_wrong_one() -> None:
    """The rule that was there, a comma without a dot is a decimal mark, does not pass for the slow reading."""
    assert slow_number("20,000", ENGLISH) == 20_000
    assert math.isnan(slow_number("20,000", PLAIN))
    assert float("20,000".replace(",", ".")) not in (slow_number("20,000", ENGLISH), slow_number("20,000", PLAIN))


@pytest.mark.parametrize(
    ("words", "text", "date"),
    [
        ("%d.%m.%Y", "11.03.1980", datetime.date(1980, 3, 11)),  # was a text
        ("%d.%m.%Y", "1.3.1980", datetime.date(1980, 3, 1)),
        ("%d.%m.%Y", "31.02.1980", None),
        ("%d.%m.%Y", "11.03.80", None),
        ("%d.%m.%Y", "1980-03-11", None),
        ("%d.%m.%Y", "11.03.1980 10:00", None),
        ("%d.%m.%Y %H:%M", "11.03.1980 23:59", datetime.date(1980, 3, 11)),
        ("%d.%m.%Y %H:%M", "11.03.1980 24:00", None),
        ("%m/%d/%Y", "03/11/1980", datetime.date(1980, 3, 11)),
        ("%d/%m/%y", "11/03/69", datetime.date(1969, 3, 11)),
        ("%d/%m/%y", "11/03/68", datetime.date(2068, 3, 11)),
        ("%d %B %Y", "11 march 1980", datetime.date(1980, 3, 11)),
        ("%b %d, %Y", "Mar 11, 1980", datetime.date(1980, 3, 11)),
        ("%a %d %b %Y", "TUE 11 mAR 1980", datetime.date(1980, 3, 11)),
        ("%d %b %Y", "01 \u017fep 2020", None),  # a long s, which patterns that ignore case take for an s
        ("%d %B %Y", "01 augu\u017ft 2020", None),
        ("%a %d %b %Y", "\u017fat 01 Feb 2020", None),
        ("%Y%m%d", "19800311", datetime.date(1980, 3, 11)),
        ("%Y%m%d", "1980311", None),
        ("%Y-%j", "1980-366", datetime.date(1980, 12, 31)),
        ("%Y-%j", "1981-366", None),
        (None, "1980-03-11T23:00:00+02:00", datetime.date(1980, 3, 11)),
        (None, "11.03.1980", None),
    ],
)
def test_a_date_is_read_as_its_format_says(words: str | None, text: str, date: datetime.date | None) -> None:
    """Days that do not exist and other ways of writing cannot be read; a time of day does not move the day."""
    form = CellFormat(date=words)
    for cells in ([text], [text, "soon", None]):
        assert np.array_equal(days(pa.array(cells), form)[:1], days_of(date), equal_nan=True)


BLANKS = [chr(code) for code in range(0x110000) if chr(code).isspace()]


def test_any_blank_of_a_format_is_any_blank_of_a_cell() -> None:
    """A narrow or fixed blank, as sheets and word processors write it, in the format or in the cell."""
    day = days_of(datetime.date(1980, 3, 11)) * len(BLANKS)
    cells = pa.array([f"11{blank}Mar{blank}1980" for blank in BLANKS])
    for blank in BLANKS:
        assert days(cells, CellFormat(date=f"%d{blank}%b{blank}%Y")).tolist() == day
    assert np.isnan(days(pa.array(["11\u200bMar\u200b1980", "11Mar1980"]), CellFormat(date="%d %b %Y"))).all()


def test_dates_are_read_as_strptime_has_them() -> None:
    """Random days in random formats, now and then with a wrong letter, are the days of strptime, or cannot be read as there.

    Not for %j: strptime takes day 366 of any year for a day of the next.
    """
    chance = random.Random(12)
    pieces = ["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d-%m-%y", "%d %B %Y", "%b %d, %Y", "%d.%m.%Y %H:%M:%S", "%y%m%d"]
    for _ in range(FUZZ // 40):
        words = chance.choice(pieces)
        cells = []
        for _ in range(40):
            day = datetime.datetime(1969, 1, 1) + datetime.timedelta(chance.randrange(36_000), chance.randrange(86_400))
            text = day.strftime(words)
            if chance.random() < 0.4:
                at = chance.randrange(len(text))
                text = text[:at] + chance.choice("0123456789./x") + text[at + 1 :]
            cells.append(text)
        expected = []
        for text in cells:
            try:
                expected += days_of(datetime.datetime.strptime(text, words).date())
            except ValueError:
                expected.append(math.nan)
        assert np.array_equal(days(pa.array(cells), CellFormat(date=words)), expected, equal_nan=True)


def test_missing_is_the_same_however_it_is_typed() -> None:
    """A value that stands for none is known by its text, and among numbers and dates by what the text means."""
    form = CellFormat(missing=("-999", "?", " NA "))
    for cells in (["-999", "-999.0", "?", "NA", "5"], [-999, -999.0, None, None, 5]):
        column = pa.array(cells, pa.string() if isinstance(cells[0], str) else pa.float64())
        assert np.array_equal(numbers(column, form), [math.nan] * 4 + [5], equal_nan=True)
        assert are_missing(column, form, numbers).tolist() == [True] * 4 + [False]
    assert texts(pa.array(["-999", " ? ", "na", None]), form).to_pylist() == [None, None, "na", None]
    assert texts(pa.array([-999, 5]), form).to_pylist() == [None, "5"]
    dates = CellFormat(date="%d.%m.%Y", missing=("01.01.1900",))
    typed = pa.array([datetime.date(1900, 1, 1), datetime.date(1980, 3, 11)])
    for column in (typed, pa.array(["1.1.1900", "11.03.1980"])):
        assert np.array_equal(days(column, dates), days_of(None, datetime.date(1980, 3, 11)), equal_nan=True)
    assert np.isnan(days(pa.array([datetime.datetime(1900, 1, 1, 15)]), dates)).all()
    assert numbers(pa.array([True, False]), CellFormat(missing=("true",))).tolist()[1:] == [0.0]


@pytest.mark.parametrize("width", [np.float16, np.float32, np.float64])
def test_a_missing_number_is_known_in_floats_of_every_width(width: type[np.floating[Any]]) -> None:
    """-99.9 in 32 bits is -99.9000015: it is missing where "-99.9" is listed, in columns, in their codes and among objects."""
    form = CellFormat(missing=("-99.9", "1e300"))
    cells = np.array([-99.9, -99.8, np.inf, 0.1], width)
    column = pa.array(cells)
    objects = cell_column([*cells, "-99.9", -99.9])
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), column)
    for values in (column, objects, codes):
        assert np.isnan(numbers(values, form)).tolist()[:4] == [True, False, False, False]
        assert are_missing(values, form, numbers).tolist()[:4] == [True, False, False, False]
    assert np.isnan(numbers(objects, form)).tolist()[4:] == [True, True]


def test_digits_of_a_date_read_alike_as_text_and_as_number() -> None:
    """With a format, 19800311 is a day whether the file typed it as a number or not."""
    form = CellFormat(date="%Y%m%d")
    for column in (pa.array(["19800311"]), pa.array([19800311]), pa.array([19800311.0])):
        assert days(column, form).tolist() == days_of(datetime.date(1980, 3, 11))


@pytest.mark.parametrize("kind", [pa.decimal128(8, 0), pa.decimal128(10, 2), pa.decimal256(40, 0)], ids=str)
def test_digits_of_a_date_read_alike_as_decimals(kind: pa.DataType) -> None:
    """As Oracle's NUMBER(8) comes: 20200131 is a day of a calendar, and not so many days after 1970."""
    cells = pa.array([Decimal(20200131), Decimal(20200230), None], kind)
    assert np.array_equal(days(cells, CellFormat(date="%Y%m%d")), [18292, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(days(pa.array([Decimal(18292)], kind)), [18292])


def test_a_row_does_not_depend_on_its_batch_under_any_format() -> None:
    """Random cells encode one by one as they do together, as numbers, categories and flags of made-up values."""
    chance = random.Random(3)
    words = [
        "20,000",
        "1.234,5",
        "1,5",
        "1.5",
        "?",
        "NA",
        "",
        None,
        "a",
        " b ",
        "(other)",
        "1e999",
        "inf",
        "7",
        "\0",
        "-999",
    ]
    for _ in range(max(20, FUZZ // 200)):
        form = chance.choice([*FORMATS, CellFormat(missing=("?", "-999")), CellFormat(decimal=",", missing=("a", "7"))])
        grid, codes = (
            Grid("x", 0.0, 1.0, 50, 3, form),
            Codes("x", ("a", "b", "(other)"), 2, CellFormat(missing=form.missing)),
        )
        encoding = Encoding((grid,), (codes,))
        cells = chance.choices(words, k=30)
        whole = encoding.encode(pa.RecordBatch.from_arrays([pa.array(cells, pa.string())], names=["x"]))
        for i, cell in enumerate(cells):
            alone = encoding.encode(pa.RecordBatch.from_arrays([pa.array([cell], pa.string())], names=["x"]))
            assert (alone.numbers[0], alone.codes[0]) == (whole.numbers[i], whole.codes[i])
        flags = grid.made_up(pa.array(cells, pa.string()))
        assert (whole.numbers[flags, 0] == 3).all()


@pytest.mark.parametrize(
    ("facts", "hint"),
    [
        ({"decimal": ";"}, "decimal"),
        ({"thousands": "12"}, "thousands"),
        ({"decimal": ",", "thousands": ","}, "both"),
        ({"missing": "?"}, "list"),
        ({"missing": (3,)}, "list"),
        ({"date": "%d.%m"}, "year"),
        ({"date": "%Y"}, "day and month"),
        ({"date": "%d.%m.%Y %y"}, "year once"),
        ({"date": "%d %d %m %Y"}, "twice"),
        ({"date": "%d.%m.%Q"}, "%Q"),
        ({"date": 3}, "text"),
    ],
)
def test_a_format_that_makes_no_sense_is_refused(facts: dict[str, object], hint: str) -> None:
    """Every fault of a format is a schema error that says what to write."""
    with pytest.raises(SchemaError, match=hint):
        CellFormat(**facts)  # type: ignore[arg-type]
