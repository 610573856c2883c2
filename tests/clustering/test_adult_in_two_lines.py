"""A stranger clusters Adult with the two-line schema that the page of mixed tables shows."""

from __future__ import annotations

import re
from pathlib import Path

import cloister as cl
from tests.real_data import real

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mixed.md"
NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,"
    "hours-per-week,native-country,income"
)


def test_adult_needs_two_lines(tmp_path: Path) -> None:
    """All 14 columns of the file as it comes, blanks and question marks included, by the schema of the page."""
    rows = real("adult.data").read_text()
    (tmp_path / "adult.csv").write_text(f"{NAMES}\n{rows}")
    (facts,) = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(facts.splitlines()) == 2
    (tmp_path / "adult.toml").write_text(facts)
    model = cl.KPrototypes(5, budget=1, schema=tmp_path / "adult.toml", gamma=0.1).fit(tmp_path / "adult.csv")
    assert model.cluster_centers_.shape == (5, 14)
    centers = [dict(zip(model.feature_names_in_, record, strict=True)) for record in model.cluster_centers_]
    assert {center["native-country"] for center in centers} == {"United-States"}
    assert {center["sex"] for center in centers} == {"Female", "Male"}
    assert 25_000 < model.cluster_sizes_.sum() < 40_000
