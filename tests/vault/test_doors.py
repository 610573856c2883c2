"""The vault: charge, then read; noise, then hand out."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cloister.encode import Encoded, Encoding, Grid
from cloister.errors import BudgetExceeded, EngineError, LedgerError, PlanError, SchemaError, UntoldLedger, UsageError
from cloister.kernels import Histogram, Rows, Summary
from cloister.privacy.budgets import PureDP
from cloister.privacy.events import Event, LaplaceEvent, SampledEvent
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms import Gaussian, Laplace, calibrate
from cloister.privacy.observing import observed
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.testing import seeded_noise
from cloister.vault import Exact, Vault
from cloister.vault.doors import ReleaseTerms

ENCODING = Encoding((Grid("x", 0.0, 1.0, 10),))
AR = Neighbours.ADD_REMOVE


class Watched:
    """A source that counts how often it is read."""

    names = ("x",)
    in_memory = False

    def __init__(self) -> None:
        self.reads = 0

    def batches(self, columns: object) -> Iterator[pa.RecordBatch]:
        self.reads += 1
        yield pa.record_batch({"x": np.arange(5.0)})


def open_vault(data: object, epsilon: float = 1, **more: object) -> Vault:
    return Vault.open(data, ENCODING, budget=PureDP(epsilon), neighbours=AR, purpose="test", **more)  # type: ignore[arg-type]


def plan_of(*steps: Event, epsilon: float = 1) -> Plan:
    return Plan(PureDP(epsilon), AR, steps)


def test_a_step_beyond_the_budget_is_refused_before_a_row_is_read() -> None:
    """The event is checked first: the source stays untouched."""
    source = Watched()
    with open_vault(source) as vault, pytest.raises(BudgetExceeded, match="would pass the budget"):
        vault.measure(Rows(), Laplace({"counts": Fraction(1, 2)}), "size")
    assert source.reads == 0


def test_steps_that_add_up_to_more_than_the_budget_are_refused() -> None:
    """Two halves fit; a third does not."""
    half = calibrate(Rows().sensitivity(AR), Fraction(1, 2))
    with open_vault(Watched()) as vault:
        vault.measure(Rows(), half, "one")
        vault.measure(Rows(), half, "two")
        with pytest.raises(BudgetExceeded):
            vault.measure(Rows(), half, "three")


def test_a_closed_vault_measures_nothing() -> None:
    """Outside the block there is no charge to spend."""
    with open_vault(Watched()) as vault:
        pass
    with pytest.raises(UsageError, match="closed"):
        vault.measure(Rows(), Laplace({"counts": Fraction(10)}), "size")


def test_a_missing_column_is_told_before_the_charge(tmp_path: Path) -> None:
    """A schema fault leaves the ledger as it was."""
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(1))
    with pytest.raises(SchemaError, match='no column "x"'):
        open_vault(pa.table({"y": [1]}), table="t", ledger=ledger)
    assert ledger.accounts()[0].epsilon_spent == 0


def test_an_unknown_table_is_refused_with_the_command_that_creates_it(tmp_path: Path) -> None:
    """The hint is the next command to type."""
    with (
        pytest.raises(LedgerError, match="cloister ledger create"),
        open_vault(Watched(), table="nobody", ledger=str(tmp_path / "ledger.sqlite")),
    ):
        pass


def test_an_exact_value_hides_itself() -> None:
    """It shows nothing, is not pickled and is not compared."""
    secret = Exact(12345)
    assert "12345" not in repr(secret)
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        _ = secret == 12345


def test_the_holder_is_written_into_the_ledger(tmp_path: Path) -> None:
    """An exact result is stamped, and the ledger records that it happened."""
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(1))
    holder = Vault.holding(Watched(), purpose="risk", table="t", ledger=ledger)
    result = holder.label(ENCODING, lambda rows: np.array([len(rows)], np.int32), "rows")
    assert result.value.tolist() == [5]
    assert "not a private release" in result.stamp
    assert ledger.accounts()[0].holder_uses == 1


def test_public_data_is_free() -> None:
    """Data that is already private is summed without a charge."""
    counts = Vault.public(Watched(), ENCODING, Histogram(((0, 3),)))["counts"]
    assert counts.tolist() == [0, 3, 2]


def test_a_sample_does_not_outlive_its_block() -> None:
    """What is measured on a sample after its block is refused."""
    mechanism = calibrate(Rows().sensitivity(AR), Fraction(1, 10))
    with open_vault(Watched()) as vault:
        vault.follow(plan_of(SampledEvent("sample", Fraction(1, 2), (LaplaceEvent("one", Fraction(1, 10)),))))
        with vault.sample("sample", Fraction(1, 2)) as sample:
            sample.measure(Rows(), mechanism, "one")
        with pytest.raises(PlanError, match="sample is gone"):
            sample.measure(Rows(), mechanism, "two")


def test_a_sample_counts_while_it_is_open() -> None:
    """Inside the block of a sample the table has no step of its own, whatever the plan has next."""
    half = LaplaceEvent("two", Fraction(1, 2))
    with open_vault(Watched()) as vault:
        vault.follow(plan_of(SampledEvent("sample", Fraction(1, 4), (LaplaceEvent("one", Fraction(1)),)), half))
        with vault.sample("sample", Fraction(1, 4)) as sample:
            sample.measure(Rows(), calibrate(Rows().sensitivity(AR), Fraction(1)), "one")
            with pytest.raises(PlanError):
                vault.measure(Rows(), calibrate(Rows().sensitivity(AR), Fraction(1, 2)), "two")


def test_threads_cannot_spend_the_same_budget_twice() -> None:
    """Eight threads that each want the whole budget: one gets it."""
    from concurrent.futures import ThreadPoolExecutor

    whole = calibrate(Rows().sensitivity(AR), Fraction(1))
    with open_vault(Watched()) as vault:

        def spend(_: int) -> bool:
            try:
                vault.measure(Rows(), whole, "all")
            except BudgetExceeded:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(spend, range(8))) == 1


@pytest.mark.parametrize("fault", [LedgerError("the disk is full."), KeyboardInterrupt()])
def test_a_ledger_that_fails_at_the_end_leaves_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    """Its disk is full, or somebody gives up waiting for it: what was paid for is handed out, with a warning that says how to
    tell the ledger; that works later.
    """
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("points", "add-remove", 1)
    whole = calibrate(Rows().sensitivity(AR), Fraction(1))

    def full(*_: object) -> None:
        raise fault

    with monkeypatch.context() as patch, open_vault(Watched(), table="points", ledger=ledger) as vault:
        patch.setattr(Ledger, "complete", full)
        vault.follow(plan_of(whole.event("size", Rows().sensitivity(AR))))
        vault.measure(Rows(), whole, "size")
        with pytest.warns(UntoldLedger, match=r"ledger.complete\(1, release.digest\(\), release.ledger"):
            release = vault.release("test", {}, {})
    assert release.ledger is not None
    ledger.complete(1, release.digest(), release.ledger["head"])
    assert ledger.entries("points")[0].status == "released"


@pytest.mark.filterwarnings("error")
def test_a_warning_that_is_an_error_leaves_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under ``-W error`` the warning was raised inside the release, and what was paid for was gone."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("points", "add-remove", 1)
    whole = calibrate(Rows().sensitivity(AR), Fraction(1))

    def full(*_: object) -> None:
        raise LedgerError("the disk is full.")

    monkeypatch.setattr(Ledger, "complete", full)
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: print(message))
    with open_vault(Watched(), table="points", ledger=ledger) as vault:
        vault.follow(plan_of(whole.event("size", Rows().sensitivity(AR))))
        vault.measure(Rows(), whole, "size")
        release = vault.release("test", {}, {})
    assert release.ledger is not None
    assert "ledger.complete(1, release.digest()" in capsys.readouterr().out


FORKED = """
import os
from fractions import Fraction
from tests.vault.test_doors import AR, Rows, Watched, calibrate, open_vault, plan_of
whole = calibrate(Rows().sensitivity(AR), Fraction(1))
with open_vault(Watched()) as vault:
    vault.follow(plan_of(whole.event("size", Rows().sensitivity(AR))))
    for ask in (lambda: vault.measure(Rows(), whole, "size"), lambda: vault.release("test", {}, {})):
        if (child := os.fork()) == 0:
            try:
                ask()
                print("released", flush=True)
            except Exception as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    vault.measure(Rows(), whole, "size")
    vault.release("test", {}, {})
    print("parent done")
"""


def test_processes_cannot_spend_the_same_budget_twice() -> None:
    """A fork has a copy of the vault and of its charge: it is refused, and the process that was charged goes on."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    command = [sys.executable, "-c", FORKED]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [("forked off" in line, line == "parent done") for line in said] == [(True, False), (True, False), (False, True)]


def test_a_seed_in_another_thread_is_stamped() -> None:
    """A draw that was seeded at any moment of a release makes it NOT PRIVATE, also when the seed is gone by then."""
    with open_vault(Watched()) as vault:
        vault.follow(plan_of(LaplaceEvent("size", Fraction(1, 2))))
        with seeded_noise(1):
            vault.measure(Rows(), calibrate(Rows().sensitivity(AR), Fraction(1, 2)), "size")
        assert vault.release("test", {}, {}).seeded


class Exposer:
    """An observer that draws nothing and hands out what is exact."""

    def release(self, mechanism: object, exact: object, draw: object) -> object:
        return exact

    def sample_rate(self, rate: Fraction) -> Fraction:
        return rate


@pytest.mark.parametrize("opens", ["before", "inside"])
@pytest.mark.parametrize("releases", ["inside", "after"])
def test_what_was_observed_is_stamped(opens: str, releases: str) -> None:
    """An observer that does not draw leaves its mark all the same, whenever the certificate is asked for."""
    step = calibrate(Rows().sensitivity(AR), Fraction(1))
    with ExitStack() as stack:
        vault = open_vault(Watched())
        if opens == "before":
            stack.enter_context(vault)
        with observed(Exposer(), 0):
            if opens == "inside":
                vault = stack.enter_context(open_vault(Watched()))
            vault.follow(plan_of(step.event("size", Rows().sensitivity(AR))))
            assert vault.measure(Rows(), step, "size").value["counts"][0] == 5
            release = vault.release("test", {}, {}) if releases == "inside" else None
        release = release or vault.release("test", {}, {})
    assert release.seeded
    assert release.status.startswith("NOT PRIVATE")


def test_gaussian_noise_is_never_pure() -> None:
    """Under a budget without delta a Gaussian step is refused, however little its delta is."""
    with open_vault(Watched(), epsilon=10) as vault, pytest.raises(BudgetExceeded):
        vault.measure(Rows(), Gaussian({"counts": Fraction(5)}), "size")


def test_an_account_keeps_one_unit(tmp_path: Path) -> None:
    """Epsilons per row and per person are not added up."""
    from cloister.schema.unit import Unit

    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(5))
    with open_vault(Watched(), table="t", ledger=ledger):
        pass
    person = open_vault(pa.table({"x": [1.0], "who": ["a"]}), table="t", ledger=ledger, unit=Unit("who", 1))
    with pytest.raises(UsageError, match="protects a person"), person:
        pass
    assert ledger.account("t").epsilon_spent == 1


KILLED = """
import os, sys
import numpy as np, pyarrow as pa
import cloister as cl
class Source:
    names = ("x",); in_memory = False
    def batches(self, columns):
        os.kill(os.getpid(), 9)
        yield
cl.KMeans(2, 1.0, (0, 1), table="t", ledger=sys.argv[1]).fit(Source())
"""


def test_a_charge_survives_a_kill_before_the_first_row(tmp_path: Path) -> None:
    """Killed between charge and read, the epsilon stays spent."""
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(3))
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "ledger.sqlite")], capture_output=True)
    assert done.returncode == -9
    assert ledger.accounts()[0].epsilon_spent == 1


class Stumbles(Rows):
    """A kernel that fails on its rows."""

    def fold(self, rows: Encoded) -> Summary:
        raise ValueError(f"cannot fold {rows.numbers.tolist()}")


def fail_on_a_secret() -> None:
    """Measure something that fails, on a table whose one value is 4711."""
    encoding = Encoding((Grid("x0", 0.0, 1.0, 10_000),))
    with Vault.open(
        np.array([[4711.0]]), encoding, budget=PureDP(1), neighbours=Neighbours.ADD_REMOVE, purpose="test"
    ) as vault:
        vault.measure(Stumbles(), calibrate(Rows().sensitivity(Neighbours.ADD_REMOVE), Fraction(1)), "step")


def test_an_error_leaves_no_rows_in_its_frames() -> None:
    """Neither the error nor the frames that it came through hold a value of the table, as a crash reporter would show them."""
    with pytest.raises(EngineError) as caught:
        fail_on_a_secret()
    told = [str(caught.value), repr(caught.value.__context__)]
    for frame, _ in traceback.walk_tb(caught.value.__traceback__):
        told += [repr(value) for name, value in frame.f_locals.items() if name != "told"]
    assert not any("4711" in text for text in told)


def test_a_signal_while_the_charge_is_written_says_what_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for the charge, and leaves before the vault is open: nobody else could say so."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 10)
    charge = Ledger.book_charge

    def stopped(*words: Any) -> Any:
        receipt = charge(*words)
        signal.raise_signal(signal.SIGINT)
        return receipt

    monkeypatch.setattr(Ledger, "book_charge", stopped)
    vault = open_vault(Watched(), table="t", ledger=ledger)
    with pytest.raises(KeyboardInterrupt) as stop, vault:
        pass
    assert ledger.account("t").epsilon_spent == 1
    assert stop.value.charged.entry == 1  # type: ignore[attr-defined]
    assert "ledger entry 1" in stop.value.__notes__[0]


def test_a_charge_that_is_refused_is_not_said_to_stay(tmp_path: Path) -> None:
    """Nothing was charged."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", "0.5")
    with pytest.raises(BudgetExceeded) as refused, open_vault(Watched(), table="t", ledger=ledger):
        pass
    assert refused.value.charged is None
    assert "stays charged" not in str(refused.value)


def test_two_unit_columns_never_share_an_account() -> None:
    """A line break in a name is written out, and a name that spells such a break is another one; plain names stay as they are."""
    names = ["a\nb", "a\\u000ab", "a\\u005cu000ab", "a\\b", "plain name"]
    protected = [ReleaseTerms(PureDP(1), Neighbours.ADD_REMOVE, "x", Unit(name, 1)).protected for name in names]
    assert len({*protected}) == len(names)
    assert protected[-2:] == [str(Unit(name, 1)) for name in names[-2:]]
    assert all(text.isprintable() for text in protected)
