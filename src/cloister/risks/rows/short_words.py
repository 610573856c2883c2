"""The page on rows in a few sentences, for whoever reads no table."""

from __future__ import annotations

from collections.abc import Sequence

from cloister.report.document import Section, Sentence
from cloister.report.numbers import percent
from cloister.risks.rows.impossible_rows import ImpossibleRows
from cloister.risks.rows.kept_shares import KeptShares

__all__ = ["describe_in_short"]

MANY_TIMES, FEW = 3, 0.01  # impossible rows are many where they are so many times what is natural, and above this share
FAR_OFF = 0.1  # a pair of columns of which so many rows would have to change


def describe_in_short(
    shares: KeptShares,
    impossible: ImpossibleRows | None,
    control: KeptShares | None,
    usual: ImpossibleRows | None,
    beyond: Sequence[str] | None,
) -> Section:
    """What the figures come to; `beyond`: those of nearness that are beyond chance, None without a control."""
    beside = "" if control is None else f" (other rows of the same kind: {percent(control.column_mean)})"
    sentences = [f"Single columns are off by {percent(shares.column_mean)} of the rows on average{beside}."]
    if shares.pair_mean is not None:
        beside = "" if control is None or control.pair_mean is None else f" (others: {percent(control.pair_mean)})"
        worst = shares.worst_pairs[0]
        far = f"; most in {' x '.join(worst.columns)}, {percent(worst.variation)}" if worst.variation > FAR_OFF else ""
        sentences.append(f"Pairs of columns are off by {percent(shares.pair_mean)} on average{beside}{far}.")
    if impossible is not None:
        natural = impossible.natural if usual is None else usual.share
        if impossible.share > max(FEW, MANY_TIMES * natural):
            sentences.append(
                f"{percent(impossible.share)} of the rows hold words together that hardly ever meet in the original "
                f"({percent(natural)} would be usual): do not ask these rows about such columns together."
            )
    if beyond is None:
        sentences.append("Whether somebody stands out is not known: that needs rows that were not in the table (a control).")
    elif beyond:
        sentences.append(f"Nearer to people in the table than chance explains: {', '.join(beyond)}.")
    else:
        sentences.append("By distance nobody in the table stands out.")
    return Section(tuple(map(Sentence, sentences)), heading="In short")
