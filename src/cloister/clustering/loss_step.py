"""The loss that every method buys last: a private estimate of the mean squared distance to the nearest released centre.

Privacy
-------
Released: the noisy sums of squared distances by bands of powers of two (`kernels.DistanceBands`). Neighbours: both relations.
Sensitivity: a row is in one band. Budget: 2%, one step. Up to which band they are added up follows from what was released.

A band's noise grows with its distance, so the bands above all rows are nothing but noise, and are left out. Added up are

- all bands up to the highest that stands out of the noise, alone or with its neighbours (`TOGETHER`),
- at least until half of the rows are seen: a row adds half of its band's end or more, so the bands of all rows add up to that,
- at least up to eight times the mean that comes of it (`LEAST_REACH`),
- one more after a band that adds 8% of the mean and twice its own noise: there may be a tail,
- and more while the noise stays below half a percent of the mean: as epsilon grows nothing is left out.

What a loss leaves out
----------------------
Rows beyond the last band add nothing. Of normal clusters at most 5% of the loss lies beyond eight times its mean in one
column, 0.3% in two and less in more: P(chi-squared with d + 2 degrees > 8 d). It may be far more where few rows lie far away, too
few to stand out of the noise: of columns with a log-normal tail a third of the loss, of a cluster without a centre nearly all
of it. So the certificate says up to where rows were counted, and what the loss of all rows is at most (`Loss.at_most`): all bands
together, without bias, and 1.8 deviations of their noise. Where no band stands out all are added up: then the standard error
says that the loss is noise. The standard error is the bands' noise; that of the number of rows comes on top, and is about a
tenth of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.fitted import Loss
from cloister.clustering.progress import Progress
from cloister.clustering.terms import Terms
from cloister.kernels import BoxClip, DistanceBands, Modes
from cloister.privacy.mechanisms import Spend, calibrate
from cloister.vault import Vault

__all__ = ["LOSS_SHARE", "MeasuredCenters", "check_loss", "estimate_loss", "expected_error", "measure_loss"]

LOSS_SHARE = Fraction(2, 100)  # of the budget
SURE = 4.5  # deviations by which bands stand out: of empty ones with Laplace noise fewer than 1 in 1,000 do
TOGETHER = (1, 2, 4)  # neighbouring bands that are tested together
LEAST_PART = 0.5  # of its band's end that a row adds
MOST = 1.8  # deviations: 96% of normal or Laplace noise is less, and the noise of the number of rows comes on top
LEAST_REACH = 8.0  # rows up to at least this many times the mean are counted
STEEP = 0.08  # more bands are counted after one that adds more than this part of the mean, and twice its noise
QUIET = 0.005  # more bands are counted while the noise stays below this part of the mean
USUAL_REACH = 11.0  # in a plan: the middle between eight times the mean and sixteen


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredCenters:
    """Released centres whose loss is bought, and about how many rows the table has."""

    domain: Domain
    centers: NDArray[np.int32]  # (k, d)
    rows: float  # noisy, at least 1
    modes: Modes | None = None  # their categories; None: rows have numbers alone

    @property
    def kernel(self) -> DistanceBands:
        """What is summed over the rows. No row is farther than the farthest place is from the most central centre."""
        categories = 0 if self.modes is None else self.modes.farthest
        most = min(self.domain.clip.farthest(center) for center in self.centers.tolist()) + categories
        return DistanceBands(self.centers, most, self.domain.clip, self.modes)


def check_loss(domain: Domain, terms: Terms, spend: Spend) -> None:
    """Refuse, before a charge, a loss whose noise could not be drawn or whose distances would not be exact."""
    DistanceBands(domain.halves[None].astype(np.int32), 1, domain.clip)
    band_noise(terms, spend)


def band_noise(terms: Terms, spend: Spend) -> float:
    """The deviation of a band, in rows at its upper edge; it is the same whatever the centres are."""
    kernel = DistanceBands(np.zeros((1, 1), dtype=np.int32), 1, BoxClip((1,)))
    return calibrate(terms.sensitivity(kernel), spend).deviation()["bands"] / kernel.UNIT


def expected_error(terms: Terms, spend: Spend, rows: float) -> str:
    """What a plan says of this step: the noise's part in the loss."""
    error = USUAL_REACH * sqrt(4 / 3) * band_noise(terms, spend) / max(1.0, rows)
    return f"measured +-{error:.1%}" if error < 1 else "measured: hardly more than noise"


def measure_loss(vault: Vault, of: MeasuredCenters, spend: Spend, progress: Progress) -> Loss:
    """Buy the loss of released centres, with its standard error."""
    progress("loss")
    kernel = of.kernel
    released = vault.measure(kernel, calibrate(vault.sensitivity(kernel), spend), "loss")
    bands = released.value["bands"].astype(np.float64) / kernel.UNIT
    return estimate_loss(bands, released.deviation["bands"] / kernel.UNIT, of.rows)


def estimate_loss(bands: NDArray[np.float64], noise: float, rows: float) -> Loss:
    """The mean of released bands, in squared grid steps: those that stand out of the noise, by the rule above.

    Parameters
    ----------
    bands : (b,)
        Noisy sums, each in parts of the upper edge of its band.
    noise
        Their deviation.
    rows
        About how many rows there are.

    Examples
    --------
    >>> estimate_loss(np.array([0.0, 0.0, 600.0, 300.0, 0.0, 0.0, 0.0, 0.0, 1.0]), 2.0, 1000.0).cap
    128.0
    """
    edges = 2.0 ** np.arange(1, len(bands) + 1)
    means = np.cumsum(bands * edges) / rows
    errors = np.sqrt(np.cumsum((noise * edges) ** 2)) / rows
    last = last_seen(bands, noise, rows)
    is_needed = edges < LEAST_REACH * (means + errors)
    is_needed |= bands * edges / rows > np.maximum(STEEP * means, 2 * noise * edges / rows)
    is_needed[:-1] |= errors[1:] <= QUIET * means[:-1]
    while last < len(bands) - 1 and is_needed[last]:  # one band more than this
        last += 1
    if means[last] <= errors[last] and not is_seen_anywhere(noise, rows, len(bands)):
        last = len(bands) - 1  # what stands out is noise: among so many bands some does
    mean, error, cap = float(means[last]), float(errors[last]), float(edges[last])
    most = max(mean, float(means[-1])) + MOST * float(errors[-1])
    return Loss(min(max(0.0, mean), cap), error, cap, min(max(0.0, most), float(edges[-1])))


def last_seen(bands: NDArray[np.float64], noise: float, rows: float) -> int:
    """The highest band that rows are seen in, alone or with its neighbours, or up to which half of them are seen.

    Neighbours count up to the last of them where only together they stand out, and where no band above them does so.
    """
    count, seen = len(bands), 0
    below = np.concatenate([[0.0], np.cumsum(bands)])
    stands_out = np.zeros(count, dtype=bool)  # from this band on, some neighbours together
    for together in TOGETHER:
        sums = below[together:] - below[:-together]
        starts = np.flatnonzero(sums > SURE * noise * sqrt(together))
        if len(starts) and not stands_out[starts[-1] :].any():
            seen = max(seen, int(starts[-1]) + together - 1)
        stands_out[starts] = True
    if not stands_out.any():  # half of all rows would be seen, wherever they were: then they lie on their centres
        return 0 if is_seen_anywhere(noise, rows, count) else count - 1
    enough = np.flatnonzero(below[1:] >= LEAST_PART * rows)
    return max(seen, int(enough[0]) if len(enough) else count - 1)


def is_seen_anywhere(noise: float, rows: float, bands: int) -> bool:
    """Whether all rows would stand out of the noise in whatever bands they are."""
    return LEAST_PART * rows > SURE * noise * sqrt(bands)
