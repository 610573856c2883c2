"""A report of risk as a page that a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cloister.risks.measures import BINS

if TYPE_CHECKING:
    from cloister.risks.risk_report import RiskReport

__all__ = ["page", "percent", "ruled"]


def page(report: RiskReport) -> str:
    """The whole report, in lines of at most about a hundred characters."""
    parts = [_head(report), _risk(report), _sizes(report)]
    parts += [_sensitive(report)] if report.sensitive else []
    parts += [_combinations(report)] if report.combinations else []
    parts += [_loss(report)] if report.loss else []
    parts += [_tests(report)] if report.linkage or report.learning else []
    parts += ["\n".join(f"Note: {note}" for note in report.notes)] if report.notes else []
    return "\n\n".join([*parts, f"This page is {report.stamp}."])


def _head(report: RiskReport) -> str:
    risk = report.risk
    return (
        f"Risk of {risk.rows:,} {report.counted} for somebody who knows {', '.join(report.quasi)}\n"
        f"{_shared(report)} "
        f"{risk.classes:,} classes, {risk.average_size:.1f} {report.counted} on average, {risk.largest:,} in the largest.\n"
        f"{percent(risk.unique)} of the {report.counted} are alone with their values."
    )


def _shared(report: RiskReport) -> str:
    k = report.risk.k
    if k == 1:
        return "k = 1: nothing protects those who are alone with their values."
    return f"k = {k:,}: every combination of values is shared by at least {k:,} {report.counted}."


def _risk(report: RiskReport) -> str:
    risk = report.risk
    over = f"above {percent(risk.threshold)}"
    lines = [
        ("prosecutor", "knows that the person is in the table", risk.prosecutor_highest, risk.prosecutor_average,
         risk.prosecutor_at_risk, "1/f"),
        ("journalist", "knows only the population", risk.journalist_highest, risk.journalist_average,
         risk.journalist_at_risk, "1/F" if risk.population else "1/f: no population given"),
    ]  # fmt: skip
    table = [["who looks", "", "highest", "average", over, "risk of a row"]]
    table += [[who, what, percent(high), percent(mean), percent(share), how] for who, what, high, mean, share, how in lines]
    how = "sum f/F over rows" if risk.population else "classes over rows"
    table.append(["marketer", "wants as many as possible", "", percent(risk.marketer), "", how])
    told = f"f: {report.counted} of the table with the same values; F: people of the population with them."
    if risk.population is not None:
        told += (
            f"\nPopulation: {risk.population:,} people; k-map: at least {risk.k_map:,} of them share each class's values."
        )
    return f"{ruled(table)}\n{told}"


def _sizes(report: RiskReport) -> str:
    ends = {low: f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}" for low, high in pairwise(BINS)}
    ends[BINS[-1]] = f"{BINS[-1]:,} or more"
    table = [["size of class", "classes", report.counted, "share"]]
    for start, classes, rows in report.risk.sizes:
        table.append([ends[start], f"{classes:,}", f"{rows:,}", percent(rows / report.risk.rows)])
    return ruled(table)


def _sensitive(report: RiskReport) -> str:
    table = [["sensitive", "values", "l", "entropy l", "t", "t in order", "known for certain"]]
    for each in report.sensitive:
        ordered = "" if each.ordered_t is None else f"{each.ordered_t:.3f}"
        told = [str(each.l), f"{each.entropy_l:.2f}", f"{each.t:.3f}", ordered, percent(each.certain)]
        table.append([each.column, f"{each.values:,}", *told])
    return (
        f"{ruled(table)}\nl: fewest different values in a class; t: largest distance of a class's values to all rows';\n"
        "known for certain: rows in classes with one value alone, so that whoever finds the class knows it."
    )


def _combinations(report: RiskReport) -> str:
    table = [["columns that single out", "unique", "average risk"]]
    table += [[", ".join(c.columns), percent(c.unique), percent(c.average_risk)] for c in report.combinations]
    return ruled(table)


def _loss(report: RiskReport) -> str:
    loss = report.loss
    assert loss is not None
    table = [["column", "labels", "LM", "NCP", "entropy"]]
    table += [[c.column, f"{c.labels:,}", f"{c.lm:.4f}", f"{c.ncp:.4f}", f"{c.entropy:.4f}"] for c in loss.columns]
    table.append(["all", "", f"{loss.lm:.4f}", f"{loss.gcp:.4f}", f"{loss.entropy:.4f}"])
    return (
        f"What was lost against the original ({loss.original_rows:,} rows, {loss.removed:,} removed); 0 nothing, 1 everything\n"
        f"{ruled(table)}\n"
        "LM: leaves under the label; NCP: its width (their mean is GCP); entropy: bits it leaves open.\n"
        f"Discernibility {loss.discernibility:,}; average class {loss.average_class:.2f} times the smallest."
    )


def _tests(report: RiskReport) -> str:
    lines = []
    if report.linkage is not None:
        link = report.linkage
        error = f" (+- {percent(2 * link.standard_error)}, {link.tried:,} rows tried)" if link.standard_error else ""
        lines.append(
            f"Record linkage: {percent(link.linked)} of the rows are found again by their nearest published row{error}."
        )
    if report.learning is not None:
        found = report.learning
        lines.append(
            f"A classifier of {found.target}: {percent(found.accuracy)} right on this table, {percent(found.original)} on the "
            f"original, {percent(found.majority)} by the most frequent class."
        )
    return "\n".join(lines)


def percent(share: float) -> str:
    """A share for a person: enough digits to tell small ones from none.

    >>> percent(1), percent(0.2), percent(0.00012), percent(1e-9), percent(0)
    ('100%', '20%', '0.012%', '< 0.001%', '0%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 1e-5:
        return "< 0.001%"
    digits = 1 if share >= 0.01 else 3
    return f"{share * 100:.{digits}f}".rstrip("0").rstrip(".") + "%"


def ruled(table: Sequence[Sequence[str]]) -> str:
    """Lines of a table, the first one its head: words to the left, numbers to the right."""
    widths = [max(len(line[j]) for line in table) for j in range(len(table[0]))]
    is_left = [
        not any(cell[-1:].isdigit() or cell[-1:] == "%" for cell in column[1:]) for column in zip(*table, strict=True)
    ]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(cells, widths, is_left, strict=True)
        ]
        return "  ".join(aligned).rstrip()

    return "\n".join([line(table[0]), "  ".join("-" * width for width in widths), *(line(cells) for cells in table[1:])])
