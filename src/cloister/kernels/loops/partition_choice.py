"""Compiled loops over classes of tuples, or their NumPy twins: which of the two a call takes.

Both give the same numbers to the last bit, so the choice is about time alone: loading numba and compiled code takes longer
than the search of a small table does. The rule: the twin, as long as numba is not loaded for another reason and the twins
of this process have done less work in all than loading takes.
"""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = ["partition_loops"]

MOST_STEPS = 2**25  # numbers that NumPy gathers and adds in about 0.3 s; loading numba and the loops takes 0.6 s

_steps = 0


def partition_loops(work: int, *, wants_spread: bool = False) -> ModuleType:
    """The loops for a call that goes over about so many numbers; only the compiled ones measure the spread of entropy."""
    global _steps
    if wants_spread or "numba" in sys.modules or _steps + work > MOST_STEPS:
        from cloister.kernels.loops import partition  # here: it loads numba

        return partition
    _steps += work
    from cloister.kernels.loops import partition_numpy

    return partition_numpy
