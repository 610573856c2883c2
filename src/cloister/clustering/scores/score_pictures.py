"""Pictures of scores: each beside that of everything in one cluster. For the holder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cloister.report.panels import BarPanel
from cloister.report.picture import MeasuredBars, Picture, PicturePanel

__all__ = ["ScoreFigures", "score_pictures"]

WORDS = {  # what scores are called below a bar
    "f_best_match": "F, best match",
    "f_one_to_one": "F, one to one",
    "matched_share": "rows matched",
    "adjusted_rand": "adjusted Rand",
    "nicv": "NICV",
    "sse": "SSE",
    "sse_own_units": "SSE, own units",
    "mean_cost": "mean cost",
    "mixed_cost": "cost of mixed data",
    "differing": "differing categories",
    "sum_of_distances": "sum of distances",
}
AGREEMENT = "With the known classes: full bars are the clusters, pale ones everything in one cluster; longer is better."
DISTANCES = (
    "Distances and costs as a share of those of everything in one cluster; shorter is better, and 100% has found nothing."
)


class ScoreFigures(Protocol):
    """What is drawn of a score."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def one_cluster(self) -> float: ...
    @property
    def is_better_high(self) -> bool: ...


def score_pictures(scores: Sequence[ScoreFigures], clusters: int, rows: int) -> tuple[Picture, ...]:
    """How well clusters fit a table, in one picture; a distance of one cluster that is 0 has no share to be drawn."""
    panels: list[PicturePanel] = []
    captions = []
    if agreement := [score for score in scores if score.is_better_high]:
        series = (
            ("one cluster", tuple(score.one_cluster for score in agreement)),
            ("clusters", tuple(score.value for score in agreement)),
        )
        panels.append(BarPanel("agreement with known classes", tuple(map(_words, agreement)), series))
        captions.append(AGREEMENT)
    if distances := [score for score in scores if not score.is_better_high and score.one_cluster > 0]:
        shares = tuple(score.value / score.one_cluster for score in distances)
        panels.append(
            MeasuredBars(
                "distances from the centres",
                tuple(map(_words, distances)),
                shares,
                label="share",
                is_share=True,
                least_end=1.0,
                line=(1.0, "one cluster"),
            )
        )
        captions.append(DISTANCES)
    across = 1 if len(panels) == 1 else 2
    return (Picture(f"{clusters:,} clusters on {rows:,} rows", tuple(panels), " ".join(captions), True, across),)


def _words(score: ScoreFigures) -> str:
    return WORDS.get(score.name, score.name)
