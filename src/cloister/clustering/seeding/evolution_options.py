"""What a user may set of the seeding "evolution": a dict in Python, ``population=40,CR=0.1:0.9`` on the command line.

Population, F and the range of the crossover rate are the paper's (five members a column of the genome, 0.5, 0.25 to 0.95).
It prints 50 generations in its text and 10,000 in its experiments; 200, with an end after 50 without a gain, is Cloister's.
So is the start: one member is what the search for centres found (`point_search`). With ``start="random"`` every member is
drawn at random, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from cloister.errors import UsageError
from cloister.parameters import check_whole, unknown_choice

__all__ = ["OWN_EVOLUTION", "EvolutionOptions", "check_genomes", "evolution_options"]

SCALE = 0.5  # F
CROSSOVER = (0.25, 0.95)  # CR
GENERATIONS = 200
SMALLEST_POPULATION, LARGEST_POPULATION = 6, 1000  # DE/rand/2 takes five members beside the current one
MOST_GENERATIONS = 10_000
LARGEST_SCALE = 2.0  # of a difference: beyond, hardly a mutant lies in the domain
MOST_NUMBERS = 2**24  # coordinates of all members together
STARTS = ("search", "random")
KNOWN = ("population", "generations", "F", "CR", "start")


@dataclass(frozen=True, slots=True)
class EvolutionOptions:
    """The options, checked."""

    population: int | None = None  # members; None: `population_size`
    generations: int = GENERATIONS
    F: float = SCALE  # how much of the difference of two members a mutant takes
    CR: tuple[float, float] = CROSSOVER  # between which the crossover rate rises
    start: str = "search"  # "search": from what the search found, and drawn members; "random": from drawn members alone

    def words(self) -> str:
        """The options for a certificate."""
        members = "" if self.population is None else f"population {self.population}, "
        start = "" if self.start == "search" else f", start {self.start}"
        return f"{members}generations {self.generations}, F {self.F:g}, CR {self.CR[0]:g} to {self.CR[1]:g}{start}"


OWN_EVOLUTION = EvolutionOptions()


def evolution_options(values: Mapping[str, Any] | None) -> EvolutionOptions:
    """The options that a user wrote as a dict; None: those that Cloister chooses.

    >>> evolution_options({"population": 40, "CR": (0.1, 0.9)}).words()
    'population 40, generations 200, F 0.5, CR 0.1 to 0.9'
    """
    if values is None:
        return OWN_EVOLUTION
    if not isinstance(values, Mapping):
        raise UsageError(
            'evolution must be a dict, such as {"population": 40, "generations": 100, "F": 0.5, "CR": (0.25, 0.95)}.'
        )
    if unknown := [name for name in values if name not in KNOWN]:
        raise unknown_choice("option of evolution", unknown[0], KNOWN)
    options = dict(values)
    if options.get("population") is not None:
        options["population"] = check_whole(options["population"], "population", SMALLEST_POPULATION, LARGEST_POPULATION)
    if "generations" in options:
        options["generations"] = check_whole(options["generations"], "generations", 1, MOST_GENERATIONS)
    if "F" in options:
        options["F"] = read_scale(options["F"])
    if "CR" in options:
        options["CR"] = read_range(options["CR"])
    if "start" in options and options["start"] not in STARTS:
        raise unknown_choice("start of evolution", options["start"], STARTS)
    return EvolutionOptions(**options)


def read_scale(value: Any) -> float:
    """F, above 0."""
    if not is_number(value) or not 0 < value <= LARGEST_SCALE:
        raise UsageError(f"F must be a number above 0, at most {LARGEST_SCALE:g}.")
    return float(value)


def read_range(value: Any) -> tuple[float, float]:
    """The two ends of CR."""
    is_pair = isinstance(value, tuple | list) and len(value) == 2 and all(is_number(end) for end in value)
    if not is_pair or not 0 <= value[0] <= value[1] <= 1:
        raise UsageError("CR must be a pair (low, high) between 0 and 1, such as (0.25, 0.95).")
    return float(value[0]), float(value[1])


def is_number(value: Any) -> bool:
    """Whether a value is a real number, of Python or NumPy."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_genomes(options: EvolutionOptions, clusters: int, columns: int) -> None:
    """Refuse a population that would not fit into memory: one of the user's own, of many clusters and columns."""
    if options.population is not None and options.population * clusters * columns > MOST_NUMBERS:
        raise UsageError(
            f"a population of {options.population} with {clusters:,} centres of {columns} columns each is more than "
            f"{MOST_NUMBERS:,} numbers. Choose a smaller one, or leave it out."
        )
