"""Record linkage with a release of rows: who holds the original looks for people in it.

Two forms. *Group linkage* is the record linkage of microaggregation: a row's nearest record stands in the release as often as its
group has rows, and the intruder picks one of them. *Nearest-record linkage* asks for both directions: the nearest released row of
an original row must have that row for its own nearest original row. It needs no row of the release to be anybody's, so it can be
computed for made-up rows too, where a part of all rows is linked by chance: only what exceeds the same share of rows that were
not in the table says anything about people.

References
----------
Domingo-Ferrer and Torra, A quantitative comparison of disclosure control methods for microdata, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.risks.rows.closest_records import NearestRecords, draw_rows, look_up
from cloister.risks.rows.row_tables import RowTable

__all__ = ["LinkageBesideControl", "RowLinkage", "beside_control", "row_linkage"]

ROUNDING = 1e-12  # squared distances that differ by no more are one
SUPERPOPULATION = (
    10**12
)  # rows that original and control stand for: both are samples of it, however many rows were looked at


@dataclass(frozen=True, slots=True)
class LinkageBesideControl:
    """Nearest-record linkage of original rows and of as many rows that were not in the table."""

    rows: int  # of each of the two among which nearest rows were looked for
    original: float
    control: float
    excess_error: float

    @property
    def excess(self) -> float:
        """What being in the table adds."""
        return self.original - self.control


@dataclass(frozen=True, slots=True)
class RowLinkage:
    """Shares of the original rows that are linked, with the standard errors of drawing rows."""

    group: float | None  # at most; None: no released row is anybody's
    group_error: float | None
    nearest: float
    nearest_error: float
    by_chance: float  # the share that a blind guess links
    beside_control: LinkageBesideControl | None = None


def row_linkage(
    original: RowTable,
    drawn: RowTable,
    nearest: NearestRecords,
    released: RowTable,
    *,
    is_made_up: bool,
    control: LinkageBesideControl | None = None,
    averaged: NearestRecords | None = None,
) -> RowLinkage:
    """Both forms of linkage, for rows that were drawn from the original and what they found nearest.

    `averaged` are the nearest records over the averaged columns alone, which make groups; None: all columns do.
    """
    grouped = nearest if averaged is None else averaged
    group, group_error = grouped.mean(1 / grouped.tied, original.rows)
    linked, linked_error = nearest.mean(mutual_chances(original, drawn, nearest, released), original.rows)
    return RowLinkage(
        None if is_made_up else group,
        None if is_made_up else group_error,
        linked,
        linked_error,
        1 / max(original.rows, released.rows),
        control,
    )


def beside_control(original: RowTable, control: RowTable, released: RowTable, most: int | None) -> LinkageBesideControl:
    """Nearest-record linkage among as many original rows as there are control rows: fewer rows are linked more often."""
    number = min(original.rows, control.rows)
    shares, errors = [], []
    for table in (original, control):
        some = draw_rows(table, number)
        drawn = draw_rows(some, most, seed=1)
        nearest = look_up(drawn, released)
        share, error = nearest.mean(mutual_chances(some, drawn, nearest, released), SUPERPOPULATION)
        shares.append(share)
        errors.append(error)
    return LinkageBesideControl(number, shares[0], shares[1], float(np.hypot(errors[0], errors[1])))


def mutual_chances(original: RowTable, drawn: RowTable, nearest: NearestRecords, released: RowTable) -> NDArray[np.float64]:
    """The chance that each drawn row is linked with one of the released rows that are nearest to it.

    The intruder picks one of the released rows G nearest to a row, and one of the original rows H nearest to what was picked.
    Where the row is in H, the two sets are each other's nearest: of pairs between them its own is right with 1 / max(|G|, |H|).
    """
    listed = np.unique(nearest.ties[nearest.ties >= 0])
    back = look_up(released.taken(listed, released.counts[listed]), original)
    chances, picked = np.zeros(len(drawn)), np.zeros(len(drawn))
    for record in nearest.ties.T:
        at = np.searchsorted(listed, np.maximum(record, listed[0]))
        copies = np.where(record >= 0, released.counts[record], 0)
        is_mutual = nearest.squares[:, 0] <= back.squares[at, 0] + ROUNDING
        chances += np.where(is_mutual, copies / np.maximum(nearest.tied, back.tied[at]), 0.0)
        picked += copies
    mean: NDArray[np.float64] = chances / picked  # of many nearest records those that are listed stand for all
    return mean
