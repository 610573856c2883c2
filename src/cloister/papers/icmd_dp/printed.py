"""Paper 004 as it is printed: CMD, ICMD, ICMD-DP, noise on each record. For comparison only: none of it is private as claimed.

Three places of the paper are open in our text of it, and read in its favour. Formula 4, the total order, is missing: rows are
ordered by how much nearer they are to the one end than to the other. The sensitivity is printed as that of one group (section
2.2), and figure 3 fits that of all groups: `NoiseReading` has both. How categories are noised is not said: by the exponential
mechanism over the shares of their values, as in the work that the paper builds on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation
from cloister.papers.icmd_dp.unit_rows import UnitRows, read_unit_rows
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed
from cloister.schema import Schema
from cloister.vault import Unprotected

__all__ = [
    "AS_CLAIMED",
    "AS_IN_FIGURE_3",
    "ONLY_ORDER_PRINTED",
    "ONLY_PARALLEL_PRINTED",
    "GroupCentroids",
    "NoiseReading",
    "ends_of",
    "group_centroids",
    "groups_along",
    "icmd",
    "icmd_dp",
    "icmd_dp_numbers",
    "icmd_groups",
    "noise_by_attribute",
    "noise_on_each_record",
    "publish_cmd",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
NOTHING = "nothing: one record can move every group"
SYNTACTIC = Claimed("004", "k-anonymity, no epsilon", "k-anonymity of the table, no epsilon")


@dataclass(frozen=True, slots=True)
class NoiseReading:
    """How the noise of ICMD-DP (algorithm 3) is made. The first two fields are wrong as printed, and so is the third.

    Attributes
    ----------
    for_all_groups
        Whether it covers that all groups move at once (n / k times 1 / k of a range), or the move of one (1 / k, section 2.2).
    once_a_group
        Whether a centroid is drawn once and copied to its records, or each record draws noise of its own (step 2).
    shared_by_columns
        Whether the columns share the epsilon, or each of them has it whole.
    """

    for_all_groups: bool
    once_a_group: bool = False
    shared_by_columns: bool = False

    def scale(self, rows: UnitRows, k: int, epsilon: float) -> float:
        """The scale of the noise of a published number, in ranges of its column.

        >>> AS_IN_FIGURE_3.scale(UnitRows(np.zeros((100, 2)), np.zeros((100, 0), dtype=int), ()), 10, 1.0)
        1.0
        """
        groups = max(1, len(rows) // k) if self.for_all_groups else 1
        return groups / k / epsilon * (rows.columns if self.shared_by_columns else 1)

    def proved(self, rows: UnitRows, k: int, epsilon: float) -> float:
        """What can be proved: every published cell may move by its whole range, and all of them add up.

        A draw that is copied to its records shows which of them share a group, which nothing covers.
        """
        return math.inf if self.once_a_group else len(rows) * rows.columns / self.scale(rows, k, epsilon)


AS_CLAIMED = NoiseReading(for_all_groups=False)
"""Sections 2.2 and 2.3: the sensitivity of one group, and parallel composition over records."""
AS_IN_FIGURE_3 = NoiseReading(for_all_groups=True)
"""The noise with which ICMD-DP overtakes plain noise near the root of n, as figure 3 is said to show."""
ONLY_PARALLEL_PRINTED = NoiseReading(for_all_groups=False, once_a_group=True, shared_by_columns=True)
"""Draws and columns repaired: what is left of the printed noise is parallel composition over groups."""
ONLY_ORDER_PRINTED = NoiseReading(for_all_groups=True, once_a_group=True, shared_by_columns=True)
"""All of the noise repaired: what is left as printed is the order by the farthest records."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupCentroids:
    """What is published of each group: means of numbers, and the shares of the values of each category."""

    means: Floats  # (groups, d)
    shares: tuple[Floats, ...]  # (groups, values) for each column of categories

    @property
    def modes(self) -> Codes:
        """The most common value of each column, the first of equally common ones, (groups, c)."""
        modes = [shares.argmax(axis=1) for shares in self.shares]
        return np.stack(modes, axis=1) if modes else np.zeros((len(self.means), 0), np.int64)


def group_centroids(rows: UnitRows, groups: NDArray[Any]) -> GroupCentroids:
    """The centroid of each group (definition 6); the mode in place of a generalisation, for which there are no hierarchies."""
    sizes = np.bincount(groups)[:, None]
    means = [np.bincount(groups, column, len(sizes)) for column in rows.numbers.T]
    shares = [
        np.bincount(groups * size + codes, minlength=len(sizes) * size).reshape(len(sizes), size) / sizes
        for codes, size in zip(rows.codes.T, rows.sizes, strict=True)
    ]
    return GroupCentroids(np.stack(means, axis=1) / sizes if means else np.zeros((len(sizes), 0)), tuple(shares))


def ends_of(rows: UnitRows) -> tuple[int, int]:
    """The record farthest from the centre, and the one farthest from that (section 2.2). Which they are follows from the rows."""
    whole = group_centroids(rows, np.zeros(len(rows), np.int64))
    bottom = int(np.argmax(rows.distances(whole.means[0], whole.modes[0])))
    return bottom, int(np.argmax(rows.distances(rows.numbers[bottom], rows.codes[bottom])))


def icmd_groups(rows: UnitRows, k: int) -> Codes:
    """The group of each row by ICMD (algorithm 2), its boundary computed once: with a new one each round there is no order."""
    bottom, top = (rows.distances(rows.numbers[end], rows.codes[end]) for end in ends_of(rows))
    return groups_along(bottom - top, k)


def groups_along(keys: Floats, k: int) -> Codes:
    """Groups of the k first and of the k last rows of an order, as long as 2k are left; k or more that are left are a group.

    Fewer join each the nearer of the two groups beside them (steps 3 and 4).

    >>> groups_along(np.array([5.0, 1.0, 9.0, 2.0, 8.0]), 2).tolist()
    [0, 0, 1, 0, 1]
    """
    n = len(keys)
    order = np.argsort(keys, kind="stable")
    pairs = n // (2 * k)
    if not pairs:
        return np.zeros(n, np.int64)
    ranked = np.full(n, 2 * pairs)
    ranked[: pairs * k] = np.repeat(np.arange(0, 2 * pairs, 2), k)
    ranked[n - pairs * k :] = np.repeat(np.arange(2 * pairs - 1, 0, -2), k)
    if 0 < n - 2 * pairs * k < k:
        middle = keys[order[pairs * k : n - pairs * k]]
        low, high = (keys[order[ranked == group]].mean() for group in (2 * pairs - 2, 2 * pairs - 1))
        ranked[pairs * k : n - pairs * k] = np.where(middle - low <= high - middle, 2 * pairs - 2, 2 * pairs - 1)
    groups = np.empty(n, np.int64)
    groups[order] = ranked
    return groups


def publish_cmd(data: Any, schema: Schema, k: int) -> PrintedResult[UnitRows]:
    """CMD (algorithm 1): each row as the centroid of its group. k-anonymous, not differentially private, and not said to be."""
    rows = read_unit_rows(data, schema).value
    groups = Microaggregation(k=k, columns=list(schema.names), schema=schema).groups(data).value
    return stamp(_copied(rows, group_centroids(rows, groups), groups), SYNTACTIC, k=k)


def icmd(held: Unprotected[UnitRows], k: int) -> PrintedResult[UnitRows]:
    """ICMD (algorithm 2) without noise: groups along the order of the farthest records. Said to be insensitive, and it is not."""
    rows = held.value
    groups = icmd_groups(rows, k)
    return stamp(_copied(rows, group_centroids(rows, groups), groups), SYNTACTIC, k=k)


def icmd_dp(
    held: Unprotected[UnitRows], k: int, epsilon: float, seed: int, reading: NoiseReading = AS_CLAIMED
) -> PrintedResult[UnitRows]:
    """ICMD-DP (algorithm 3): noise on what ICMD publishes. See `NoiseReading` for what is wrong with its noise."""
    rows, random = held.value, np.random.default_rng(seed)
    groups, scale = icmd_groups(rows, k), reading.scale(rows, k, epsilon)
    centroids = group_centroids(rows, groups)
    if reading.once_a_group:
        each = np.arange(len(centroids.means))
        drawn = replace(rows, numbers=_noisy(centroids.means, scale, random), codes=_drawn(centroids, each, scale, random))
        published = drawn.taken(groups)
    else:
        numbers = _noisy(centroids.means[groups], scale, random)
        published = replace(rows, numbers=numbers, codes=_drawn(centroids, groups, scale, random))
    return stamp(published, Claimed("004", f"epsilon {epsilon:g}", NOTHING), k=k, epsilon=epsilon)


def icmd_dp_numbers(
    held: Unprotected[UnitRows], k: int, epsilon: float, seed: int, runs: int, reading: NoiseReading
) -> PrintedResult[Floats]:
    """The numbers of many releases at once, for attacks: (runs, records, d), or (runs, groups, d) where groups draw once."""
    rows, random = held.value, np.random.default_rng(seed)
    groups, scale = icmd_groups(rows, k), reading.scale(rows, k, epsilon)
    means = group_centroids(rows, groups).means
    exact = means if reading.once_a_group else means[groups]
    noisy = exact + random.laplace(scale=scale, size=(runs, *exact.shape))
    return stamp(noisy, Claimed("004", f"epsilon {epsilon:g}", NOTHING), k=k, epsilon=epsilon, runs=runs)


def noise_by_attribute(
    held: Unprotected[UnitRows], k: int, epsilon: float, seed: int, runs: int
) -> PrintedResult[tuple[Floats, Codes]]:
    """Formula 4 read as an order of each number by itself: noisy means (runs, d, groups), and each row's group in each column.

    The means of one column move by one range / k in all, so that the noise of the numbers is right. A row is published as the
    noisy means of its groups, and so it shows which records share a group in each column: no noise covers that.
    """
    rows, random = held.value, np.random.default_rng(seed)
    columns = rows.numbers.shape[1]
    groups = np.stack([groups_along(column, k) for column in rows.numbers.T], axis=1)  # (n, d)
    means = np.stack([group_centroids(rows, groups[:, j]).means[:, j] for j in range(columns)])
    noisy = means + random.laplace(scale=columns / k / epsilon, size=(runs, *means.shape))
    claimed = Claimed("004", f"epsilon {epsilon:g}", "nothing: groups are published as they are")
    return stamp((noisy, groups), claimed, k=k, epsilon=epsilon, runs=runs)


def noise_on_each_record(
    held: Unprotected[UnitRows], epsilon: float, seed: int, shared_by_columns: bool = False
) -> PrintedResult[UnitRows]:
    """Standard differential privacy, the paper's baseline: noise of one range on every cell.

    Where every column has the whole epsilon, a record costs their number times as much; where they share it, what is claimed
    holds (in exact arithmetic), and nobody who collects the rows need be trusted.
    """
    rows, random = held.value, np.random.default_rng(seed)
    scale = (rows.columns if shared_by_columns else 1) / epsilon
    alone = group_centroids(rows, np.arange(len(rows)))
    codes = _drawn(alone, np.arange(len(rows)), scale, random)
    proved = f"epsilon {epsilon * (1 if shared_by_columns else rows.columns):g} in exact arithmetic, replace-one"
    published = replace(rows, numbers=_noisy(rows.numbers, scale, random), codes=codes)
    return stamp(published, Claimed("004", f"epsilon {epsilon:g}", proved), epsilon=epsilon)


def _copied(rows: UnitRows, centroids: GroupCentroids, groups: NDArray[Any]) -> UnitRows:
    return replace(rows, numbers=centroids.means[groups], codes=centroids.modes[groups])


def _noisy(exact: Floats, scale: float, random: np.random.Generator) -> Floats:
    return exact + random.laplace(scale=scale, size=exact.shape)


def _drawn(centroids: GroupCentroids, groups: NDArray[Any], scale: float, random: np.random.Generator) -> Codes:
    """A value of each category for each of some groups: P ~ exp(share / (2 scale)), the exponential mechanism."""
    drawn = []
    for shares in centroids.shares:
        weights = np.exp((shares - shares.max(axis=1, keepdims=True)) / (2 * scale))
        below = np.cumsum(weights, axis=1)
        below /= below[:, -1:]
        drawn.append((random.random(len(groups))[:, None] >= below[groups, :-1]).sum(axis=1))
    return np.stack(drawn, axis=1) if drawn else np.zeros((len(groups), 0), np.int64)
