"""Pictures of what was released, drawn from its files: nothing is computed anew, and no row is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cloister.choosing.choice_pictures import choice_pictures
from cloister.clustering.saved_clusters import load_clusters
from cloister.clustering.synopsis.synopsis import Synopsis
from cloister.privacy.release import Release
from cloister.report.handout_blocks import Drawing
from cloister.report.picture import INTERVAL, Picture
from cloister.report.plot import fit_names, inline_svg
from cloister.tabulation.axes import ALL
from cloister.tabulation.table_pictures import MarginCells, table_pictures

__all__ = ["draw_inline", "has_pictures", "result_pictures", "table_rows_pictures"]

MOST_PICTURES = 4  # of a page
NUMBERS = ("count", "low", "high")


def has_pictures() -> bool:
    """Whether pictures can be drawn here; where matplotlib is missing a page has its tables alone."""
    return find_spec("matplotlib") is not None


def draw_inline(pictures: Sequence[Picture], prefix: str = "") -> tuple[Drawing, ...]:
    """Pictures as parts of a page; `prefix` tells those of one chapter from those of another."""
    if not pictures or not has_pictures():
        return ()
    return tuple(
        Drawing(
            inline_svg(picture, f"{prefix}picture-{i}-"),
            " ".join(filter(None, (f"{picture.heading}.", fit_names(picture).caption))),
        )
        for i, picture in enumerate(pictures[:MOST_PICTURES])
    )


def result_pictures(release: Release, path: Path) -> tuple[Picture, ...]:
    """The pictures of clusters, synopses and choices, as they show themselves."""
    if release.kind == "choice":  # its certificate is all of its file
        return choice_pictures(release)
    reader = READERS.get(release.kind)
    return () if reader is None else reader(path)


def _cluster_pictures(path: Path) -> tuple[Picture, ...]:
    return load_clusters(path.parent if path.name == "release.json" else path).pictures()


def _synopsis_pictures(path: Path) -> tuple[Picture, ...]:
    return Synopsis.load(path).pictures()


READERS: dict[str, Callable[[Path], tuple[Picture, ...]]] = {
    "kmeans": _cluster_pictures,
    "kprototypes": _cluster_pictures,
    "kmodes": _cluster_pictures,
    "synopsis": _synopsis_pictures,
}


def table_rows_pictures(
    by: Sequence[str], rows: Sequence[Mapping[str, Any]], binned: Collection[str] = ()
) -> tuple[Picture, ...]:
    """Bars of each column of a private table, from the rows of its file that add the other columns up.

    `binned` are the columns whose values are bins.
    """
    columns = []
    for name in by:
        margin = [row for row in rows if row[name] != ALL and all(row[other] == ALL for other in by if other != name)]
        if margin and all(head in margin[0] for head in NUMBERS):
            numbers = {head: tuple(float(row[head]) for row in margin) for head in NUMBERS}
            columns.append(MarginCells(name, tuple(str(row[name]) for row in margin), numbers, (), INTERVAL, name in binned))
    return table_pictures(columns, None) if columns else ()
