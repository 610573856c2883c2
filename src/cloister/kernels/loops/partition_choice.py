"""Compiled loops over classes of tuples, or their NumPy twins: which of the two a call takes.

Both give the same numbers to the last bit, so the choice is about time alone: loading numba and compiled code takes longer
than the search of a small table does. The rule: the twin, as long as numba is not loaded for another reason and the twins
of this process have done less work in all than loading takes.
"""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = ["compiled", "pays_to_compile"]

MOST_STEPS = 2**26  # numbers that NumPy goes over in about 0.3 s, some of them; loading numba and the loops takes 0.6 s

_steps = 0


def pays_to_compile(work: int) -> bool:
    """Whether a step over so many numbers should take the compiled loops; if not, its work is added up."""
    global _steps
    if "numba" in sys.modules or _steps + work > MOST_STEPS:
        return True
    _steps += work
    return False


def compiled() -> ModuleType:
    """The compiled loops."""
    from cloister.kernels.loops import partition  # here: it loads numba

    return partition
