"""Compiled loops or their NumPy twins: which of the two a call takes.

Both give the same numbers, to the last bit, so the choice is about time alone. Loading numba and compiled code takes
longer than a small job does. The rule: the twin, as long as numba is not loaded for another reason and the twins of this
process have done less work in all than loading takes. So a small job never loads numba, and a large one loses little.

A worker without numba says so with `allow_compiled(False)`.
"""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = ["Effort", "allow_compiled", "interval_loops", "nearest_loops", "partition_loops", "pays_to_partition_compiled"]

MOST_PARTITION_STEPS = 2**26  # numbers that a search by NumPy goes over in about 0.3 s, only some of them at every step
MOST_STEPS = 2**25  # numbers that NumPy compares or adds in 0.1 to 0.2 s; loading numba and the loops takes 0.4 to 0.6 s

_compiled_allowed = True


def allow_compiled(allowed: bool) -> None:
    """Let this process call compiled code, or keep it from that: for Spark's workers, which may have no numba."""
    global _compiled_allowed
    _compiled_allowed = allowed


class Effort:
    """How much work the twins of one kind have done in this process, and from where on loading numba pays."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.done = 0

    def pays_to_compile(self, work: int) -> bool:
        """Whether a call of this much work should take the compiled loop; if not, its work is added up."""
        if not _compiled_allowed:
            return False
        if "numba" in sys.modules or self.done + work > self.most:
            return True
        self.done += work  # two threads may overwrite each other's sum: then numba is loaded a little later
        return False


_effort = Effort(MOST_STEPS)
_partition_effort = Effort(MOST_PARTITION_STEPS)


def nearest_loops(work: int) -> ModuleType:
    """The loops over nearest points, for a call that compares about so many numbers: rows x points x columns."""
    if _effort.pays_to_compile(work):
        from cloister.kernels.loops import nearest  # here: it loads numba

        return nearest
    from cloister.kernels.loops import nearest_numpy

    return nearest_numpy


def interval_loops(work: int) -> ModuleType:
    """The loops over intervals, for a call that divides about so many numbers: rows x columns x digits."""
    if _effort.pays_to_compile(work):
        from cloister.kernels.loops import intervals  # here: it loads numba

        return intervals
    from cloister.kernels.loops import intervals_numpy

    return intervals_numpy


def pays_to_partition_compiled(work: int) -> bool:
    """Whether a step of a search over so many numbers should go on with the compiled loops.

    A search chooses step by step, since the twin carries counts along that the compiled loops do not need.
    """
    return _partition_effort.pays_to_compile(work)


def partition_loops() -> ModuleType:
    """The compiled loops over classes of tuples."""
    from cloister.kernels.loops import partition  # here: it loads numba

    return partition
