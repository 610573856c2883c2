"""The vault itself: private releases, charged before they are read, and the ways to its other two doors."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.base import Engine, EngineChoice, Folds, choose_engine, choose_points_engine
from cloister.errors import (
    BudgetExceeded,
    Charge,
    CloisterError,
    PlanError,
    ReleaseFailed,
    UntoldLedger,
    UsageError,
    raise_alone,
    warn_of_release,
)
from cloister.interrupts import deferred, hold_interrupts
from cloister.kernels import Histogram, Kernel, Rows, Sensitivity, Summary
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import Keyed, KeyedKernel
from cloister.kernels.loops.choose import expect_rows, try_settings
from cloister.kernels.per_unit import for_unit
from cloister.kernels.ranked_blocks import BlockSums, RankedBlocks
from cloister.kernels.scores import ColumnPlaces, reach_for
from cloister.privacy import noise
from cloister.privacy.budgets import Budget
from cloister.privacy.events import Event, within
from cloister.privacy.kept_releases import will_be_kept
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms import Mechanism, Released, add_noise
from cloister.privacy.mechanisms.base import KeyedMechanism
from cloister.privacy.mechanisms.block_modes import BlockModes
from cloister.privacy.mechanisms.exponential import Exponential
from cloister.privacy.mechanisms.farthest_marginal import FarthestMarginal
from cloister.privacy.notes import skipped_notes
from cloister.privacy.plan import Plan
from cloister.privacy.release import Guarantee, Release
from cloister.privacy.secret_draws import secret_draw
from cloister.privacy.signing import check_key_place
from cloister.privacy.worlds import identifiability_facts, identifiability_note
from cloister.report.one_line import one_line
from cloister.schema import Neighbours
from cloister.schema.unit import Unit, rows_each
from cloister.stopped_commands import remember_charge
from cloister.vault.access import empty_frames, find_columns, make_engine, pass_over, row_notes
from cloister.vault.booking import Booking
from cloister.vault.followed_plan import FollowedPlan
from cloister.vault.holder import Holder, Unprotected

__all__ = ["Sample", "ReleaseTerms", "Vault"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReleaseTerms:
    """What a release may cost, whom it protects, and what it is for."""

    budget: Budget
    neighbours: Neighbours
    purpose: str
    unit: Unit | None = None  # None: a row is protected

    def __post_init__(self) -> None:
        if self.unit is not None and self.neighbours is Neighbours.REPLACE_ONE:
            raise UsageError(
                "a guarantee per person needs add-remove neighbours: how many rows somebody has is not public. Set "
                'neighbours = "add-remove", and give --epsilon in place of --rho.'
            )

    @property
    def protected(self) -> str:
        """Whom the guarantee protects, in words."""
        # It names a column, which may be called anything: by what one_line makes of another, too.
        return one_line(str(self.unit or "row").replace("\\u", "\\u005cu"))


class Vault:
    """Rows behind a door. Use `Vault.open` as a context; it is charged on entry and checked on exit.

    What is measured are at first pure steps, then those of the plan that is followed (`follow`), in its order. An error that
    leaves the context says what stays charged, in its message and in `charged`, and is no `UsageError`.
    """

    def __init__(
        self,
        encoding: Encoding,
        engine_for: Callable[[Encoding], Engine],
        terms: ReleaseTerms,
        booking: Booking,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._engine = engine_for(encoding)
        self._engine_for = engine_for
        self._terms = terms
        self._booking = booking
        self._notes = notes  # of the rows
        self._steps = FollowedPlan(terms.budget)
        self._sample: Sample | None = None
        self._lock = threading.Lock()
        self._mark = noise.seeding_mark()
        self._open = False
        self._process = os.getpid()

    @classmethod
    def open(
        cls,
        data: Any,
        encoding: Encoding,
        *,
        budget: Budget,
        neighbours: Neighbours,
        purpose: str,
        engine: EngineChoice = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
        unit: Unit | None = None,
    ) -> Vault:
        """Find the data and its columns; nothing is charged and no row is read until the vault is entered.

        Each of the many parameters is a fact of the release that the caller states by name.
        """
        terms = ReleaseTerms(budget, neighbours, purpose, unit)
        booking = Booking(table, ledger)
        backend = choose_engine(engine, data)
        rows = backend.open_data(data)
        return cls(encoding, lambda other: make_engine(rows, other, backend, unit), terms, booking, row_notes(rows))

    @staticmethod
    def check(data: Any, encoding: Encoding, *, engine: EngineChoice = None, unit: Unit | None = None) -> None:
        """Refuse data that `open` would refuse: a column that is not there, or that holds no single value a row."""
        row_notes(find_columns(data, encoding, choose_engine(engine, data), unit))

    def __enter__(self) -> Vault:
        terms = self._terms
        try_settings()
        check_key_place()
        purpose = terms.purpose + (" [seeded noise: NOT PRIVATE]" if noise.is_seeded() else "")
        try:
            with deferred():  # a signal waits until it is known whether it was charged
                self._booking.charge(terms.budget, terms.neighbours, terms.protected, purpose)
                remember_charge(self._charge())
                self._process = os.getpid()
                self._open = True
        except BaseException as error:  # Python calls `__exit__` only once the vault is entered
            if self._booking.entry is not None:
                self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open = False
        expect_rows()
        self._engine.close()
        empty_frames(trace)
        if error is not None:
            self._say_what_is_charged(error)

    def _charge(self) -> Charge:
        return Charge(str(self._terms.budget), self._booking.table, self._booking.entry)

    def _say_what_is_charged(self, error: BaseException) -> None:
        """Add the charge to an error that leaves after it; one that says that nothing was charged becomes another."""
        charge = self._charge()
        if isinstance(error, UsageError):
            failed = ReleaseFailed(f"{error} {charge}")
            failed.charged = charge
            raise_alone(failed)
        if isinstance(error, CloisterError):
            error.args = (f"{error} {charge}",)
        else:
            error.add_note(str(charge))
        with suppress(AttributeError, TypeError):  # an error of a library may refuse it
            error.charged = charge  # type: ignore[attr-defined]

    # The first door.

    @property
    def unit(self) -> Unit | None:
        """Whom the guarantee protects: people with so many rows each; None: a row."""
        return self._terms.unit

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        """How far one row, or one person where the schema names a unit, moves the kernel's summary."""
        return for_unit(kernel, self._terms.unit).sensitivity(self._terms.neighbours)

    def follow(self, plan: Plan) -> None:
        """Freeze the plan of this release: from here on each step that is measured must be its next.

        What was measured before must be the first steps of it, and be pure. The certificate's events are the plan's.
        """
        with self._lock:
            self._must_be_open()
            self._steps.follow(plan)

    def choose(self, branch: str, rounds: int) -> None:
        """Settle, from what was released, how many rounds the plan's next branch has."""
        with self._lock:
            self._steps.choose(branch, rounds)

    def stop(self, branch: str) -> tuple[str, ...]:
        """End the rounds of a branch early, from what was released, as the plan declares; returns the names of those left.

        Rounds that are skipped stay charged, and the certificate names them.
        """
        with self._lock:
            self._must_be_open()
            names = self._steps.stop(branch)
            if self._steps.is_complete:
                hold_interrupts()
            return names

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A private release: the event is checked against the plan, the rows are read, the noise is added."""
        self._take(kernel, mechanism.event(step, self.sensitivity(kernel)))
        return self._noised(self._engine, kernel, mechanism)

    def measure_first(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A pure release before the plan of a method, which a request adds to any method; its cost is part of the budget."""
        with self._lock:
            self._must_be_open()
            self._steps.take_first(mechanism.event(step, self.sensitivity(kernel)))
        return self._noised(self._engine, kernel, mechanism)

    def measure_keyed(self, kernel: KeyedKernel, mechanism: KeyedMechanism[T], step: str) -> Released[T]:
        """A private release of a histogram with too many keys for an array of all: a sparse grid, the shape of a tree.

        The mechanism sees the keys that occur, in rising order, with their counts, and hands out what its event pays for.
        A row has one key, so the sensitivity is that of any histogram.
        """
        kept = Histogram()
        self._take(kept, mechanism.event(step, self.sensitivity(kept)))
        counted = open_exact(self._engine.fold_by_key(kernel))
        return self._paid(Released(mechanism.apply(counted.keys[:, 0], counted.counts), mechanism.deviation()))

    def select(self, mechanism: Exponential, step: str) -> Released[int]:
        """A private choice among public candidates, by scores from the histogram of the one column that is read.

        The histogram and the scores stay inside; which candidate it was, counted from 0, is all that comes out.
        """
        reach = reach_for(mechanism.scoring.score, self._terms.neighbours, self._terms.unit)
        self._take(Histogram(), mechanism.event(step, reach))
        counted = open_exact(self._engine.fold_by_key(ColumnPlaces(mechanism.scoring.size)))
        return self._paid(Released(mechanism.apply(counted.keys[:, 0], counted.counts), {}))

    def select_marginal(self, mechanism: FarthestMarginal, step: str) -> Released[int]:
        """A private choice among marginals, by how far they lie from released tables; only its place in the kernel comes out."""
        distances = mechanism.distances
        reach = distances.reach(self._terms.neighbours) * rows_each(self._terms.unit)
        self._take(Rows(), mechanism.event(step, reach))
        return self._paid(Released(mechanism.apply(open_exact(self._engine.fold(distances.kernel))), {}))

    def measure_ranked(self, sums: BlockSums, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A private release of the sums of blocks of rows in a public order, under replace-one; all rows are gathered for it."""
        with self._lock:
            self._must_be_open()
            self._steps.count_draws(sum(prod(shape) for shape in sums.parts.values()))
            self._steps.take(mechanism.event(step, sums.sensitivity(self._terms.neighbours)))
        summary = sums.summary(open_exact(self._engine.rank(sums.blocks.order)))
        return self._paid(Released(add_noise(mechanism, summary), mechanism.deviation()))

    def select_ranked(self, blocks: RankedBlocks, mechanism: BlockModes, step: str) -> Released[NDArray[np.int64]]:
        """A private choice of a value of every category column for each of such blocks, (blocks, columns)."""
        with self._lock:
            self._must_be_open()
            if self._terms.neighbours is not Neighbours.REPLACE_ONE or (
                mechanism.blocks,
                mechanism.columns,
            ) != (blocks.blocks, len(blocks.sizes)):
                raise PlanError("the choice is not the one that these blocks need. This is a bug: please report it.")
            self._steps.count_draws(blocks.blocks * len(blocks.sizes))
            self._steps.take(mechanism.event(step))
        counts = blocks.value_counts(open_exact(self._engine.rank(blocks.order)))
        return self._paid(Released(mechanism.apply(counts), {}))

    def size(self, mechanism: Mechanism | None, step: str = "size") -> float:
        """The number of rows: public under replace-one, bought with this mechanism under add-remove; at least 1."""
        if self._terms.neighbours is Neighbours.REPLACE_ONE:
            self._must_be_open()
            counts = open_exact(self._engine.fold(Rows()))["counts"]
        else:
            assert mechanism is not None, "under add-remove the number of rows is bought"
            counts = self.measure(Rows(), mechanism, step).value["counts"]
        rows = max(1.0, float(counts[0]))
        expect_rows(rows)
        return rows

    def public_size(self) -> int:
        """The number of rows where it is public, under replace-one; before a charge, so that what it cannot carry is refused.

        Privacy: the ledger is asked first whether the table is kept under replace-one. Under add-remove the number is private.
        """
        if self._terms.neighbours is not Neighbours.REPLACE_ONE:
            raise PlanError("the number of rows is private under add-remove neighbours. This is a bug: please report it.")
        self._booking.check_relation(self._terms.neighbours, self._terms.protected)
        return int(open_exact(self._engine.fold(Rows()))["counts"][0])

    @contextmanager
    def sample(self, step: str, rate: Fraction) -> Iterator[Sample]:
        """A secret Poisson sample of the rows at this rate; all that is measured on it is charged as one, amplified.

        It is a step of the plan, which fixes its rate and all that is measured on it.
        Where the guarantee is per person, people are drawn, each with all their rows: drawing rows would amplify nothing.
        Only under add-remove: a Poisson sample does not amplify a replace-one mechanism.
        """
        if self._terms.neighbours is not Neighbours.ADD_REMOVE:
            raise PlanError(
                "a Poisson sample is amplified under add-remove neighbours only. This is a bug: please report it."
            )
        with self._lock:
            self._must_be_open()
            self._steps.enter_sample(step, rate)
        self._sample = Sample(self, self._engine.sample(secret_draw(rate).keep))
        try:
            yield self._sample
        finally:
            with self._lock:
                self._steps.leave_sample()
                self._sample = None

    def _noised(self, rows: Folds, kernel: Kernel, mechanism: Mechanism) -> Released[Summary]:
        return self._paid(Released(add_noise(mechanism, open_exact(rows.fold(kernel))), mechanism.deviation()))

    def _paid(self, released: Released[T]) -> Released[T]:
        """What a step released; after the last one a command is not stopped before it has kept the result."""
        if self._steps.is_complete:
            hold_interrupts()
        return released

    def recode(self, encoding: Encoding) -> None:
        """Read the same rows through another encoding from here on; what was spent stays spent."""
        self._engine.close()
        self._engine = self._engine_for(encoding)

    def _must_be_open(self) -> None:
        if not self._open:
            raise UsageError("the vault is closed: a release needs a new charge.")
        self._must_be_here()

    def _must_be_here(self) -> None:
        """Refuse a copy of the vault in a process that was forked off: it does not know what was spent elsewhere."""
        if os.getpid() != self._process:
            raise PlanError("this process was forked off while a release was made. Make it in the process that was charged.")

    def _take(self, kernel: Kernel, event: Event, sample: Sample | None = None) -> None:
        """Spend a step's cost before a row is read for it, or refuse the step; what then goes wrong stays spent."""
        with self._lock:
            self._must_be_open()
            self._steps.count_draws(sum(prod(shape) for shape in kernel.parts.values()))
            if sample is None:
                self._steps.take(event)
            elif sample is self._sample:
                self._steps.take_on_sample(event)
            else:
                raise PlanError("the secret sample is gone: measure inside its block. This is a bug: please report it.")

    # The second door.

    @staticmethod
    def holding(
        data: Any,
        *,
        purpose: str,
        engine: EngineChoice = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
    ) -> Holder:
        """Keep the second door open for several passes: count, look up, rewrite; the ledger records it once."""
        booking = Booking(table, ledger)
        backend = choose_engine(engine, data)
        return Holder(backend.open_data(data), backend, purpose, booking)

    @staticmethod
    def label(
        data: Any,
        encoding: Encoding,
        work: Callable[[Encoded], NDArray[Any]],
        *,
        name: str,
        purpose: str,
        engine: EngineChoice = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
    ) -> Unprotected[Any]:
        """A number for each row, for the holder: an array, or on Spark the DataFrame with one more column, computed when read."""
        return Vault.holding(data, purpose=purpose, engine=engine, table=table, ledger=ledger).label(encoding, work, name)

    # The third door.

    @staticmethod
    def public(data: Any, encoding: Encoding, kernel: Kernel, engine: EngineChoice = None) -> Summary:
        """The exact summary of data that is already private, as reports of the local model are: nothing is charged."""
        with pass_over(data, encoding, choose_engine(engine, data)) as opened:
            return open_exact(opened.fold(kernel))

    @staticmethod
    def public_keys(data: Any, encoding: Encoding, kernel: KeyedKernel, engine: EngineChoice = None) -> Keyed:
        """The same by key, where there are too many keys for an array of all."""
        with pass_over(data, encoding, choose_engine(engine, data)) as opened:
            return open_exact(opened.fold_by_key(kernel))

    @staticmethod
    def public_clusters(
        path: str, features: list[str], weight: str, total: float, clusters: int, seed: int, engine: EngineChoice
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Weighted k-means over a file of points that are released already, too many for this machine.

        Gives centres, sizes and squared error. Only some engines do that.
        """
        return choose_points_engine(engine).cluster_points(path, features, weight, total, clusters, seed)

    # Leaving.

    def release(
        self,
        kind: str,
        parameters: dict[str, Any],
        result: dict[str, Any],
        notes: tuple[str, ...] = (),
    ) -> Release:
        """The certificate: the plan was followed to its end, and its events, added up again, stay within what was charged."""
        self._must_be_here()
        hold_interrupts()
        events = self._steps.events()
        if not within(events, self._terms.budget):
            raise BudgetExceeded.of_release(self._terms.budget)
        skipped = self._steps.skipped
        guarantee = Guarantee(
            self._terms.budget.epsilon, self._terms.budget.delta, self._terms.neighbours, self._terms.protected
        )
        release = Release(
            kind=kind,
            guarantee=guarantee,
            events=events,
            parameters={
                **parameters,
                **identifiability_facts(self._terms.budget),
                **({"skipped": list(skipped)} if skipped else {}),
            },
            result=result,
            seeded=noise.seeded_since(self._mark),
            ledger=self._booking.in_release(),
            notes=(
                *notes,
                *self._notes,
                *identifiability_note(self._terms.budget),
                *skipped_notes(skipped),
                *self._booking.notes,
            ),
        )
        self._tell_ledger(release)
        return release

    def _tell_ledger(self, release: Release) -> None:
        """Tie the charge to the release; a ledger that fails now, or a Ctrl-C, does not take away what was paid for."""
        if will_be_kept():  # by a command, which tells the ledger once nothing can be lost
            return
        try:
            self._booking.complete(release.digest())
        except (CloisterError, KeyboardInterrupt) as error:
            reason = str(error) if isinstance(error, CloisterError) else "it was stopped while it waited."
            warn_of_release(
                f"the release was made, but the ledger could not be told of it: {reason} Entry {self._booking.entry} stays "
                f"charged. Tell the ledger later: ledger.complete({self._booking.entry}, release.digest(), "
                'release.ledger["head"]).',
                UntoldLedger,
                3,
            )


class Sample:
    """A secret sample inside the vault: what is measured on it shares one amplified charge."""

    def __init__(self, vault: Vault, rows: Folds) -> None:
        self._vault = vault
        self._rows = rows

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        """As in the vault."""
        return self._vault.sensitivity(kernel)

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        """A private release of the sampled rows."""
        self._vault._take(kernel, mechanism.event(step, self.sensitivity(kernel)), self)
        return self._vault._noised(self._rows, kernel, mechanism)
