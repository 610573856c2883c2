"""What each kind of release is, in words: what it holds, and what it does not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cloister.privacy.guarantees import Local, Syntactic
from cloister.privacy.release import Release

__all__ = ["ReleaseKind", "kind_of", "title_of"]

NO_ROWS = "No row of the table, no exact count and no exact sum."


@dataclass(frozen=True, slots=True)
class ReleaseKind:
    """A kind of release, for somebody who has not seen one.

    Attributes
    ----------
    title
        The heading of a report, before the name of the table.
    holds
        What was released, in one or two sentences.
    leaves_out
        What was not released, a sentence each.
    """

    title: str
    holds: str
    leaves_out: tuple[str, ...]


CLUSTERS = ReleaseKind(
    "Private clusters",
    "For each cluster its centre (one value a column) and about how many rows belong to it. Both were measured with noise.",
    (
        NO_ROWS,
        "Which row belongs to which cluster.",
        "The least and greatest values that occur, and how rows lie around a centre.",
    ),
)
KINDS: dict[str, ReleaseKind] = {
    "kmeans": CLUSTERS,
    "kprototypes": CLUSTERS,
    "kmodes": CLUSTERS,
    "synopsis": ReleaseKind(
        "A private synopsis",
        "The space of the columns, divided into cells, and about how many rows lie in each cell. All counts were measured with "
        "noise.",
        (NO_ROWS, "Where rows lie inside a cell.", "Whether a cell holds nobody: empty cells have noise too."),
    ),
    "table": ReleaseKind(
        "A private table",
        "Numbers by group: how many rows each group has, and what else was asked of it. All of them were measured with noise.",
        (NO_ROWS, "Whether a group holds nobody: empty groups have noise too."),
    ),
    "choice": ReleaseKind(
        "A private choice",
        "One value of a column, drawn so that good values are likely and every value is possible.",
        (NO_ROWS, "How good the other values are."),
    ),
    "rows": ReleaseKind(
        "Private rows",
        "Made-up rows with the columns of the table. They were drawn from figures that were measured with noise.",
        ("No row of the table: if a made-up row equals a real one, that is chance.", "No exact count and no exact sum."),
    ),
    "k-anonymous table": ReleaseKind(
        "A k‑anonymous table",  # with a hyphen at which no line breaks
        "The rows of the table, with the columns that others may know made coarser until every row looks like others. No noise "
        "was added.",
        ("Values in those columns that are finer than their labels.",),
    ),
    "microaggregated table": ReleaseKind(
        "A microaggregated table",
        "The rows of the table, in groups: each value of the columns that others may know is replaced by the average or the most "
        "common value of its group. No noise was added.",
        ("The values of single rows in those columns.",),
    ),
    "rows under a saved recoding": ReleaseKind(
        "Rows under a saved recoding",
        "Rows whose columns were made coarser by rules that were found on other rows. No noise was added.",
        ("Values in those columns that are finer than their labels.",),
    ),
    "local estimate": ReleaseKind(
        "Estimates from a private survey",
        "About how many people hold each answer, estimated from answers that were changed at random before they left the people "
        "who gave them.",
        ("Anybody's true answer: the collector never had it.",),
    ),
    "local rows": ReleaseKind(
        "Made-up rows from a private survey",
        "Made-up rows that follow what was estimated from answers that were changed at random before they left the people who "
        "gave them.",
        ("Anybody's true answer: the collector never had it.",),
    ),
    "local k-modes": ReleaseKind(
        "Clusters from a private survey",
        "Typical combinations of answers and about how many people are near them, estimated from answers that were changed at "
        "random before they left the people who gave them.",
        ("Anybody's true answer: the collector never had it.",),
    ),
}


def title_of(release: Release) -> str:
    """The heading of a report; one whose noise was seeded is not called private."""
    title = kind_of(release).title
    if not release.seeded or isinstance(release.guarantee, Syntactic):
        return title
    bare = re.sub("private ", "", title, count=1, flags=re.IGNORECASE)
    return f"NOT PRIVATE (seeded): {bare[0].lower()}{bare[1:]}"


def kind_of(release: Release) -> ReleaseKind:
    """What kind of release this is; of one that is not known here, what its guarantee says."""
    if release.kind in KINDS:
        return KINDS[release.kind]
    if isinstance(release.guarantee, Syntactic):
        return ReleaseKind(f"A {release.kind}", "Rows of the table, changed. No noise was added.", ())
    if isinstance(release.guarantee, Local):
        return ReleaseKind(f"A {release.kind}", "What follows from answers that were changed at random.", ())
    return ReleaseKind(f"A {release.kind}", "Figures that were measured with noise.", (NO_ROWS,))
