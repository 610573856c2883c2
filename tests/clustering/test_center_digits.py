"""Centres without digits that are noise, and labels that do not depend on it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.center_digits import center_rows, decimals_of
from cloister.clustering.domain import from_bounds
from cloister.clustering.saved_clusters import load_clusters
from cloister.privacy.release import Release
from cloister.report.numbers import decimals_left
from cloister.report.terminal import text
from cloister.sinks import file_hash

ROWS = np.random.default_rng(0).normal([[20, 2000]] * 300 + [[80, 7000]] * 300, [5, 500])


def fitted() -> cl.KMeans:
    return cl.KMeans(2, 1, bounds=(np.array([0, 0]), np.array([100, 10_000])), columns=["age", "income"]).fit(ROWS)


def test_a_file_has_no_digit_that_is_noise(tmp_path: Path) -> None:
    """Each coordinate is the certificate's, to two digits of its standard error; sizes are whole."""
    fitted().save(tmp_path / "out")
    result = json.loads((tmp_path / "out" / "release.json").read_text())["result"]
    for line, center, errors in zip(
        csv.DictReader((tmp_path / "out" / "centers.csv").open()), result["centers"], result["standard_errors"], strict=True
    ):
        assert line["size"].isdecimal()
        for name, value, error in zip(("age", "income"), center, errors, strict=True):
            assert float(line[name]) == pytest.approx(round(value, decimals_left(error)), rel=1e-9)


def test_rows_are_labelled_by_all_digits(tmp_path: Path) -> None:
    """What is read back has the centres of the model in memory, whatever the file for people shows."""
    model = fitted()
    model.save(tmp_path / "out")
    read = load_clusters(tmp_path / "out")
    assert np.array_equal(read.places, model._clusters.places)
    assert np.array_equal(read.predict(ROWS), model.predict(ROWS))


def test_a_folder_with_nine_digits_is_read_too(tmp_path: Path) -> None:
    """Folders that were written before stay good."""
    model, folder = fitted(), tmp_path / "out"
    release, found = model.save(folder), model._clusters
    rows = center_rows(found.domain.columns, found.cluster_sizes_, found.records, decimals_of(found.domain, None, 2))
    (folder / "centers.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    before = Release.from_json(release.to_json()).derived(files={"centers.csv": file_hash(folder / "centers.csv")})
    (folder / "release.json").write_text(before.to_json())
    assert np.array_equal(load_clusters(folder).predict(ROWS), model.predict(ROWS))


@pytest.mark.parametrize("error", [1e9, np.inf, np.nan])
def test_noise_wider_than_the_bounds_moves_no_centre_out_of_them(error: float) -> None:
    """It counts as the width of the column: 47 of 30 to 60 is not written as 0."""
    domain = from_bounds(["age"], (np.array([30.0]), np.array([60.0])), "bounds")
    assert center_rows(["age"], np.ones(1), [[47.3]], decimals_of(domain, np.array([[error]]), 1))[1] == ["0", "1", "47"]


def test_a_screen_shows_no_more_than_the_noise_leaves() -> None:
    """A standard error of 0.3 leaves two decimals at most, one of 30 none."""
    model = fitted()
    lines = text(model._clusters.describe()).splitlines()[3:5]
    decimals = decimals_of(model._clusters.domain, model.standard_errors_, 2)
    for line, (of_age, of_income) in zip(lines, decimals, strict=True):
        age, income = line.split()[-2:]
        assert len(age.partition(".")[2]) <= max(of_age or 0, 0)
        assert len(income.partition(".")[2]) <= max(of_income or 0, 0)
