"""Where paper 003 contradicts itself in its evolution (equations 9, 12 and 14 against text and pseudo-code), and what follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from cloister.clustering.seeding.evolution import crossover_rate
from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.dedp_kmeans.printed import evolved_start
from cloister.papers.dedp_kmeans.printed_evolution import EvolutionReading, printed_crossover
from cloister.papers.dedp_kmeans.two_sets import best_error, read_set
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredLine, Picture

__all__ = ["MISPRINTS"]

RATE = "crossover rate"
ERROR = "squared error over the best known"
LONGEST = 50  # generations of section 5.3
SHOWN = (1, 2, 5, 10, 20, 26, 35, 50)
NAME = "Wine"
READINGS = {
    "rand/1, printed rate (pseudo-code)": EvolutionReading(),
    "rand/1, smooth rate": EvolutionReading(crossover="smooth"),
    "rand/2 of equation 12, printed rate": EvolutionReading("rand/2 as printed"),
    "rand/2 of five members, smooth rate": EvolutionReading("rand/2", "smooth"),
    "rand/1, printed rate, equation 14": EvolutionReading(selection="equation 14"),
}


def _rates() -> list[ReproducedRow]:
    """Equation 9 beside the curve that figure 5 is described with."""
    rows = []
    for generation in SHOWN:
        setting, source = f"generation {generation} of {LONGEST}", "equation 9"
        rows += [
            ReproducedRow(setting, "printed", RATE, None, "figure 5", note="from 0.25 to 0.95 along an S, without numbers"),
            ReproducedRow(setting, "as printed", RATE, printed_crossover(generation, LONGEST), source, epsilon=math.inf),
            ReproducedRow(setting, "sound", RATE, crossover_rate(generation - 1, LONGEST), source, epsilon=0.0),
        ]
    return rows


def _searched(words: str, seed: int, effort: RunEffort) -> list[ReproducedRow]:
    """How near a reading comes to the best error after as many evaluations as every other."""
    found = read_set(NAME, effort.data)
    reading = READINGS[words].lasting(effort.pick(200, 40))
    start = evolved_start(found.rows, found.clusters, seed, reading, is_raw=True).value
    error = float(start.losses[0]) / best_error(NAME, effort.data, True)
    note = f"{start.evaluations[-1]:,} evaluations"
    return [
        ReproducedRow(f"{NAME}, {words}", "as printed", ERROR, error, "section 5.4", epsilon=math.inf, seed=seed, note=note)
    ]


def _tasks(effort: RunEffort) -> list[ItemTask]:
    return [ItemTask("rates", _rates)] + [
        ItemTask(f"{words}, seed {seed}", partial(_searched, words, seed, effort))
        for words in READINGS
        for seed in range(effort.pick(5, 1))
    ]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    rates = [row for row in rows if row.measure == RATE and row.form == "as printed"]
    above = [row for row in rates if (row.value or 0) > 1]
    largest = max(row.value or 0 for row in rates)
    sentences = [
        f"Equation 9 as printed is above 1 from {above[0].setting} on and reaches {largest:.3g}: every number comes from "
        "the mutant, and there is no crossover. An S between 0.25 and 0.95 is what the text describes."
        if above
        else "Equation 9 as printed stays below 1."
    ]
    errors = {setting: forms["as printed"] for (setting, measure), forms in form_cells(rows).items() if measure == ERROR}
    ranked = sorted((cell.value or 0.0, setting) for setting, cell in errors.items())
    notes = next(iter(errors.values())).notes
    sentences.append(
        f"After {notes[0]} the readings stand at {number_text(ranked[0][0])} ({ranked[0][1]}) to "
        f"{number_text(ranked[-1][0])} ({ranked[-1][1]}) times the best known error."
    )
    literal = errors[f"{NAME}, rand/1, printed rate, equation 14"].value or 0.0
    other = errors[f"{NAME}, rand/1, printed rate (pseudo-code)"].value or 0.0
    sentences.append(
        f'Equation 14, with the "or" that it has, keeps a member unless trial and opposite are both better, and never takes the '
        f"opposite: {number_text(literal)} against {number_text(other)} of the pseudo-code."
    )
    sentences.append(
        "Equation 12 takes the same member as its base and in a difference (four others in all); DE/rand/2, which the "
        "text names, takes five; the pseudo-code is DE/rand/1, of three. All three were run."
    )
    return sentences


def _generation_of(setting: str) -> float | None:
    return float(setting.split()[1]) if setting.startswith("generation ") else None


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    lines = [_logarithms(line) for line in compared_lines(rows, RATE, _generation_of)]
    caption = "At a rate of 1 and above nothing of the current member is kept. The sound form follows the S of the text."
    label = "power of ten of the crossover rate"
    return [
        lines_picture("The crossover rate", lines, caption, x_label="generation", label=label, level=(0.0, "a rate of 1"))
    ]


def _logarithms(line: MeasuredLine) -> MeasuredLine:
    return MeasuredLine(line.name, line.x, tuple(math.log10(value) for value in line.values))


MISPRINTS = Item(
    "evolution-misprints",
    "Misprints of the evolution",
    "Equations 9, 12 and 14 of the paper do not say what its text and its pseudo-code say. Each reading is run with the "
    "same number of evaluations on the exact rows of Wine, without any noise: this is on the search alone.",
    _tasks,
    _finds,
    _draws,
)
