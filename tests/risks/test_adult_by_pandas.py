"""Risk on Adult, computed once more with pandas alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import cloister as cl
from cloister.risks.assess import assess
from tests.real_data import real


@pytest.mark.parametrize(
    "quasi", [["sex", "race"], ["age", "sex", "education"], ["age", "marital-status", "native-country"]]
)
@pytest.mark.parametrize("sensitive", ["occupation", "age"])
def test_adult(quasi: list[str], sensitive: str) -> None:
    """k, uniqueness, the share at risk, l, entropy l, t and what is known for certain."""
    table = pd.read_csv(real("adult-30162.csv"), sep=";")
    quasi = [name for name in quasi if name != sensitive]
    report = assess(table, quasi, sensitive=sensitive)
    sizes = table.groupby(quasi, observed=True).size()
    own = table.groupby(quasi)[sensitive].transform("size")
    assert report.risk.k == sizes.min()
    assert report.risk.classes == len(sizes)
    assert report.risk.unique == pytest.approx((own == 1).mean())
    assert report.risk.prosecutor_average == pytest.approx((1 / own).mean())
    assert report.risk.prosecutor_at_risk == pytest.approx((1 / own > 0.2).mean())
    told = report.sensitive[0]
    values = table.groupby(quasi)[sensitive].nunique()
    assert (told.values, told.l) == (table[sensitive].nunique(), values.min())
    assert told.certain == pytest.approx((table.groupby(quasi)[sensitive].transform("nunique") == 1).mean())
    shares = pd.crosstab([table[name] for name in quasi], table[sensitive], normalize="index")
    gaps = shares - table[sensitive].value_counts(normalize=True)[shares.columns]
    assert told.t == pytest.approx((gaps.abs().sum(axis=1) / 2).max())
    entropies = -(shares * np.log(shares.where(shares > 0, 1))).sum(axis=1)
    assert told.entropy_l == pytest.approx(np.exp(entropies.min()))
    if sensitive == "age":
        assert told.ordered_t == pytest.approx((gaps.cumsum(axis=1).abs().sum(axis=1) / (len(shares.columns) - 1)).max())
    else:
        assert told.ordered_t is None


def test_adult_by_people() -> None:
    """The same with three rows a person, who may be in several classes."""
    table = pd.read_csv(real("adult-30162.csv"), sep=";")
    quasi = ["age", "sex", "education"]
    table["who"] = np.arange(len(table)) // 3
    schema = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\nrole = "identifier"\n')
    report = assess(table, quasi, sensitive="occupation", schema=schema)
    pairs = table[[*quasi, "who"]].drop_duplicates()
    sizes = pairs.groupby(quasi)["who"].transform("size")
    smallest = sizes.groupby(pairs["who"]).min()
    assert (report.counted, report.risk.rows) == ("people", table["who"].nunique())
    assert report.risk.k == sizes.min()
    assert report.risk.unique == pytest.approx((smallest == 1).mean())
    assert report.risk.prosecutor_average == pytest.approx((1 / smallest).mean())
    held = table[[*quasi, "who", "occupation"]].drop_duplicates()
    weight = 1 / held.groupby([*quasi, "who"])["occupation"].transform("size")
    by_class = held.assign(weight=weight).pivot_table("weight", quasi, "occupation", "sum", fill_value=0)
    once = table[["who", "occupation"]].drop_duplicates()
    overall = (1 / once.groupby("who")["occupation"].transform("size")).groupby(once["occupation"]).sum()
    gaps = by_class.div(by_class.sum(axis=1), axis=0) - overall[by_class.columns] / overall.sum()
    assert report.sensitive[0].t == pytest.approx((gaps.abs().sum(axis=1) / 2).max())
