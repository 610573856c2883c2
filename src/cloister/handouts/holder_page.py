"""The page for the holder: risk and usefulness before and after, in exact figures of the table. It is not to be handed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cloister.clustering.saved_clusters import load_clusters
from cloister.clustering.scores.score_clusters import Centers, score_clusters
from cloister.errors import UsageError
from cloister.handouts.release_report import made_with, report_title
from cloister.handouts.shown_pictures import draw_inline
from cloister.privacy.guarantees import Syntactic
from cloister.privacy.release import Release
from cloister.report.document import Document, Fact, TextTable
from cloister.report.handout_blocks import Callout, Chapter, Handout, PaperBlock
from cloister.report.numbers import percent
from cloister.report.picture import Picture
from cloister.risks.assess import RiskReport, RowsReport, assess

__all__ = ["check_comparable", "holder_page"]

CLUSTERS = ("kmeans", "kprototypes", "kmodes")
ROWS = ("rows",)
STAYS = (
    "Not to be handed over.",
    "The figures of this page are exact facts of the original table: no noise was added, and no guarantee covers them. That they "
    "were computed is written in the ledger, where the table has one.",
)


def check_comparable(release: Release) -> None:
    """Refuse a release of which nothing can be measured against its original, before that is read."""
    if not (isinstance(release.guarantee, Syntactic) or release.kind in (*CLUSTERS, *ROWS)):
        raise UsageError(
            f"a {release.kind} is not compared with its original: --against is for released rows and for clusters. Its "
            "own errors stand in its files; drop --against."
        )


def holder_page(release: Release, path: Path, original: Any, *, version: str, **where: Any) -> Handout:
    """The page; the original is read through the holder's door, once for what it risks and once beside the release.

    Parameters
    ----------
    path
        Where the release was read from.
    original
        The table that it was made of.
    where
        `schema`, `hierarchies`, and `table`, `ledger` and `engine` as everywhere.
    """
    check_comparable(release)
    measured = _measure_clusters if release.kind in CLUSTERS else _measure_rows
    summary, chapters = measured(release, path, original, **where)
    return Handout(
        kicker="For the holder only",
        title=f"Before and after: {report_title(release)}",
        subtitle="What the original risks, what the release risks, and what is left of its use.",
        summary=(Callout(STAYS, "problem"), *summary),
        chapters=chapters,
        closing=(made_with(version), "For the holder only: not a private release."),
        is_for_holder=True,
    )


Measured = tuple[tuple[PaperBlock, ...], tuple[Chapter, ...]]


def _measure_clusters(
    release: Release, path: Path, original: Any, *, schema: Any, hierarchies: Any, **where: Any
) -> Measured:
    saved = load_clusters(path.parent if path.name == "release.json" else path, schema)
    scores = score_clusters(original, Centers(saved.domain, saved.places, saved.modes), None, **where)
    bounds = "nothing bounds it: the noise was seeded" if release.seeded else "the guarantee of the release bounds it"
    told = Fact("risk", f"{bounds}; nothing of it is measured here")
    return (told,), (_chapter("How well the clusters fit the original", scores.describe()),)


def _measure_rows(release: Release, path: Path, original: Any, *, hierarchies: Any, **where: Any) -> Measured:
    quasi = release.parameters.get("quasi")
    published = str(path.with_name(path.name.removesuffix(".release.json")))
    before = assess(original, quasi, **where)
    beside = assess(published, quasi, against=original, hierarchies=hierarchies, **where)
    after = beside
    if isinstance(beside, RowsReport) and isinstance(release.guarantee, Syntactic):  # averaged rows look alike, too
        after = assess(published, quasi, **where)
    chapters = (
        _chapter("The release beside its original", beside.describe(), beside, "after-"),
        _chapter("The original", before.describe(), before, "before-"),
    )
    if not (isinstance(before, RiskReport) and isinstance(after, RiskReport)):
        return (), chapters
    return (_comparison(before, after),), chapters


def _chapter(heading: str, document: Document, report: Any = None, prefix: str = "") -> Chapter:
    pictures: Callable[[], tuple[Picture, ...]] | None = getattr(report, "pictures", None)
    drawn = draw_inline(pictures(), prefix) if pictures is not None else ()
    chapter = Chapter.of_document(heading, document)
    return Chapter(heading, (*chapter.blocks, *drawn))


def _comparison(before: RiskReport, after: RiskReport) -> TextTable:
    """The figures that everybody asks for, side by side."""
    one = "row" if before.counted == "rows" else "person"
    rows: list[list[str]] = [
        [f"fewest {before.counted} that look alike (k)", f"{before.risk.k:,}", f"{after.risk.k:,}"],
        [f"{before.counted} that look like nobody else", percent(before.risk.unique), percent(after.risk.unique)],
        [
            f"highest risk of a {one} (prosecutor)",
            percent(before.risk.prosecutor_highest),
            percent(after.risk.prosecutor_highest),
        ],
        [f"average risk of a {one} (marketer)", percent(before.risk.marketer), percent(after.risk.marketer)],
        [
            f"{before.counted} with a risk above {percent(before.risk.threshold)} each",
            percent(before.risk.prosecutor_at_risk),
            percent(after.risk.prosecutor_at_risk),
        ],
    ]
    if after.loss is not None:
        rows.append(["information lost (0: none, 1: all)", "0", f"{after.loss.lm:.3f}"])
    return TextTable.of(("", "original", "release"), rows, title="Risk and use, before and after")
