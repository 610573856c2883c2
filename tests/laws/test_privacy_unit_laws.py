"""Laws of the privacy unit: a person, with all their rows, moves a summary by at most what is stated."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cloister.encode import Encoded
from cloister.engines.local import bounded
from cloister.engines.local import encoded_rows as local
from cloister.engines.local.engine import LocalEngine
from cloister.kernels import BoxClip, CenterSums, Histogram, Kernel, Moments, Rows, Summary, zero
from cloister.kernels.exact import open_exact
from cloister.kernels.per_unit import PerUnit, at_most, owned_hashes, people
from cloister.privacy.secret_draws import SecretDraw, secret_draw
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.testing import take, within_sensitivity
from tests.engines.spark import jobs
from tests.laws.kernels import HALF, KERNELS, SIZES, rows_for
from tests.laws.tables import identity, random_rows, table, write
from tests.spark_hosts import Host

FEW = settings(max_examples=40, deadline=None)


def local_fold(kernel: Kernel, rows: Encoded, who: np.ndarray, limit: int) -> Summary:
    encoding = identity(rows.numbers.shape[1], HALF, (max(SIZES),) * rows.codes.shape[1])
    return open_exact(LocalEngine(open_source(table(rows, who)), encoding, Unit("who", limit)).fold(kernel))


@pytest.mark.parametrize("name", sorted(KERNELS))
@FEW
@given(data=st.data())
def test_a_person_moves_a_summary_by_at_most_its_sensitivity(name: str, data: st.DataObject) -> None:
    """Removing all rows of any person moves every kernel's summary within the moves stated for a person."""
    case = data.draw(KERNELS[name]())
    rows = data.draw(rows_for(case, least=1, most=25))
    who = data.draw(hnp.arrays(np.int64, len(rows), elements=st.integers(0, 3)))
    limit = data.draw(st.integers(1, 4))
    whole = local_fold(case.kernel, rows, who, limit)
    for person in np.unique(who):
        others = np.flatnonzero(who != person)
        without = local_fold(case.kernel, take(rows, others), who[others], limit)
        assert within_sensitivity(PerUnit(case.kernel, limit), Neighbours.ADD_REMOVE, whole, without)


def mixed(kernel: Kernel, limit: int, gap: Summary, weights: np.ndarray) -> bool:
    """Whether what a mechanism with these weights charges for the stated moves covers a gap."""
    moves = PerUnit(kernel, limit).sensitivity(Neighbours.REPLACE_ONE).moves
    norms = {part: (np.abs(values).sum(), (values.astype(object) ** 2).sum()) for part, values in gap.parts.items()}
    weigh = dict(zip(norms, weights, strict=True))
    l1 = sum(weigh[part] * norm[0] for part, norm in norms.items())
    l2 = sum(weigh[part] * norm[1] for part, norm in norms.items())
    most_l1 = max(sum(weigh[part] * change.l1 for part, change in move.items()) for move in moves)
    most_l2 = max(sum(weigh[part] * change.l2_squared for part, change in move.items()) for move in moves)
    return bool(l1 <= most_l1 * (1 + 1e-9) and l2 <= most_l2 * (1 + 1e-9))  # weights are floats


@pytest.mark.parametrize("name", sorted(KERNELS))
@FEW
@given(data=st.data())
def test_a_replaced_person_costs_at_most_what_is_stated(name: str, data: st.DataObject) -> None:
    """Replacing all rows of a person by other rows, more or fewer, costs any mechanism at most its dearest stated move."""
    case = data.draw(KERNELS[name]())
    limit = data.draw(st.integers(1, 4))
    before, after = data.draw(rows_for(case, 1, limit)), data.draw(rows_for(case, 1, limit))
    one, other = case.kernel.fold(before), case.kernel.fold(after)
    gap = Summary({part: one[part] - other[part] for part in one.parts})
    weights = np.array(data.draw(st.lists(st.floats(0.001, 1000), min_size=len(gap.parts), max_size=len(gap.parts))))
    assert mixed(case.kernel, limit, gap, weights)


@FEW
@given(data=st.data())
def test_what_is_kept_of_a_person_depends_on_that_person_alone(data: st.DataObject) -> None:
    """Order, batches and other people do not change which of a person's rows are kept."""
    n = data.draw(st.integers(1, 40))
    rows = Encoded(data.draw(hnp.arrays(np.int32, (n, 2), elements=st.integers(-2, 2))), np.zeros((n, 0), np.int32))
    who = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 4)))
    limit = data.draw(st.integers(1, 5))
    order = np.array(data.draw(st.permutations(range(n))))

    def kept(which: np.ndarray) -> dict[int, list[tuple[int, ...]]]:
        owners = people(pa.array(who[which]))
        found = which[at_most(owners, take(rows, which), limit)]
        return {p: sorted(map(tuple, rows.numbers[found[who[found] == p]].tolist())) for p in set(who[which].tolist())}

    everyone = kept(np.arange(n))
    assert kept(order) == everyone
    for person in set(who.tolist()):
        alone = np.flatnonzero(who == person)
        assert kept(alone)[person] == everyone[person]
        assert len(everyone[person]) == min(limit, len(alone))


def test_each_person_has_a_choice_of_their_own() -> None:
    """Of 4,000 people who have the same four rows, each row is kept of about as many (error rate 1e-6 a row and limit).

    Planted: the hash of the row alone keeps one and the same row of everybody.
    """
    count, each = 4_000, 4
    owners = people(pa.array(np.repeat(np.arange(count), each)))
    rows = Encoded(np.tile(np.arange(each, dtype=np.int32), count)[:, None], np.empty((count * each, 0), np.int32))
    for limit in (1, 2, 3):
        share = limit / each
        kept = np.bincount(rows.numbers[at_most(owners, rows, limit), 0], minlength=each)
        assert (np.abs(kept - count * share) < 5 * np.sqrt(count * share * (1 - share))).all()


def rows_with_one_hash(owner: np.ndarray) -> Encoded:
    """Two different rows of two numbers of one person that share a hash: the second number undoes what the first changed."""
    firsts = np.arange(400_000, dtype=np.int32)
    owners = np.repeat(owner, len(firsts), axis=0)
    alone = owned_hashes(owners, Encoded(firsts[:, None], np.empty((len(firsts), 0), np.int32)))  # before the second number
    order = np.argsort(alone >> np.uint64(30))
    high = alone[order] >> np.uint64(30)
    near = int(np.flatnonzero(high[1:] == high[:-1])[0])
    one, other = order[near], order[near + 1]
    second = (3 * 0x9E3779B97F4A7C15) % 2**64  # what is added to the second number
    undone = ((second ^ int(alone[one] ^ alone[other])) - second + 2**63) % 2**64 - 2**63
    return Encoded(np.array([[firsts[one], 0], [firsts[other], undone]], np.int32), np.empty((2, 0), np.int32))


CROWDED = 2**30


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["local", "classic"])
def test_rows_made_to_share_a_hash_do_not_let_their_order_decide(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Of two rows of a person with the same hash the same one is kept, whichever comes first, on both engines."""
    owner = people(pa.array([0.0]))  # (1, 2)
    rows = rows_with_one_hash(owner)
    hashes = owned_hashes(np.repeat(owner, 2, axis=0), rows)
    assert hashes[0] == hashes[1]
    encoding, kernel, unit = identity(2, CROWDED, ()), Moments(BoxClip((CROWDED,) * 2), 2), Unit("who", 1)
    kept = []
    for order in ([0, 1], [1, 0]):
        path = write(tmp_path, f"first-{order[0]}", take(rows, np.array(order)), np.zeros(2))
        if kind == "local":
            kept.append(open_exact(LocalEngine(open_source(path), encoding, unit).fold(kernel))["sums"].tolist())
        else:
            classic = request.getfixturevalue("classic")
            for (summary,) in classic(jobs.folds, path, encoding, [kernel], unit, (1, 2, (2, "n0"))):
                kept.append(summary["sums"].tolist())
    assert all(sums == kept[0] for sums in kept)


KERNELS_OF_TWO = [
    Rows(),
    Moments(BoxClip((HALF, HALF)), 2),
    CenterSums(np.array([[-20, 0], [20, 5]], np.int32), BoxClip((HALF, HALF))),
    Histogram(((0,), (-10, 10)), (3,)),
]
LIMIT = 3


def crowd(folder: Path) -> tuple[Path, Encoded, np.ndarray]:
    """Six people, two of whom have far more rows than count."""
    who = np.repeat(np.arange(6), [1, 2, 3, 4, 30, 40])
    rows = random_rows(11, len(who), 2, HALF, (3,))
    return write(folder, "crowd", rows, who), rows, who


def removals(fold: object, folder: Path) -> list[bool]:
    """For the people with the most rows: whether each kernel moves within its sensitivity when they are removed."""
    path, rows, who = crowd(folder)
    whole = fold(path)  # type: ignore[operator]
    covered = []
    for person in (4, 5):
        others = np.flatnonzero(who != person)
        without = fold(write(folder, f"without-{person}", take(rows, others), who[others]))  # type: ignore[operator]
        for kernel, one, other in zip(KERNELS_OF_TWO, whole, without, strict=True):
            stated = PerUnit(kernel, LIMIT)
            covered.append(within_sensitivity(stated, Neighbours.ADD_REMOVE, Summary(one), Summary(other)))
    return covered


def fold_here(path: Path) -> list[dict[str, np.ndarray]]:
    made = LocalEngine(open_source(path), identity(2, HALF, (3,)), Unit("who", LIMIT))
    return [dict(open_exact(made.fold(kernel)).parts) for kernel in KERNELS_OF_TWO]


def fold_on(host: Host, leaky: bool) -> object:
    job = jobs.leaky_folds if leaky else jobs.folds
    return lambda path: host(job, path, identity(2, HALF, (3,)), KERNELS_OF_TWO, Unit("who", LIMIT), (4,))[0]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["local", "classic"])
def test_a_person_with_many_rows_moves_little_on_every_engine(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Removing somebody with forty rows moves every summary within the sensitivity of three, on both engines."""
    fold = fold_here if kind == "local" else fold_on(request.getfixturevalue("classic"), leaky=False)
    assert all(removals(fold, tmp_path))


def test_a_bound_that_is_ignored_in_one_place_is_caught_locally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug: people whose hash is odd keep all their rows."""

    def leaky(owners: np.ndarray, rows: Encoded, limit: int) -> np.ndarray:
        kept = at_most(owners, rows, limit)
        return np.union1d(kept, np.flatnonzero(owners[:, 0] % np.uint64(2)))

    monkeypatch.setattr(bounded, "at_most", leaky)
    assert not all(removals(fold_here, tmp_path))


@pytest.mark.spark
def test_a_bound_that_is_ignored_in_one_partition_is_caught_on_spark(classic: Host, tmp_path: Path) -> None:
    """A planted bug: one partition hands on all rows of its people."""
    assert not all(removals(fold_on(classic, leaky=True), tmp_path))


def test_spilling_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that go through temporary files give the same summaries and samples, and no folder ever lists these files."""
    rows = random_rows(4, 5_000, 3, HALF, (3, 2))
    source = open_source(table(rows, np.random.default_rng(0).integers(0, 700, 5_000)))
    kernel = Histogram(((0,), (5,), (-3, 8)), (3, 2))
    draw = SecretDraw(Fraction(1, 4), bytes(range(32)), seeded=True)
    outcomes, files = [], []
    nameless = bounded.nameless_file
    monkeypatch.setattr(bounded, "nameless_file", lambda folder: files.append(folder) or nameless(folder))
    for memory in (local.HELD_BYTES, 10_000):
        monkeypatch.setattr(local, "HELD_BYTES", memory)
        monkeypatch.setattr(bounded, "disk", lambda: str(tmp_path))
        engine = LocalEngine(source, identity(3, HALF, SIZES), Unit("who", 4))
        summaries = (rows.fold(kernel) for rows in (engine, engine.sample(draw.keep)))
        outcomes.append(tuple(open_exact(summary)["counts"] for summary in summaries))
        assert bool(files) == (memory == 10_000)
        assert not list(tmp_path.iterdir())
        engine.close()
    assert all(np.array_equal(one, other) for one, other in zip(*outcomes, strict=True))


def test_people_are_drawn_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a secret sample of people either all kept rows of a person are in it or none, over block borders too."""
    monkeypatch.setattr(bounded, "BLOCK_ROWS", 7)
    who = np.repeat(np.arange(400), 5)
    rows = Encoded(who[:, None].astype(np.int32), np.zeros((len(who), 0), np.int32))
    engine = LocalEngine(open_source(table(rows, who)), identity(1, 400, ()), Unit("who", 5))
    kernel = Histogram((tuple(range(1, 400)),))
    counts = open_exact(engine.sample(secret_draw(Fraction(1, 2)).keep).fold(kernel))["counts"]
    assert set(counts.tolist()) == {0, 5}
    assert 100 < (counts > 0).sum() < 300  # 200 +- 10: beyond ten deviations


def test_equal_people_are_told_apart_by_their_text() -> None:
    """3, 3.0 and "3" are one person, "03" is another, and rows without a name are one person together."""
    first = people(pa.array([3, 4, None]))
    second = people(pa.array(["3", "03", None, " 3 "]))
    assert (first[0] == second[0]).all()
    assert (first[0] == second[3]).all()
    assert (first[0] == people(pa.array([3.0]))[0]).all()
    assert (first[2] == second[2]).all()
    assert not (second[0] == second[1]).any()


def test_no_rows_at_all() -> None:
    """A table without rows has the summary of nothing, bounded by person."""
    rows = Encoded(np.empty((0, 2), np.int32), np.empty((0, 1), np.int32))
    folded = local_fold(Moments(BoxClip((HALF, HALF)), 2), rows, np.empty(0, np.int64), 3)
    assert all((folded[part] == zero(KERNELS_OF_TWO[1])[part]).all() for part in folded.parts)


def test_blank_and_null_are_the_same_nobody() -> None:
    """A null, an empty text and blanks are one person together, whoever reads the file."""
    from cloister.kernels.per_unit import people

    owners = people(pa.array([None, "", "  ", "a"]))
    assert (owners[0] == owners[1]).all()
    assert (owners[0] == owners[2]).all()
    assert not (owners[0] == owners[3]).all()
