"""Who is in a secret Poisson sample: drawn wherever the rows are, by whoever reads them.

An engine carries a draw to its rows and asks it; it decides nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.privacy import noise
from cloister.privacy.observing import observed_rate

__all__ = ["SecretDraw", "secret_draw"]


@dataclass(frozen=True, slots=True)
class SecretDraw:
    """Keeps each of some rows or people with probability `rate`, independently.

    Privacy: the bits come from a key that is drawn from the system's randomness once for the sample, and from the place of
    a batch among all batches; the rows in it play no part. A worker that is asked twice for a batch gives the same answer
    twice, so which of two runs of a task is the faster says nothing and decides nothing. With seeded noise the identities
    decide instead, so that the same rows are kept on every engine.
    """

    rate: Fraction
    key: bytes = field(repr=False)
    seeded: bool = False

    def keep(self, identities: NDArray[np.uint64], place: int) -> NDArray[np.bool_]:
        """Which of these to keep.

        Parameters
        ----------
        identities : hashes of the rows or of the people, (n,)
        place : the number of their batch, which no other batch of the table has
        """
        if not self.seeded:
            return noise.keep(self.rate, len(identities), self.key + place.to_bytes(16, "little"))
        with np.errstate(over="ignore"):
            state = identities ^ np.frombuffer(self.key, dtype=np.uint64)[0]
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
        threshold = np.uint64(int(self.rate * noise.RATE_UNIT))
        return np.asarray((state >> np.uint64(32)) < threshold)


def secret_draw(rate: Fraction) -> SecretDraw:
    """The draw of a secret sample at this rate; repeatable inside `seeded` noise only.

    Privacy
    -------
    What runs on the sample costs less on the table only while nobody learns who is in it, nor how many are.
    """
    noise.keep(rate, 0)  # refuses a rate that cannot be drawn exactly
    return SecretDraw(observed_rate(rate), *noise.secret())
