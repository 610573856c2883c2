"""The risk of a table and, against its original, what it no longer says: the result, for its holder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cloister.report import notebook, terminal
from cloister.report.document import Document, Fact, Section, Sentence
from cloister.report.one_line import one_line
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted
from cloister.risks import loss as losses
from cloister.risks import measures
from cloister.risks.description import (
    describe_attacks,
    describe_attempts,
    describe_classes,
    describe_combinations,
    describe_loss,
    describe_sensitive,
    describe_sizes,
)
from cloister.risks.learning import Learning
from cloister.risks.linkage import Linkage
from cloister.risks.loss import InformationLoss
from cloister.risks.measures import Reidentification, SensitiveRisk
from cloister.risks.risk_pictures import risk_pictures
from cloister.risks.singling_out import Combination

__all__ = ["STAMP", "RiskReport"]

STAMP = "for the holder only: not a private release"

SHOWN = 8  # columns in one line


@dataclass(frozen=True, slots=True)
class RiskReport(Plotted):
    """What a table risks and what it still says.

    Privacy
    -------
    Exact numbers of a sensitive table, for its holder. They are not a private release, and carry the stamp that says so.
    """

    quasi: tuple[str, ...]
    counted: str  # "rows" or "people"
    risk: Reidentification
    sensitive: tuple[SensitiveRisk, ...] = ()
    combinations: tuple[Combination, ...] = ()
    loss: InformationLoss | None = None
    linkage: Linkage | None = None
    learning: Learning | None = None
    notes: tuple[str, ...] = ()
    stamp: str = STAMP

    def as_dict(self) -> dict[str, Any]:
        """Plain data, with the formula of every measure."""
        data = {"stamp": self.stamp, **{key: value for key, value in asdict(self).items() if key != "stamp"}}
        if self.learning is not None:
            data["learning"]["kept"] = self.learning.kept
        data["formulas"] = {"risk": measures.FORMULAS, **({"loss": losses.FORMULAS} if self.loss else {})}
        return data

    def describe(self) -> Document:
        """The report as a document."""
        sections = [
            describe_classes(self.risk, self.quasi, self.counted),
            describe_attacks(self.risk, self.counted),
            describe_sizes(self.risk, self.counted),
        ]
        if self.sensitive:
            sections.append(describe_sensitive(self.sensitive, self.counted))
        if self.combinations:
            sections.append(describe_combinations(self.combinations))
        if self.loss:
            sections.append(describe_loss(self.loss))
        if self.linkage or self.learning:
            sections.append(describe_attempts(self.linkage, self.learning))
        if self.notes:
            sections.append(Section(tuple(Fact("note", note) for note in self.notes)))
        sections.append(Section((Sentence(f"This page is {self.stamp}."),)))
        return Document(tuple(sections), title="Risk of re-identification")

    def pictures(self) -> tuple[Picture, ...]:
        """How many share their values, who would be recognised, what columns give away and lost: for the holder."""
        return risk_pictures(self.risk, self.counted, self.sensitive, self.combinations, self.loss)

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def __repr__(self) -> str:
        known = one_line(", ".join(self.quasi[:SHOWN])) or "no columns"
        return f"RiskReport({self.risk.rows:,} {self.counted} by {known}: {self.stamp})"

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())
