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
from cloister.anonymization.searching.cuts import Candidates, Cut, Workspace
from cloister.anonymization.searching.gains import Gain
from cloister.anonymization.searching.guards import ClassGuard, Diversity, KAnonymity, passing
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


def specialize(
    table: CountedTable,
    k: int,
    *,
    gain: Gain | str = Gain.ENTROPY,
    suppression: float = 0.0,
    guards: Sequence[ClassGuard] = (),
    beam: int = BEAM,
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

    Raises
    ------
    UsageError
        If even the table as a whole breaks a guard.

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
    may_remove = suppression > 0
    end = _search(ordered, k, gain, suppression, guards, beam, may_remove)
    if end.suppressed and not end.is_starred and not output_holds(end.labels, ordered.rows, k, guards):
        # removed rows change the distribution that t-closeness compares with: search again without suppression
        end = _search(ordered, k, gain, 0.0, guards, beam, may_remove)
    labels = np.empty_like(end.labels)
    labels[order] = end.labels
    return replace(end, labels=labels)


def _search(
    table: GridTable,
    k: int,
    gain: Gain,
    suppression: float,
    guards: Sequence[ClassGuard],
    beam: int,
    may_remove: bool,
) -> Specialization:
    """The better end of the greedy path and the beam; `may_remove` says whether rows might have been suppressed."""
    rows = table.rows
    fixed = [guard.against(rows) for guard in guards]
    work = Workspace(rows, table.columns, k, fixed, gain, math.floor(suppression * rows.total + 1e-9))
    root = work.root()
    if root is None:
        raise Unattainable(refusal(rows, [KAnonymity(k), *fixed]))
    cut = _greedy(work, root)
    starts = [root]
    if gain in (Gain.LOSS, Gain.DISTANCE) and work.allowed:
        for start in _without_blanks(work, root):
            end = _greedy(work, start)
            if end.worth > cut.worth:
                cut, starts = end, [root, start]
    if beam > 1 and (gain is Gain.LOSS or suppression > 0):
        cut = max([cut, *(_beam(work, start, beam) for start in starts)], key=lambda end: end.worth)
    return _finished(work, cut, table, may_remove)


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


def _finished(work: Workspace, cut: Cut, table: GridTable, may_remove: bool) -> Specialization:
    rows = work.rows
    labels = np.full(len(rows.codes), -1, np.int64)
    labels[cut.rows] = cut.labels
    left_out = np.flatnonzero((labels < 0) & (rows.counts > 0))
    holds = [KAnonymity(work.k), *work.guards]
    is_starred = bool(len(left_out)) and _hold_together(rows, left_out, holds)
    samples = cut.rows[cut.starts[:-1]]
    recoding, losses = make_global(table, cut.blocks, cut.rows, samples, is_starred=is_starred, may_remove=may_remove)
    if is_starred:  # a class published as * throughout, as where that is a value of the data, is one with the starred rows
        looks_starred = np.array([set(texts) == {STAR} for texts in recoding.published(np.arange(len(samples)))], bool)
        is_starred = _hold_together(rows, np.append(left_out, cut.rows[looks_starred[cut.labels]]), holds)
        recoding = replace(recoding, is_starred=is_starred)
    lost = sum(loss[recoding.classes[labels[cut.rows], j]] for j, loss in enumerate(losses))  # (t',) over all columns
    loss = (float(lost @ rows.counts[cut.rows]) / len(losses) + cut.lost) / max(work.total, 1)
    return Specialization(recoding, labels, cut.lost, is_starred, cut.steps, _reason(work, cut), loss)


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
