"""Which k should I choose? What tables of several k would lose and risk, before any is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.anonymization.counting.domains import read_trees
from cloister.anonymization.counting.histogram import Histogram
from cloister.anonymization.request import read_request
from cloister.anonymization.searching.search import Found, search
from cloister.errors import UsageError
from cloister.risks import classes as measures
from cloister.risks.description import percent, ruled
from cloister.risks.measures import Reidentification, reidentification
from cloister.risks.risk_report import STAMP
from cloister.vault import Vault

if TYPE_CHECKING:
    from cloister.anonymization.estimator import TopDownSpecialization

__all__ = ["KS", "Curve", "Point", "curve", "drawable"]

KS = (2, 5, 10, 20, 50, 100)
FORMATS = (".png", ".svg")


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

    def __str__(self) -> str:
        over = f"above {percent(self.threshold)}"
        table = [["k", "loss (LM)", "classes", "average size", "suppressed", "highest risk", "average risk", over]]
        for point in self.points:
            risk = point.risk
            table.append(
                [f"{point.k}", f"{point.loss:.4f}", f"{risk.classes:,}", f"{risk.average_size:.1f}", f"{point.suppressed:,}",
                 percent(risk.prosecutor_highest), percent(risk.prosecutor_average), percent(risk.prosecutor_at_risk)]
            )  # fmt: skip
        lines = [f"{self.scope} recoding of {self.rows:,} rows", ruled(table)]
        if self.refused:
            lines.append(f"Not possible: k = {', '.join(map(str, self.refused))}.")
        lines.append("Risk: of a row in a class of f rows 1/f, for somebody who knows that the person is in the table.")
        return "\n".join([*lines, f"Nothing was written. These numbers are {self.stamp}."])

    def draw(self, path: str | PathLike[str]) -> None:
        """Draw loss and risk over k, as PNG or SVG by the name of the file."""
        drawable(path)
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter, NullLocator

        ks = [point.k for point in self.points]
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        left = figure.subplots()
        right = left.twinx()
        right.plot(ks, [p.risk.prosecutor_highest for p in self.points], "s--", color="tab:red", label="highest risk")
        right.plot(ks, [p.risk.prosecutor_average for p in self.points], "^:", color="tab:orange", label="average risk")
        left.plot(ks, [p.loss for p in self.points], "o-", color="tab:blue", label="loss (LM)")
        left.set_xscale("log")
        left.set(
            xlabel="k", ylabel="information loss (0 nothing, 1 everything)", title=f"Loss and risk, {self.scope} recoding"
        )
        left.set_xticks(ks, [str(k) for k in ks])
        left.xaxis.set_minor_locator(NullLocator())
        left.set_ylim(bottom=0)
        right.set(ylabel="probability of re-identification", yscale="log")
        right.yaxis.set_major_formatter(FuncFormatter(lambda share, _: percent(share)))
        lines = [*left.get_lines(), *right.get_lines()]
        figure.legend(lines, [str(line.get_label()) for line in lines], loc="outside lower center", ncols=3, frameon=False)
        left.grid(alpha=0.3)
        figure.savefig(path, dpi=120)


def drawable(path: str | PathLike[str]) -> None:
    """Refuse a picture that cannot be drawn, before a row is read."""
    if Path(path).suffix.lower() not in FORMATS:
        raise UsageError(f"a curve is drawn as {' or '.join(FORMATS)}. Name the file so.")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError("drawing a curve needs matplotlib. Install it: pip install 'cloister[plots]'.") from None


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
