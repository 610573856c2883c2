"""What a search ends in, as a recoding: from the blocks of a cut, or from classes of tuples.

A label of numbers and days is what lies between two public cuts, whatever the rows there hold; it is written as a value where
the step of the column leaves room for one alone. A block whose rows were all removed has no label of its own: an interval
beside it reaches over it, so that no gap shows where they were. So it is with the intervals and days of a hierarchy wherever
rows may be removed; words have no order, and are not joined.

Privacy
-------
Which of the two intervals beside a gap reaches over it must not follow anything that a reader sees, or a label over two
public intervals would say which of them is the gap. A coin decides that only this host can throw. It falls the same way each
time for the same gap, as two tables in which it fell differently would show the gap between them.
"""

from __future__ import annotations

import hmac
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.leaf_coder import coder_of
from cloister.anonymization.counting.public_grid import word
from cloister.anonymization.counting.put_on_grid import GridTable
from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.searching.column_blocks import Block
from cloister.anonymization.searching.limits import ColumnLimit, reaches_too_far
from cloister.anonymization.writing.recoding import STAR, RecodedColumn, Recoding
from cloister.privacy.signing import host_key
from cloister.schema.hierarchies import Hierarchy

__all__ = ["GlobalRecoding", "make_global", "make_local"]


@dataclass(frozen=True, slots=True, eq=False)
class GlobalRecoding:
    """The recoding of a cut, and what each label of each column loses: (values under it - 1) / (values - 1)."""

    recoding: Recoding
    losses: tuple[NDArray[np.float64], ...]
    too_wide: tuple[str, ...]  # columns with labels that reach over gaps and pass a limit


def make_global(
    table: GridTable,
    blocks: Sequence[Block],
    published: NDArray[np.int64],
    samples: NDArray[np.int64],
    *,
    is_starred: bool,
    may_remove: bool,
    limits: Sequence[ColumnLimit] = (),
) -> GlobalRecoding:
    """The recoding of a cut.

    Parameters
    ----------
    table : GridTable
    blocks : sequence of Block
        Of all columns.
    published, samples : array of int64
        The tuples that are published, and of those one of each class.
    is_starred : bool
        Whether the others are published as ``*``.
    may_remove : bool
        Whether the search was allowed to remove rows: then the labels of ordered hierarchies leave no gaps either.
    limits : sequence of ColumnLimit, optional
        How far each column may be generalised: labels that reach over gaps may pass that.
    """
    recoded, losses, too_wide = [], [], []
    classes = np.empty((len(samples), len(table.names)), np.int32)
    for j, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        own_blocks = sorted((block for block in blocks if block.column == j), key=lambda block: int(block.codes.min()))
        of = np.empty(column.leaves, np.int32)
        for at, block in enumerate(own_blocks):
            of[block.codes] = at
        classes[:, j] = of[table.rows.codes[samples, j]]
        block_of = of[table.rows.codes[published, j]]
        shown = np.bincount(block_of, table.rows.counts[published], len(own_blocks)).astype(np.int64)
        if isinstance(column, CutBins):
            made, loss = _recode_bins(name, column, own_blocks, shown)
        else:
            labels, loss = tuple(block.label for block in own_blocks), np.array([block.loss for block in own_blocks])
            if may_remove and column.edges is not None:
                labels, loss = _joined_intervals(name, column, column.edges, own_blocks, shown)
            made = _recode_tree(name, column, of, labels)
        recoded.append(made)
        losses.append(loss)
        if limits and limits[j].is_set and _passes_limit(limits[j], column, own_blocks, shown, may_remove=may_remove):
            too_wide.append(name)
    members = np.arange(len(classes), dtype=np.int32)
    recoding = Recoding(tuple(recoded), classes, members, classes, is_starred)
    return GlobalRecoding(recoding, tuple(losses), tuple(too_wide))


def _passes_limit(
    limit: ColumnLimit,
    column: Hierarchy | CutBins,
    blocks: Sequence[Block],
    shown: NDArray[np.int64],
    *,
    may_remove: bool,
) -> bool:
    """Whether a label that shows, and reaches over blocks that do not, passes a limit."""
    if column.edges is None or (isinstance(column, Hierarchy) and not may_remove):
        return False
    m = len(column.edges) - 1
    spans = [(int(block.codes.min()), int(block.codes.max()) + 1) for block in blocks]
    tiles = _tiles(limit.name, spans, shown, column.edges)
    return any(
        rows and high <= m and (low, high) != span and reaches_too_far(limit, column, low, high)
        for span, (low, high), rows in zip(spans, tiles, shown, strict=True)
    )


def make_local(
    table: GridTable,
    trees: Sequence[Hierarchy],
    tuples: NDArray[np.int32],
    members: NDArray[np.int64],
    classes: NDArray[np.int32],
) -> Recoding:
    """The recoding of classes of tuples; `classes` holds the node of each class in each column.

    Labels of numbers and days are listed where they begin, wider ones first: the halves of the search stand in another order,
    which a certificate that lists the labels must not show.
    """
    recoded, classes = [], classes.copy()
    for j, (name, tree, column) in enumerate(zip(table.names, trees, table.columns, strict=True)):
        if not isinstance(column, CutBins):
            recoded.append(_recode_tree(name, tree, np.arange(tree.leaves, dtype=np.int32), tree.nodes))
            continue
        spans = [(i, i + 1) for i in range(column.count)]
        singles = [column.single(*span) for span in spans]
        order = _nodes_by_place(tree)
        labels = (*(tree.nodes[node] for node in order), STAR)
        classes[:, j] = np.argsort(order)[classes[:, j]]
        recoded.append(_recoded_numbers(name, column, spans, singles, labels))
    kept = members >= 0
    return Recoding(tuple(recoded), tuples[kept], members[kept].astype(np.int32), classes, is_starred=False)


def _nodes_by_place(tree: Hierarchy) -> NDArray[np.int64]:
    """The nodes by the first leaf under each, those over more leaves first."""
    first = np.arange(len(tree.nodes))
    for node, above in enumerate(tree.parent[:-1].tolist()):  # a parent comes after its children
        first[above] = min(first[above], first[node])
    return np.lexsort([-tree.size, first])


def _recode_bins(
    name: str, bins: CutBins, blocks: Sequence[Block], shown: NDArray[np.int64]
) -> tuple[RecodedColumn, NDArray[np.float64]]:
    """A column of bins, and what its labels lose; `shown` are the published rows of each block."""
    m, total = bins.count, int(bins.held.sum()) + bins.has_null
    spans = [(int(block.codes.min()), int(block.codes.max()) + 1) for block in blocks]
    shows_null = any(rows and low == m for (low, _), rows in zip(spans, shown, strict=True))
    labels, losses, singles = [], [], []
    for low, high in _tiles(name, spans, shown, bins.edges):
        if high > m:  # nulls, alone or with everything
            label, under = ("", 1) if low == m else (STAR, total)
        elif (low, high) == (0, m) and not shows_null:  # everything that shows: a removed blank does not
            label, under = STAR, total
        else:
            label, under = bins.label(low, high), int(bins.held[low:high].sum())
        labels.append(label)
        singles.append(bins.single(low, high) if high <= m else None)
        losses.append((under - 1) / max(total - 1, 1))
    numbers = [span for span in spans if span[1] <= m]
    made = _recoded_numbers(name, bins, numbers, singles[: len(numbers)], (*labels, STAR))
    return made, np.array([*losses, 1.0])


def _recoded_numbers(
    name: str, bins: CutBins, spans: Sequence[tuple[int, int]], singles: Sequence[float | None], labels: tuple[str, ...]
) -> RecodedColumn:
    """A column whose code i is the i-th span of bins, or of it the value that it begins with; the code after is that of nulls.

    The last label is nobody's: other rows may hold numbers between two steps, which have its code, and no class has that.
    """
    edges, nowhere = bins.edges, len(labels) - 1
    starts, of = [], []
    for code, ((low, high), single) in enumerate(zip(spans, singles, strict=True)):
        first, last = float(edges[low]), float(edges[high])
        starts.append(first)
        of.append(code)
        if single is not None and (after := float(np.nextafter(single, np.inf))) < last:
            starts.append(after)
            of.append(nowhere)
    if not spans:  # numbers and nulls are one block
        starts, of = [bins.ends[0]], [0]
    null = len(of) if bins.has_null else -1
    if bins.has_null:
        of.append(len(spans))
    reach = np.array([*starts, bins.ends[1]])
    return RecodedColumn(name, None, reach, bins.is_date, null, np.array(of, np.int32), labels, form=bins.form)


def _joined_intervals(
    name: str, tree: Hierarchy, edges: NDArray[np.float64], blocks: Sequence[Block], shown: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The labels of a hierarchy of intervals or days, and what they lose: those that show reach over those that do not.

    Leaves after the intervals are blanks and "(other)".
    """
    m = len(edges) - 1
    spans = [(int(block.codes.min()), int(block.codes.max()) + 1) for block in blocks]
    shows_others = any(rows and high > m for (_, high), rows in zip(spans, shown, strict=True))
    labels, losses = [], []
    for block, span, (low, high) in zip(blocks, spans, _tiles(name, spans, shown, edges), strict=True):
        if (low, high) == span:
            label, under = block.label, high - low
        elif (low, high) == (0, m) and not shows_others:
            label, under = tree.nodes[-1], tree.leaves
        else:
            label, under = _interval(tree, edges, low, high), high - low
        labels.append(label)
        losses.append((under - 1) / max(tree.leaves - 1, 1))
    return tuple(labels), np.array(losses)


def _interval(tree: Hierarchy, edges: NDArray[np.float64], low: int, high: int) -> str:
    """The leaves from `low` up to `high` as an interval, as hierarchies write them; the last one holds its end."""
    is_last = high == len(edges) - 1
    if tree.is_date or tree.is_grid:  # a leaf is a day or a number
        start, end = tree.nodes[low], tree.nodes[high - 1 if is_last else high]
    else:
        start, end = word(float(edges[low]), is_date=False), word(float(edges[high]), is_date=False)
    return f"[{start}, {end}{']' if is_last else ')'}"


def _tiles(
    name: str, spans: list[tuple[int, int]], shown: NDArray[np.int64], edges: NDArray[np.float64]
) -> list[tuple[int, int]]:
    """Spans of ordered codes between `edges`, those that show grown over those that do not; a coin says to which side."""
    m = len(edges) - 1
    of_shown = [at for at, (_, high) in enumerate(spans) if high <= m and shown[at]]
    if not of_shown:
        return spans
    borders = [0]
    for left, right in itertools.pairwise(of_shown):
        start, end = spans[left][1], spans[right][0]
        is_gap = start < end
        borders.append(end if is_gap and _joins_left(name, float(edges[start]), float(edges[end])) else start)
    borders.append(m)
    grown = list(spans)
    for at, span in zip(of_shown, itertools.pairwise(borders), strict=True):
        grown[at] = span
    return grown


def _joins_left(name: str, start: float, end: float) -> bool:
    """The coin of a gap between two public places of a column: nobody without this host's key can foretell it."""
    secret = host_key().derive("sides of gaps")
    return hmac.digest(secret, repr((name, start, end)).encode(), "sha256")[0] % 2 == 1


def _recode_tree(name: str, tree: Hierarchy, of: NDArray[np.int32], labels: tuple[str, ...]) -> RecodedColumn:
    coder = coder_of(name, tree)
    return RecodedColumn(
        name, coder.leaves, coder.edges, coder.is_date, coder.null, of, labels, coder.unknown, coder.form, coder.is_grid
    )
