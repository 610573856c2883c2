"""How a release of rows compares with its original: the result, for the holder of the original."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, Literal

from cloister.report import notebook, terminal
from cloister.report.document import Document, Fact, Section, Sentence
from cloister.report.panels import Page
from cloister.report.picture import Picture
from cloister.report.plot import draw_page
from cloister.report.plotted import Plotted
from cloister.risks.risk_report import STAMP
from cloister.risks.rows.closest_records import RecordDistances
from cloister.risks.rows.excess_nearness import ExcessNearness, is_chance
from cloister.risks.rows.impossible_rows import ImpossibleRows
from cloister.risks.rows.kept_means import KeptMeans
from cloister.risks.rows.kept_shares import KeptShares
from cloister.risks.rows.kept_ties import KeptTies
from cloister.risks.rows.nearness_words import describe_nearness
from cloister.risks.rows.row_error import SquaredError
from cloister.risks.rows.row_linkage import RowLinkage
from cloister.risks.rows.rows_pictures import page_pictures
from cloister.risks.rows.rows_words import (
    FORMULAS,
    describe_error,
    describe_models,
    describe_rows,
    describe_usefulness,
)
from cloister.risks.rows.short_words import describe_in_short
from cloister.risks.rows.trained_models import TrainedModels

__all__ = ["Origin", "RowsReport"]

Origin = Literal["averaged", "made up", "not known"]
"""What released rows are, as far as a certificate says so."""

ALL_DIFFERENT = 0.9  # share of released rows that differ, from which on they are no groups


@dataclass(frozen=True, slots=True)
class RowsReport(Plotted):
    """What rows of a release still say, and how near they come to the original's.

    Attributes
    ----------
    rows, released_rows : the numbers of rows of the two tables; released_records : how many released rows differ
    tried : original rows that distances were measured for
    columns : what was compared; not_compared : columns that are in one of the tables alone, or were left out
    origin : "averaged" or "made up" where the certificate of the release says so, else "not known"
    error, linkage, closeness, shares : the measures; control_closeness, control_shares : the same of the control
    correlations, cramers_v : how pairs of columns go together; None where there are none
    impossible : rows with two words that never meet in the original; control_impossible : the same of the control
    excess : whether original rows are nearer to the release than control rows, by chance or not
    averaged : the columns that group linkage is about; None: all
    models : classifiers, where a target was named

    Privacy
    -------
    Exact numbers of a sensitive table, for its holder. They are not a private release, and carry the stamp that says so.
    """

    rows: int
    released_rows: int
    released_records: int
    tried: int
    columns: tuple[str, ...]
    not_compared: tuple[str, ...]
    origin: Origin
    error: SquaredError
    linkage: RowLinkage
    closeness: RecordDistances
    shares: KeptShares
    correlations: KeptTies | None
    cramers_v: KeptTies | None
    impossible: ImpossibleRows | None = None
    averaged: tuple[str, ...] | None = None
    control_rows: int | None = None
    control_closeness: RecordDistances | None = None
    control_shares: KeptShares | None = None
    control_impossible: ImpossibleRows | None = None
    excess: ExcessNearness | None = None
    means: KeptMeans | None = None
    models: TrainedModels | None = None
    notes: tuple[str, ...] = ()
    stamp: str = STAMP
    page: Page | None = field(default=None, repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, with the formula of every measure; pictures aside."""
        facts = {key: value for key, value in asdict(self).items() if key not in ("stamp", "page")}
        facts["error"]["ratio"] = self.error.ratio
        for key, shares in (("shares", self.shares), ("control_shares", self.control_shares)):
            if shares is not None:
                facts[key] |= {"column_mean": shares.column_mean, "pair_mean": shares.pair_mean}
        if self.linkage.beside_control is not None:
            facts["linkage"]["beside_control"]["excess"] = self.linkage.beside_control.excess
        if self.excess is not None:
            for key in facts["excess"]:
                facts["excess"][key]["excess"] = getattr(self.excess, key).excess
        if self.models is not None:
            facts["models"]["kept"] = self.models.kept
        return {"stamp": self.stamp, "kind": "rows", **facts, "formulas": FORMULAS}

    def describe(self) -> Document:
        """The report as a page of text."""
        sections = [
            describe_in_short(
                self.shares, self.impossible, self.control_shares, self.control_impossible, self._beyond_chance()
            ),
            describe_rows(self.rows, self.released_rows, self.released_records, self.tried, self.columns, self.not_compared),
            describe_usefulness(
                self.shares,
                self.correlations,
                self.cramers_v,
                self.impossible,
                self.control_shares,
                self.control_impossible,
                self.means,
            ),
        ]
        if self.models is not None:
            sections.append(describe_models(self.models))
        sections.append(
            describe_nearness(
                self.linkage,
                self.closeness,
                self.control_closeness,
                self.excess,
                origin=self.origin,
                averaged=self.averaged,
                has_groups=self.released_records < ALL_DIFFERENT * self.released_rows,
            )
        )
        sections.append(describe_error(self.error))
        if self.notes:
            sections.append(Section(tuple(Fact("note", note) for note in self.notes)))
        sections.append(Section((Sentence(f"This page is {self.stamp}."),)))
        return Document(tuple(sections), title="Rows of a release beside their original")

    def _beyond_chance(self) -> list[str] | None:
        """The figures of nearness that chance does not explain; None without a control."""
        beside = self.linkage.beside_control
        if beside is None or self.excess is None:
            return None
        named = {"unchanged rows": self.excess.unchanged, "distances": self.excess.nearest, "ratios": self.excess.ratio}
        figures = [("linkage", beside.excess, beside.excess_error)]
        figures += [(name, each.excess, each.error) for name, each in named.items()]
        return [name for name, excess, error in figures if excess > 0 and not is_chance(excess, error)]

    def pictures(self) -> tuple[Picture, ...]:
        """The page of pictures in parts: columns, pairs of columns, distances. It shows the original: for its holder."""
        return () if self.page is None else page_pictures(self.page)

    def draw(self, path: str | PathLike[str]) -> None:
        """Draw one page of pictures as PNG or SVG: columns, pairs of columns, distances.

        The pictures show values of the original: they are for its holder, as the page of text is.
        """
        assert self.page is not None
        draw_page(self.page, path)

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())
