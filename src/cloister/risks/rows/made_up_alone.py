"""The risk of a table of made-up rows, seen without its original: a page that first says what it cannot say."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cloister.errors import by_door
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section
from cloister.risks.risk_report import RiskReport

__all__ = ["MadeUpRiskReport"]


class MadeUpRiskReport(RiskReport):
    """A risk report whose rows are made up, by their certificate: being alone in them says nothing about a person."""

    @classmethod
    def of(cls, report: RiskReport) -> MadeUpRiskReport:
        """The same report of rows that are nobody's."""
        facts: dict[str, Any] = {each.name: getattr(report, each.name) for each in fields(report)}
        return cls(**facts)

    def describe(self) -> Document:
        """The report as a document, what it cannot say first."""
        page = super().describe()
        return Document((Section((Fact("note", _caution()),)), *page.sections), title=page.title)

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    def as_dict(self) -> dict[str, Any]:
        """Plain data, what it cannot say as the first of the notes."""
        data = super().as_dict()
        return {**data, "notes": (_caution(), *data["notes"])}


def _caution() -> str:
    return (
        "These rows are made up, by their certificate: being alone in them says nothing about a person. Compare them with "
        f"their original: {by_door('against=ORIGINAL', '--against FILE')}."
    )
