"""What a search ends in, as a recoding: from the blocks of a cut, or from classes of tuples.

A label of numbers and days is what lies between two public cuts, whatever the rows there hold; it is written as a value where
the step of the column leaves room for one alone. A block whose rows were all removed has no label of its own: the interval
beside it reaches over it, so that no gap shows where they were.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.leaf_coder import coder_of
from cloister.anonymization.counting.put_on_grid import GridTable
from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.searching.column_blocks import Block
from cloister.anonymization.writing.recoding import STAR, RecodedColumn, Recoding
from cloister.schema.hierarchies import Hierarchy

__all__ = ["make_global", "make_local"]


def make_global(
    table: GridTable, blocks: Sequence[Block], published: NDArray[np.int64], samples: NDArray[np.int64], is_starred: bool
) -> tuple[Recoding, list[NDArray[np.float64]]]:
    """The recoding of a cut, and what each label of each column loses: (values under it - 1) / (values - 1).

    Parameters
    ----------
    table : GridTable
    blocks : sequence of Block
        Of all columns.
    published, samples : array of int64
        The tuples that are published, and of those one of each class.
    is_starred : bool
        Whether the others are published as ``*``.
    """
    recoded, losses = [], []
    classes = np.empty((len(samples), len(table.names)), np.int32)
    for j, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        own_blocks = sorted((block for block in blocks if block.column == j), key=lambda block: int(block.codes.min()))
        of = np.empty(column.leaves, np.int32)
        for at, block in enumerate(own_blocks):
            of[block.codes] = at
        classes[:, j] = of[table.rows.codes[samples, j]]
        if isinstance(column, CutBins):
            block_of = of[table.rows.codes[published, j]]
            is_shown = np.bincount(block_of[table.rows.counts[published] > 0], minlength=len(own_blocks)) > 0
            made, loss = _recode_bins(name, column, own_blocks, is_shown)
        else:
            made = _recode_tree(name, column, of, tuple(block.label for block in own_blocks))
            loss = np.array([block.loss for block in own_blocks])
        recoded.append(made)
        losses.append(loss)
    members = np.arange(len(classes), dtype=np.int32)
    return Recoding(tuple(recoded), classes, members, classes, is_starred), losses


def make_local(
    table: GridTable,
    trees: Sequence[Hierarchy],
    tuples: NDArray[np.int32],
    members: NDArray[np.int64],
    classes: NDArray[np.int32],
) -> Recoding:
    """The recoding of classes of tuples; `classes` holds the node of each class in each column."""
    recoded = []
    for name, tree, column in zip(table.names, trees, table.columns, strict=True):
        if not isinstance(column, CutBins):
            recoded.append(_recode_tree(name, tree, np.arange(tree.leaves, dtype=np.int32), tree.nodes))
            continue
        spans = [(i, i + 1) for i in range(len(column.low))]
        singles = [column.single(*span) for span in spans]
        recoded.append(_recoded_numbers(name, column, spans, singles, (*tree.nodes, STAR)))
    kept = members >= 0
    return Recoding(tuple(recoded), tuples[kept], members[kept].astype(np.int32), classes, is_starred=False)


def _recode_bins(
    name: str, bins: CutBins, blocks: Sequence[Block], is_shown: NDArray[np.bool_]
) -> tuple[RecodedColumn, NDArray[np.float64]]:
    """A column of bins, and what its labels lose; `is_shown` are the blocks with published rows."""
    m, total = len(bins.low), int(bins.held.sum()) + bins.has_null
    spans = [(int(block.codes.min()), int(block.codes.max()) + 1) for block in blocks]
    shows_null = any(shown and low == m for (low, _), shown in zip(spans, is_shown, strict=True))
    labels, losses, singles = [], [], []
    for low, high in _tiles(spans, is_shown, m):
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


def _tiles(spans: list[tuple[int, int]], is_shown: NDArray[np.bool_], m: int) -> list[tuple[int, int]]:
    """Spans of bins, those that show grown over those that do not: to the left of each, and at the right end."""
    numbers = [at for at, (_, high) in enumerate(spans) if high <= m]
    shown = [at for at in numbers if is_shown[at]]
    grown = list(spans)
    for start, at in zip([0, *(spans[at][1] for at in shown)], shown, strict=False):
        grown[at] = (start, spans[at][1])
    if shown:
        grown[shown[-1]] = (grown[shown[-1]][0], m)
    return grown


def _recode_tree(name: str, tree: Hierarchy, of: NDArray[np.int32], labels: tuple[str, ...]) -> RecodedColumn:
    coder = coder_of(name, tree)
    return RecodedColumn(
        name, coder.leaves, coder.edges, coder.is_date, coder.null, of, labels, coder.unknown, coder.form, coder.is_grid
    )
