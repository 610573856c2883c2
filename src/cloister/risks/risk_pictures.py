"""Pictures of risk and loss: how many share their values, who would be recognised, what each column lost. For the holder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from cloister.report.panels import BarPanel
from cloister.report.picture import MeasuredBars, Picture, PicturePanel
from cloister.risks.loss import InformationLoss
from cloister.risks.measures import BINS, Reidentification, SensitiveRisk
from cloister.risks.singling_out import Combination

__all__ = ["loss_picture", "risk_pictures", "size_words", "sizes_beside"]

MOST_BARS = 40
LONGEST_BESIDE = 24  # characters of the words of bars that have another panel beside them
LOST = "0%: values as they were, 100%: nothing left of them."


def risk_pictures(
    risk: Reidentification,
    counted: str,
    sensitive: Sequence[SensitiveRisk] = (),
    combinations: Sequence[Combination] = (),
    loss: InformationLoss | None = None,
) -> tuple[Picture, ...]:
    """What a report of risk looks like; `counted` says whether of rows or of people."""
    pictures = [Picture(f"Risk of {risk.rows:,} {counted}", (_sizes(risk, counted), _attacks(risk)), _legend(counted), True)]
    if combinations or any(each.certain for each in sensitive):
        pictures.append(_columns(sensitive, combinations, counted))
    if loss is not None:
        names = tuple(column.column for column in loss.columns)[:MOST_BARS]
        measures = (
            ("values under the label (LM)", tuple(column.lm for column in loss.columns)),
            ("bits left open (entropy)", tuple(column.entropy for column in loss.columns)),
        )
        panels = tuple(
            MeasuredBars(title, names, lost[:MOST_BARS], label="lost", is_share=True, least_end=1.0)
            for title, lost in measures
        )
        pictures.append(Picture("What each column lost", panels, LOST + _more(len(loss.columns)), True))
    return tuple(pictures)


def sizes_beside(before: Reidentification, after: Reidentification) -> Picture:
    """How many share their values before and after a table was generalised."""
    starts = sorted({start for risk in (before, after) for start, _, _ in risk.sizes})
    series = tuple(
        (name, tuple(_shares(risk).get(start, 0.0) for start in starts))
        for name, risk in (("original", before), ("release", after))
    )
    panel = BarPanel("", tuple(size_words(start) for start in starts), series)
    caption = (
        "The share of rows that have their values in common with so many rows, themselves included. Blue: the original. "
        "Orange: the release."
    )
    return Picture("How many look alike", (panel,), caption, True, across=1)


def loss_picture(losses: Mapping[str, float]) -> Picture:
    """What each column lost; the columns that lost the most where there are many."""
    order = sorted(losses, key=lambda name: -losses[name])[:MOST_BARS] if len(losses) > MOST_BARS else list(losses)
    values = tuple(losses[name] for name in order)
    panel = MeasuredBars("", tuple(order), values, label="lost", is_share=True, least_end=1.0)
    return Picture("What each column lost", (panel,), LOST + _more(len(losses)), True, across=1)


def size_words(start: int) -> str:
    """The range of class sizes that begins there.

    >>> size_words(1), size_words(5), size_words(1000)
    ('1', '5 to 9', '1,000 or more')
    """
    end = {low: high - 1 for low, high in pairwise(BINS)}.get(start)
    if end is None:
        return f"{start:,} or more"
    return f"{start:,}" if end == start else f"{start:,} to {end:,}"


def _shares(risk: Reidentification) -> dict[int, float]:
    return {start: members / risk.rows for start, _, members in risk.sizes}


def _sizes(risk: Reidentification, counted: str) -> MeasuredBars:
    shares = _shares(risk)
    words = tuple(size_words(start) for start in shares)
    title = "by how many look alike"
    return MeasuredBars(title, words, tuple(shares.values()), label=f"share of {counted}", is_share=True)


def _attacks(risk: Reidentification) -> MeasuredBars:
    bars = {
        "prosecutor, highest": risk.prosecutor_highest,
        "prosecutor, average": risk.prosecutor_average,
        "journalist, highest": risk.journalist_highest,
        "journalist, average": risk.journalist_average,
        "marketer": risk.marketer,
    }
    title = "who would be recognised"
    line = (risk.threshold, "threshold")
    return MeasuredBars(
        title, tuple(bars), tuple(bars.values()), label="probability", is_share=True, least_end=1.0, line=line
    )


def _legend(counted: str) -> str:
    return (
        f"Left: {counted} by how many {counted} of the table have the same values; few is risky. Right: a prosecutor knows that "
        "the person is in the table, a journalist only the population, a marketer wants as many as possible."
    )


def _columns(sensitive: Sequence[SensitiveRisk], combinations: Sequence[Combination], counted: str) -> Picture:
    panels: list[PicturePanel] = []
    across = 2
    if combinations:
        words = tuple(", ".join(each.columns) for each in combinations)[:MOST_BARS]
        across = 1 if max(map(len, words)) > LONGEST_BESIDE else 2
        shares = tuple(each.unique for each in combinations)[:MOST_BARS]
        panels.append(
            MeasuredBars("columns that single out", words, shares, label=f"{counted} that are alone", is_share=True)
        )
    if any(each.certain for each in sensitive):
        words = tuple(each.column for each in sensitive)[:MOST_BARS]
        shares = tuple(each.certain for each in sensitive)[:MOST_BARS]
        label = f"{counted} whose value is known for certain"
        panels.append(MeasuredBars("sensitive columns", words, shares, label=label, is_share=True, least_end=1.0))
    return Picture("Which columns give people away", tuple(panels), for_holder=True, across=across)


def _more(columns: int) -> str:
    return f" {MOST_BARS} of {columns:,} columns." if columns > MOST_BARS else ""
