"""Lists of rows under the exact audit: no object that is added as a row decides how the others are read."""

from __future__ import annotations

import datetime
import os
from decimal import Decimal
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from cloister.clustering.request import ClusterRequest
from cloister.testing import replay

TRIES = 100 * int(os.environ.get("CLOISTER_FUZZ", "1"))
CELLS: list[Any] = [
    inf, -inf, nan, None, "?", "", "0.5", " 0.5 ", "1e5", b"x", np.float32(0.1), np.float16(0.3), Decimal("0.2"), 10**400,
    True, [1], {}, object(), datetime.date(2000, 1, 1), 1e-320, complex(1, 2), np.int64(3),
]  # fmt: skip
ROWS: list[Any] = [
    [],
    [1],
    [1, 2, 3],
    None,
    5,
    "ab",
    (0.1, 0.2),
    np.array([0.1, 0.2], dtype=np.float32),
    {},
    {"a": 1},
    object(),
]


def fit(columns: int) -> Any:
    """Private Lloyd on lists of rows of so many columns."""
    names = [f"x{j}" for j in range(columns)]
    return ClusterRequest(n_clusters=2, bounds=(0, 1), method="lloyd", columns=names, random_state=0).fit


@pytest.mark.parametrize(
    ("rows", "more"), [([[inf]] * 2000, []), ([[np.float32(0.1)]] * 1000, ["?"]), ([[0.3]] * 200, None)]
)
def test_a_row_of_another_kind_moves_no_other_row(rows: list[Any], more: Any) -> None:
    """A ragged row, a row of text, no row at all: as they were found to send every row through another parser."""
    found = replay(fit(1), ([*rows, more], rows))
    assert found.holds, str(found)


def test_any_object_may_be_a_row() -> None:
    """Random lists of random objects, with one more anywhere in them."""
    random = np.random.default_rng(0)

    def cell() -> Any:
        return CELLS[random.integers(len(CELLS))] if random.random() < 0.3 else float(random.random())

    for seed in range(TRIES):
        rows: list[Any] = [[cell(), cell()] for _ in range(random.integers(1, 40))]
        row = ROWS[random.integers(len(ROWS))] if random.random() < 0.8 else [cell(), cell()]
        at = int(random.integers(len(rows) + 1))
        found = replay(fit(2), ([*rows[:at], row, *rows[at:]], rows), seed=seed)
        assert found.holds, f"{seed}: {found}"
