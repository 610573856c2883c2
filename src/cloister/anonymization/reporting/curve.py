"""Which k should I choose? What tables of several k would lose and risk, before any is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.anonymization.counting.count_request import count_tables, open_tables
from cloister.anonymization.reporting.class_risks import THRESHOLD, published_risk
from cloister.anonymization.searching.find_recoding import find_recoding
from cloister.errors import Unattainable, UsageError
from cloister.parameters import check_progress, check_whole
from cloister.report import notebook, plot, terminal
from cloister.report.document import Block, Chart, ChartAxis, Document, Section, Sentence, Series, TextTable
from cloister.report.numbers import percent
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted
from cloister.risks.measures import Reidentification
from cloister.risks.risk_report import STAMP

if TYPE_CHECKING:
    from cloister.anonymization.estimator import TopDownSpecialization

__all__ = ["KS", "Curve", "Point", "curve"]

KS = (2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Point:
    """What a table of one k would lose and risk."""

    k: int
    loss: float  # LM; a suppressed row counts 1
    suppressed: int
    risk: Reidentification


@dataclass(frozen=True, slots=True)
class Curve(Plotted):
    """Loss and risk by k.

    Privacy
    -------
    Exact numbers, for the holder. Choosing k by looking at them is a choice made from the rows, as k-anonymity is anyway.
    """

    scope: str
    rows: int
    threshold: float
    points: tuple[Point, ...]
    refused: tuple[int, ...] = ()  # each k that even the table as a whole does not hold
    stamp: str = STAMP
    people: int | None = None  # whose rows they are, where that is known: then sizes and risks are those of people

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return dataclasses.asdict(self)

    def describe(self) -> Document:
        """The curve as a document: a row for each k."""
        over = f"above {percent(self.threshold)}"
        heads = ["k", "loss (LM)", "classes", "average size", "suppressed", "highest risk", "average risk", over]
        rows = []
        for point in self.points:
            risk = point.risk
            rows.append(
                [f"{point.k}", f"{point.loss:.4f}", f"{risk.classes:,}", f"{risk.average_size:.1f}", f"{point.suppressed:,}",
                 percent(risk.prosecutor_highest), percent(risk.prosecutor_average), percent(risk.prosecutor_at_risk)]
            )  # fmt: skip
        one, many = ("row", "rows") if self.people is None else ("person", "people")
        whose = "" if self.people is None else f" of {self.people:,} people"
        sentences = [f"Not possible: k = {', '.join(map(str, self.refused))}."] if self.refused else []
        sentences += [
            f"Risk of a {one} in a class of f {many}: 1/f, for somebody who knows that the person is in the table.",
            f"Nothing was written. These numbers are {self.stamp}.",
        ]
        blocks: tuple[Block, ...] = (TextTable.of(heads, rows), *(Sentence(sentence) for sentence in sentences))
        return Document(
            (Section(blocks, heading=f"{self.scope} recoding of {self.rows:,} rows{whose}"),), title="Loss and risk by k"
        )

    def chart(self) -> Chart:
        """Loss and risk over k, to draw."""
        return Chart(
            title=f"Loss and risk, {self.scope} recoding",
            x=ChartAxis("k", is_log=True),
            points=tuple(point.k for point in self.points),
            left=ChartAxis("information loss (0 nothing, 1 everything)"),
            right=ChartAxis("probability of re-identification", is_log=True, format=percent),
            series=(
                Series("loss (LM)", tuple(point.loss for point in self.points)),
                Series("highest risk", tuple(point.risk.prosecutor_highest for point in self.points), is_right=True),
                Series("average risk", tuple(point.risk.prosecutor_average for point in self.points), is_right=True),
            ),
        )

    def pictures(self) -> tuple[Picture, ...]:
        """The same as a picture, for the holder."""
        return (Picture("Loss and risk by k", (self.chart(),), f"{self.scope} recoding".capitalize() + ".", True, across=1),)

    def draw(self, path: str | PathLike[str]) -> None:
        """Draw loss and risk over k, as PNG or SVG by the name of the file."""
        plot.draw(self.chart(), path)

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def curve(
    model: TopDownSpecialization,
    X: Any,
    ks: Sequence[int] = KS,
    *,
    threshold: float = THRESHOLD,
    progress: Callable[[str], None] = lambda _: None,
) -> Curve:
    """What the tables that a model would publish lose and risk, for several k; nothing is written.

    Parameters
    ----------
    model : TopDownSpecialization
        With all that is asked for; its own k plays no part.
    X : path, DataFrame, ...
    ks : sequence of int
    threshold : float
        From which probability on, exclusive, a row is at risk.

    Notes
    -----
    The passes over the table are those of `count_tables`; the searches run on the tuples.

    Privacy
    -------
    Holder-only. The ledger records it when the table has a name.
    """
    progress = check_progress(progress)
    asked = sorted({check_whole(k, "k", 2) for k in (ks if isinstance(ks, Iterable) else [ks])})
    if not asked:
        raise UsageError("name at least one k.")
    opened = open_tables(model.request(), X, "loss and risk by k")
    request = opened.request
    progress("counting")
    counted = count_tables(opened)
    points, refused = [], []
    for k in asked:
        progress(f"specializing, k = {k}")
        try:
            result = find_recoding(dataclasses.replace(request, k=k), counted)
        except Unattainable:
            refused.append(k)
            continue
        risk = published_risk(result, counted.rows, threshold)
        points.append(Point(k, result.loss, result.suppressed, risk))
    if not points:
        raise UsageError(f"even the table as a whole holds no k of {', '.join(map(str, refused))}. Ask for less.")
    people = None if counted.rows.persons is None else len(np.unique(counted.rows.persons))
    return Curve(request.scope, counted.rows.total, threshold, tuple(points), tuple(refused), people=people)
