"""The default estimate of a joint table: expectation maximisation, with the reports themselves deciding when to stop.

Plain expectation maximisation that runs on fits the noise of the reports, and one that stops early has not found the structure.
So the likelihood is climbed in four stages, each from where the one before stopped:

1. each question alone, from equal shares; the product of the results is independence;
2. the dependence of pairs of questions, for the pairs whose reports show it (`dependent_pairs`): a log-linear model;
3. the whole table, without a model;
4. the whole table, with a prior that empties cells: one of two, or none.

The rounds of a stage are those that explain held-out reports best: the reports are split into three parts by a public seed, each
part is held out once, and the rounds with the highest likelihood of what was held out are run on all reports (3/2 as many, since
noise is met later with 3/2 as many reports). No stage need run at all. Then small cells are emptied, if held-out reports are
more likely so; where the reports contradict the table that was chosen, it is taken a part of the way to the most likely one
(`_trust_reports`), so that a strong dependence is not missed. At the end a single expectation step turns the shares of a
population into the expected answers of these very people: where reports are nearly always true, it gives the reports back.

Privacy
-------
Reads reports and their public channels alone: post-processing, which costs nothing. The seed of the split is public too.

References
----------
A. Dempster, N. Laird, D. Rubin: Maximum likelihood from incomplete data via the EM algorithm, 1977.
D. Agrawal, C. Aggarwal: On the design and quantification of privacy preserving data mining algorithms, 2001.
M. Stone: Cross-validatory choice and assessment of statistical predictions, 1974.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cloister.collect.estimating.inversion import Counts, check_shape
from cloister.collect.estimating.kronecker import Table, Transition
from cloister.collect.estimating.likelihood_ascent import Ascent
from cloister.collect.estimating.loglinear import Cliques, dependent_pairs, margin, outer_product
from cloister.collect.protocols.channel import Channel

__all__ = ["EMEstimate", "expectation_maximisation"]

FOLDS = 3
INDEPENDENT = (
    "No dependence between these questions could be seen in the reports, so the table is the product of its margins; the "
    "unbiased estimate does not assume that."
)
SEED = 2002  # public, and the same for everyone: an estimate can be repeated from its reports
SPACING = 1.5  # between the numbers of rounds that are compared
FALL = 10.0  # in held-out log-likelihood below the best ends a stage; less may be noise that is fitted before the structure
FLAT = 0.1  # a gain in log-likelihood below this, for a table, is none
PATIENCE = 300  # rounds that a stage is given all the same: noise of few questions is fitted sooner than structure of many
QUIET = 4  # so many comparisons in a row without a gain: the ascent has arrived. At a small epsilon it is slow at first, too
EMPTYING = (0.3, 1.0)  # people taken from each cell in a round of the last stage: Dirichlet priors of 0.7 and 0
EMPTYING_ROUNDS = 40
MARGIN = 2.0  # in log-likelihood: by so much a later number of rounds must be better once one was worse, or it is chance
MISSES = 4  # so many comparisons without a better one end a stage too: 5 times the rounds
MOST_STEPS = 250  # of an ascent in a stage
MOST_CELL_STEPS = 2**25  # fewer steps for larger tables and many pairs: 25 for 2**20 cells, at least 8


@dataclass(frozen=True)
class EMEstimate:
    """A possible table near the true one.

    Attributes
    ----------
    counts
        Not below 0; they sum to the number of reports.
    rounds
        The rounds of expectation maximisation on the joint table of all reports.
    rule
        Why it stopped there, in a sentence.
    """

    counts: Table
    rounds: int
    rule: str


@dataclass
class _Ascents:
    """The ascents of a stage: one on all reports, and one without each part, with the parts that they do not see."""

    full: Ascent
    folds: list[Ascent]
    held_out: list[Table]

    def start(self, shares: Sequence[Table]) -> None:
        """Enter a stage: the first shares are those of all reports, then come those of the folds."""
        for ascent, begin in zip([self.full, *self.folds], shares, strict=True):
            ascent.enter_stage(begin)

    def held_out_likelihood(self) -> float:
        return sum(fold.likelihood_of(part) for fold, part in zip(self.folds, self.held_out, strict=True))


def expectation_maximisation(
    counts: Counts, channels: Sequence[Channel], *, progress: Callable[[str], None] | None = None
) -> EMEstimate:
    """Estimate the joint table of true answers from the table of reports.

    Parameters
    ----------
    counts
        The reports, with one axis for each question.
    channels
        The channel of each axis.
    progress
        Called with a line of text after each comparison.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from cloister.collect.protocols.channel import channel_for
    >>> estimate = expectation_maximisation(np.array([731, 269]), [channel_for(Fraction(1), 2)])
    >>> float(estimate.counts.sum())
    1000.0
    """
    check_shape(counts, channels)
    total = int(counts.sum())
    if total == 0:
        return EMEstimate(np.zeros(counts.shape), 0, "There are no reports.")
    tell = progress or (lambda line: None)
    parts = _split(counts)
    tables = [counts, *(counts - part for part in parts)]  # all reports, then those that each fold sees
    alone = [_one_question(tables, parts, axis, channel) for axis, channel in enumerate(channels)]
    tell(f"independent questions: {len(channels)} of {len(channels)}")
    ascents = _ascents(
        tables, parts, Transition(channels), [outer_product(list(shares)) for shares in zip(*alone, strict=True)]
    )
    pairs = dependent_pairs(counts) if counts.ndim > 2 else ()
    pair_rounds = _climb(ascents, pairs, lambda line: tell(f"dependent pairs: {line}")) if pairs else 0
    whole: Cliques = (tuple(range(counts.ndim)),)
    table_rounds = _climb(ascents, whole, lambda line: tell(f"whole table: {line}")) if counts.ndim > 1 else 0
    emptied = _empty_cells(ascents)
    trust = _trust_reports(ascents.full) if counts.ndim > 1 else 0.0
    answers = ascents.full.expected_answers()
    is_independent = counts.ndim > 1 and not (pair_rounds or table_rounds or emptied or trust)
    stages = (
        f"From independent questions, held-out reports were most likely after {pair_rounds} rounds for {len(pairs)} dependent "
        f"pairs and {table_rounds} for the whole table, {'with' if emptied else 'without'} emptying small cells; it went "
        f"{trust:.0%} of the way to the most likely table, and a last round gave the answers of these people."
    )
    rule = INDEPENDENT if is_independent else stages
    return EMEstimate(answers * (total / answers.sum()), pair_rounds + table_rounds + emptied + 1, rule)


def _split(counts: Counts) -> list[Counts]:
    """The reports in parts of about equal size, at random."""
    random = np.random.Generator(np.random.PCG64(SEED))  # public
    rest, parts = counts, []
    for left in range(FOLDS, 1, -1):
        parts.append(random.binomial(rest, 1 / left).astype(np.int64))
        rest = rest - parts[-1]
    return [*parts, rest]


def _one_question(tables: Sequence[Counts], parts: Sequence[Counts], axis: int, channel: Channel) -> list[Table]:
    """The shares of a question's answers: from all reports, and from those of each fold."""
    seen, held_out = ([margin(table, (axis,)).ravel() for table in group] for group in (tables, parts))
    equal = np.full(channel.size, 1 / channel.size)
    ascents = _ascents(seen, held_out, Transition([channel]), [equal] * len(seen))
    _climb(ascents, ((0,),), lambda line: None)
    return [ascent.shares for ascent in (ascents.full, *ascents.folds)]


def _ascents(
    seen: Sequence[Counts], held_out: Sequence[Counts], transition: Transition, shares: Sequence[Table]
) -> _Ascents:
    full, *folds = (Ascent(table.astype(np.float64), transition, begin) for table, begin in zip(seen, shares, strict=True))
    return _Ascents(full, folds, [part.astype(np.float64) for part in held_out])


def _climb(ascents: _Ascents, cliques: Cliques, tell: Callable[[str], None]) -> int:
    """Run a stage to the rounds at which held-out reports are most likely, and say how many those were for all reports."""
    best = held_out = ascents.held_out_likelihood()
    best_rounds, best_shares = 0, [fold.shares for fold in ascents.folds]
    rounds, misses, quiet = 1, 0, 0
    work = ascents.full.shares.size * (4 + len(cliques)) // 4  # a margin is about a quarter of the rest of a step
    allowed = min(MOST_STEPS, 3 * MOST_STEPS * 4 // (4 + len(cliques)), max(8, MOST_CELL_STEPS // work))
    most_steps = max(fold.steps for fold in ascents.folds) + allowed
    seen, most_gain = sum(fold.likelihood for fold in ascents.folds), 0.0
    while held_out > best - FALL and (misses < MISSES or rounds < PATIENCE):
        for fold in ascents.folds:
            fold.advance(cliques, rounds, most_steps)
        if any(fold.rounds < rounds for fold in ascents.folds):  # the steps ran out: there is nothing to compare
            break
        held_out = ascents.held_out_likelihood()
        tell(f"{rounds} rounds, held-out log-likelihood {held_out:,.1f}")
        if held_out > best + (MARGIN if misses else 0.0):
            best, best_rounds, best_shares, misses = held_out, rounds, [fold.shares for fold in ascents.folds], 0
        else:
            misses += 1
        before, seen = seen, sum(fold.likelihood for fold in ascents.folds)
        most_gain = max(most_gain, seen - before)
        quiet = quiet + 1 if seen - before < min(FLAT * FOLDS, most_gain / 2) else 0
        if quiet == QUIET:
            break
        rounds = int(np.ceil(rounds * SPACING))
    full_rounds = round(best_rounds * FOLDS / (FOLDS - 1))
    ascents.full.advance(cliques, full_rounds, ascents.full.steps + 2 * allowed)
    ascents.start([ascents.full.shares, *best_shares])
    return full_rounds


def _empty_cells(ascents: _Ascents) -> int:
    """Empty small cells, if that makes held-out reports more likely, and say how many rounds it took."""
    rounds = min(EMPTYING_ROUNDS, max(4, MOST_CELL_STEPS // ascents.full.shares.size))
    best, best_less = ascents.held_out_likelihood(), 0.0
    begin = [fold.shares for fold in ascents.folds]
    for less in EMPTYING:
        possible = [fold.empty_cells(less, rounds) for fold in ascents.folds]
        if all(possible) and (held_out := ascents.held_out_likelihood()) > best:
            best, best_less = held_out, less
        ascents.start([ascents.full.shares, *begin])
    return rounds if best_less and ascents.full.empty_cells(best_less, rounds) else 0


def _trust_reports(full: Ascent) -> float:
    """Go from the table that held-out reports chose towards the most likely one, as far as the reports contradict the former.

    Twice the gain in log-likelihood, G, would be about the degrees of freedom between the two if the former were true. What is
    beyond them is signal: the share 1 - df / G of the way, as James and Stein shrink, and none where G is smaller.
    """
    chosen, before = full.shares, full.likelihood
    free = chosen.size - 1 - sum(size - 1 for size in chosen.shape)
    allowed = min(MOST_STEPS, max(8, MOST_CELL_STEPS // chosen.size))
    full.advance((tuple(range(chosen.ndim)),), np.inf, full.steps + allowed)
    gain = 2 * (full.likelihood - before)
    trust = max(0.0, 1 - free / gain) if gain > 0 else 0.0
    full.enter_stage((1 - trust) * chosen + trust * full.shares)
    return trust
