"""Sequential and parallel composition and the schedule: the printed rules beside what Bayes gives."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.di_clustering.printed_formulas import (
    composed_in_parallel,
    composed_in_sequence,
    halved_epsilons,
    noise_scale,
    posteriors,
    printed_epsilon,
    rho_of,
    scheduled_rhos,
    tight_posterior,
)
from cloister.papers.di_clustering.rho_mapping import WORLDS
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import Picture

__all__ = ["PARALLEL", "SCHEDULE", "SEQUENCE", "believed_twice", "three_worlds"]

Array = NDArray[np.float64]
POSTERIOR = "largest posterior of a world"
SIMULATED = "how often the likeliest world is right after the two most telling outputs"
THREE = "three worlds, two releases of rho 0.5"
BY_KEY = "two parts by a public key, rho 0.05 and 0.2 of 100 worlds"
MIXED = "Heart: one row's category, rho 0.05 and 0.7"
MOVED = "sums of two clusters, a row changes its cluster"
LOSS = "epsilon that noisy sums spend, in parts of what is claimed"


def three_worlds() -> Array:
    """A mechanism, (outputs, worlds), that gives every posterior 1/2: each output rules out one world of three."""
    return np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]) / 2


def randomized_response(epsilon: float, worlds: int) -> Array:
    """The true world with odds e^epsilon against each other, (worlds, worlds): attains its rho."""
    likelihoods = np.ones((worlds, worlds)) + (math.exp(epsilon) - 1) * np.eye(worlds)
    return np.asarray(likelihoods / likelihoods.sum(axis=0))


def believed_twice(likelihoods: Array) -> Array:
    """What is believed after two independent outputs of a mechanism, (outputs * outputs, worlds)."""
    both = likelihoods[:, None] * likelihoods[None]  # (outputs, outputs, worlds)
    return posteriors(both.reshape(-1, likelihoods.shape[1]))


def _share_right(likelihoods: Array, runs: int, seed: int) -> float:
    """Run it: worlds at random, two outputs each; among runs with the two most telling outputs, how often they tell the world."""
    random = np.random.default_rng(seed)
    worlds = random.integers(likelihoods.shape[1], size=runs)
    ends = np.cumsum(likelihoods, axis=0)  # (outputs, worlds)
    first, second = ((random.random(runs) > ends[:, worlds]).sum(axis=0) for _ in range(2))
    believed = believed_twice(likelihoods)
    told = first * len(likelihoods) + second
    best = int(believed.max(axis=1).argmax())
    return float((worlds[told == best] == believed[best].argmax()).mean())


def _sequence(effort: RunEffort) -> Sequence[ItemTask]:
    runs = effort.pick(1_000_000, 100_000)
    return [ItemTask("counterexample", lambda: _three_rows(runs)), ItemTask("bounds", _bound_rows)]


def _three_rows(runs: int) -> list[ReproducedRow]:
    each = posteriors(three_worlds()).max()
    printed = composed_in_sequence([float(each)] * 2, 3)
    epsilon = printed_epsilon(0.5, 3)
    sound = randomized_response(epsilon, 3)
    both, source = 2 * epsilon, "proposition 2"
    return [
        ReproducedRow(THREE, "printed", POSTERIOR, printed, source),
        ReproducedRow(THREE, "as printed", POSTERIOR, float(believed_twice(three_worlds()).max()), source, epsilon=math.inf),
        ReproducedRow(THREE, "sound", POSTERIOR, float(believed_twice(sound).max()), source, epsilon=both),
        ReproducedRow(THREE, "printed", SIMULATED, printed, source),
        ReproducedRow(
            THREE, "as printed", SIMULATED, _share_right(three_worlds(), runs, 0), source, epsilon=math.inf, seed=0
        ),
        ReproducedRow(THREE, "sound", SIMULATED, _share_right(sound, runs, 1), source, epsilon=both, seed=1),
    ]


def _bound_rows() -> list[ReproducedRow]:
    """The rules on the paper's numbers, for releases that are calibrated through epsilon."""
    rows = []
    whole = printed_epsilon(0.05, WORLDS)
    settings = {f"{n} release{'s' if n > 1 else ''} of rho 0.05": [whole] * n for n in (1, 2, 3)}
    settings |= {f"{n} rounds that halve the epsilon of rho 0.05": list(halved_epsilons(whole, n)) for n in (2, 3, 5, 7)}
    for setting, epsilons in settings.items():
        printed = composed_in_sequence([rho_of(each, WORLDS) for each in epsilons], WORLDS)
        tight = tight_posterior(epsilons, WORLDS)
        spent = math.fsum(epsilons)
        rows += [
            ReproducedRow(setting, "printed", POSTERIOR, printed, "proposition 2"),
            ReproducedRow(setting, "sound", POSTERIOR, tight, "proposition 2", epsilon=spent),
        ]
    return rows


def _sequence_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    found = {(row.setting, row.measure, row.form): row.value or 0.0 for row in rows}
    claimed, true = found[THREE, POSTERIOR, "printed"], found[THREE, POSTERIOR, "as printed"]
    verdict = "The rule is false" if true > claimed + 1e-9 else "The rule holds here"
    settings = [s for s, m, form in found if m == POSTERIOR and form == "printed" and s != THREE]
    bounds = [(s, found[s, POSTERIOR, "printed"], found[s, POSTERIOR, "sound"]) for s in settings]
    broken = [s for s, printed, tight in bounds if printed < tight - 1e-12]
    empty = [s for s, printed, _ in bounds if printed > 1]
    return [
        f"{verdict}: each of two outputs leaves a belief of at most 1/2 in any of three worlds, the rule says "
        f"{claimed:.3g} for both, and together they give {true:.3g} (found right in "
        f"{found[THREE, SIMULATED, 'as printed']:.1%} of the runs with these outputs).",
        f"Two releases of the same rho through epsilon give {found[THREE, POSTERIOR, 'sound']:.3f}, "
        "as adding epsilons says.",
        "For releases that are calibrated through epsilon the rule "
        + (f"fails at {', '.join(broken)}." if broken else "is never below the true bound on these settings.")
        + (f" It says nothing, being above 1, at {', '.join(empty)}." if empty else ""),
    ]


SEQUENCE = Item(
    "sequential",
    "Several releases of one table",
    "Proposition 2 bounds the belief after n releases by m^(n-1) times the product of their rhos. Beside it: three worlds "
    "where that is exceeded, and the bound that adding epsilons gives.",
    _sequence,
    _sequence_finds,
)


def _parallel(effort: RunEffort) -> Sequence[ItemTask]:
    return [ItemTask("rules", _parallel_rows)]


def _parallel_rows() -> list[ReproducedRow]:
    source = "proposition 3"
    keyed = [printed_epsilon(rho, 100) for rho in (0.05, 0.2)]
    attained = max(float(posteriors(randomized_response(each, 100)).max()) for each in keyed)
    category = printed_epsilon(0.7, 2)
    found = float(posteriors(randomized_response(category, 2)).max())
    rows = [
        ReproducedRow(BY_KEY, "printed", POSTERIOR, composed_in_parallel([0.05, 0.2]), source),
        ReproducedRow(BY_KEY, "as printed", POSTERIOR, attained, source, epsilon=max(keyed)),
        ReproducedRow(BY_KEY, "sound", POSTERIOR, rho_of(max(keyed), 100), source, epsilon=max(keyed)),
        ReproducedRow(MIXED, "printed", POSTERIOR, composed_in_parallel([0.05, 0.7]), "section 7.2"),
        ReproducedRow(MIXED, "as printed", POSTERIOR, found, "section 7.2", epsilon=category),
        ReproducedRow(MIXED, "sound", POSTERIOR, rho_of(category, 2), "section 7.2", epsilon=category),
    ]
    # In one column: two clusters at 0.8 and at 1, and a row that goes from one to the other; noise is 1 / epsilon.
    leaves, enters = 1.0, 0.8
    rows += [
        ReproducedRow(MOVED, "printed", LOSS, 1.0, "section 6.1", claimed=1.0),
        ReproducedRow(MOVED, "as printed", LOSS, leaves + enters, "section 6.1", claimed=1.0, epsilon=2.0),
        ReproducedRow(MOVED, "sound", LOSS, abs(leaves - 0.5) + abs(enters - 0.5), "section 6.1", epsilon=1.0),
    ]
    return rows


def _parallel_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    found = {(row.setting, row.form): row.value or 0.0 for row in rows}
    sentences = []
    for setting, words, why in (
        (BY_KEY, "Parts by a public key", "The unknown row is in one part: the maximum holds."),
        (MIXED, "The category of a row of Heart", "Its numbers are of the same row: for both together epsilons add."),
    ):
        printed, true = found[setting, "printed"], found[setting, "as printed"]
        verdict = "the printed minimum is passed" if true > printed + 1e-9 else "the printed minimum holds"
        sentences.append(f"{words}: {verdict}, {true:.3g} against {printed:.3g}. {why}")
    times, sound = found[MOVED, "as printed"], found[MOVED, "sound"]
    verdict = "more than is claimed" if times > 1 else "no more than is claimed"
    return [
        *sentences,
        f"Clusters are no parts by a public key: a replaced row leaves one and enters another, and sums that count from 0 then "
        f"spend {times:.2g} times the epsilon, {verdict}; sums of centred columns with the same noise spend {sound:.2g} times.",
    ]


PARALLEL = Item(
    "parallel",
    "Releases of disjoint parts",
    "Proposition 3 gives releases of disjoint parts of a table the smallest of their rhos, and the paper applies it to clusters, "
    "and to numbers and categories of the same rows. The belief that is reached is computed by Bayes for mechanisms that attain "
    "their rho.",
    _parallel,
    _parallel_finds,
)

RHO_I = "rho of the round"
SCALE_I = "noise that the round's rho asks for, one column"
TEXT, MINIMUM = "rho 0.05, text of section 6.2", "rho 0.05, minimum of section 7.2"
CATEGORIES = "categories, rho 0.7 of 2 worlds, text of section 6.2"
SHOWN_ROUNDS = 3


def _schedule(effort: RunEffort) -> Sequence[ItemTask]:
    return [ItemTask("rhos", _schedule_rows)]


def _schedule_rows() -> list[ReproducedRow]:
    rows = []
    for words, rho, worlds, minimum_from, source in (
        (TEXT, 0.05, WORLDS, 2, "section 6.2"),
        (MINIMUM, 0.05, WORLDS, 1, "section 7.2"),
        (CATEGORIES, 0.7, 2, 2, "section 7.2"),
    ):
        sound = halved_epsilons(printed_epsilon(rho, worlds), SHOWN_ROUNDS)
        for i, each in enumerate(scheduled_rhos(rho, worlds, SHOWN_ROUNDS, minimum_from), 1):
            setting = f"{words}, round {i}"
            scale = noise_scale(1, each, worlds)
            rows.append(ReproducedRow(setting, "printed", RHO_I, each, source))
            rows.append(ReproducedRow(setting, "sound", RHO_I, rho_of(sound[i - 1], worlds), source, epsilon=sound[i - 1]))
            is_number = math.isfinite(scale) and abs(scale) < 1e9
            note = "" if is_number else "not a number" if math.isnan(scale) else "infinite"
            rows.append(ReproducedRow(setting, "printed", SCALE_I, scale if is_number else None, "theorem 1", note=note))
            rows.append(ReproducedRow(setting, "sound", SCALE_I, 1 / sound[i - 1], "theorem 1", epsilon=sound[i - 1]))
    return rows


def _schedule_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    printed = {(row.setting, row.measure): row for row in rows if row.form == "printed"}

    def rho(words: str, i: int) -> float:
        return printed[f"{words}, round {i}", RHO_I].value or 0.0

    above = [i for i in range(1, SHOWN_ROUNDS + 1) if rho(TEXT, i) > 1]
    blind = [i for i in range(1, SHOWN_ROUNDS + 1) if rho(MINIMUM, i) <= 1 / WORLDS * (1 + 1e-9)]
    below = [i for i in range(1, SHOWN_ROUNDS + 1) if rho(CATEGORIES, i) < 0.5]
    return [
        f"As section 6.2 has it, rho_1 = {rho(TEXT, 1):.3f}"
        + (
            ", above 1: no probability, and the formula of the noise is the logarithm of a negative number."
            if above
            else "."
        ),
        "As section 7.2 has it, "
        + (
            f"round 1 takes all, and rounds {', '.join(map(str, blind))} have 1/m: their noise is infinite."
            if blind
            else "every round has something left."
        ),
        (
            f"Of the categories, rounds {', '.join(map(str, below))} have less than a blind guess, 1/2: the weight of a count "
            "is negative, and the rarest value is the likeliest."
            if below
            else "Of the categories, every round has more than a blind guess."
        ),
        "What can be run is epsilon / 2^i in round i, from which rho_i follows. The forms as printed on this page are run so; "
        "the sound form also gives its last round what is left.",
    ]


def _schedule_draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    def place(setting: str) -> float | None:
        return None if setting.startswith("cat") else float(setting.rpartition(" ")[2])

    def line(setting: str) -> str:
        return "" if setting.startswith(TEXT) else "minimum in every round"

    kept = [row for row in rows if row.setting.startswith(TEXT) or row.form == "printed"]
    lines = compared_lines(kept, RHO_I, place, line)
    caption = "The rho of each round in the paper's setting: 0.05 of 10,001 worlds in total. Above 1 it is no probability."
    look = {"x_label": "round", "label": "rho", "is_log": True, "level": (1.0, "certainty")}
    return [lines_picture("The printed schedule", lines, caption, **look)]


SCHEDULE = Item(
    "schedule",
    "How rounds share rho",
    "The paper sets rho_1 to half of an epsilon, and later rounds to the smaller of epsilon / 2^i and what its composition rule "
    "leaves. What does that give in its own setting?",
    _schedule,
    _schedule_finds,
    _schedule_draws,
)
