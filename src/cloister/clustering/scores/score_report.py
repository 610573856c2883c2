"""Scores of clusters on a table, each beside that of one cluster: the result, for the holder of the table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cloister.clustering.scores.score_pictures import score_pictures
from cloister.errors import UsageError
from cloister.report import notebook, terminal
from cloister.report.document import Block, Document, Fact, Section, Sentence, TextTable
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted

__all__ = ["STAMP", "Score", "ScoreReport"]

STAMP = "for the holder only: not a private release"

TITLES = {  # name of a score: what it is called on a page, and its formula
    "f_best_match": (
        "F-measure, best match",
        "sum over classes of |C_i|/n max_j 2 n_ij / (|C_i| + |D_j|); eq. 17 of DI clustering, eqs. 15-18 of DEDP k-means",
    ),
    "f_one_to_one": (
        "F-measure, one to one",
        "2 AC RE / (AC + RE), AC and RE of the best pairing of clusters and classes; eqs. 12-14 of LDPK-modes",
    ),
    "matched_share": ("rows matched, one to one", "AC: rows whose cluster is paired with their class, over all rows"),
    "adjusted_rand": ("adjusted Rand index", "as scikit-learn's adjusted_rand_score"),
    "nicv": ("NICV", "mean squared distance from the nearest centre, in the unit of the clustering"),
    "sse": ("SSE", "sum of squared distances from the nearest centre, in the unit of the clustering"),
    "sse_own_units": ("SSE, own units", "the same in the columns' own units; the centre is the nearest in the clustering's"),
    "mean_cost": ("mean cost", "cost of mixed data over n; of categories alone NIVC, eq. 11 of LDPK-modes"),
    "mixed_cost": (
        "cost of mixed data",
        "squared distances of the numbers, plus gamma for each category that differs from the nearest prototype's",
    ),
    "differing": ("differing categories", "how many categories of the rows differ from their prototype's; not weighed"),
    "sum_of_distances": ("sum of distances, own units", "as in the tables of DEDP k-means: on raw data, not squared"),
}


@dataclass(frozen=True, slots=True)
class Score:
    """One score of the clusters, and the same of everything in one cluster.

    Attributes
    ----------
    name
        A key of `TITLES`.
    value
        Of the clusters.
    one_cluster
        Of all rows in one cluster, around their mean: what any clustering should beat.
    is_better_high
        Whether more is better.
    """

    name: str
    value: float
    one_cluster: float
    is_better_high: bool

    @property
    def title(self) -> str:
        """What it is called on a page."""
        return TITLES[self.name][0]

    @property
    def beats_one_cluster(self) -> bool:
        """Whether the clusters score better than one."""
        return self.value > self.one_cluster if self.is_better_high else self.value < self.one_cluster


@dataclass(frozen=True, slots=True)
class ScoreReport(Plotted):
    """How well clusters fit a table, and how far they agree with its known classes.

    Privacy
    -------
    Exact numbers of a sensitive table, for its holder. They are not a private release, and carry the stamp that says so.
    """

    rows: int
    clusters: int
    classes: int  # 0: none are known
    unit: str  # of NICV and SSE
    scores: tuple[Score, ...]
    notes: tuple[str, ...] = ()
    stamp: str = STAMP

    def __getitem__(self, name: str) -> Score:
        for score in self.scores:
            if score.name == name:
                return score
        raise UsageError(f"this report has no such score. Its scores: {', '.join(score.name for score in self.scores)}.")

    def as_dict(self) -> dict[str, Any]:
        """Plain data, with the formula of every score."""
        facts = {key: value for key, value in asdict(self).items() if key not in ("stamp", "scores")}
        scores = {
            score.name: {
                "value": score.value,
                "one_cluster": score.one_cluster,
                "better": "higher" if score.is_better_high else "lower",
                "beats_one_cluster": score.beats_one_cluster,
            }
            for score in self.scores
        }
        formulas = {score.name: TITLES[score.name][1] for score in self.scores}
        return {"stamp": self.stamp, **facts, "scores": scores, "formulas": formulas}

    def pictures(self) -> tuple[Picture, ...]:
        """Each score beside that of everything in one cluster, for the holder."""
        return score_pictures(self.scores, self.clusters, self.rows)

    def describe(self) -> Document:
        """The report as a document."""
        rows = [
            [score.title, f"{score.value:.6g}", f"{score.one_cluster:.6g}", "higher" if score.is_better_high else "lower"]
            for score in self.scores
        ]
        classes = f", {self.classes:,} classes" if self.classes else ""
        is_mixed = any(score.name == "mixed_cost" for score in self.scores)
        usual, costs = (" and most frequent values", "Costs are") if is_mixed else ("", "NICV and SSE are")
        blocks: list[Block] = [TextTable.of(["score", "clusters", "one cluster", "better"], rows)]
        blocks.append(Sentence(f"One cluster: all rows around their mean{usual}. {costs} in {self.unit}."))
        behind = [score.title for score in self.scores if not score.beats_one_cluster]
        if behind:
            blocks.append(Sentence(f"No better than everything in one cluster: {'; '.join(behind)}."))
        sections = [Section(tuple(blocks), heading=f"{self.clusters:,} clusters on {self.rows:,} rows{classes}")]
        if self.notes:
            sections.append(Section(tuple(Fact("note", note) for note in self.notes)))
        sections.append(Section((Sentence(f"This page is {self.stamp}."),)))
        return Document(tuple(sections), title="Scores of clusters")

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())
