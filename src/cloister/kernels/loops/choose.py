"""Compiled loops or their NumPy twins: which of the two a call takes.

Both give the same numbers, to the last bit, so the choice is about time alone. Loading numba and compiled code takes
longer than a small job does. The rule: the twin, as long as numba is not loaded for another reason and a pass over the
table is less work than loading. So a small job never loads numba (but where people are
protected, see below), and a large one loses little.

A worker without numba says so with `allow_compiled(False)`. Where numba is there but cannot be used (it does not know the
installed NumPy, or its settings make no sense) the twin is taken too: a loop runs after a charge, and must not fail then.

Privacy
-------
Whether numba is loaded can be seen from outside, so it must not depend on rows: the work of a pass is reckoned from the
number of rows that was released, or is public (`expect_rows`), never from the rows that a call holds. Until that number is
known a table counts as large. Where people are protected, the rows that count are chosen before it is released (`owner_loops`):
such a release loads numba, however small its table is.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from math import inf
from pathlib import Path
from types import ModuleType

__all__ = [
    "Effort",
    "allow_compiled",
    "can_compile",
    "counted_owner_loops",
    "expect_rows",
    "grouping_loops",
    "interval_loops",
    "mixed_loops",
    "nearest_loops",
    "owner_loops",
    "partition_loops",
    "pays_to_partition_compiled",
    "record_loops",
    "try_settings",
]

MOST_COUNTED_NAMES = 2**18  # names of people, which hashlib hashes in about 0.3 s
MOST_GROUPING_STEPS = 2**24  # numbers that distances are made of, which NumPy compares in about 0.3 s while groups are made
MOST_PARTITION_STEPS = 2**26  # numbers that a search by NumPy goes over in about 0.3 s, only some of them at every step
MOST_PARTITION_STEP = 2**18  # numbers of one step of a search: Adult's 18,109 tuples of eight columns are 2**17
MOST_RECORD_STEPS = 2**25  # cells of rows and records that NumPy compares in about 0.3 s
OWNER_STEPS = 16  # what a row counts for whose owner is hashed and which is chosen once, not in every pass
MOST_STEPS = 2**22  # numbers of a pass, which NumPy compares or adds in about 0.02 s; loading numba takes about 0.5 s

_compiled_allowed = True
_expected_rows = inf


def allow_compiled(allowed: bool) -> None:
    """Let this process call compiled code, or keep it from that: for Spark's workers, which may have no numba."""
    global _compiled_allowed
    _compiled_allowed = allowed


def expect_rows(rows: float = inf) -> None:
    """State how many rows a pass goes over: a number that was released or is public; nothing: it is not known."""
    global _expected_rows
    _expected_rows = rows


@cache
def can_compile() -> bool:
    """Load numba and run a loop that does nothing: whether that works, which depends on this machine alone."""
    try:
        from cloister.kernels.loops.compiled import add_one

        return add_one(1) == 2
    except Exception:  # whatever numba, or what it loads, raises
        return False


def try_settings() -> None:
    """Where somebody changed numba's settings, try them now: before a charge, since wrong ones may end the process."""
    if any(name.startswith("NUMBA_") for name in os.environ) or Path(".numba_config.yaml").exists():
        can_compile()


def pass_pays_to_compile(numbers_a_row: int) -> bool:
    """Whether a pass that goes over so many numbers for each row should take the compiled loop."""
    is_worth_it = "numba" in sys.modules or _expected_rows * numbers_a_row > MOST_STEPS
    return _compiled_allowed and is_worth_it and can_compile()


class Effort:
    """How much work the twins of one kind have done in this process, and from where on loading numba pays.

    Privacy: for work whose size is public, or the holder's own.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.done = 0

    def pays_to_compile(self, work: int) -> bool:
        """Whether a call of this much work should take the compiled loop; if not, its work is added up."""
        if not _compiled_allowed:
            return False
        if "numba" in sys.modules or self.done + work > self.most:
            return can_compile()
        self.done += work  # two threads may overwrite each other's sum: then numba is loaded a little later
        return False


_counting_effort = Effort(MOST_COUNTED_NAMES)
_grouping_effort = Effort(MOST_GROUPING_STEPS)
_partition_effort = Effort(MOST_PARTITION_STEPS)
_record_effort = Effort(MOST_RECORD_STEPS)


def nearest_loops(numbers_a_row: int) -> ModuleType:
    """The loops over nearest points, for a pass that compares so many numbers for each row: points x columns."""
    if pass_pays_to_compile(numbers_a_row):
        from cloister.kernels.loops import nearest  # here: it loads numba

        return nearest
    from cloister.kernels.loops import nearest_numpy

    return nearest_numpy


def owner_loops() -> ModuleType:
    """The loops over whose rows they are and which of them count, for a pass over all rows."""
    return _owner_loops(pass_pays_to_compile(OWNER_STEPS))


def counted_owner_loops(names: int) -> ModuleType:
    """The same for so many names of people that are counted; the rows are the holder's own, so their number may show."""
    return _owner_loops(_counting_effort.pays_to_compile(names))


def _owner_loops(pays: bool) -> ModuleType:
    if pays:
        from cloister.kernels.loops import owned_rows  # here: it loads numba

        return owned_rows
    from cloister.kernels.loops import owned_rows_numpy

    return owned_rows_numpy


def mixed_loops(numbers_a_row: int) -> ModuleType:
    """The loops over nearest points with categories, for a pass that compares so many cells for each row."""
    if pass_pays_to_compile(numbers_a_row):
        from cloister.kernels.loops import mixed  # here: it loads numba

        return mixed
    from cloister.kernels.loops import mixed_numpy

    return mixed_numpy


def interval_loops(numbers_a_row: int) -> ModuleType:
    """The loops over intervals, for a pass that divides so many numbers for each row: columns x digits."""
    if pass_pays_to_compile(numbers_a_row):
        from cloister.kernels.loops import intervals  # here: it loads numba

        return intervals
    from cloister.kernels.loops import intervals_numpy

    return intervals_numpy


def grouping_loops(work: int) -> ModuleType:
    """The loops that make groups of near rows, by distances from so many numbers; the rows are the holder's own."""
    if _grouping_effort.pays_to_compile(work):
        from cloister.kernels.loops import microaggregate  # here: it loads numba

        return microaggregate
    from cloister.kernels.loops import microaggregate_numpy

    return microaggregate_numpy


def pays_to_partition_compiled(work: int) -> bool:
    """Whether a step of a search over so many numbers should go on with the compiled loops.

    A search chooses step by step, since the twin carries counts along that the compiled loops do not need. A search takes
    hundreds of steps, so one large step says enough.
    """
    return _partition_effort.pays_to_compile(work if work <= MOST_PARTITION_STEP else MOST_PARTITION_STEPS + 1)


def partition_loops() -> ModuleType:
    """The compiled loops over classes of tuples."""
    from cloister.kernels.loops import partition  # here: it loads numba

    return partition


def record_loops(work: int) -> ModuleType:
    """The loop over nearest records, for a call that compares so many cells: the holder's own, so their number may show."""
    if _record_effort.pays_to_compile(work):
        from cloister.kernels.loops import nearest_records  # here: it loads numba

        return nearest_records
    from cloister.kernels.loops import nearest_records_numpy

    return nearest_records_numpy
