"""Measures of risk and loss as sections of a document that a person reads, one function a section."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cloister.report.document import Section, Sentence, TextTable
from cloister.report.numbers import percent
from cloister.risks.learning import Learning
from cloister.risks.linkage import Linkage
from cloister.risks.loss import InformationLoss
from cloister.risks.measures import BINS, Reidentification, SensitiveRisk
from cloister.risks.singling_out import Combination

__all__ = [
    "describe_attacks",
    "describe_attempts",
    "describe_classes",
    "describe_combinations",
    "describe_loss",
    "describe_sensitive",
    "describe_sizes",
]


def describe_classes(risk: Reidentification, quasi: Sequence[str], counted: str) -> Section:
    """How many rows or people share their values; `counted` says which of the two."""
    if risk.k == 1:
        shared = "k = 1: nothing protects those who are alone with their values."
    else:
        shared = f"k = {risk.k:,}: every combination of values is shared by at least {risk.k:,} {counted}."
    classes = f"{risk.classes:,} classes, {risk.average_size:.1f} {counted} on average, {risk.largest:,} in the largest."
    return Section(
        (
            Sentence(f"{shared} {classes}"),
            Sentence(f"{percent(risk.unique)} of the {counted} are alone with their values."),
        ),
        heading=f"Risk of {risk.rows:,} {counted} for somebody who knows {', '.join(quasi)}",
    )


def describe_attacks(risk: Reidentification, counted: str) -> Section:
    """The risk from a prosecutor, a journalist and a marketer."""
    whom = "a person" if counted == "people" else "a row"
    heads = ["who looks", "", "highest", "average", f"above {percent(risk.threshold)}", f"risk of {whom}"]
    prosecutor = (risk.prosecutor_highest, risk.prosecutor_average, risk.prosecutor_at_risk)
    journalist = (risk.journalist_highest, risk.journalist_average, risk.journalist_at_risk)
    rows = [
        ["prosecutor", "knows that the person is in the table", *map(percent, prosecutor), "1/f"],
        ["journalist", "knows only the population", *map(percent, journalist),
         "1/F" if risk.population else "1/f: no population given"],
        ["marketer", "wants as many as possible", "", percent(risk.marketer), "",
         "1/F" if risk.population else "1/f"],
    ]  # fmt: skip
    legend = [Sentence(f"f: {counted} of the table with the same values; F: people of the population with them.")]
    if counted == "people":
        legend.append(
            Sentence("Somebody whose rows differ is in several classes, and counts once: at the smallest f and F.")
        )
    if risk.population is not None:
        legend.append(
            Sentence(
                f"Population: {risk.population:,} people; k-map: at least {risk.k_map:,} of them share each class's values."
            )
        )
    return Section((TextTable.of(heads, rows), *legend))


def describe_sizes(risk: Reidentification, counted: str) -> Section:
    """How many classes there are of each size."""
    ranges = {low: f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}" for low, high in pairwise(BINS)}
    ranges[BINS[-1]] = f"{BINS[-1]:,} or more"
    rows = [
        [ranges[start], f"{classes:,}", f"{members:,}", percent(members / risk.rows)]
        for start, classes, members in risk.sizes
    ]
    return Section((TextTable.of(["size of class", "classes", counted, "share"], rows),))


def describe_sensitive(risks: Sequence[SensitiveRisk], counted: str) -> Section:
    """What a class gives away about sensitive columns."""
    if counted == "people":
        diversity = "l: how many values one must name at least to name one of everybody's in a class, blanks aside;"
    else:
        diversity = "l: fewest different values in a class, blanks aside;"
    heads = ["sensitive", "values", "l", "entropy l", "t", "t in order", "known for certain"]
    rows = [
        [each.column, f"{each.values:,}", str(each.l), f"{each.entropy_l:.2f}", f"{each.t:.3f}",
         "" if each.ordered_t is None else f"{each.ordered_t:.3f}", percent(each.certain)]
        for each in risks
    ]  # fmt: skip
    return Section(
        (
            TextTable.of(heads, rows),
            Sentence(f"{diversity} t: largest distance of a class's values to those of all {counted};"),
            Sentence(
                f"known for certain: {counted} in classes in which everybody has a value in common, so that whoever finds the "
                "class knows it."
            ),
        )
    )


def describe_combinations(combinations: Sequence[Combination]) -> Section:
    """Which columns single people out."""
    rows = [[", ".join(each.columns), percent(each.unique), percent(each.average_risk)] for each in combinations]
    return Section((TextTable.of(["columns that single out", "unique", "average risk"], rows),))


def describe_loss(loss: InformationLoss) -> Section:
    """What the table no longer says."""
    rows = [[c.column, f"{c.labels:,}", f"{c.lm:.4f}", f"{c.ncp:.4f}", f"{c.entropy:.4f}"] for c in loss.columns]
    rows.append(["all", "", f"{loss.lm:.4f}", f"{loss.gcp:.4f}", f"{loss.entropy:.4f}"])
    return Section(
        (
            TextTable.of(["column", "labels", "LM", "NCP", "entropy"], rows),
            Sentence("LM: leaves under the label; NCP: its width (their mean is GCP); entropy: bits it leaves open."),
            Sentence(f"Discernibility {loss.discernibility:,}; average class {loss.average_class:.2f} times the smallest."),
        ),
        heading=f"What was lost against the original ({loss.original_rows:,} rows, {loss.removed:,} removed); "
        "0 nothing, 1 everything",
    )


def describe_attempts(linkage: Linkage | None, learning: Learning | None) -> Section:
    """What came of the attempts to find rows again and to learn a class."""
    sentences = []
    if linkage is not None:
        error = (
            f" (+- {percent(2 * linkage.standard_error)}, {linkage.tried:,} rows tried)" if linkage.standard_error else ""
        )
        sentences.append(
            Sentence(
                f"Record linkage: {percent(linkage.linked)} of the rows are found again by their nearest published "
                f"row{error}."
            )
        )
    if learning is not None:
        sentences.append(
            Sentence(
                f"A classifier of {learning.target}: {percent(learning.accuracy)} right on this table, "
                f"{percent(learning.original)} on the original, {percent(learning.majority)} by the most frequent class."
            )
        )
    return Section(tuple(sentences))
