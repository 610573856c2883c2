"""Pictures of scores: those of the report, each beside that of one cluster, for the holder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.scores.score_pictures import WORDS, score_pictures
from cloister.clustering.scores.score_report import TITLES, Score, ScoreReport
from cloister.report.panels import BarPanel
from cloister.report.picture import MeasuredBars


@pytest.fixture(scope="module")
def report() -> ScoreReport:
    rows = np.random.default_rng(0).normal([[20, 20]] * 200 + [[80, 80]] * 200, 5)
    model = cl.KMeans(2, budget=5.0, bounds=(0, 100)).fit(rows)
    return model.score_report(rows, truth=["a"] * 200 + ["b"] * 200)


def test_every_score_is_drawn_beside_that_of_one_cluster(report: ScoreReport) -> None:
    """Agreement as it is, distances as a share of one cluster's; the title says for whom it is."""
    (picture,) = report.pictures()
    assert picture.heading == "2 clusters on 400 rows (for the holder only)"
    agreement, distances = picture.panels
    assert isinstance(agreement, BarPanel)
    assert isinstance(distances, MeasuredBars)
    high = [score for score in report.scores if score.is_better_high]
    assert agreement.series == (
        ("one cluster", tuple(score.one_cluster for score in high)),
        ("clusters", tuple(score.value for score in high)),
    )
    low = [score for score in report.scores if not score.is_better_high]
    assert distances.values == tuple(score.value / score.one_cluster for score in low)
    assert distances.words == tuple(WORDS[score.name] for score in low)
    assert len(agreement.words) + len(distances.words) == len(report.scores)


def test_every_score_has_a_word() -> None:
    """Short enough to stand beside a bar."""
    assert WORDS.keys() == TITLES.keys()
    assert max(map(len, WORDS.values())) <= 24


def test_without_classes_distances_are_drawn_alone(report: ScoreReport, tmp_path: Path) -> None:
    """And one of nothing in one cluster, which has no share, is left out."""
    low = tuple(score for score in report.scores if not score.is_better_high)
    (picture,) = score_pictures((*low, Score("differing", 0.0, 0.0, False)), 2, 400)
    assert len(picture.panels) == 1
    assert "differing categories" not in picture.panels[0].words  # type: ignore[union-attr]
    report.plot(tmp_path / "s.png")
    assert (tmp_path / "s.png").stat().st_mode & 0o077 == 0
