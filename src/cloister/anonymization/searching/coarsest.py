"""Where a global search begins within limits: the coarsest blocks that they allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.column_blocks import BinColumn, Block, BlockColumn
from cloister.anonymization.searching.limits import ColumnLimit, allowed_nodes, check_limit, parts_of
from cloister.schema.hierarchies import Hierarchy

__all__ = ["coarsest_blocks"]


def coarsest_blocks(
    blocks: Sequence[BlockColumn],
    columns: Sequence[Hierarchy | CutBins],
    rows: TupleCounts,
    limits: Sequence[ColumnLimit],
) -> list[list[Block]]:
    """Blocks that hold every code once, as coarse as the limits allow, in a few ways: intervals may be parted in several."""
    ways: list[list[Block]] = [[], [], []]
    has_parts = False
    for j, (column, kind, limit) in enumerate(zip(blocks, columns, limits, strict=True)):
        if not limit.is_set:
            own = [[column.root]] * len(ways)
        elif isinstance(column, BinColumn):
            assert isinstance(kind, CutBins)
            check_limit(limit, None)
            counts = np.bincount(rows.codes[:, j], rows.counts, kind.leaves).astype(np.float64)
            own = [column.parted(borders) for borders in parts_of(kind, counts, limit)]
            has_parts = True
        else:
            assert isinstance(kind, Hierarchy)
            check_limit(limit, kind)
            own = [_coarsest_of_tree(column, allowed_nodes(kind, limit))] * len(ways)
        for way, chosen in zip(ways, own, strict=True):
            way += chosen
    return ways if has_parts else ways[:1]


def _coarsest_of_tree(column: BlockColumn, are_allowed: np.typing.NDArray[np.bool_]) -> list[Block]:
    found, left = [], [column.root]
    while left:
        block = left.pop()
        if are_allowed[block.node]:
            found.append(block)
        else:
            left += column.children(block, 0)[::-1]
    return found
