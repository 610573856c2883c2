"""What users of `PrivateMicrodata` get: rows, files, and what happens to rows that cannot be written."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

import cloister as cl
from cloister.errors import SinkError, UnwrittenRelease, UsageError
from cloister.sinks import Staged

DAYS = pa.table({"born": [date(1990, 1, 1 + i % 28) for i in range(200)], "sex": ["f", "m"] * 100})
FACTS = {"bounds": {"born": (date(1990, 1, 1), date(1990, 1, 31))}, "domains": {"sex": ["f", "m"]}}


def model(**settings: object) -> cl.PrivateMicrodata:
    return cl.PrivateMicrodata(1, **FACTS, **settings)  # type: ignore[arg-type]


def test_rows_are_plain_data_too() -> None:
    """Days as text: a command prints rows as JSON where it can neither write nor keep them."""
    made = model().sample(DAYS)
    printed = json.loads(json.dumps(made.as_rows()))
    assert len(printed) == len(made)
    assert all(row["born"].startswith("1990-01-") for row in printed)


def test_rows_that_cannot_be_written_are_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says that they were charged, and the model has them."""

    def refuse(self: Staged, certificate: str | None = None) -> None:
        raise SinkError("no space is left.")

    publishing = model()
    with monkeypatch.context() as patched:
        patched.setattr(Staged, "commit", refuse)
        with pytest.raises(UnwrittenRelease, match=r"were made and charged.*rows_\.save"):
            publishing.publish(DAYS, tmp_path / "rows.csv")
    publishing.rows_.save(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv.release.json").exists()


@pytest.mark.parametrize("name", ["a\nb", "", " x "])
def test_names_that_csv_does_not_give_back_are_refused_before_the_charge(name: str, tmp_path: Path) -> None:
    """Parquet holds them."""
    ledger = cl.Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 5)
    odd = cl.PrivateMicrodata(1, domains={name: ["f", "m"], "sex": ["f", "m"]}, table="t", ledger=ledger)
    table = pa.table({name: ["f", "m"], "sex": ["f", "m"]})
    with pytest.raises(SinkError, match="CSV does not give back"):
        odd.publish(table, tmp_path / "rows.csv")
    assert ledger.account("t").epsilon_spent == 0


def test_a_plan_needs_a_number_of_rows() -> None:
    """One sentence for what is none."""
    for wrong in (float("nan"), float("inf"), "x", -1):
        with pytest.raises(UsageError, match="number of rows"):
            model().plan(wrong, ["born", "sex"])  # type: ignore[arg-type]


def test_it_is_cloned_like_an_estimator() -> None:
    """`get_params`, `set_params` and `clone` work."""
    copied = clone(model(n_clusters=5))
    assert copied.n_clusters == 5
    assert copied.set_params(n_clusters=7).get_params()["n_clusters"] == 7


@pytest.mark.parametrize("bins", ["3", b"ab", 1.5, True])
def test_bins_that_are_none_are_refused(bins: object) -> None:
    """A text would be its letters."""
    with pytest.raises(UsageError, match="number of bins, or a list of edges"):
        model(method="marginals", bins={"born": bins}).plan(100, ["born", "sex"])


def test_bins_are_as_the_certificate_writes_them() -> None:
    """Edges of NumPy become numbers; None means what it means everywhere: not stated."""
    facts = {"bounds": {"age": (0, 100), "pay": (0, 9)}, "domains": {"sex": ["f", "m"]}}
    table = pa.table({"age": np.arange(200) % 100, "pay": np.arange(200) % 9, "sex": ["f", "m"] * 100})
    bins = {"age": np.array([0, 18, 100]), "pay": None}
    made = cl.PrivateMicrodata(1, "marginals", bins=bins, **facts).sample(table)  # type: ignore[arg-type]
    assert made.release_.parameters["bins"] == {"age": [0.0, 18.0, 100.0]}
