"""How every row of a table is read, in every way there is, and the law that one row more changes no other reading."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from cloister.clustering.inputs import read_input
from cloister.encode import Bins, Codes, Encoded, Encoding, Grid
from cloister.kernels import BoxClip, CenterSums, Kernel, Rows, ValueCounts
from cloister.kernels.per_unit import people
from cloister.schema import Neighbours
from cloister.schema.cell_values import days, numbers, texts
from cloister.sources.stated_names import StatedNames
from cloister.testing import within_sensitivity

FORMS = 15  # how many forms of tables there are
CASES = int(os.environ.get("CLOISTER_FUZZ", "4500")) // FORMS  # rows of each form
NAMES = ("x0", "x1")
DOMAIN = ("a", "3", "true", "0.1", "")
EDGES = (-1.0, 0.0, 1.0)
ENCODING = Encoding(
    (Grid("x0", 0.5, 1e-6, 500_000), Grid("x1", 0.0, 0.25, 500_000, default=7)), (Codes("x0", DOMAIN), Bins("x1", EDGES))
)
KERNELS: list[Kernel] = [
    Rows(),
    CenterSums(np.array([[0, 0], [400_000, 9]], np.int32), BoxClip((500_000, 500_000))),
    ValueCounts((len(DOMAIN), len(EDGES) + 1)),
]


def read(data: Any) -> tuple[list[tuple[Any, ...]], Encoded]:
    """Each row as the private verbs read it, where a warning is an error: it would tell of a row."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        return _read(data)


def _read(data: Any) -> tuple[list[tuple[Any, ...]], Encoded]:
    """Each row as numbers, days, texts, people and integers, as the private verbs read it; NaN is None."""
    rows = data if hasattr(data, "batches") else read_input(data, None, StatedNames(NAMES)).data
    rows = rows.keeping_kinds() if hasattr(rows, "keeping_kinds") else rows
    readings: list[tuple[Any, ...]] = []
    blocks = [Encoded(np.empty((0, 2), np.int32), np.empty((0, 2), np.int32))]
    for batch in rows.batches(NAMES):
        encoded = ENCODING.encode(batch)
        blocks.append(encoded)
        parts: list[list[Any]] = [encoded.numbers.tolist(), encoded.codes.tolist()]
        for column in batch.columns:
            parts += [[None if np.isnan(x) else x for x in function(column).tolist()] for function in (numbers, days)]
            parts += [texts(column).to_pylist(), people(column).tolist()]
        readings += zip(*parts, strict=True)
    whole = [np.concatenate([getattr(block, name) for block in blocks]) for name in ("numbers", "codes")]
    return readings, Encoded(*whole)


def check_law(few: Any, more: Any, place: int) -> None:
    """The second table is the first with one more row at this place: all others read alike, and no kernel moves too far."""
    (without, rows), (with_odd, rows_and_odd) = (data if isinstance(data, tuple) else read(data) for data in (few, more))
    assert len(with_odd) == len(without) + 1
    assert with_odd[:place] + with_odd[place + 1 :] == without
    for kernel in KERNELS:
        assert within_sensitivity(kernel, Neighbours.ADD_REMOVE, kernel.fold(rows), kernel.fold(rows_and_odd))


def check_company(make: Callable[[list[Any]], Any], rows: list[Any], chance: random.Random) -> None:
    """Each row reads in one large table as it does among a few others, in any order."""
    together, _ = read(make(rows))
    assert len(together) == len(rows)
    left = list(range(len(rows)))
    chance.shuffle(left)
    while left:
        some = [left.pop() for _ in range(min(len(left), chance.randrange(1, 9)))]
        apart, _ = read(make([rows[i] for i in some]))
        assert apart == [together[i] for i in some], [rows[i] for i in some]
