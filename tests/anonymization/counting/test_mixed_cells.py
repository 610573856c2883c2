"""What a column is, numbers, days or words, is declared, or no fewer than k rows decide it: its labels show it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.errors import SchemaError

SEXES = ["F", "M"] * 30
AGES = ["20"] * 20 + ["21"] * 20 + ["40"] * 20
TRUTHS = ["true", "false"] * 30
DAYS = ["2020-01-15"] * 20 + ["2020-02-20"] * 20 + ["2020-09-09"] * 20
FLOATS = [20.5] * 20 + [21.25] * 20 + [40.125] * 20


def labels(cells: pa.Array, out: Path, sexes: list[str] | None = None, **settings: object) -> set[str]:
    """The labels of a column beside one of sexes; odd rows come last, and are removed."""
    sexes = sexes or [*SEXES, *["X"] * (len(cells) - len(SEXES))]
    table = pa.table({"x": cells, "sex": sexes, "person": [f"p{i}" for i in range(len(cells))]})
    model = cl.TopDownSpecialization(**{"k": 10, "quasi": ["x", "sex"], "identifiers": ["person"], **settings})
    model.publish(table, out)
    return set(pq.read_table(out)["x"].to_pylist())


@pytest.mark.parametrize(
    ("cells", "odd"),
    [(AGES, odd) for odd in ("007", "unknown", "30.5", "inf", "2020-01-01", "3O", "20,000")]
    + [(TRUTHS, odd) for odd in ("0", "2", "yes", "0.5")]
    + [(DAYS, odd) for odd in ("5", "2020-13-45", "1/2/2020", "unknown", "20200301")]
    + [(["20200115"] * 30 + ["20200220"] * 30, "2020-03-01")],
)
def test_one_odd_text_is_refused(cells: list[str], odd: str, tmp_path: Path) -> None:
    """It would change the form of all labels, and its own row be removed."""
    shown = labels(pa.array(cells), tmp_path / "without.parquet")
    with pytest.raises(SchemaError, match=r'column "x": .*fewer than k.*schema'):
        assert labels(pa.array([*cells, odd]), tmp_path / "out.parquet", suppression=0.05) != shown
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("odd", [float("inf"), float("-inf")])
def test_an_infinite_number_does_not_make_words_of_a_typed_column(odd: float, tmp_path: Path) -> None:
    """The type of the column says that these are numbers; infinity lies in no interval."""
    assert all("inf" in text or "[" in text for text in labels(pa.array(FLOATS), tmp_path / "without.parquet"))
    with pytest.raises(SchemaError, match="infinite"):
        labels(pa.array([*FLOATS, odd]), tmp_path / "out.parquet", suppression=0.05)


@pytest.mark.parametrize("number", [9, 10])
def test_k_rows_may_decide(number: int, tmp_path: Path) -> None:
    """Ten rows that hold words make words of the column; nine do not."""
    cells = pa.array([*AGES, *["unknown"] * number])
    if number < 10:
        with pytest.raises(SchemaError, match="9 of its rows"):
            labels(cells, tmp_path / "out.parquet", suppression=0.5)
        return
    assert labels(cells, tmp_path / "out.parquet") == {"20", "21", "40", "unknown"}


def test_people_are_counted_where_they_are_the_unit(tmp_path: Path) -> None:
    """Twenty rows of one person are one."""
    facts = tmp_path / "facts.toml"
    facts.write_text('unit = "person"\nmax_rows = 20\n[columns.person]\nkind = "category"\nrole = "identifier"\n')
    table = pa.table({"x": [*AGES, *["unknown"] * 20], "person": [f"p{i}" for i in range(60)] + ["q"] * 20})
    model = cl.TopDownSpecialization(k=10, quasi=["x"], schema=facts, suppression=0.5)
    with pytest.raises(SchemaError, match="fewer than k"):
        model.publish(table, tmp_path / "out.parquet")


def test_a_schema_decides(tmp_path: Path) -> None:
    """Words by the schema are words; numbers with a word for what is missing are numbers."""
    facts = tmp_path / "facts.toml"
    cells = pa.array([*AGES, "unknown"])
    for at, (kind, expected) in enumerate(
        [('"category"', {"20", "21", "40"}), ('"number"\nmissing = ["unknown"]', {"(-inf, 21)", "[21, 40)", "[40, inf)"})]
    ):
        facts.write_text(f'[columns.x]\nkind = {kind}\nrole = "quasi"\n[columns.sex]\nkind = "category"\nrole = "quasi"\n')
        shown = labels(cells, tmp_path / f"{at}.parquet", schema=facts, suppression=0.05)
        assert len(shown) == len(expected), shown


def test_words_with_a_number_among_them_are_words(tmp_path: Path) -> None:
    """They are so without it too."""
    cells = pa.array([*["low"] * 30, *["high"] * 30, "12"])
    assert labels(cells, tmp_path / "out.parquet", suppression=0.05) == {"low", "high"}


STEPS = '[columns.x]\nkind = "number"\nrole = "quasi"\n{}\n[columns.sex]\nkind = "category"\nrole = "quasi"\n'
WHOLE = [20.0] * 20 + [21.0] * 20 + [22.0] * 20


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("facts", ["step = 1", "bounds = [0, 99]\nstep = 1"])
def test_a_cell_between_two_steps_of_the_schema_is_refused(facts: str, as_text: bool, tmp_path: Path) -> None:
    """Removed, it would turn 21 into [21, 22) for everybody; ten such cells do, and nine do not."""
    schema = cl.Schema.from_text(STEPS.format(facts))
    for number, middle in [(0, "21"), (1, None), (9, None), (10, "[21, 22)")]:
        numbers = [*WHOLE, *[21.5] * number]
        cells = pa.array([f"{cell:g}" for cell in numbers] if as_text else numbers)
        out = tmp_path / f"{number}.parquet"
        if middle is not None:
            assert middle in labels(cells, out, schema=schema, suppression=0.2)
            continue
        with pytest.raises(SchemaError, match=rf'column "x": {number} of its rows, fewer than k, .*step'):
            labels(cells, out, schema=schema, suppression=0.2)
    finer = cl.Schema.from_text(STEPS.format(facts.replace("step = 1", "step = 0.5")))  # the way out
    assert "[21, 22)" in labels(pa.array([*WHOLE, 21.5]), tmp_path / "finer.parquet", schema=finer, suppression=0.2)


@pytest.mark.parametrize("facts", ["", "bounds = [0, 99]"])
def test_one_text_that_is_not_whole_is_refused_with_a_schema_too(facts: str, tmp_path: Path) -> None:
    """Where the schema names no step, texts that are all whole numbers have that of 1: one other text must not take it."""
    schema = cl.Schema.from_text(STEPS.format(facts))
    texts = [f"{cell:g}" for cell in WHOLE]
    assert "21" in labels(pa.array(texts), tmp_path / "whole.parquet", schema=schema)
    assert "[21, 21.5)" in labels(pa.array([*texts, *["21.5"] * 10]), tmp_path / "k.parquet", schema=schema)
    assert "[21, 22)" in labels(pa.array([*WHOLE, 21.5]), tmp_path / "f.parquet", schema=schema, suppression=0.2)  # floats
    with pytest.raises(SchemaError, match=r'column "x": 1 of its rows, fewer than k, .*step'):
        labels(pa.array([*texts, "21.5"]), tmp_path / "out.parquet", schema=schema, suppression=0.2)


def test_people_between_two_steps_are_counted(tmp_path: Path) -> None:
    """Twenty rows of one person are one."""
    person = '[columns.person]\nkind = "category"\nrole = "identifier"\n'
    facts = f'unit = "person"\nmax_rows = 20\n{STEPS.format("step = 1")}{person}'
    rows = {"x": [*WHOLE, *[21.5] * 20], "sex": ["F"] * 80, "person": [f"p{i}" for i in range(60)] + ["q"] * 20}
    with pytest.raises(SchemaError, match="1 of its people, fewer than k"):
        cl.TopDownSpecialization(k=10, schema=cl.Schema.from_text(facts), suppression=0.5).publish(
            pa.table(rows), tmp_path / "out.parquet"
        )
