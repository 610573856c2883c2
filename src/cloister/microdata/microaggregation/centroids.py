"""How a group is written: the mean of its numbers and dates, the lowest common generalisation or the mode of its categories.

Means are rounded: to the step of the schema, to whole numbers where all cells of the column are whole, dates to days, others to
six digits of the column's range. A mean is one of known cells, and stands only where at least half of a group's rows, and at
least two of them, have one (people, where k counts people); elsewhere a blank does: a mean of one would be somebody's own value.
Where k counts people, a mean is one of people's means and a mode the value that most people have: who has many rows counts once.

References
----------
Ding and Li (paper 004), definition 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.kernels.loops.arrays import F64, I32, I64
from cloister.microdata.microaggregation.grouping import Grouping, group_modes
from cloister.microdata.microaggregation.mixed_rows import LARGEST_WHOLE, MixedRows, NumberColumn, WordColumn
from cloister.schema.arrow_numpy import from_mask, from_numbers, from_texts
from cloister.schema.hierarchies import Hierarchy

__all__ = ["PublishedColumn", "publish_columns"]

DIGITS = 6  # of a column's range, that means without a step are rounded to
LARGEST_SUMMED = 1e280  # sums of larger numbers may not be finite


@dataclass(frozen=True, slots=True, eq=False)
class PublishedColumn:
    """What a column is written as, group by group."""

    name: str
    kind: str  # number, date or category
    how: str  # in words
    values: pa.Array  # (groups,)
    loss: float  # numbers: 100 SSE/SST by means that are not rounded; categories: percent of cells that read otherwise now
    has_blanks: bool


def publish_columns(rows: MixedRows, grouping: Grouping, trees: Mapping[str, Hierarchy]) -> tuple[PublishedColumn, ...]:
    """The centroids of all groups, column by column."""
    return tuple(
        _number_centroids(column, grouping, rows.people)
        if isinstance(column, NumberColumn)
        else _category_centroids(column, grouping, trees.get(column.name), rows.people)
        for column in rows.columns
    )


def _number_centroids(column: NumberColumn, grouping: Grouping, people: I32) -> PublishedColumn:
    is_known = ~np.isnan(column.cells)
    of, cells = grouping.of[is_known], column.cells[is_known]
    kind = "date" if column.is_date else "number"
    if not len(cells):
        return PublishedColumn(column.name, kind, "blank throughout", pa.nulls(grouping.count, pa.int64()), 0.0, True)
    known, all_units = np.bincount(of, minlength=grouping.count), grouping.sizes
    has_blanks = len(cells) < len(column.cells)
    shrunk = 2.0**-64 if np.abs(cells).max() > LARGEST_SUMMED else 1.0  # a power of two: nothing is rounded
    weights = _person_weights(of, people[is_known]) if len(people) else np.ones(len(cells))
    weighed = np.bincount(of, weights, grouping.count)
    means = np.bincount(of, cells * shrunk * weights, grouping.count) / np.where(known > 0, weighed, 1.0) / shrunk
    if has_blanks:
        units = known
        if len(people):
            units, all_units = (
                _people_in(of, people[is_known], grouping.count),
                _people_in(grouping.of, people, grouping.count),
            )
        is_written = (units >= 2) & (2 * units >= all_units)
    else:
        is_written = np.ones(grouping.count, np.bool_)
    return PublishedColumn(
        column.name, kind, _rounding_words(column), _written(column, _rounded(column, means, cells), is_written),
        _squared_loss(cells, of, means, is_written, weights), has_blanks,
    )  # fmt: skip


def _person_weights(of: I32, people: I32) -> F64:
    """What each row weighs so that the rows of a person in a group weigh 1 together: nobody's many rows make the mean theirs."""
    persons = int(people.max(initial=0)) + 1
    _, inverse, counts = np.unique(of.astype(np.int64) * persons + people, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / counts[inverse])


def _one_row_a_person(of: I32, codes: I32, people: I32) -> tuple[I32, I32]:
    """The groups and codes of rows that differ in group, code or person: a mode of them is one of people, not of rows."""
    kept = np.unique(np.stack([of, codes, people], axis=1), axis=0)
    return np.ascontiguousarray(kept[:, 0], np.int32), np.ascontiguousarray(kept[:, 1], np.int32)


def _people_in(of: I32, people: I32, count: int) -> I64:
    """How many different people each group has."""
    persons = int(people.max(initial=0)) + 1
    return np.bincount(np.unique(of.astype(np.int64) * persons + people) // persons, minlength=count)


def _squared_loss(cells: F64, of: I32, means: F64, is_written: NDArray[np.bool_], weights: F64) -> float:
    """100 SSE/SST; where a group is written as a blank, its cells count as if they were known to be the column's mean.

    Cells weigh what they weigh in the means: where k counts people, the rows of a person in a group weigh 1 together.
    """
    unit = float(np.abs(cells).max()) or 1.0
    cells, means = cells / unit, means / unit
    mean = float(np.average(cells, weights=weights))
    total = float(weights @ (cells - mean) ** 2)
    within = float(weights @ (cells - np.where(is_written, means, mean)[of]) ** 2)
    return 100 * within / total if total > 0 else 0.0


def _rounded(column: NumberColumn, means: F64, cells: F64) -> F64:
    low, high = float(cells.min()), float(cells.max())
    if low == high:
        return np.full(len(means), low)
    if column.step is None:
        digits = DIGITS - 1 - math.floor(math.log10(high / 2 - low / 2))  # the range may not be finite
        rounded = np.round(means, digits) if abs(digits) < 300 else means
    elif column.step == 1.0 and (column.bounds is None or column.bounds[0].is_integer()):
        rounded = np.rint(means)
    else:
        origin = column.bounds[0] if column.bounds is not None else 0.0
        steps = origin + np.rint((means - origin) / column.step) * column.step
        places = [-int(Decimal(repr(number)).normalize().as_tuple().exponent) for number in (column.step, origin)]
        rounded = np.round(steps, max(0, *places))  # 3 x 0.1 is 0.3
    if column.bounds is not None:  # public ones: the smallest and the largest cell are somebody's own
        rounded = np.clip(rounded, *column.bounds)
    return rounded + 0.0  # no -0


def _rounding_words(column: NumberColumn) -> str:
    if column.is_date:
        return "mean, to a day"
    if column.step is None:
        return f"mean, to {DIGITS} digits of the range"
    return "mean, to a whole number" if column.step == 1.0 else f"mean, to steps of {column.step:g}"


def _written(column: NumberColumn, values: F64, is_written: NDArray[np.bool_]) -> pa.Array:
    """Numbers as they are written: days and whole numbers as such."""
    values = np.where(is_written, values, 0.0)
    if column.is_date:
        cells = from_numbers(values.astype(np.int32)).cast(pa.date32())
    elif column.step == 1.0 and bool((np.floor(values) == values).all()) and np.abs(values).max() < LARGEST_WHOLE:
        cells = from_numbers(values.astype(np.int64))
    else:
        cells = from_numbers(values)
    return pc.if_else(from_mask(is_written), cells, pa.scalar(None, cells.type))


def _category_centroids(column: WordColumn, grouping: Grouping, tree: Hierarchy | None, people: I32) -> PublishedColumn:
    if tree is None:
        of, codes = grouping.of, column.codes
        if len(people):
            of, codes = _one_row_a_person(of, codes, people)
        modes, _ = group_modes(of, codes, grouping.count)
        words, kept = column.words.take(from_numbers(modes)), int((modes[grouping.of] == column.codes).sum())
        how = "mode"
    else:
        words, is_same = _generalised(column, grouping, tree)
        kept = int(grouping.sizes[is_same].sum())
        how = f"lowest common generalisation by {tree.origin}"
    is_blank = pc.equal(column.words, "")
    written = pc.if_else(pc.equal(words, ""), pa.scalar(None, pa.string()), words)
    loss = 100 * (1 - kept / len(column.codes))
    return PublishedColumn(column.name, "category", how, written, loss, bool(pc.any(is_blank).as_py()))


def _generalised(column: WordColumn, grouping: Grouping, tree: Hierarchy) -> tuple[pa.Array, NDArray[np.bool_]]:
    """The lowest label that covers all rows of each group, and which groups have but one word.

    A group of one word is written as that word. A word that the hierarchy lacks has the root alone above it.
    """
    tree = tree.with_null()
    leaves = tree.codes(column.words).astype(np.int64)  # (values,)
    order = np.argsort(grouping.of, kind="stable")
    starts = np.searchsorted(grouping.of[order], np.arange(grouping.count))
    codes = column.codes[order]
    is_same = np.minimum.reduceat(codes, starts) == np.maximum.reduceat(codes, starts)
    nodes = np.full(grouping.count, len(tree.nodes) - 1)
    is_open = ~is_same
    apart = len(tree.nodes) + np.arange(len(leaves))  # words without a leaf: like no other, up to the root
    for level in tree.levels[:-1]:
        above = np.where(leaves >= 0, level[np.maximum(leaves, 0)], apart)[codes]
        least = np.minimum.reduceat(above, starts)
        is_found = is_open & (least == np.maximum.reduceat(above, starts)) & (least < len(tree.nodes))
        nodes[is_found] = least[is_found]
        is_open &= ~is_found
    labels = from_texts(tree.nodes).take(from_numbers(nodes))
    return pc.if_else(from_mask(is_same), column.words.take(from_numbers(codes[starts])), labels), is_same
