"""What a release promises: differential privacy, that of each report in the local model, or a syntactic property of a table.

And what is promised in print and not proved, which is no promise of ours: `Claimed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from cloister.privacy.identifiability import rho_from_epsilon
from cloister.report.one_line import one_line
from cloister.schema import Neighbours
from cloister.schema.numerals import amount_text

__all__ = ["AnyGuarantee", "Claimed", "Guarantee", "Local", "Syntactic"]

WORLDS = (2, 100, 10_001)  # for which numbers of equally likely worlds a certificate shows the identifiability


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The one proven promise of a release."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    unit: str = "row"

    def __str__(self) -> str:
        delta = f", delta {amount_text(self.delta)}" if self.delta else ""
        return f"epsilon {amount_text(self.epsilon)}{delta}, {self.neighbours.value} neighbours, per {self.unit}"

    def identifiability(self) -> dict[int, float] | None:
        """The largest posterior of one of m equally likely worlds, for a few m; with a delta there is no such bound."""
        if self.delta:
            return None
        return {worlds: rho_from_epsilon(self.epsilon, worlds, self.neighbours) for worlds in WORLDS}


@dataclass(frozen=True, slots=True)
class Local:
    """What each report keeps of the person who sent it, whoever collects it and whatever all others do.

    Attributes
    ----------
    epsilons
        One a question: what is revealed where the answer to it differs. Answers to several questions add up.
    """

    epsilons: tuple[Fraction, ...]
    unit: str = "report"

    @property
    def epsilon(self) -> Fraction:
        """Plain local differential privacy: any two persons, whatever they answered."""
        return sum(self.epsilons, Fraction(0))

    @property
    def delta(self) -> Fraction:
        return Fraction(0)

    def __str__(self) -> str:
        most = "" if len(set(self.epsilons)) == 1 else "at most "
        each = amount_text(max(self.epsilons))
        whole = f"; {amount_text(self.epsilon)} for all {len(self.epsilons)} answers" if len(self.epsilons) > 1 else ""
        return f"local: epsilon {most}{each} for each answer that differs{whole}, per {self.unit}, nobody is trusted"

    def identifiability(self) -> dict[int, float]:
        """The largest posterior of one of m equally likely answers to all questions, for a few m."""
        return {worlds: rho_from_epsilon(self.epsilon, worlds, Neighbours.REPLACE_ONE) for worlds in WORLDS}


@dataclass(frozen=True, slots=True)
class Syntactic:
    """A property of a published table, not of the process that made it: no epsilon, and no noise."""

    k: int | None  # None: a saved recoding on other rows, of which nothing is claimed
    unit: str = "row"
    also: tuple[str, ...] = ()  # what every class holds beside, in words

    def __post_init__(self) -> None:
        # both name columns, which may be called anything; a reader is shown one line each
        object.__setattr__(self, "unit", one_line(self.unit))
        object.__setattr__(self, "also", tuple(map(one_line, self.also)))

    def __str__(self) -> str:
        if self.k is None:
            return "syntactic: recoding applied to other rows, no k is claimed, not differentially private"
        whom = "" if self.unit == "row" else f", counted per {self.unit}"
        also = f"; also {', '.join(self.also)}" if self.also else ""
        return f"syntactic: k = {self.k}, not differentially private{whom}{also}"

    def identifiability(self) -> None:
        """A syntactic property bounds no posterior."""
        return


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a paper says of its algorithm as printed, beside what can be proved of it. Never private, and never charged.

    Attributes
    ----------
    paper
        Its number, as ``cloister reproduce`` knows it.
    claim, proved
        In a few words: what is printed, and what holds (often: nothing).
    """

    paper: str
    claim: str
    proved: str
    unit: str = "row"

    def __post_init__(self) -> None:
        for name in ("paper", "claim", "proved", "unit"):
            object.__setattr__(self, name, one_line(getattr(self, name)))

    def __str__(self) -> str:
        return f"claimed by paper {self.paper}: {self.claim}; proved: {self.proved}"

    def identifiability(self) -> None:
        """A claim bounds no posterior."""
        return


AnyGuarantee: TypeAlias = Guarantee | Local | Syntactic | Claimed
