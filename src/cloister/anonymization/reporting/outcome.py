"""What a generalised table loses and risks, ten of its rows, and what would lose less: for the holder's eyes.

Privacy
-------
Exact numbers of the holder's table. Nothing of this is in the certificate or in the published file. The rows of the preview are
rows that are published, without the columns that are published as they are.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.anonymization.counting.count_request import OpenedTables
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.reporting.advice import Advice, find_advice
from cloister.anonymization.reporting.class_risks import original_risk, published_risk
from cloister.anonymization.searching.find_recoding import SearchResult
from cloister.anonymization.writing.recount import PublishedClasses
from cloister.report import notebook, terminal
from cloister.report.document import Block, Document, Section, Sentence, TextTable
from cloister.report.numbers import percent
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted
from cloister.risks.measures import Reidentification
from cloister.risks.risk_pictures import loss_picture, sizes_beside
from cloister.risks.risk_report import STAMP

__all__ = ["Preview", "TableOutcome", "find_outcome", "preview_rows"]

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Preview:
    """Some of the published rows: their quasi-identifiers, and how many rows look so."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alike: tuple[int, ...]

    def as_table(self) -> TextTable:
        """The rows to look at."""
        rows = [(*row, f"{alike:,}") for row, alike in zip(self.rows, self.alike, strict=True)]
        number = "Ten" if len(rows) == SHOWN else f"{len(rows):,}"
        title = f"{number} of the published rows (their quasi-identifiers), and how many rows look so"
        return TextTable.of([*self.names, "rows alike"], rows, title=title)

    def describe(self) -> Document:
        """The rows as a document."""
        return Document((Section((self.as_table(),)),))

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


@dataclass(frozen=True, slots=True)
class TableOutcome(Plotted):
    """Utility beside risk, a preview and advice."""

    loss: float
    losses: dict[str, float]  # of each quasi-identifier; a suppressed row counts 1
    before: Reidentification
    after: Reidentification
    preview: Preview
    advice: Advice
    stamp: str = STAMP

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**dataclasses.asdict(self), "sentences": list(self.advice.sentences)}

    def pictures(self) -> tuple[Picture, ...]:
        """What each column lost, and how many look alike before and after: for the holder."""
        return loss_picture(self.losses), sizes_beside(self.before, self.after)

    def describe(self) -> Document:
        """Loss by column, risk before and after, the preview, the advice."""
        heads = ["", "classes", "average size", "highest risk", "average risk", f"above {percent(self.after.threshold)}"]
        risks = [
            [what, f"{risk.classes:,}", f"{risk.average_size:,.1f}", percent(risk.prosecutor_highest),
             percent(risk.prosecutor_average), percent(risk.prosecutor_at_risk)]
            for what, risk in (("before", self.before), ("after", self.after))
        ]  # fmt: skip
        losses = ", ".join(f"{name} {loss:.3f}" for name, loss in self.losses.items())
        blocks: list[Block] = [
            Sentence(f"Lost by column: {losses}; on average {self.loss:.3f}."),
            TextTable.of(heads, risks),
            self.preview.as_table(),
        ]
        blocks += [Sentence(sentence) for sentence in self.advice.sentences]
        return Document((Section(tuple(blocks), heading=f"What it loses and risks ({self.stamp})"),))

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def find_outcome(
    opened: OpenedTables, counted: CountedTable, result: SearchResult, planned: PublishedClasses, seconds: float
) -> TableOutcome:
    """The outcome of a search that took so many seconds; `planned` is what its output will hold."""
    return TableOutcome(
        loss=result.loss,
        losses=dict(zip(counted.names, result.losses, strict=True)),
        before=original_risk(counted.rows),
        after=published_risk(result, counted.rows),
        preview=preview_rows(tuple(counted.names), planned),
        advice=find_advice(opened, counted, result, seconds),
    )


def preview_rows(names: tuple[str, ...], planned: PublishedClasses, most: int = SHOWN) -> Preview:
    """Rows of different classes, as they come at even distances among all rows that are published, class by class."""
    class_of, sizes = planned.of, planned.sizes
    if not len(sizes):
        return Preview(names, (), ())
    ends = np.cumsum(sizes)
    chosen = np.unique(np.searchsorted(ends, (np.arange(most) + 0.5) * ends[-1] / most))
    others = np.setdiff1d(np.arange(len(sizes)), chosen)[: most - len(chosen)]  # few classes hold most rows
    chosen = np.sort(np.concatenate([chosen, others]))
    firsts = np.searchsorted(class_of, chosen)
    rows = []
    for at in firsts.tolist():
        texts = []
        for column, code in zip(planned.labels, planned.keyed.keys[at].tolist(), strict=False):
            assert column.leaves is not None
            texts.append(column.leaves[code] or "(blank)")
        rows.append(tuple(texts))
    return Preview(names, tuple(rows), tuple(sizes[chosen].tolist()))
