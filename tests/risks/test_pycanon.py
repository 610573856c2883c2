"""Agreement with pycanon, an independent implementation, on made-up tables and on Adult."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from cloister.risks.assess import assess
from tests.real_data import real
from tests.risks.pycanon_tables import ADULT, TABLES, made_up

ANSWERS = json.loads((Path(__file__).parent / "pycanon.json").read_text())


@pytest.mark.parametrize("seed", range(TABLES))
def test_made_up_tables(seed: int) -> None:
    """k, l, t (equal distance for words, ordered for numbers), discernibility and class size agree on any small table."""
    table = pa.table(made_up(seed))
    expected = ANSWERS["made up"][seed]
    found = assess(table, ["number", "word", "label"], sensitive=["illness", "income"], against=table)
    assert found.loss is not None
    illness, income = found.sensitive
    got = {
        "k": found.risk.k,
        "average": found.loss.average_class,
        "discernibility": found.loss.discernibility,
        "highest": found.risk.prosecutor_highest,
        "l illness": illness.l,
        "t illness": illness.t,
        "l income": income.l,
        "t income": income.ordered_t,
    }
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", range(len(ADULT)))
def test_adult(case: int) -> None:
    """k, l and t agree on Adult."""
    quasi, sensitive = ADULT[case]
    expected = ANSWERS["adult"][case]
    table = pyarrow.csv.read_csv(real("adult-30162.csv"), parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    found = assess(table, quasi, sensitive=[sensitive])
    told = found.sensitive[0]
    got = (found.risk.k, told.l, told.t if told.ordered_t is None else told.ordered_t, found.risk.prosecutor_highest)
    assert got == pytest.approx(
        (expected["k"], expected[f"l {sensitive}"], expected[f"t {sensitive}"], expected["highest"]), abs=1e-12
    )
