"""Who is in a secret Poisson sample: drawn wherever the rows are, by whoever reads them.

An engine carries a draw to its rows and asks it; it decides nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.privacy import noise

__all__ = ["SecretDraw", "secret_draw"]


@dataclass(frozen=True, slots=True)
class SecretDraw:
    """Keeps each of some rows or people with probability `rate`, independently.

    Without a key every call draws from the system's randomness where it runs. With a key, which only seeded noise gives,
    the identities decide, so that the same are kept on every engine.
    """

    rate: Fraction
    key: int | None = None

    def keep(self, identities: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these to keep; `identities` are hashes of the rows or of the people, (n,)."""
        if self.key is None:
            return noise.keep(self.rate, len(identities))
        with np.errstate(over="ignore"):
            state = identities ^ np.uint64(self.key)
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
    return SecretDraw(rate, int(noise.integers(2**63, 1)[0]) if noise.is_seeded() else None)
