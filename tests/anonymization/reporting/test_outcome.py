"""What the holder is told beside the release: loss by column, risk, a preview, and what would lose less."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.anonymization.reporting import advice

QUASI = ["age", "job", "region"]


def people(n: int = 400) -> pa.Table:
    """Ages, jobs of which some are rare, regions."""
    random = np.random.default_rng(3)
    job = random.choice(list("abcdef"), n, p=[0.4, 0.3, 0.285, 0.005, 0.005, 0.005])
    return pa.table({"age": random.integers(20, 70, n), "job": job, "region": random.choice(["n", "s", "w"], n)})


def published(folder: Path, **settings: Any) -> tuple[cl.TopDownSpecialization, list[dict[str, str]]]:
    """A model that published the people, and the rows that came out."""
    model = cl.TopDownSpecialization(**{"k": 10, "quasi": QUASI, **settings})
    model.publish(people(), folder / "out.csv")
    with (folder / "out.csv").open(newline="") as file:
        return model, list(csv.DictReader(file))


@pytest.mark.parametrize("settings", [{}, {"scope": "global"}, {"suppression": 0.1}])
def test_the_preview_shows_rows_of_the_output(tmp_path: Path, settings: dict[str, Any]) -> None:
    """Each is published, in a class of its own, with as many rows alike as the file has."""
    model, rows = published(tmp_path, **settings)
    counts = Counter(tuple(row[name] for name in QUASI) for row in rows)
    preview = model.preview_
    assert len(set(preview.rows)) == len(preview.rows) == min(10, len(counts))
    assert [counts[row] for row in preview.rows] == list(preview.alike)
    assert preview.names == tuple(QUASI)


def test_utility_stands_beside_risk(tmp_path: Path) -> None:
    """Losses of the columns average to the loss; risk before and after follows from the classes."""
    model, rows = published(tmp_path)
    outcome = model.outcome_
    assert np.mean(list(outcome.losses.values())) == pytest.approx(model.summary_.loss)
    sizes = Counter(tuple(row[name] for name in QUASI) for row in rows).values()
    assert (outcome.after.k, outcome.after.classes) == (min(sizes), len(sizes))
    original = Counter(zip(*people().to_pydict().values(), strict=True)).values()
    assert (outcome.before.k, outcome.before.classes) == (min(original), len(original))


def test_nothing_of_it_is_in_the_release(tmp_path: Path) -> None:
    """Neither the certificate nor the table has more than before: what the holder is told stays with the holder."""
    model, rows = published(tmp_path, scope="global")
    assert model.advice_.alternatives
    certificate = json.loads((tmp_path / "out.csv.release.json").read_text())
    text = json.dumps(certificate)
    assert not any(word in text for word in ("preview", "alike", "advice", "alternatives", "prosecutor", "losses"))
    assert list(rows[0]) == QUASI


def test_where_much_is_lost_the_figures_of_what_loses_less_are_those_of_a_run(tmp_path: Path) -> None:
    """Each alternative, asked for, loses what was told."""
    model, _ = published(tmp_path, scope="global")
    told = {alternative.flags: alternative.loss for alternative in model.advice_.alternatives}
    assert model.summary_.loss > advice.MUCH
    assert set(told) == {"--suppress 0.02", "--suppress 0.05", "--scope local"}
    for flags, loss in told.items():
        _, number = flags.rsplit(" ", 1)
        settings = {"scope": "local"} if number == "local" else {"suppression": float(number)}
        (tmp_path / number).mkdir()
        assert published(tmp_path / number, **settings)[0].summary_.loss == loss < model.summary_.loss
    assert f"--scope local {told['--scope local']:.3f}" in str(model.advice_)


def test_where_little_is_lost_there_is_no_advice(tmp_path: Path) -> None:
    """A loss below the threshold needs no words."""
    model, _ = published(tmp_path, k=2)
    assert model.summary_.loss <= advice.MUCH
    assert model.advice_.sentences == ()


def test_a_slow_search_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first search took long, a sentence says that others were not tried."""
    monkeypatch.setattr(advice, "LONGEST", -1.0)
    model, _ = published(tmp_path, scope="global")
    assert (model.advice_.is_skipped, model.advice_.alternatives) == (True, ())
    assert "not computed" in str(model.advice_)


def test_words_without_a_hierarchy_are_named(tmp_path: Path) -> None:
    """A column of words that becomes * for want of a hierarchy is named."""
    model, _ = published(tmp_path, scope="global")
    assert model.advice_.without_hierarchy == ("job",)
    assert '"job"' in str(model.advice_)


def test_it_shows_itself_in_notebooks(tmp_path: Path) -> None:
    """Summary, outcome, preview and advice are HTML with the words of their text."""
    model, _ = published(tmp_path, scope="global")
    assert "Information lost" in model.summary_._repr_html_()
    assert "above 20%" in model.outcome_._repr_html_()
    assert "rows alike" in model.preview_._repr_html_()
    assert "--scope local" in model.advice_._repr_html_()
