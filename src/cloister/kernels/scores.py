"""Scores of candidates from the histogram of one column: what the exponential mechanism chooses by, and how far a row moves them.

A column has `size` places, 0 to size - 1, in the order of its public grid or domain. A score is a number of each place, computed
from how many rows lie at each. Scores are integers.

Privacy
-------
A choice with P(i) ~ exp(score_i / scale) shows at most (D_i - min_j D_j) / scale of which of two tables it was, where D_j is how
far score j moves between them: exp(D_i / scale) from the candidate itself, and exp(-min_j D_j / scale) from the sum over all. So
what counts is the **reach** of a score, max_j D_j - min_j D_j over every pair of neighbours. It is at most twice the sensitivity
of a score, and half of that where all scores move the same way. Over the rows of a person reaches add: the largest of a sum is
at most the sum of the largest, and the smallest at least the sum of the smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.schema import Neighbours
from cloister.schema.unit import Unit, rows_each

__all__ = ["ColumnPlaces", "Counts", "RankDistance", "Runs", "PlaceScore", "Scoring", "TotalDistance", "reach_for"]

FARTHEST_GAP = 2**62  # a score farther than that behind the best counts as that far: see `Scoring.runs`
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ColumnPlaces:
    """The place of a row's value in the one column that is read, as its key: a grid integer or a code, clipped to the places.

    Privacy: a row has one key, so adding one moves one count by 1.
    """

    size: int
    width: int = 1

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        column = rows.numbers[:, :1] if rows.numbers.shape[1] else rows.codes[:, :1]
        return np.clip(column.astype(np.int64), 0, self.size - 1)


class PlaceScore(Protocol):
    """A number of each place, from a histogram. `keys` rise and are distinct; `counts` are of rows."""

    @property
    def is_flat(self) -> bool:
        """Whether it is the same at all places between two keys that follow each other."""

    def at(self, places: Places, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The scores of these places; larger is better."""

    def reach(self, neighbours: Neighbours) -> int:
        """The farthest that one row moves two scores apart."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows have the value.

    Privacy: adding a row moves one count by 1 and no other, so all move the same way: reach 1. Replacing one takes 1 from a
    count and gives it to another: reach 2.
    """

    @property
    def is_flat(self) -> bool:
        return True

    def at(self, places: Places, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        padded = np.append(counts, 0)
        found = np.searchsorted(keys, places)
        is_there = np.append(keys, -1)[found] == places
        return np.where(is_there, padded[found], 0)

    def reach(self, neighbours: Neighbours) -> int:
        return 1 if neighbours is Neighbours.ADD_REMOVE else 2


@dataclass(frozen=True, slots=True)
class RankDistance:
    """How far a place is from the quantile a / b, in b-ths of a rank, with a minus sign.

    With B rows below a place, E at it and A above, its ranks are B to B + E and the target is (a / b) n, n = B + E + A. The
    distance is 0 where the target lies among the ranks, else from its nearer end. Times b it is an integer:
    d = max(0, (b-a) B - a (E + A), a A - (b-a) (B + E)). The ranks of all places cover 0 to n without a gap, so the best d is 0.

    Privacy: a row that is added below a place moves its first form by b-a and the second by -(b-a); above it by -a and a; at it
    by -a and -(b-a). So every d moves by at most m = max(a, b-a) to either side: reach 2 m, which for the median is one rank.
    A row that is replaced leaves n as it is and moves B, and B + E, by at most 1: d by at most b to either side, reach 2 b.
    """

    a: int
    b: int

    @property
    def is_flat(self) -> bool:
        return True

    def at(self, places: Places, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        before = np.concatenate([[0], np.cumsum(counts)])
        below, up_to = before[np.searchsorted(keys, places)], before[np.searchsorted(keys, places, side="right")]
        target = self.a * before[-1]  # in b-ths of a rank
        beyond = np.maximum(self.b * below - target, target - self.b * up_to)
        return np.asarray(-np.maximum(beyond, 0))

    def reach(self, neighbours: Neighbours) -> int:
        return 2 * max(self.a, self.b - self.a) if neighbours is Neighbours.ADD_REMOVE else 2 * self.b


@dataclass(frozen=True, slots=True)
class TotalDistance:
    """The sum over all rows of their distance to a place, at most `clip` each, with a minus sign.

    `span` is how far apart the two outermost candidates lie.

    Privacy: a row at z adds f(j) = min(|z - j|, clip) to the distance of candidate j. Two of its f differ by at most clip, and by
    at most the distance of the two candidates (triangle): adding it moves scores apart by at most m = min(clip, span), reach m.
    Replacing z by z' moves them by f' - f, hence by at most 2 m apart.
    """

    clip: int
    span: int

    @property
    def is_flat(self) -> bool:
        return False

    def at(self, places: Places, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = np.concatenate([[0], np.cumsum(counts)])
        sums = np.concatenate([[0], np.cumsum(counts * keys)])
        low, middle = (np.searchsorted(keys, places - shift) for shift in (self.clip, 0))
        high = np.searchsorted(keys, places + self.clip, side="right")
        left = places * (rows[middle] - rows[low]) - (sums[middle] - sums[low])
        right = (sums[high] - sums[middle]) - places * (rows[high] - rows[middle])
        outside = rows[-1] - (rows[high] - rows[low])
        distance: NDArray[np.int64] = left + right + self.clip * outside
        return -distance

    def reach(self, neighbours: Neighbours) -> int:
        most = min(self.clip, self.span)
        return most if neighbours is Neighbours.ADD_REMOVE else 2 * most


def reach_for(score: PlaceScore, neighbours: Neighbours, unit: Unit | None) -> int:
    """How far whom the guarantee protects moves two scores apart: a row, or a person with all their rows."""
    return score.reach(neighbours) * rows_each(unit)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Candidates in runs of equal scores: the first of each run, how many it has, and how far it lies behind the best."""

    firsts: NDArray[np.int64]
    widths: NDArray[np.int64]
    gaps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scoring:
    """A score and the candidates that it is asked for: all places of a column, or some that are listed."""

    score: PlaceScore
    size: int  # places of the column
    options: tuple[int, ...] | None = None  # places; candidate i is the i-th of them. None: candidate i is place i

    @property
    def candidates(self) -> int:
        """How many there are to choose from, a public number."""
        return self.size if self.options is None else len(self.options)

    def runs(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> Runs:
        """All candidates, in as few runs as the histogram shows: time and memory grow with its keys, not with the places.

        Privacy: a gap is cut off at `FARTHEST_GAP`. Gaps move by D_i - D_best, which lies between min D - D_best <= 0 and
        max D - D_best >= 0; a gap that is cut off moves less in the same direction, so the reach stays what it was.
        """
        if self.options is not None or not self.score.is_flat:
            places = np.arange(self.size) if self.options is None else np.array(self.options, dtype=np.int64)
            firsts, widths = np.arange(len(places), dtype=np.int64), np.ones(len(places), dtype=np.int64)
        else:
            starts, ends = np.concatenate([[0], keys + 1]), np.append(keys, self.size)  # of the places between keys
            is_there = ends > starts
            firsts = places = np.concatenate([keys, starts[is_there]])
            widths = np.concatenate([np.ones(len(keys), dtype=np.int64), (ends - starts)[is_there]])
        scores = self.score.at(places, keys, counts)
        return Runs(firsts, widths, np.minimum(scores.max() - scores, FARTHEST_GAP))
