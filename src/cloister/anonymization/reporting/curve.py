"""Which k should I choose? What tables of several k would lose and risk, before any is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.anonymization.counting.domains import read_trees
from cloister.anonymization.counting.histogram import Histogram
from cloister.anonymization.request import read_request
from cloister.anonymization.searching.search import Found, search
from cloister.errors import UsageError
from cloister.report import notebook, plot, terminal
from cloister.report.document import Block, Chart, ChartAxis, Document, Section, Sentence, Series, TextTable
from cloister.report.numbers import percent
from cloister.risks import classes as measures
from cloister.risks.measures import Reidentification, reidentification
from cloister.risks.risk_report import STAMP
from cloister.vault import Vault

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
class Curve:
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
        sentences = [f"Not possible: k = {', '.join(map(str, self.refused))}."] if self.refused else []
        sentences += [
            "Risk: of a row in a class of f rows 1/f, for somebody who knows that the person is in the table.",
            f"Nothing was written. These numbers are {self.stamp}.",
        ]
        blocks: tuple[Block, ...] = (TextTable.of(heads, rows), *(Sentence(sentence) for sentence in sentences))
        return Document(
            (Section(blocks, heading=f"{self.scope} recoding of {self.rows:,} rows"),), title="Loss and risk by k"
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
    threshold: float = 0.2,
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
    One keyed fold over the rows; the searches run on the histogram.

    Privacy
    -------
    Holder-only. The ledger records it when the table has a name.
    """
    from cloister.anonymization.estimator import count

    if not ks:
        raise UsageError("name at least one k.")
    request = read_request(model, "curve.parquet", None)
    table = Vault.holding(X, purpose="loss and risk by k", engine=model.engine, table=request.table, ledger=model.ledger)
    request = request.on(table.names)
    trees = read_trees(model.hierarchies, request.quasi, table.names, request.schema)
    people = None if model.population is None else Vault.holding(model.population, purpose="k-map", engine=model.engine)
    if people is not None:
        request.check_population(people.names)
    table.record()
    progress("counting")
    counted, _ = count(table, people, request, trees)
    points, refused = [], []
    for k in sorted(set(ks)):
        progress(f"specializing, k = {k}")
        try:
            found = search(dataclasses.replace(request, k=k), counted)
        except UsageError:
            refused.append(k)
            continue
        risk = reidentification(class_sizes(found, counted.rows), threshold=threshold)
        points.append(Point(k, found.loss, found.suppressed, risk))
    if not points:
        raise UsageError(f"even the table as a whole holds no k of {', '.join(map(str, refused))}. Ask for less.")
    return Curve(request.scope, counted.rows.total, threshold, tuple(points), tuple(refused))


def class_sizes(found: Found, rows: Histogram) -> Any:
    """The rows, or people, of each published class; suppressed rows that stay are one."""
    labels = found.labels
    kept = np.flatnonzero((rows.counts > 0) & ((labels >= 0) | found.is_starred))
    _, mine = np.unique(labels[kept], return_inverse=True)
    number = int(mine.max()) + 1
    if rows.persons is not None:
        return measures.distinct_persons(mine, number, rows.persons[kept])
    return measures.sizes(mine, number, rows.counts[kept])
