"""What a release of rows gives away, in words: figures beside those of rows that were not in the table, and a verdict on each.

Some made-up rows are near to somebody, and linked with them, by chance. A share by itself would be read as an alarm, so where
rows are made up, or may be, none is shown without a control.
"""

from __future__ import annotations

from collections.abc import Sequence

from cloister.errors import by_door
from cloister.report.document import Section, Sentence, TextTable
from cloister.report.numbers import percent
from cloister.risks.rows.closest_records import FAR, RecordDistances
from cloister.risks.rows.excess_nearness import ExcessNearness, is_chance
from cloister.risks.rows.row_linkage import LinkageBesideControl, RowLinkage

__all__ = ["describe_nearness"]

HEADING = "What it gives away"


def describe_nearness(
    linkage: RowLinkage,
    near: RecordDistances,
    control: RecordDistances | None,
    excess: ExcessNearness | None,
    *,
    origin: str,
    averaged: Sequence[str] | None,
    has_groups: bool,
) -> Section:
    """Linkage and distances; `has_groups`: released rows are equal often enough to be groups."""
    blocks: list[Sentence | TextTable] = []
    if origin != "not known" or has_groups:
        blocks.append(Sentence(_group_words(linkage, origin, averaged)))
    if control is not None and excess is not None and linkage.beside_control is not None:
        blocks = [*_verdicts(linkage.beside_control, near, control, excess), *blocks]
    elif origin == "averaged":
        blocks = [_alone(linkage, near), *blocks]
    else:
        flag = by_door("control=ROWS", "--control FILE")
        blocks.append(
            Sentence(
                f"{percent(near.unchanged)} of the original rows stand in the release as they are: many, unless few columns have "
                "few values, are no accident. Whether it comes too near to anybody else needs rows that were not in the table: "
                f"{flag}. Without them some rows are near, and linked, by chance, and nothing tells how many."
            )
        )
    return Section(tuple(blocks), heading=HEADING)


def _verdicts(
    linkage: LinkageBesideControl, near: RecordDistances, control: RecordDistances, excess: ExcessNearness
) -> list[Sentence | TextTable]:
    """Every figure of rows in the table beside that of rows that were not."""
    judged = [
        (
            "nearest-record linkage",
            percent(linkage.original),
            percent(linkage.control),
            linkage.excess,
            linkage.excess_error,
        ),
        ("unchanged rows", percent(near.unchanged), percent(control.unchanged), *_pair(excess, "unchanged")),
        (
            "distance to the nearest, 5%",
            f"{near.distance_low:.4f}",
            f"{control.distance_low:.4f}",
            *_pair(excess, "nearest"),
        ),
        (f"ratio to the {FAR}th nearest, 5%", f"{near.ratio_low:.3f}", f"{control.ratio_low:.3f}", *_pair(excess, "ratio")),
    ]
    lines = [(name, one, other, verdict(points, error)) for name, one, other, points, error in judged]
    lines.insert(3, ("  median", f"{near.distance_median:.4f}", f"{control.distance_median:.4f}", ""))
    lines.append(("  median", f"{near.ratio_median:.3f}", f"{control.ratio_median:.3f}", ""))
    leaks = [
        name.removesuffix(", 5%") for name, _, _, points, error in judged if points > 0 and not is_chance(points, error)
    ]
    summary = (
        f"Beyond chance: {', '.join(leaks)}. By distance, people in the table can be told from others to that extent."
        if leaks
        else "By distance, people in the table are not told from others here. That is no proof: a private release is private by "
        "its certificate."
    )
    return [
        TextTable.of(("figure", "rows in the table", "control", "verdict"), lines, align="left"),
        Sentence(summary),
        Sentence(
            f"Linkage: rows that are their nearest released row's nearest, among {linkage.rows:,} rows of each table. Points: "
            "how many more rows in a hundred are linked, unchanged, or as near (as small in ratio) as the nearest 5% of the "
            "control; within chance up to 2 standard errors. One small excess of several may be an accident, and one below 0 "
            "gives nobody away."
        ),
    ]


def _pair(excess: ExcessNearness, name: str) -> tuple[float, float]:
    each = getattr(excess, name)
    return each.excess, each.error


def verdict(excess: float, error: float) -> str:
    """Whether a share is that of rows that were not in the table.

    >>> verdict(0.021, 0.005), verdict(-0.004, 0.005), verdict(-0.021, 0.005)
    ('beyond chance: +2.1 points', 'within chance', 'no excess')
    """
    if is_chance(excess, error):
        return "within chance"
    if excess < 0:
        return "no excess"
    points = 100 * excess
    return f"beyond chance: {points:+.1f} points" if abs(points) >= 0.1 else f"beyond chance: {points:+.2g} points"


def _alone(linkage: RowLinkage, near: RecordDistances) -> TextTable:
    """The figures of averaged rows without a control."""
    words = f"rows that are their nearest row's nearest; a blind guess {percent(linkage.by_chance)}; low is safe"
    lines = [
        ("nearest-record linkage", _share(linkage.nearest, linkage.nearest_error), words),
        ("unchanged rows", _share(near.unchanged, near.unchanged_error), "stand in the release as they are; low is safe"),
        ("distance to the nearest, 5%", f"{near.distance_low:.4f}", "one row in twenty is nearer; high is safe"),
        ("  median", f"{near.distance_median:.4f}", ""),
        (f"ratio to the {FAR}th nearest, 5%", f"{near.ratio_low:.3f}", "near 0: one record stands out; high is safe"),
        ("  median", f"{near.ratio_median:.3f}", ""),
    ]
    return TextTable.of(("figure", "release", "read it so"), lines, align="left")


def _group_words(linkage: RowLinkage, origin: str, averaged: Sequence[str] | None) -> str:
    """The record linkage of microaggregation, where rows can have groups."""
    if origin == "made up":
        return (
            "The rows are made up, as the certificate beside them says (who signed it is not asked here): none of them is "
            "anybody's, so there is no group linkage."
        )
    if linkage.group is None or linkage.group_error is None:
        return "There is no group linkage: none of the averaged columns is compared, or people have several rows."
    over = "" if averaged is None else f" by {', '.join(averaged)}"
    words = (
        f"Group linkage: at most {_share(linkage.group, linkage.group_error)}: who takes one of the equal rows that are nearest "
        f"to somebody{over} for theirs is right so often. Groups of k rows give at most 1/k."
    )
    if origin == "not known":
        return words + " That is for rows that were averaged; if they were made up, no row is anybody's."
    return words + " Here rows belong to their nearest record; SSE by group is in the summary of the publication itself."


def _share(value: float, error: float) -> str:
    return percent(value) + (f" +- {percent(error)}" if error else "")
