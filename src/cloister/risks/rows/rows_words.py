"""The comparison of rows as a page that a person reads: every figure with what it means and which way is good."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cloister.report.document import Section, Sentence, TextTable
from cloister.report.numbers import percent
from cloister.risks.rows.closest_records import FAR
from cloister.risks.rows.impossible_rows import ImpossibleRows
from cloister.risks.rows.kept_means import KeptMeans
from cloister.risks.rows.kept_shares import KeptShares, Variation
from cloister.risks.rows.kept_ties import KeptTies
from cloister.risks.rows.row_error import SquaredError
from cloister.risks.rows.trained_models import TrainedModels

__all__ = ["FORMULAS", "describe_error", "describe_models", "describe_rows", "describe_usefulness", "plus_minus"]

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
    "excess": "share of original rows minus that of control rows; within chance up to 2 standard errors of the difference",
    "impossible": "share of rows with values of two columns of words that no original row has together, or fewer than one in "
    "10,000; natural: share of original rows of which that would be so without them",
    "means": "difference of the means of a number column, in standard deviations of the original",
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
    shares: KeptShares,
    correlations: KeptTies | None,
    cramers_v: KeptTies | None,
    impossible: ImpossibleRows | None,
    control: KeptShares | None,
    control_impossible: ImpossibleRows | None,
    means: KeptMeans | None = None,
) -> Section:
    """What the release still says."""
    lines = [*_share_lines(shares, control), *_mean_lines(means), *_tie_lines(correlations, cramers_v)]
    if impossible is not None:
        lines += _impossible_lines(impossible, control_impossible)
    heads = ("figure", "release", *([] if control is None else ["control"]), "read it so")
    shown = [(name, value, *([] if control is None else [other]), words) for name, value, other, words in lines]
    blocks: list[Sentence | TextTable] = [TextTable.of(heads, shown, align="left")]
    if len(shares.worst_pairs) > 1:
        worst = "; ".join(f"{_columns(each)} {percent(each.variation)}" for each in shares.worst_pairs)
        blocks.append(Sentence(f"Pairs of columns that are off most: {worst}."))
    if control is not None:
        blocks.append(
            Sentence("The control shows what other rows of the same kind differ by: no release needs to be nearer.")
        )
    return Section(tuple(blocks), heading="What it still says")


Line = tuple[str, str, str, str]  # figure, release, control, how to read it


def _share_lines(shares: KeptShares, control: KeptShares | None) -> list[Line]:
    """Columns and pairs, as the share of rows that would have to change."""
    others = {} if control is None else {each.columns: each.variation for each in (*control.columns, *control.pairs)}

    def worst(each: Variation) -> Line:
        other = percent(others[each.columns]) if each.columns in others else ""
        return ("  at most", percent(each.variation), other, _columns(each))

    mean = "" if control is None else percent(control.column_mean)
    words = "of the rows would have to change, in one column"
    lines = [("columns off by, on average", percent(shares.column_mean), mean, words), worst(shares.worst_column)]
    if shares.pair_mean is not None:
        mean = "" if control is None or control.pair_mean is None else percent(control.pair_mean)
        words = "of the rows would have to change, in two columns together"
        lines += [("pairs off by, on average", percent(shares.pair_mean), mean, words), worst(shares.worst_pairs[0])]
    return lines


def _mean_lines(means: KeptMeans | None) -> list[Line]:
    """Means of numbers."""
    if means is None:
        return []
    before, after = (
        str(np.datetime64(round(mean), "D")) if means.is_date else f"{mean:,.6g}"
        for mean in (means.original, means.released)
    )
    words = f"{means.worst}: {before} in the original, {after} here"
    return [
        ("means of numbers differ by", f"{means.mean:.3f}", "", f"deviations, on average over {means.columns}; 0: kept"),
        ("  at most", f"{means.largest:.3f}", "", words),
    ]


def _tie_lines(correlations: KeptTies | None, cramers_v: KeptTies | None) -> list[Line]:
    """How columns go together."""
    lines: list[Line] = []
    for name, what, ties in (
        ("how numbers go together (correlation) differs by", "numbers", correlations),
        ("how words go together (Cramer's V) differs by", "words", cramers_v),
    ):
        if ties is not None:
            pairs = f"{ties.pairs} pair{'s' if ties.pairs > 1 else ''} of columns of {what}"
            lines.append((name, f"{ties.mean:.3f}", "", f"on average over {pairs}; 0: kept, 1: lost"))
            lines.append(("  at most", f"{ties.largest:.3f}", "", _from_to(ties.worst, ties.original, ties.released)))
    if cramers_v is not None and cramers_v.lost is not None:
        lost = cramers_v.lost
        is_worst = lost.columns == cramers_v.worst
        which = "the same pair" if is_worst else _from_to(lost.columns, lost.original, lost.released)
        words = f"{which} (of {lost.pairs} that go together strongly)"
        lines.append(("  strong pair that lost most", f"{max(0.0, lost.original - lost.released):.3f}", "", words))
    return lines


def _impossible_lines(impossible: ImpossibleRows, control: ImpossibleRows | None) -> list[Line]:
    words = "hold two words together that no original row has, or fewer than one in 10,000"
    if control is None:
        words += f"; {percent(impossible.natural)} would be natural"
    lines = [("impossible rows", percent(impossible.share), "" if control is None else percent(control.share), words)]
    if impossible.share > 0:
        lines.append(("  most of them in", percent(impossible.worst_share), "", " x ".join(impossible.worst)))
    return lines


def describe_error(error: SquaredError) -> Section:
    """The squared error, which is no measure of how good made-up rows are."""
    lines = [
        (
            "SSE by nearest record",
            plus_minus(error.sse, error.sse_error),
            "squared distances added up; 0: every row is there",
        ),
        (
            "SSE / SST",
            "-" if error.ratio is None else f"{error.ratio:.4f}",
            "0: every row is there; 1: no nearer than one record for all",
        ),
    ]
    words = (
        "The measure of papers on microaggregation, for averaged rows. It says little about made-up rows: where there are many "
        "different ones, some are always near, good or bad."
    )
    return Section((TextTable.of(HEADS, lines, align="left"), Sentence(words)), heading="Squared distances to the original")


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


def _columns(each: Variation) -> str:
    return " x ".join(each.columns)


def _from_to(columns: Sequence[str], original: float, released: float) -> str:
    return f"{' x '.join(columns)}: {original:.2f} in the original, {released:.2f} here"


def plus_minus(value: float, error: float) -> str:
    """A figure with its standard error, where it has one."""
    return f"{value:,.1f}" + (f" +- {error:,.1f}" if error else "")
