"""Every kernel there is, with small public parameters and rows that its encoding could give.

A new kernel registers here: a test walks the modules of `cloister.kernels` and fails for one that is missing.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cloister.kernels
from cloister.encode import Encoded
from cloister.kernels import (
    BallClip,
    BoxClip,
    CenterSums,
    ClassCounts,
    ClippedSums,
    DistanceBands,
    Euclidean,
    FitSums,
    Histogram,
    Kernel,
    LiftedSums,
    LowOrderMarginals,
    Marginals,
    MissingCounts,
    Modes,
    Moments,
    NearestVotes,
    Projected,
    Projection,
    PrototypeSums,
    PrototypeVotes,
    Rows,
    Taxicab,
    ValueBins,
    ValueCounts,
)
from cloister.kernels.cells import GridCells, GridKeys, NestedCells
from cloister.kernels.keyed import KeyedKernel, RowKeys
from cloister.kernels.morton import LeafSums, MortonKeys
from cloister.kernels.per_unit import PerUnit
from cloister.kernels.ranked_blocks import CornerOrder
from cloister.kernels.report_tables import ReportKeys, ReportTables
from cloister.kernels.scores import ColumnPlaces
from cloister.kernels.tables import TableCounts, ValueLevels

HALF = 50  # small grids make ties and borders likely
SIZES = (3, 2)


@dataclass(frozen=True)
class Case:
    """A kernel with a strategy for one row of its input."""

    kernel: Kernel
    columns: int
    clip: BoxClip | BallClip | None = None


def points(columns: int, least: int = 1, most: int = 6) -> st.SearchStrategy[np.ndarray]:
    shape = st.tuples(st.integers(least, most), st.just(columns))
    return hnp.arrays(np.int32, shape, elements=st.integers(-HALF, HALF))


def whole_grid(columns: int) -> BoxClip:
    return BoxClip((HALF,) * columns)


@st.composite
def center_sums(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(1, 4))
    clip = draw(st.sampled_from([BoxClip((HALF,) * columns), BallClip(HALF, columns)]))
    return Case(CenterSums(draw(points(columns)), clip), columns, clip)


@st.composite
def histogram(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(0, 2))
    edges = st.lists(st.integers(-HALF, HALF), max_size=4, unique=True).map(lambda e: tuple(sorted(e)))
    return Case(Histogram(tuple(draw(edges) for _ in range(columns)), SIZES), columns)


@st.composite
def clipped_sums(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(1, 4))
    centers = draw(points(columns))
    lengths = hnp.arrays(np.int64, len(centers), elements=st.integers(1, 3 * HALF))
    return Case(ClippedSums(centers, draw(lengths), draw(st.booleans()), draw(lengths), whole_grid(columns)), columns)


@st.composite
def projections(draw: st.DrawFn) -> Projection:
    """A few directions of -1, 0 and 1; with a shift, places are rounded down."""
    columns = draw(st.integers(1, 4))
    signs = draw(hnp.arrays(np.int8, (draw(st.integers(1, 3)), columns), elements=st.integers(-1, 1)))
    clip = draw(st.sampled_from([BoxClip((HALF,) * columns), BallClip(HALF, columns)]))
    return Projection(signs, clip, draw(st.integers(0, 3)))


@st.composite
def projected(draw: st.DrawFn) -> Case:
    """Sums of whole places: they move by all that the projection's clip allows."""
    projection = draw(projections())
    directions, columns = projection.signs.shape
    inner = st.sampled_from([CenterSums(draw(points(directions)), projection.clip), Moments(projection.clip, directions)])
    return Case(Projected(draw(inner), projection), columns, projection.within)


@st.composite
def lifted_sums(draw: st.DrawFn) -> Case:
    projection = draw(projections())
    directions, columns = projection.signs.shape
    centers = draw(points(columns))
    places = draw(hnp.arrays(np.int32, (len(centers), directions), elements=st.integers(-HALF, HALF)))
    lengths = hnp.arrays(np.int64, len(centers), elements=st.integers(1, 3 * HALF))
    sums = ClippedSums(centers, draw(lengths), draw(st.booleans()), draw(lengths), projection.within)
    return Case(LiftedSums(sums, projection, places), columns, projection.within)


@st.composite
def nearest_votes(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(1, 4))
    return Case(NearestVotes(draw(points(columns)), whole_grid(columns)), columns)


@st.composite
def prototypes(draw: st.DrawFn) -> tuple[np.ndarray, Modes, BoxClip | BallClip]:
    """Centres with categories, without numbers too: few and light enough that ties and borders are likely."""
    columns, k = draw(st.integers(0, 3)), draw(st.integers(1, 5))
    centers = draw(hnp.arrays(np.int32, (k, columns), elements=st.integers(-HALF, HALF)))
    codes = draw(hnp.arrays(np.int32, (k, len(SIZES)), elements=st.integers(0, min(SIZES) - 1)))
    weights = draw(hnp.arrays(np.int64, k, elements=st.integers(1, HALF**2)))
    clips: list[BoxClip | BallClip] = [BoxClip((HALF,) * columns), *([BallClip(HALF, columns)] if columns else [])]
    return centers, Modes(codes, weights), draw(st.sampled_from(clips))


@st.composite
def prototype_votes(draw: st.DrawFn) -> Case:
    centers, modes, clip = draw(prototypes())
    return Case(PrototypeVotes(centers, modes, clip), centers.shape[1], clip)


@st.composite
def prototype_sums(draw: st.DrawFn) -> Case:
    centers, modes, within = draw(prototypes())
    clip = draw(st.sampled_from([Euclidean, Taxicab, None]))
    moves = None if clip is None else clip(draw(st.integers(1, 3 * HALF)))
    return Case(PrototypeSums(centers, modes, SIZES, moves, within), centers.shape[1], within)


@st.composite
def distance_bands(draw: st.DrawFn) -> Case:
    centers, modes, clip = draw(prototypes())
    most = min(clip.farthest(center) for center in centers.tolist()) + modes.farthest
    return Case(DistanceBands(centers, most, clip, modes), centers.shape[1], clip)


@st.composite
def marginals(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(0, 3))
    clip = draw(st.sampled_from([BoxClip((HALF,) * columns), *([BallClip(HALF, columns)] if columns else [])]))
    return Case(Marginals(clip, columns, SIZES), columns, clip)


@st.composite
def fit_sums(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(1, 4))
    clip = draw(st.sampled_from([BoxClip((HALF,) * columns), BallClip(HALF, columns)]))
    lengths = draw(hnp.arrays(np.float64, columns, elements=st.floats(1e-3, 1e3)))
    return Case(FitSums(draw(points(columns)), clip, lengths, draw(st.sampled_from([0, SIZES[-1]]))), columns, clip)


@st.composite
def mixed_fit_sums(draw: st.DrawFn) -> Case:
    centers, modes, clip = draw(prototypes())
    lengths = draw(hnp.arrays(np.float64, centers.shape[1], elements=st.floats(1e-3, 1e3)))
    classes = draw(st.sampled_from([0, SIZES[-1]]))
    held = Modes(np.ascontiguousarray(modes.codes[:, :-1]), modes.weights) if classes else modes
    return Case(FitSums(centers, clip, lengths, classes, held), centers.shape[1], clip)


@st.composite
def moments(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(1, 4))
    clip = draw(st.sampled_from([BoxClip((HALF,) * columns), BallClip(HALF, columns)]))
    return Case(Moments(clip, columns), columns, clip)


@st.composite
def grid_cells(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(1, 3))
    return Case(GridCells((HALF,) * columns, tuple(draw(st.integers(1, 7)) for _ in range(columns))), columns)


@st.composite
def nested_cells(draw: st.DrawFn) -> Case:
    columns, side = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    inner = draw(hnp.arrays(np.int64, side**columns, elements=st.integers(1, 4)))
    return Case(NestedCells((HALF,) * columns, (side,) * columns, inner), columns)


@st.composite
def leaf_sums(draw: st.DrawFn) -> Case:
    columns = draw(st.integers(1, 3))
    order = MortonKeys((HALF,) * columns, 4)
    leaves = [(0, 0)]  # first key and depth; a leaf is cut in two a few times
    for _ in range(draw(st.integers(0, 6))):
        start, depth = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        deeper = min(depth + 1, order.levels)
        leaves += (
            [(start, deeper)] if deeper == depth else [(start, deeper), (start + (1 << (order.levels - deeper)), deeper)]
        )
    starts, depths = np.array(sorted(leaves), dtype=np.int64).T
    return Case(LeafSums(order, starts.copy(), depths.copy()), columns)


@st.composite
def table_counts(draw: st.DrawFn) -> Case:
    bins, measures = draw(st.integers(0, 1)), draw(st.integers(0, 2))
    edges = st.lists(st.integers(-HALF, HALF), max_size=4, unique=True).map(lambda e: tuple(sorted(e)))
    missing = draw(st.integers(0, 1))  # the last codes say whether a value is made up
    cells = Histogram(tuple(draw(edges) for _ in range(bins)), SIZES[: len(SIZES) - missing])
    margins = tuple((axis,) for axis in range(len(cells.shape)) if draw(st.booleans()))
    widths = st.lists(st.integers(1, 4), min_size=1, max_size=2, unique=True).map(tuple)
    values = tuple(ValueLevels(draw(st.integers(1, HALF)), draw(widths)) for _ in range(draw(st.integers(0, 2))))
    return Case(TableCounts(cells, margins, (HALF,) * measures, missing, values), bins + len(values) + measures)


@st.composite
def low_order_marginals(draw: st.DrawFn) -> Case:
    bins = draw(st.integers(0, 2))
    edges = st.lists(st.integers(-HALF, HALF), max_size=4, unique=True).map(lambda e: tuple(sorted(e)))
    cells = Histogram(tuple(draw(edges) for _ in range(bins)), SIZES)
    axes = st.sets(st.integers(0, len(cells.shape) - 1), min_size=1, max_size=3).map(lambda kept: tuple(sorted(kept)))
    return Case(LowOrderMarginals(cells, tuple(draw(st.lists(axes, min_size=1, max_size=4)))), bins)


@st.composite
def report_sizes(draw: st.DrawFn) -> tuple[int, ...]:
    """Sizes of columns of answers, so small that some codes lie beyond them."""
    return draw(st.tuples(*(st.integers(1, size) for size in SIZES)))


@st.composite
def report_tables(draw: st.DrawFn) -> Case:
    tables = draw(st.lists(st.sampled_from([(0,), (1,), (0, 1), (1, 0)]), min_size=1, max_size=3))
    return Case(ReportTables(draw(report_sizes()), tuple(tables)), draw(st.integers(0, 1)))


@st.composite
def class_counts(draw: st.DrawFn) -> Case:
    """Scores so few that ties are likely."""
    edges = st.lists(st.integers(-HALF, HALF), max_size=4, unique=True).map(lambda e: tuple(sorted(e)))
    bins = ValueBins(tuple(draw(edges) for _ in range(draw(st.integers(0, 2)))), SIZES)
    scores = hnp.arrays(np.int32, (draw(st.integers(1, 4)), bins.total), elements=st.integers(-3, 3))
    return Case(ClassCounts(bins, draw(scores)), len(bins.cuts))


@st.composite
def per_unit(draw: st.DrawFn) -> Case:
    case = draw(center_sums())
    return Case(PerUnit(case.kernel, draw(st.integers(1, 3))), case.columns, case.clip)


KERNELS: dict[str, Callable[[], st.SearchStrategy[Case]]] = {
    "Rows": lambda: st.just(Case(Rows(), 1)),
    "Histogram": histogram,
    "CenterSums": center_sums,
    "ClippedSums": clipped_sums,
    "Projected": projected,
    "LiftedSums": lifted_sums,
    "DistanceBands": distance_bands,
    "NearestVotes": nearest_votes,
    "Marginals": marginals,
    "PrototypeVotes": prototype_votes,
    "PrototypeSums": prototype_sums,
    "FitSums": lambda: st.one_of(fit_sums(), mixed_fit_sums()),
    "Moments": moments,
    "GridCells": grid_cells,
    "NestedCells": nested_cells,
    "LeafSums": leaf_sums,
    "TableCounts": table_counts,
    "LowOrderMarginals": low_order_marginals,
    "MissingCounts": lambda: st.just(Case(MissingCounts(len(SIZES)), 1)),
    "ReportTables": report_tables,
    "ValueCounts": lambda: st.just(Case(ValueCounts(SIZES), 1)),
    "ClassCounts": class_counts,
    "PerUnit": per_unit,
}


@dataclass(frozen=True)
class KeyedCase:
    """A keyed kernel and how many number columns its rows have."""

    kernel: KeyedKernel
    columns: int


@st.composite
def grid_keys(draw: st.DrawFn) -> KeyedCase:
    columns = draw(st.integers(1, 3))
    return KeyedCase(GridKeys((HALF,) * columns, tuple(draw(st.integers(1, 7)) for _ in range(columns))), columns)


@st.composite
def morton_keys(draw: st.DrawFn) -> KeyedCase:
    columns = draw(st.integers(1, 4))
    return KeyedCase(MortonKeys((HALF,) * columns, draw(st.integers(1, 6))), columns)


@st.composite
def row_keys(draw: st.DrawFn) -> KeyedCase:
    columns = draw(st.integers(0, 3))
    return KeyedCase(RowKeys(columns + len(SIZES)), columns)


@st.composite
def in_order(draw: st.DrawFn) -> KeyedCase:
    from cloister.kernels.keyed import InOrder

    case = draw(morton_keys())
    return KeyedCase(InOrder(case.kernel, case.columns + len(SIZES)), case.columns)


@st.composite
def corner_order(draw: st.DrawFn) -> KeyedCase:
    return KeyedCase(CornerOrder(draw(st.integers(0, 2 * HALF)), tuple(size - 1 for size in SIZES)), draw(st.integers(0, 3)))


@st.composite
def column_places(draw: st.DrawFn) -> KeyedCase:
    return KeyedCase(ColumnPlaces(draw(st.integers(1, 2 * HALF))), draw(st.integers(0, 2)))


@st.composite
def report_keys(draw: st.DrawFn) -> KeyedCase:
    return KeyedCase(ReportKeys(draw(report_sizes()), (0, 1)), draw(st.integers(0, 2)))


KEYED: dict[str, Callable[[], st.SearchStrategy[KeyedCase]]] = {
    "GridKeys": grid_keys,
    "MortonKeys": morton_keys,
    "RowKeys": row_keys,
    "InOrder": in_order,
    "ColumnPlaces": column_places,
    "CornerOrder": corner_order,
    "ReportKeys": report_keys,
}


def classes_with(*members: str) -> dict[str, type]:
    """The classes, but for protocols, that the modules of `cloister.kernels` define and that have all these members."""
    paths = pkgutil.iter_modules(cloister.kernels.__path__, "cloister.kernels.")
    modules = [import_module(path.name) for path in paths if not path.ispkg]
    return {
        name: thing
        for module in modules
        for name, thing in inspect.getmembers(module, inspect.isclass)
        if thing.__module__ == module.__name__
        and not getattr(thing, "_is_protocol", False)
        and all(hasattr(thing, member) for member in members)
    }


DENSE_CLASSES = classes_with("fold", "sensitivity")
KEYED_CLASSES = classes_with("keys", "width")


def rows_for(case: Case, least: int = 0, most: int = 30) -> st.SearchStrategy[Encoded]:
    """Encoded rows that keep the kernel's clip."""

    def build(n: int) -> st.SearchStrategy[Encoded]:
        numbers = hnp.arrays(np.int32, (n, case.columns), elements=st.integers(-HALF, HALF))
        codes = hnp.arrays(np.int32, (n, len(SIZES)), elements=st.integers(0, min(SIZES) - 1))
        return st.builds(Encoded, numbers.map(lambda v: clipped(v, case)), codes)

    return st.integers(least, most).flatmap(build)


def clipped(numbers: np.ndarray, case: Case) -> np.ndarray:
    """Rows pulled into the ball, where the kernel is promised one."""
    if isinstance(case.clip, BallClip):
        from cloister.encode import pull_into_ball

        numbers = numbers.copy()
        pull_into_ball(numbers, case.clip.radius)
    return numbers
