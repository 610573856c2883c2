"""The comparison of rows as a page that a person reads: every figure with what it means and which way is good."""

from __future__ import annotations

from collections.abc import Sequence

from cloister.report.document import Section, Sentence, TextTable
from cloister.report.numbers import percent
from cloister.risks.rows.closest_records import FAR, RecordDistances
from cloister.risks.rows.kept_shares import KeptShares, Variation
from cloister.risks.rows.kept_ties import KeptTies
from cloister.risks.rows.row_error import SquaredError
from cloister.risks.rows.row_linkage import RowLinkage
from cloister.risks.rows.trained_models import TrainedModels

__all__ = ["FORMULAS", "describe_models", "describe_privacy", "describe_rows", "describe_usefulness"]

FORMULAS = {
    "distance": "square root of: for each number or date ((a - b) / width)^2, for each other column 0 if equal else 1; a blank "
    "is 1 from every number and equal to a blank",
    "sse": "sum over original rows of the squared distance to the nearest released record",
    "sst": "sum over original rows of the squared distance to the means of numbers and the most frequent words",
    "group_linkage": "mean over original rows of 1 / released rows at the smallest distance: at most the record linkage of "
    "microaggregation, which counts 0 for a row that was averaged into another record",
    "nearest_linkage": "mean over original rows of 1 / max(|G|, |H|), G the released rows nearest to the row, H the original "
    "rows nearest to what is picked of G; 0 where the row is not in H",
    "unchanged": "share of original rows that stand in the release as they are",
    "ratio": f"distance to the nearest released record over that to the {FAR}th nearest different record",
    "variation": "half the sum over values, or pairs of values, of the absolute difference of shares of rows",
}
HEADS = ("figure", "release", "read it so")


def describe_rows(
    rows: int, released: int, records: int, tried: int, columns: Sequence[str], not_compared: Sequence[str]
) -> Section:
    """What was compared."""
    drawn = (
        f"Distances are those of {tried:,} original rows, drawn at random, to all released rows; +- is the standard error."
        if tried < rows
        else "Distances are those of all original rows to all released rows."
    )
    blocks = [
        Sentence(f"{rows:,} original rows, {released:,} released rows ({records:,} different), {len(columns)} columns."),
        Sentence(
            f"{drawn} A distance of 1 is one differing word, or a number that is off by the whole width of its column."
        ),
    ]
    if not_compared:
        blocks.append(Sentence(f"Not compared: {', '.join(not_compared)}."))
    return Section(tuple(blocks), heading="Rows of a release beside their original")


def describe_usefulness(
    error: SquaredError,
    shares: KeptShares,
    correlations: KeptTies | None,
    cramers_v: KeptTies | None,
    control: KeptShares | None,
) -> Section:
    """What the release still says."""
    lines = [
        (
            "SSE by nearest record",
            _plus_minus(error.sse, error.sse_error),
            "squared distances added up; 0: every row is still there",
        ),
        (
            "SSE / SST",
            "-" if error.ratio is None else f"{error.ratio:.4f}",
            "0: as the original; 1: no better than one record for all",
        ),
        ("columns kept, mean TV", f"{shares.column_mean:.4f}", "share of rows that would have to change; 0: kept, 1: lost"),
        ("  worst column", _variation(shares.worst_column), ""),
    ]
    if shares.pair_mean is not None:
        lines.append(("pairs kept, mean TV", f"{shares.pair_mean:.4f}", "the same for two columns together"))
        lines.append(("  worst pair", _variation(shares.worst_pairs[0]), ""))
    if control is not None and control.pair_mean is not None:
        lines.append(
            (
                "  pairs of the control",
                f"{control.pair_mean:.4f}",
                "what other rows of the same kind differ by: none needs be nearer",
            )
        )
    for name, ties in (("correlations differ by", correlations), ("Cramer's V differs by", cramers_v)):
        if ties is not None:
            lines.append((name, f"{ties.mean:.3f}", f"mean of {ties.pairs} pairs; 0: kept"))
            shown = f"{' x '.join(ties.worst)}: {ties.original:.2f} is {ties.released:.2f}"
            lines.append(("  at most", f"{ties.largest:.3f}", shown))
    blocks: list[Sentence | TextTable] = [TextTable.of(HEADS, lines, align="left")]
    if len(shares.worst_pairs) > 1:
        blocks.append(Sentence(f"Pairs kept worst: {'; '.join(map(_variation, shares.worst_pairs))}."))
    return Section(tuple(blocks), heading="What it still says")


def describe_models(models: TrainedModels) -> Section:
    """What classifiers learn."""
    lines = [
        ("trained on the release", percent(models.released), "nearer to the next line is better"),
        ("trained on the original", percent(models.original), "what can be learned"),
        ("most frequent class", percent(models.majority), "what is known without any row"),
    ]
    tested = (
        f"Tested on {models.tested:,} rows of the control, which neither table holds."
        if models.is_control
        else f"Tested on {models.tested:,} original rows which the second model did not see. The release was made of all rows, "
        "so it may have seen them: a control file (rows that were not in the table) is the fairer test."
    )
    return Section(
        (TextTable.of(HEADS, lines, align="left"), Sentence(tested)), heading=f"How often a classifier finds {models.target}"
    )


def describe_privacy(linkage: RowLinkage, near: RecordDistances, control: RecordDistances | None, origin: str) -> Section:
    """What the release gives away."""
    heads = ("figure", "release", *([] if control is None else ["control"]), "read it so")
    lines: list[tuple[str, str, str, str]] = []
    if linkage.group is None or linkage.group_error is None:
        lines.append(("group linkage", "n/a", "", "released rows are made up: none of them is anybody's"))
    else:
        words = "who takes one of the nearest equal rows for somebody's is right so often; low is safe"
        name = "group linkage, at most" if origin == "averaged" else "group linkage, if averaged"
        lines.append((name, _share(linkage.group, linkage.group_error), "", words))
    words = f"rows that are their nearest row's nearest; a blind guess {percent(linkage.by_chance)}; low is safe"
    lines.append(("nearest-record linkage", _share(linkage.nearest, linkage.nearest_error), "", words))
    beside = linkage.beside_control
    if beside is not None:
        words = f"among {beside.rows:,} rows of each"
        lines.append(("  beside control", percent(beside.original), percent(beside.control), words))
        excess = f"{100 * beside.excess:+.2f} +- {100 * beside.excess_error:.2f} points"
        lines.append(("  excess", excess, "", "what being in the table adds: near 0 is safe"))

    def line(name: str, words: str, low: float, other: float | None, shown: str) -> None:
        lines.append((name, format(low, shown), "" if other is None else format(other, shown), words))

    beside_words = "as the control is safe" if control is not None else "high is safe"
    unchanged = "" if control is None else percent(control.unchanged)
    lines.append(
        (
            "unchanged rows",
            _share(near.unchanged, near.unchanged_error),
            unchanged,
            "stand in the release as they are; low is safe",
        )
    )
    line(
        "distance to the nearest, 5%",
        f"one row in twenty is nearer; {beside_words}",
        near.distance_low,
        None if control is None else control.distance_low,
        ".4f",
    )
    line("  median", "", near.distance_median, None if control is None else control.distance_median, ".4f")
    line(
        f"ratio to the {FAR}th nearest, 5%",
        f"near 0: one record stands out; {beside_words}",
        near.ratio_low,
        None if control is None else control.ratio_low,
        ".3f",
    )
    line("  median", "", near.ratio_median, None if control is None else control.ratio_median, ".3f")
    shown = [(name, value, *([] if control is None else [other]), words) for name, value, other, words in lines]
    return Section((TextTable.of(heads, shown, align="left"), *_caution(linkage, origin)), heading="What it gives away")


def _caution(linkage: RowLinkage, origin: str) -> list[Sentence]:
    """What the figures on linkage do not say."""
    words = []
    if linkage.beside_control is None and origin != "averaged":
        words.append(
            "Of made-up rows some are linked by chance, and near to somebody without saying anything about them: give rows that "
            "were not in the table (a control) and look at the excess."
        )
    if linkage.group is not None and origin == "not known":
        words.append("Group linkage holds for rows that were averaged. If they were made up, no row is anybody's.")
    if origin == "averaged":
        words.append("Here rows belong to their nearest record. SSE by group is in the summary of the publication itself.")
    return [Sentence(" ".join(words))] if words else []


def _variation(each: Variation) -> str:
    return f"{' x '.join(each.columns)} {each.variation:.4f}"


def _plus_minus(value: float, error: float) -> str:
    return f"{value:,.1f}" + (f" +- {error:,.1f}" if error else "")


def _share(value: float, error: float) -> str:
    return percent(value) + (f" +- {percent(error)}" if error else "")
