"""Rows bounded by person: however they come and wherever they wait, those that one choice over all of them would keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cloister.encode import Encoded
from cloister.engines.local import bounded
from cloister.engines.local import encoded_rows as local
from cloister.engines.local.engine import LocalEngine
from cloister.engines.sampling import Owned
from cloister.errors import EngineError
from cloister.kernels import Rows
from cloister.kernels.per_unit import at_most, people
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.testing import take
from tests.laws.tables import identity, random_rows, table

LIMIT = 3
COLUMNS = (2, 1)


def crowd(seed: int) -> Owned:
    """Two thousand rows of people of whom one has a quarter of them."""
    random = np.random.default_rng(seed)
    who = np.where(random.random(2_000) < 0.25, 0, random.integers(0, 500, 2_000))
    return people(pa.array(who)), random_rows(seed, len(who), 2, 3, (2,))


def in_batches(owned: Owned, size: int) -> Iterator[Owned]:
    owners, rows = owned
    for start in range(0, len(owners), size):
        some = np.arange(start, min(start + size, len(owners)))
        yield bounded.cut_down(owners[some], take(rows, some), LIMIT)


@pytest.mark.parametrize("memory", [10**9, 20_000, 1])
@pytest.mark.parametrize(("size", "block"), [(2_000, 65_536), (97, 65_536), (97, 50), (11, 300)])
def test_rows_that_meet_in_pieces_are_those_of_one_choice(
    memory: int, size: int, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they wait in memory, go through a file at times or each by itself: the same rows, in the same order."""
    monkeypatch.setattr(bounded, "BLOCK_ROWS", block)
    monkeypatch.setattr(bounded, "BATCH_ROWS", 100)
    monkeypatch.setattr(bounded, "disk", lambda: str(tmp_path))
    owners, rows = crowd(size)
    held = bounded.hold(in_batches((owners, rows), size), Unit("who", LIMIT), COLUMNS, memory)
    kept = list(held.each(lambda some: some))
    whole = take(rows, at_most(owners, rows, LIMIT))
    assert np.array_equal(np.concatenate([some.numbers for some in kept]), whole.numbers)
    assert np.array_equal(np.concatenate([some.codes for some in kept]), whole.codes)
    everyone = held.sample(lambda names, place: np.ones(len(names), np.bool_))
    assert np.array_equal(np.concatenate([some.numbers for some in everyone]), whole.numbers)
    assert max(map(len, kept)) <= block
    held.close()


def test_few_people_meet_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However many rows there are, those that are in memory together are about a block, or a thousandth of all."""
    monkeypatch.setattr(bounded, "BLOCK_ROWS", 100)
    monkeypatch.setattr(bounded, "BATCH_ROWS", 100)
    monkeypatch.setattr(bounded, "disk", lambda: str(tmp_path))
    sizes = []
    cut_down = bounded.cut_down
    monkeypatch.setattr(bounded, "cut_down", lambda *of: sizes.append(len(of[0])) or cut_down(*of))
    bounded.hold(iter(list(in_batches(crowd(1), 500))), Unit("who", LIMIT), COLUMNS, 1).close()
    assert max(sizes[4:]) <= 100  # after the four batches
    assert sum(sizes[4:]) <= 2_000


def test_a_full_disk_is_told_in_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the system while rows are written says what to do, and not what was written."""

    class Full:
        seek = staticmethod(lambda place: place)

        def write(self, data: object) -> None:
            raise OSError(28, "forty-two")

    monkeypatch.setattr(bounded, "nameless_file", lambda folder: Full())
    monkeypatch.setattr(local, "HELD_BYTES", 1_000)
    rows: Encoded = random_rows(6, 400, 2, 50, ())
    engine = LocalEngine(open_source(table(rows, np.arange(400))), identity(2, 50, ()), Unit("who", 1))
    with pytest.raises(EngineError, match="TMPDIR") as caught:
        engine.fold(Rows())
    assert "forty-two" not in str(caught.value)
    assert caught.value.__context__ is None
