"""Small work takes the NumPy twin and loads no compiler; large work, or a loaded numba, takes the compiled loop."""

from __future__ import annotations

import subprocess
import sys

from cloister.kernels.loops import choose

PROBE = """
import sys
import numpy as np
from cloister.encode import Encoded
from cloister.kernels import BoxClip, CenterSums
from cloister.kernels.loops import choose
{before}
rows = Encoded(np.zeros((1000, 2), np.int32), np.zeros((1000, 0), np.int32))
CenterSums(np.zeros((3, 2), np.int32), BoxClip((9, 9))).fold(rows)
print("numba" in sys.modules)
"""


def loads_numba(before: str) -> bool:
    """Whether a small fold, in a fresh interpreter and after some code, loads numba."""
    done = subprocess.run([sys.executable, "-c", PROBE.format(before=before)], check=True, capture_output=True, text=True)
    return done.stdout.strip() == "True"


def test_a_small_fold_loads_no_compiler() -> None:
    """A thousand rows are folded in NumPy."""
    assert not loads_numba("")


def test_work_adds_up_until_compiling_pays() -> None:
    """Once the twins have done as much as loading takes, the next call is compiled."""
    assert loads_numba("choose.nearest_loops(choose.MOST_STEPS - 1)")
    assert not loads_numba("choose.nearest_loops(choose.MOST_STEPS // 2)")


def test_a_worker_without_numba_never_loads_it() -> None:
    """However large the work, a process that may not call compiled code takes the twin."""
    assert not loads_numba("choose.allow_compiled(False); choose.nearest_loops(10**12)")


def test_an_effort_counts_only_what_the_twin_did(monkeypatch) -> None:
    """Work that goes to compiled code is not added up, and a loaded numba is always used."""
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    effort = choose.Effort(10)
    assert not effort.pays_to_compile(6)
    assert effort.pays_to_compile(5)
    assert effort.done == 6
    monkeypatch.setitem(sys.modules, "numba", sys)
    assert effort.pays_to_compile(1)
