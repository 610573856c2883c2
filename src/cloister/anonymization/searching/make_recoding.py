"""What a search ends in, as a recoding: from the blocks of a cut, or from classes of tuples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.leaf_coder import coder_of
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.searching.column_blocks import Block
from cloister.anonymization.writing.recoding import RecodedColumn, Recoding
from cloister.schema.hierarchies import Hierarchy

__all__ = ["make_global", "make_local"]


def make_global(
    names: Sequence[str],
    columns: Sequence[Hierarchy | Scale],
    blocks: Sequence[Block],
    samples: NDArray[np.int32],
    is_starred: bool,
) -> Recoding:
    """The recoding of a cut; `samples` holds the leaf codes of one tuple of each class."""
    recoded = []
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        own_blocks = sorted((block for block in blocks if block.column == j), key=lambda block: int(block.codes.min()))
        of = np.empty(column.leaves, np.int32)
        for at, block in enumerate(own_blocks):
            of[block.codes] = at
        recoded.append(_recoded_column(name, column, of, tuple(block.label for block in own_blocks)))
    classes = np.stack([column.of[samples[:, j]] for j, column in enumerate(recoded)], axis=1)
    return Recoding(tuple(recoded), classes, np.arange(len(classes), dtype=np.int32), classes, is_starred)


def make_local(
    names: Sequence[str],
    trees: Sequence[Hierarchy],
    tuples: NDArray[np.int32],
    members: NDArray[np.int64],
    classes: NDArray[np.int32],
) -> Recoding:
    """The recoding of classes of tuples; `classes` holds the node of each class in each column."""
    recoded = [
        _recoded_column(name, tree, np.arange(tree.leaves, dtype=np.int32), tree.nodes)
        for name, tree in zip(names, trees, strict=True)
    ]
    kept = members >= 0
    return Recoding(tuple(recoded), tuples[kept], members[kept].astype(np.int32), classes, is_starred=False)


def _recoded_column(name: str, column: Hierarchy | Scale, of: NDArray[np.int32], labels: tuple[str, ...]) -> RecodedColumn:
    if isinstance(column, Scale):
        null = len(column.values) if column.has_null else -1
        return RecodedColumn(name, None, _reaching(column, of), column.is_date, null, of, labels, form=column.form)
    coder = coder_of(name, column)
    return RecodedColumn(name, coder.leaves, coder.edges, coder.is_date, coder.null, of, labels, coder.unknown, coder.form)


def _reaching(scale: Scale, of: NDArray[np.int32]) -> NDArray[np.float64]:
    """The edges, the outermost moved out to the published ends unless they belong to a single value."""
    if not len(scale.values):
        return scale.edges
    edges, ends = scale.edges.copy(), scale.ends
    under = np.bincount(of)
    if scale.top is not None or under[of[0]] > 1:
        edges[0] = ends[0]
    if scale.top is not None or under[of[len(scale.values) - 1]] > 1:
        edges[-1] = ends[1]
    return edges
