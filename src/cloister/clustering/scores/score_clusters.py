"""Scoring released centres on a table: the walk through the holder's door to a report."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.inputs import read_to_label
from cloister.clustering.scores.agreement import count_agreement, f_of_counts, matched_of_counts, rand_of_counts
from cloister.clustering.scores.score_report import Score, ScoreReport
from cloister.column_names import missing_column
from cloister.encode import Codes
from cloister.errors import UsageError, by_door
from cloister.kernels import CenterSums, FitSums, Labels, Modes, PrototypeSums, Summary
from cloister.kernels.distinct_values import DistinctValues
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.vault import Holder, Vault

__all__ = ["Centers", "score_clusters"]

PURPOSE = "scores of clusters"
MOST_CLASSES = 1_000
READ_AS_CLUSTERED = (
    "Rows are read as they were clustered: numbers outside the bounds count as the bounds, missing ones and categories outside "
    "their domain as the defaults."
)


@dataclass(frozen=True, slots=True, eq=False)
class Centers:
    """Released centres: the public grid, their places on it, and their categories where they have some."""

    domain: Domain
    places: NDArray[np.int32]  # (k, d)
    modes: Modes | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """Where the true class of a row stands: in a column of the table, or in a list with one value a row."""

    column: str | None
    values: Any = None
    form: CellFormat = PLAIN

    @classmethod
    def of(cls, truth: Any, form: CellFormat = PLAIN) -> Truth | None:
        """What a user passed; None: no class is known."""
        if truth is None:
            return None
        return cls(truth, form=form) if isinstance(truth, str) else cls(None, truth)


def score_clusters(
    data: Any,
    centers: Centers,
    truth: Any = None,
    *,
    form: CellFormat = PLAIN,
    engine: Any = None,
    table: str | None = None,
    ledger: Any = None,
) -> ScoreReport:
    """Score centres on the rows of a table.

    Parameters
    ----------
    data : whatever `KMeans.predict` takes
    centers : Centers
        What is scored.
    truth : str or array (n,), optional
        The column that holds the true class (of rows that are lists: their last cell), or the class of each row.
    form : CellFormat
        How the cells of that column are written.
    engine, table, ledger
        Who reads the rows, and where it is recorded that their holder saw exact numbers.

    Privacy
    -------
    Holder-only: exact numbers, through the holder's door. The ledger records it before the first row is read.
    """
    domain, places, modes = centers.domain, centers.places, centers.modes
    known = Truth.of(truth, form)
    more = () if known is None or known.column is None or known.column in domain.columns else (known.column,)
    rows = read_to_label(data, (*domain.columns, *more), engine)
    holder = Vault.holding(rows, purpose=PURPOSE, engine=engine, table=table, ledger=ledger)
    if known is not None and known.column is not None and known.column not in holder.names:
        raise missing_column(known.column, holder.names, (*domain.columns, known.column))
    if known is not None and known.column is None and not holder.keeps_order:
        raise UsageError(
            f"{holder.engine_title} does not keep the order of rows. Name the column of the true classes instead."
        )
    holder.record()
    notes = [READ_AS_CLUSTERED]
    coder = None if known is None or known.column is None else class_codes(holder, known)
    classes = () if coder is None else (coder,)
    encoding = replace(domain.encoding, categories=(*domain.categories, *classes))
    with holder.folding(encoding) as fold:
        around = fold(sums_around_origin(domain, classes, modes)).value
        number = int(around["counts"][0])
        if not number:
            raise UsageError("the table has no row to score.")
        kernels = [
            FitSums(middles, domain.clip, domain.lengths(), 0 if coder is None else len(coder.domain), usual)
            for middles, usual in ((places, modes), one_cluster(domain, around, number, modes))
        ]
        fits = [(kernel, fold(kernel).value) for kernel in kernels]
    counts = None
    if coder is not None:
        counts = fits[0][1]["rows"]
        if missing := int(counts[coder.default].sum()):
            notes.append(f"{missing:,} rows have no class: they count as a class of their own.")
    elif known is not None:
        labels = holder.label(domain.encoding, Labels(places, domain.clip, modes).apply, "cluster").value
        counts = count_agreement(labels, known.values)
    return ScoreReport(
        rows=number,
        clusters=len(places),
        classes=0 if counts is None else int(counts.any(axis=1).sum()),
        unit=unit_of(domain),
        scores=(*agreement_scores(counts), *distance_scores(domain, number, fits)),
        notes=tuple(notes),
    )


def sums_around_origin(domain: Domain, classes: tuple[Codes, ...], modes: Modes | None) -> CenterSums | PrototypeSums:
    """Sums of the numbers of all rows and, where there are categories, how many rows hold each value."""
    origin = np.zeros((1, len(domain.halves)), dtype=np.int32)
    if modes is None:
        return CenterSums(origin, domain.clip)
    sizes = (*domain.sizes, *(len(codes.domain) for codes in classes))
    first = Modes(np.zeros((1, len(sizes)), dtype=np.int32), np.ones(1, dtype=np.int64))
    return PrototypeSums(origin, first, sizes, None, domain.clip)


def one_cluster(domain: Domain, around: Summary, rows: int, modes: Modes | None) -> tuple[NDArray[np.int32], Modes | None]:
    """The one centre of all rows: their mean, and the most frequent values with the mean gamma."""
    sums = around["sums"] if len(domain.halves) else np.zeros((1, 0))
    if modes is None:
        return domain.put(sums / rows), None
    values = np.split(around["values"][0, : sum(domain.sizes)], np.cumsum(domain.sizes)[:-1])
    codes = np.array([[counts.argmax() for counts in values]], dtype=np.int32)
    return domain.put(sums / rows), Modes(codes, np.array([round(modes.weights.mean())], dtype=np.int64))


def class_codes(holder: Holder, truth: Truth) -> Codes:
    """The different classes of a column, as codes; the last stands for rows without one."""
    assert truth.column is not None
    values = holder.distinct(DistinctValues((truth.column,), (MOST_CLASSES,), (truth.form,))).value
    if any(values["is_many"].to_pylist()):
        raise UsageError(
            f'column "{truth.column}" holds more than {MOST_CLASSES:,} different values: they are no classes. Name another '
            f"column with {by_door('truth', '--truth')}."
        )
    classes = tuple(sorted(set(values["text"].to_pylist())))
    return Codes(truth.column, (*classes, ""), default=len(classes), form=truth.form)


def agreement_scores(counts: NDArray[np.int64] | None) -> tuple[Score, ...]:
    """The scores against known classes, if there are some; counts are (classes, clusters)."""
    if counts is None:
        return ()
    together = counts.sum(axis=1, keepdims=True)
    measures = {
        "f_best_match": f_of_counts,
        "f_one_to_one": lambda some: f_of_counts(some, "one-to-one"),
        "matched_share": matched_of_counts,
        "adjusted_rand": rand_of_counts,
    }
    return tuple(Score(name, measure(counts), measure(together), True) for name, measure in measures.items())


def distance_scores(domain: Domain, rows: int, fits: list[tuple[FitSums, Summary]]) -> tuple[Score, ...]:
    """The scores by distance: of the clusters, and of one."""
    own_units = domain.lengths() ** 2
    of_each: list[dict[str, float]] = []
    for kernel, summary in fits:
        squares = kernel.column_squares(summary)
        total = sum(squares) * domain.unit**2
        if kernel.modes is not None:
            differing = summary["differing"].tolist()
            weighed = sum(map(operator.mul, differing, kernel.modes.weights.tolist())) * domain.unit**2
            parts = {"sse": total, "differing": float(sum(differing))} if squares else {}
            of_each.append({"mean_cost": (total + weighed) / rows, "mixed_cost": total + weighed, **parts})
            continue
        scores = {"nicv": total / rows, "sse": total}
        if not is_in_own_units(domain):
            scores["sse_own_units"] = float(np.dot(np.array(squares, dtype=np.float64), own_units))
        of_each.append({**scores, "sum_of_distances": float(summary["distances"][0]) * kernel.unit})
    clusters, one = of_each
    return tuple(Score(name, clusters[name], one[name], False) for name in clusters)


def unit_of(domain: Domain) -> str:
    """In what squared distances are."""
    if not len(domain.halves):
        return "differing categories"
    numbers = "squared units of the data" if is_in_own_units(domain) else "squared column widths"
    return f"{numbers}, plus gamma a differing category" if domain.sizes else numbers


def is_in_own_units(domain: Domain) -> bool:
    """Whether a grid step is as long in every column, and counts as it is, so that distances are in the data's own units."""
    return bool((domain.lengths() == domain.unit).all())
