"""Expectation maximisation as an ascent that can be led to a given number of rounds in fewer steps.

A round moves the table f to f * P'(c / P f) / n, or towards that within a log-linear model. The logarithm of the table may move
by a multiple of the round, which stays within the model; the multiple grows while the likelihood rises, and falls back to a plain
round where it would not. Progress is counted in plain rounds, so that ascents on different reports can be compared.

Privacy
-------
Reads reports alone, which are public.

References
----------
A. Dempster, N. Laird, D. Rubin: Maximum likelihood from incomplete data via the EM algorithm, 1977.
R. Salakhutdinov, S. Roweis: Adaptive overrelaxed bound optimization methods, 2003.
"""

from __future__ import annotations

import numpy as np

from cloister.collect.estimating.kronecker import Table, Transition
from cloister.collect.estimating.loglinear import Cliques, fit_margins

__all__ = ["Ascent"]

TINY = 1e-300  # no division by 0 where a share has fallen below what a float can hold
ROUNDING = 1e-13  # relative: the likelihood of an ascent that has arrived wavers by as much
GROWTH = 1.5  # of the stride after a step that raised the likelihood


class Ascent:
    """A table of shares on its way up the likelihood of some reports.

    Attributes
    ----------
    shares
        The present estimate: it sums to 1.
    likelihood
        The logarithm of the likelihood of the reports.
    rounds
        How many plain rounds lie behind it in this stage.
    steps
        How many steps they took in all stages.
    """

    shares: Table
    expected: Table  # of the reports: the shares, sent through the channels
    likelihood: float

    def __init__(self, reports: Table, transition: Transition, shares: Table) -> None:
        self.reports = reports
        self.transition = transition
        self.total = float(reports.sum())
        self.steps = 0
        self.enter_stage(shares)

    def enter_stage(self, shares: Table) -> None:
        """Go on from these shares, with the count of rounds at 0."""
        self.rounds = 0.0
        self.stride = 1.0
        self._stand_at(shares, self.transition(shares))

    def advance(self, cliques: Cliques, rounds: float, most_steps: int) -> None:
        """Go on until so many rounds of the stage are behind, or so many steps of all stages."""
        if self.total == 0:  # without reports every table is as likely
            self.rounds = rounds
        while self.rounds < rounds and self.steps < most_steps:
            self._step(cliques, rounds - self.rounds)

    def expected_answers(self) -> Table:
        """How many of these people hold each combination, given their reports and the shares: the expectation step alone."""
        answers: Table = self.shares * self.transition(self.reports / np.maximum(self.expected, TINY))
        return answers

    def empty_cells(self, less: float, rounds: int) -> bool:
        """Go on by rounds that take `less` people from every cell before it is scaled; False, and no move, if none are left.

        This climbs to the mode under a Dirichlet prior of 1 - less, which favours tables with few cells above 0.
        """
        shares, expected = self.shares, self.expected
        for _ in range(rounds):
            answers = np.maximum(shares * self.transition(self.reports / np.maximum(expected, TINY)) - less, 0.0)
            whole = float(answers.sum())
            if whole <= 0:
                return False
            shares = answers / whole
            expected = self.transition(shares)
        self._stand_at(shares, expected)
        return True

    def likelihood_of(self, reports: Table) -> float:
        """The logarithm of the likelihood of other reports."""
        return float(np.vdot(reports, np.log(np.maximum(self.expected, TINY))))

    def _step(self, cliques: Cliques, left: float) -> None:
        """A plain round, or a longer step if that raises the likelihood."""
        self.steps += 1
        plain = fit_margins(self.shares, self.expected_answers() / self.total, cliques)
        stride = min(self.stride, left)
        if stride > 1:
            with np.errstate(over="ignore", invalid="ignore"):
                longer = self.shares * np.power(plain / np.maximum(self.shares, TINY), stride)
                whole = float(longer.sum())
            if np.isfinite(whole) and whole > 0:
                before = self.shares, self.expected, self.likelihood
                longer /= whole
                self._stand_at(longer, self.transition(longer))
                if self.likelihood >= before[2] - ROUNDING * abs(before[2]):
                    self.rounds += stride
                    self.stride *= GROWTH
                    return
                self.shares, self.expected, self.likelihood = before
            self.stride = max(1.0, self.stride / 4)
        plain = plain / plain.sum()
        self._stand_at(plain, self.transition(plain))
        self.rounds += 1.0
        self.stride *= GROWTH

    def _stand_at(self, shares: Table, expected: Table) -> None:
        self.shares = shares
        self.expected = expected
        self.likelihood = self.likelihood_of(self.reports)
