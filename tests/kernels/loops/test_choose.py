"""Small work takes the NumPy twin and loads no compiler; large work, or a loaded numba, takes the compiled loop."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


def test_a_small_table_loads_no_compiler() -> None:
    """Where a few rows are expected they are folded in NumPy; where many are, or nothing is known, by compiled code."""
    assert not loads_numba("choose.expect_rows(1000)")
    assert loads_numba("choose.expect_rows(10**9)")
    assert loads_numba("")


@pytest.mark.parametrize(("expected", "loads"), [(1000, False), (choose.MOST_STEPS, True)])
def test_rows_decide_nothing(expected: int, loads: bool) -> None:
    """What was released decides, however many rows there are: a fold of one row or of a million chooses alike."""
    for rows in (1, 1_000_000):
        table = f"Encoded(np.zeros(({rows}, 2), np.int32), np.zeros(({rows}, 0), np.int32))"
        fold = f"CenterSums(np.zeros((3, 2), np.int32), BoxClip((9, 9))).fold({table})"
        assert loads_numba(f"choose.expect_rows({expected}); {fold}") is loads


def test_a_vault_forgets_the_size_when_it_closes() -> None:
    """The released number of rows is for the passes of its own release: labels of another table are not slowed down by it."""
    before = """
from cloister.clustering.request import ClusterRequest
ClusterRequest(n_clusters=2, budget=1, bounds=(0, 1), method="lloyd").fit(np.random.default_rng(0).random((500, 2)))
assert "numba" not in sys.modules, "a small fit needs no compiler"
"""
    assert loads_numba(before)


@pytest.mark.parametrize(
    "keyed", ["Survivors(Fraction(5), 10**6, 3)", "SplitTree.spending(Fraction(1), Histogram().sensitivity(AR), 6)"]
)
def test_a_secret_number_of_draws_decides_nothing(keyed: str) -> None:
    """Mechanisms whose draws are as many as occupied cells take the compiled samplers, for one cell or for many."""
    code = f"""
import sys
from fractions import Fraction
import numpy as np
from cloister.kernels import Histogram
from cloister.privacy import noise
from cloister.privacy.mechanisms.split_tree import SplitTree
from cloister.privacy.mechanisms.survivors import Survivors
from cloister.schema import Neighbours
AR = Neighbours.ADD_REMOVE
{keyed}.apply(np.array([1]), np.array([1]))
print("numba" in sys.modules, noise._effort.done)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "0"]


def test_a_worker_without_numba_never_loads_it() -> None:
    """However large the work, a process that may not call compiled code takes the twin."""
    assert not loads_numba("choose.allow_compiled(False); choose.expect_rows(10**12)")


def test_an_effort_counts_only_what_the_twin_did(monkeypatch) -> None:
    """Work that goes to compiled code is not added up, and a loaded numba is always used."""
    monkeypatch.setattr(choose, "can_compile", lambda: True)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    effort = choose.Effort(10)
    assert not effort.pays_to_compile(6)
    assert effort.pays_to_compile(5)
    assert effort.done == 6
    monkeypatch.setitem(sys.modules, "numba", sys)
    assert effort.pays_to_compile(1)
