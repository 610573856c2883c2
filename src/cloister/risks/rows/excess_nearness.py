"""Whether rows of the table are nearer to a release than rows that were not in it: by how much, and whether by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.risks.rows.closest_records import NearestRecords, ratios_of

__all__ = ["CHANCE", "Excess", "ExcessNearness", "excess_nearness", "is_chance"]

CHANCE = 2.0  # standard errors: by chance alone one share in twenty differs by more
NEAR = 5  # percent of the control rows that count as near


@dataclass(frozen=True, slots=True)
class Excess:
    """A share of original rows beside that of control rows."""

    original: float
    control: float
    error: float  # standard error of the difference, both tables taken for samples of a larger one

    @property
    def excess(self) -> float:
        """What being in the table adds."""
        return self.original - self.control


@dataclass(frozen=True, slots=True)
class ExcessNearness:
    """Three ways to be too near, each as a share of rows.

    Attributes
    ----------
    unchanged : rows that stand in the release as they are
    nearest : rows as near to a released record as the nearest 5% of the control are
    ratio : rows with a ratio (`closest_records.ratios_of`) as small as the smallest 5% of the control
    """

    unchanged: Excess
    nearest: Excess
    ratio: Excess


def is_chance(excess: float, error: float) -> bool:
    """Whether an excess is within chance.

    >>> is_chance(0.019, 0.01), is_chance(-0.021, 0.01), is_chance(0.0, 0.0)
    (True, False, True)
    """
    return abs(excess) <= CHANCE * error


def excess_nearness(original: NearestRecords, control: NearestRecords) -> ExcessNearness:
    """Compare what rows of both tables found nearest to them in a release."""
    distances = [np.sqrt(each.squares[:, 0]) for each in (original, control)]
    ratios = [ratios_of(each) for each in (original, control)]
    # a share of rows below the control's own percentile needs no model of distances; equal values are on the same side
    near, small = (
        np.percentile(np.repeat(values[1], control.counts), NEAR, method="inverted_cdf") for values in (distances, ratios)
    )

    def shares(values: list[NDArray[np.float64]], holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> Excess:
        return _excess(original, control, holds(values[0]), holds(values[1]))

    return ExcessNearness(
        shares(distances, lambda each: each == 0),
        shares(distances, lambda each: each <= near),
        shares(ratios, lambda each: each <= small),
    )


def _excess(
    original: NearestRecords, control: NearestRecords, of_original: NDArray[np.bool_], of_control: NDArray[np.bool_]
) -> Excess:
    pairs = ((original, of_original), (control, of_control))
    one, other = (float(each.counts[holds].sum()) / each.tried for each, holds in pairs)
    variance = sum(
        share * (1 - share) / max(1, each.tried - 1) for share, (each, _) in zip((one, other), pairs, strict=True)
    )
    return Excess(one, other, float(np.sqrt(variance)))
