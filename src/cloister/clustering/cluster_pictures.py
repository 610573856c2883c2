"""Pictures of private clusters: centres in pairs of columns, their profile over many, and the categories of each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.kernels import Modes
from cloister.parameters import check_shown
from cloister.report.picture import INTERVAL, CenterMap, CenterProfile, HeatAxis, HeatMap, MeasuredBars, Picture, WordGrid

__all__ = ["cluster_pictures"]

PAIRED = 3  # columns that are shown in all their pairs; of more those that tell the centres apart the most
COLUMNS_A_PANEL = 25
MOST_COLUMNS = 100
MOST_PROFILES = 7  # centres that have a colour of their own; more are a heat map
MOST_IN_GRID = 8  # centres whose categories stand beside each other
MOST_BARS = 40
PAD = 0.12  # of what is shown of an axis, to either side
NOISE = "Lines: 95% of the noise in a centre. It says nothing of how far rows lie from it."
NO_NOISE = "How far noise moved the centres is not known."
SIZES = "The area of a mark is the noisy number of rows."
Array = NDArray[np.float64]


def cluster_pictures(
    domain: Domain,
    centers: Array,
    sizes: Array,
    errors: Array | None,
    modes: Modes | None,
    size_noise: float | None,
    columns: Sequence[str] | None = None,
) -> tuple[Picture, ...]:
    """What clusters look like, from released centres (k, d), sizes (k,) and the noise's standard errors (k, d) alone.

    `columns` chooses the number columns whose pairs are shown.
    """
    names = tuple(grid.name for grid in domain.encoding.numbers)
    shown = _chosen(names, domain, centers, columns)
    pictures = []
    if shown:
        pictures.append(_pairs(names, shown, domain, centers, sizes, errors))
    else:
        pictures.append(_sizes(sizes, size_noise))
    if len(names) > len(shown) or len(names) > PAIRED:
        pictures.append(_profiles(names, domain, centers, errors))
    if modes is not None and modes.codes.shape[1]:
        pictures.append(_categories(domain, modes, sizes))
    return tuple(pictures)


def _chosen(names: tuple[str, ...], domain: Domain, centers: Array, columns: Sequence[str] | None) -> list[int]:
    """Which number columns are shown in pairs: those that were named, or those in which the centres lie farthest apart."""
    if columns is not None:
        return [names.index(name) for name in check_shown(columns, names, "the clusters have no number column")][:4]
    if len(names) <= PAIRED:
        return list(range(len(names)))
    widths = np.array([2.0 * grid.half * grid.step for grid in domain.encoding.numbers])
    apart = (centers / widths).std(axis=0)
    return sorted(np.argsort(-apart, kind="stable")[:PAIRED].tolist())


def _pairs(
    names: tuple[str, ...], shown: list[int], domain: Domain, centers: Array, sizes: Array, errors: Array | None
) -> Picture:
    limits = [_limits(centers[:, j], None if errors is None else errors[:, j], domain.bounds[j]) for j in shown]
    reach = [_reach(errors, j) for j in shown]
    labels = _labels(len(centers))
    of_sizes = tuple(sizes.tolist())
    panels = []
    if len(shown) == 1:
        (j,) = shown
        panels.append(
            CenterMap(
                "", labels, tuple(centers[:, j].tolist()), (), of_sizes, reach[0], (), names[j], "rows (noisy)", limits[0],
                (min(0.0, 1.1 * float(sizes.min())), 1.15 * max(1.0, float(sizes.max()))),
            )
        )  # fmt: skip
    for a, b in combinations(range(len(shown)), 2):
        x, y = tuple(centers[:, shown[a]].tolist()), tuple(centers[:, shown[b]].tolist())
        panels.append(
            CenterMap("", labels, x, y, of_sizes, reach[a], reach[b], names[shown[a]], names[shown[b]], limits[a], limits[b])
        )
    which = f" in the {PAIRED} columns that tell them apart the most" if len(names) > len(shown) == PAIRED else ""
    caption = f"{SIZES} {NO_NOISE if errors is None else NOISE}"
    return Picture(f"{_count(len(centers))}{which}", tuple(panels), caption, across={1: 1, 3: 3}.get(len(panels), 2))


def _profiles(names: tuple[str, ...], domain: Domain, centers: Array, errors: Array | None) -> Picture:
    """Where each centre lies between the bounds of each column."""
    low, high = np.array(domain.bounds).T
    places = (centers - low) / (high - low)  # (k, d)
    reach = None if errors is None else INTERVAL * errors / (high - low)
    order = list(range(len(names)))
    more = ""
    if len(names) > MOST_COLUMNS:
        order = sorted(np.argsort(-places.std(axis=0), kind="stable")[:MOST_COLUMNS].tolist())
        more = f" The {MOST_COLUMNS} of {len(names):,} columns that tell the centres apart the most."
    ends = [(_end(a), _end(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    labels = _labels(len(centers))
    panels: list[CenterProfile | HeatMap] = []
    for start in range(0, len(order), COLUMNS_A_PANEL):
        page = order[start : start + COLUMNS_A_PANEL]
        columns = tuple(names[j] for j in page)
        lines = tuple(tuple(places[:, j].tolist()) for j in page)
        if len(centers) > MOST_PROFILES:
            axes = HeatAxis("cluster", labels), HeatAxis("", columns[::-1])
            panels.append(
                HeatMap("", *axes, lines[::-1], label="between the bounds of the column", is_share=True, has_columns=True)
            )
        else:
            spread = () if reach is None else tuple(tuple(reach[:, j].tolist()) for j in page)
            words = tuple(f"cluster {label}" for label in labels)
            at = tuple(ends[j] for j in page)
            panels.append(CenterProfile("", words, columns, lines, spread, at, "between the bounds of the column"))
    noise = "" if len(centers) > MOST_PROFILES else f" {NO_NOISE if reach is None else NOISE}"
    caption = f"0% is the lowest value that a column may have, 100% the highest.{noise}{more}"
    return Picture("Profile of the clusters", tuple(panels), caption, across=1)


def _categories(domain: Domain, modes: Modes, sizes: Array) -> Picture:
    """The category of each centre in each column."""
    columns = domain.categories[:MOST_COLUMNS]
    largest = sorted(np.argsort(-sizes, kind="stable")[:MOST_IN_GRID].tolist())
    panels = []
    for start in range(0, len(columns), COLUMNS_A_PANEL):
        page = range(start, min(start + COLUMNS_A_PANEL, len(columns)))
        words = tuple(tuple(columns[j].domain[modes.codes[i, j]] or '""' for i in largest) for j in page)
        names = tuple(f"cluster {i}" for i in largest)
        panels.append(WordGrid("", names, tuple(columns[j].name for j in page), words))
    of = f" The {MOST_IN_GRID} largest of {len(sizes)} clusters." if len(sizes) > MOST_IN_GRID else ""
    more = (
        f" The first {MOST_COLUMNS} of {len(domain.categories):,} columns." if len(domain.categories) > MOST_COLUMNS else ""
    )
    caption = f"The category that stands for the rows of each cluster, chosen under noise.{of}{more}"
    return Picture("Categories of the clusters", tuple(panels), caption, across=1)


def _sizes(sizes: Array, noise: float | None) -> Picture:
    """How many rows each cluster stands for, where there is no number to place it by."""
    order = np.argsort(-sizes, kind="stable")[:MOST_BARS].tolist()
    values = tuple(float(sizes[i]) for i in order)
    reach = 0.0 if noise is None else INTERVAL * noise
    low, high = (() if noise is None else tuple(value + side * reach for value in values) for side in (-1, 1))
    words = tuple(f"cluster {i}" for i in order)
    of = f" The {MOST_BARS} largest of {len(sizes)}." if len(sizes) > MOST_BARS else ""
    caption = ("Sizes are noisy." if noise is None else "Sizes are noisy: lines are 95% of the noise.") + of
    return Picture(_count(len(sizes)), (MeasuredBars("", words, values, low, high, label="rows (noisy)"),), caption)


def _end(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"


def _count(k: int) -> str:
    return "1 private cluster" if k == 1 else f"{k} private clusters"


def _labels(k: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(k))


def _reach(errors: Array | None, column: int) -> tuple[float, ...]:
    return () if errors is None else tuple((INTERVAL * errors[:, column]).tolist())


def _limits(places: Array, errors: Array | None, bounds: Sequence[float]) -> tuple[float, float]:
    """What is shown of a column: the centres with their noise, not far beyond what the column may hold."""
    reach = 0.0 if errors is None else INTERVAL * errors
    low, high = bounds
    first, last = max(low, float((places - reach).min())), min(high, float((places + reach).max()))
    pad = PAD * (last - first) or 0.5 * (high - low)
    width = high - low
    return max(first - pad, low - PAD * width), min(last + pad, high + PAD * width)
