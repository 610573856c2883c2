"""Top-down specialization: from one class published as ``*`` to the finest that k and the guards allow.

Every step replaces one block of one column by finer ones. The step with the largest gain = information / (1 + anonymity
lost) is taken, until no candidate keeps the guards. With suppression or the loss gain the greedy path is one of several: a
beam of cuts is followed too, and the better end is taken. Cuts go below full domains, so they hold all that a search over
levels finds.

References
----------
LETEO, section 3.2. Fung, Wang, Yu, Top-down specialization for information and privacy preservation, 2005.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.put_on_grid import GridTable, put_on_grid
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.coarsest import coarsest_blocks
from cloister.anonymization.searching.cuts import Candidates, Cut, Workspace
from cloister.anonymization.searching.gains import Gain
from cloister.anonymization.searching.guards import ClassGuard, Diversity, KAnonymity, passing
from cloister.anonymization.searching.limits import ColumnLimit, limits_refusal
from cloister.anonymization.searching.make_recoding import make_global
from cloister.anonymization.writing.recoding import STAR, Recoding
from cloister.errors import Unattainable, UsageError

__all__ = ["Specialization", "output_holds", "refusal", "specialize"]

BEAM = 8


@dataclass(frozen=True, slots=True, eq=False)
class Specialization:
    """The end of a search: a recoding, and what it does to the tuples that it was found on."""

    recoding: Recoding
    labels: NDArray[np.int64]  # (t,) the class of each tuple, -1: suppressed
    suppressed: int  # rows
    is_starred: bool  # whether suppressed rows stay, published as * (they are at least k, and hold every guard)
    steps: int
    reason: str  # why the search stopped
    loss: float  # mean over rows and columns of (values under the label - 1) / (values - 1); a suppressed row counts 1
    losses: tuple[float, ...]  # the same of each column
    too_wide: tuple[str, ...]  # columns with labels that reach over gaps and pass a limit


def specialize(
    table: CountedTable,
    k: int,
    *,
    gain: Gain | str = Gain.ENTROPY,
    suppression: float = 0.0,
    guards: Sequence[ClassGuard] = (),
    beam: int = BEAM,
    weights: Sequence[float] = (),
    limits: Sequence[ColumnLimit] = (),
) -> Specialization:
    """Find a k-anonymous recoding of a counted table.

    Parameters
    ----------
    table : CountedTable
    k : int
        Rows (persons, if the tuples say whose they are) that every class holds at least.
    gain : {"entropy", "distance", "loss", "class"}
    suppression : float
        Share of the rows that may be suppressed.
    guards : sequence of ClassGuard
        What every class must hold beside k-anonymity.
    beam : int
        How many cuts are followed at once, with suppression or the loss gain.
    weights : sequence of float, optional
        How much each column counts in the gain, 1 on average.
    limits : sequence of ColumnLimit, optional
        How far each column may be generalised.

    Raises
    ------
    Unattainable
        If even the table as a whole breaks a guard, or the coarsest labels within the limits do.

    Privacy
    -------
    k-anonymity and its kin are properties of the table, not of the process: syntactic, not differentially private.
    """
    gain = Gain(gain)
    KAnonymity(k)
    if not 0 <= suppression < 1:
        raise UsageError("the share of suppressed rows must be at least 0 and below 1.")
    if gain is Gain.CLASS and table.rows.target is None:
        raise UsageError("the class gain needs a target column.")
    grid = put_on_grid(table, k)
    order = grid.rows.order()
    ordered = grid.take(order)
    search = _Search(ordered, k, gain, guards, beam, suppression > 0, weights, limits)
    end = search.run(suppression)
    if end.suppressed and (end.too_wide or not (end.is_starred or output_holds(end.labels, ordered.rows, k, guards))):
        # removed rows change the distribution that t-closeness compares with, and labels reach over the gaps that they leave:
        # search again without suppression
        end = search.run(0.0)
    if end.too_wide:
        raise Unattainable(
            f'where rows may be suppressed, the labels of column "{end.too_wide[0]}" reach over the gaps that they leave, and '
            "pass its limit. Relax the limit, or drop the suppression."
        )
    labels = np.empty_like(end.labels)
    labels[order] = end.labels
    return replace(end, labels=labels)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """A table and what its recoding must hold."""

    table: GridTable
    k: int
    gain: Gain
    guards: Sequence[ClassGuard]
    beam: int
    may_remove: bool  # whether rows might have been suppressed
    weights: Sequence[float]
    limits: Sequence[ColumnLimit]

    def run(self, suppression: float) -> Specialization:
        """The better end of the greedy path and the beam, from the better start."""
        rows = self.table.rows
        fixed = [guard.against(rows) for guard in self.guards]
        allowed = math.floor(suppression * rows.total + 1e-9)
        work = Workspace(rows, self.table.columns, self.k, fixed, self.gain, allowed, self.weights)
        root = work.root()
        if root is None:
            raise Unattainable(refusal(rows, [KAnonymity(self.k), *fixed]))
        roots = self._within_limits(work) if any(limit.is_set for limit in self.limits) else [root]
        cut = max((self._best_end(work, start, suppression > 0) for start in roots), key=lambda end: end.worth)
        return _finished(work, cut, self.table, self.may_remove, self.limits)

    def _within_limits(self, work: Workspace) -> list[Cut]:
        """The cuts that are as coarse as the limits allow; refused if there is none that holds the guards."""
        rows = self.table.rows
        ways = coarsest_blocks(work.blocks, self.table.columns, rows, self.limits)
        starts = [start for blocks in ways if (start := work.start(blocks)) is not None]
        if not starts:
            block = np.empty(int(work.offsets[-1]), np.int64)
            for at, each in enumerate(ways[0]):
                block[work.offsets[each.column] + each.codes] = at
            guards = [KAnonymity(self.k), *(guard for guard in work.guards if not isinstance(guard, KAnonymity))]
            raise limits_refusal(self.limits, list(block[work.flat].T), rows, guards)
        return starts if self.gain is Gain.LOSS else starts[:1]  # only of losses the worth of starts can be compared

    def _best_end(self, work: Workspace, root: Cut, suppresses: bool) -> Cut:
        cut = _greedy(work, root)
        starts = [root]
        if self.gain in (Gain.LOSS, Gain.DISTANCE) and work.allowed:
            for start in _without_blanks(work, root):
                end = _greedy(work, start)
                if end.worth > cut.worth:
                    cut, starts = end, [root, start]
        if self.beam > 1 and (self.gain is Gain.LOSS or suppresses):
            cut = max([cut, *(_beam(work, start, self.beam) for start in starts)], key=lambda end: end.worth)
        return cut


def _without_blanks(work: Workspace, root: Cut) -> Iterator[Cut]:
    """The root with the blanks of one ordered column suppressed, of two, ... those with the fewest first.

    Numbers without their blanks lose as much as with them until they are cut, so that no single step gains anything for the rows
    that it costs; what follows may.
    """
    cut = root
    while True:
        candidates = work.weigh(cut)
        is_first = np.array([work.parts_blanks(cut.blocks[block]) for block in candidates.block.tolist()], bool)
        costly = np.flatnonzero(is_first & ~candidates.is_open & (cut.lost + candidates.lost <= work.allowed))
        if not len(costly):
            return
        i = int(costly[np.argmin(candidates.lost[costly])])
        block, way = int(candidates.block[i]), int(candidates.way[i])
        step = work.take(cut, block, way, float(candidates.information[i]), int(candidates.lost[i]))
        if step is None:
            return
        cut = step
        yield cut


def _greedy(work: Workspace, cut: Cut) -> Cut:
    """Take the candidate with the best score until none is open."""
    while True:
        candidates = work.weigh(cut)
        usable = np.flatnonzero(candidates.is_open)
        for i in usable[np.argsort(-candidates.score[usable], kind="stable")].tolist():
            step = _taken(work, cut, candidates, i)
            if isinstance(step, Cut):
                cut = step
                break
            cut = replace(cut, refused=cut.refused | step)
        else:
            return cut


def _beam(work: Workspace, root: Cut, width: int) -> Cut:
    """Follow the cuts of the highest worth after each number of steps; the best end."""
    alive, ends = [root], []
    while alive:
        pool = []
        for place, cut in enumerate(alive):
            candidates = work.weigh(cut)
            best = _best_ways(candidates)
            if not best:
                ends.append(_greedy(work, cut))
            pool += [(-cut.worth - candidates.information[i], place, i, cut, candidates) for i in best]
        pool.sort(key=lambda entry: entry[:3])
        ahead: dict[int, Cut] = {}  # the cuts of the next round, by mark
        stuck = dict(enumerate(alive))  # cuts of which no candidate was taken: they end here, unless the beam is full
        for _, place, i, cut, candidates in pool:
            mark = work.mark(cut, int(candidates.block[i]), int(candidates.way[i]))
            if mark not in ahead:
                step = _taken(work, cut, candidates, i)
                if not isinstance(step, Cut):
                    continue
                ahead[mark] = step
            stuck.pop(place, None)
            if len(ahead) == width:
                break
        else:
            ends += [_greedy(work, cut) for place, cut in stuck.items() if any(entry[1] == place for entry in pool)]
        alive = list(ahead.values())
    return max(ends, key=lambda end: end.worth)


def _best_ways(candidates: Candidates) -> list[int]:
    """For each block the open candidate of the most information: the thresholds of an order are near copies of each other."""
    usable = np.flatnonzero(candidates.is_open)
    by_block = usable[np.lexsort([-candidates.information[usable], candidates.block[usable]])]
    _, first = np.unique(candidates.block[by_block], return_index=True)
    return [int(i) for i in by_block[first]]


def _taken(work: Workspace, cut: Cut, candidates: Candidates, i: int) -> Cut | frozenset[int]:
    """The cut after a candidate; or, if it cannot be taken, what to refuse from now on (nothing, if a later cut may)."""
    block, way = int(candidates.block[i]), int(candidates.way[i])
    step = work.take(cut, block, way, float(candidates.information[i]), int(candidates.lost[i]))
    if step is None:
        return frozenset({work.key(cut, block, way)})
    return frozenset() if step.lost > cut.lost and step.worth <= cut.worth else step


def _finished(
    work: Workspace, cut: Cut, table: GridTable, may_remove: bool, limits: Sequence[ColumnLimit]
) -> Specialization:
    rows = work.rows
    labels = np.full(len(rows.codes), -1, np.int64)
    labels[cut.rows] = cut.labels
    left_out = np.flatnonzero((labels < 0) & (rows.counts > 0))
    holds = [KAnonymity(work.k), *work.guards]
    is_starred = bool(len(left_out)) and _hold_together(rows, left_out, holds)
    samples = cut.rows[cut.starts[:-1]]
    made = make_global(table, cut.blocks, cut.rows, samples, is_starred=is_starred, may_remove=may_remove, limits=limits)
    recoding, losses = made.recoding, made.losses
    if is_starred:  # a class published as * throughout, as where that is a value of the data, is one with the starred rows
        looks_starred = np.array([set(texts) == {STAR} for texts in recoding.published(np.arange(len(samples)))], bool)
        is_starred = _hold_together(rows, np.append(left_out, cut.rows[looks_starred[cut.labels]]), holds)
        recoding = replace(recoding, is_starred=is_starred)
    counts, classes = rows.counts[cut.rows], recoding.classes[labels[cut.rows]]
    lost = np.array([loss[classes[:, j]] @ counts for j, loss in enumerate(losses)]) + cut.lost  # (q,)
    by_column = lost / max(work.total, 1)
    reason, loss = _reason(work, cut), float(by_column.mean())
    return Specialization(
        recoding, labels, cut.lost, is_starred, cut.steps, reason, loss, tuple(by_column.tolist()), made.too_wide
    )


def _hold_together(rows: TupleCounts, tuples: NDArray[np.int64], guards: Sequence[ClassGuard]) -> bool:
    """Whether some tuples hold every guard as one class."""
    return bool(passing(guards, np.zeros(len(tuples), np.int64), 1, rows.take(tuples)).all())


def output_holds(labels: NDArray[np.int64], rows: TupleCounts, k: int, guards: Sequence[ClassGuard]) -> bool:
    """Whether the published tuples alone hold every guard, t-closeness against their own distribution."""
    kept = np.flatnonzero(labels >= 0)
    published = rows.take(kept)
    return bool(passing([KAnonymity(k), *guards], labels[kept], int(labels.max()) + 1, published).all())


def refusal(rows: TupleCounts, guards: Sequence[ClassGuard]) -> str:
    """Which guard even one class of all rows breaks, in words."""
    whole, by_rows = np.zeros(len(rows.codes), np.int64), replace(rows, persons=None)
    for guard in guards:
        if rows.total == 0 or not guard.passes(whole, 1, rows).all():
            if isinstance(guard, Diversity) and rows.persons is not None and guard.passes(whole, 1, by_rows).all():
                return (
                    f"{guard} cannot be shown for people, not even of the whole table, published as * in every "
                    "quasi-identifier: there are values enough, but people have several of them, so that fewer may name one of "
                    "everybody's. Ask for less, or keep one row a person."
                )
            return f"even the whole table, published as * in every quasi-identifier, does not hold {guard}. Ask for less."
    raise AssertionError("the table as a whole holds every guard")


def _reason(work: Workspace, cut: Cut) -> str:
    """Why the search stopped, of every table in the same words: how many labels have a finer one may hang on one row."""
    reason = (
        "no label can be refined further: it is a value or the finest that its column offers, or a class would fall "
        f"below k = {work.k}"
    )
    if work.guards:
        reason += " or break another guard"
    if work.allowed:
        left = work.allowed - cut.lost
        reason += f" (at most {left} more rows may be suppressed, and only where that tells more than it costs)"
    return f"{reason}."
