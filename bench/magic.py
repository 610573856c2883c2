"""DI k-means on MAGIC: NICV over rho 0.001 to 0.3, 10,001 worlds, and the noise of its rounds beside the printed formula."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bench.measure import keep, show
from bench.panel import loss, magic, plain_loss

RHOS = ("0.001", "0.003", "0.01", "0.03", "0.1", "0.3")
WORLDS = 10_001
CLUSTERS = 8
RUNS = 10
FORMS: dict[str, dict[str, Any]] = {
    "equal": {},
    "halving": {"schedule": "halving"},
    "dwork-equal": {"schedule": "dwork-equal"},
    "dwork-halving": {"schedule": "dwork-halving"},
    "blum": {"schedule": "blum"},
    "halving, canopy": {"schedule": "halving", "seeding": "canopy"},
    "equal, canopy": {"seeding": "canopy"},
    "equal, evolution": {"seeding": "evolution"},
    "halving, canopy, 7 rounds": {"schedule": "halving", "seeding": "canopy", "max_iter": 7},
    "the same, stop 0.2": {"schedule": "halving", "seeding": "canopy", "max_iter": 7, "tolerance": 0.2},
}
DRAWS = 100_000
SURE = 5.3  # standard errors of the mean: a round passes them by chance once in ten million


def quality() -> list[dict[str, Any]]:
    """The mean squared distance to the nearest centre, columns scaled to [0, 1] (NICV), median of ten fits."""
    import cloister as cl

    X = magic()
    plain = plain_loss(X, CLUSTERS)
    rows = []
    for rho in RHOS:
        budget = cl.Identifiability(rho=rho, worlds=WORLDS)
        row: dict[str, Any] = {"rho": rho, "epsilon": float(budget.epsilon), "non-private": plain}
        for form, options in FORMS.items():
            models = [cl.KMeans(CLUSTERS, budget, (0, 1), "lloyd", random_state=run, **options) for run in range(RUNS)]
            row[form] = float(np.median([loss(X, model.fit(X).cluster_centers_) for model in models]))
        votes = [cl.KMeans(CLUSTERS, budget, (0, 1), random_state=run).fit(X).cluster_centers_ for run in range(RUNS)]
        row["votes"] = float(np.median([loss(X, centers) for centers in votes]))
        rows.append(row)
    return rows


def noise() -> list[dict[str, Any]]:
    """What each round adds to a sum, beside lambda = Delta f / epsilon_i: its sums' part of epsilon = ln((m-1) rho / (1-rho)).

    Delta f = d column widths: a row that is replaced moves each of d sums by a width at most. The rounds have 98% of epsilon: the
    loss of the last centres has the rest.
    """
    import cloister as cl
    from cloister.clustering.domain import from_bounds
    from cloister.clustering.lloyd import count_and_sum_weights, rounds_of
    from cloister.clustering.lloyd_start import find_start
    from cloister.clustering.loss_step import LOSS_SHARE
    from cloister.clustering.schedules import SCHEDULES, parts_of
    from cloister.clustering.task import Task
    from cloister.clustering.terms import Terms
    from cloister.kernels import Summary
    from cloister.privacy.mechanisms import add_noise
    from cloister.schema import Neighbours

    names = tuple(f"x{j}" for j in range(10))
    domain = from_bounds(names, (0, 1), "bounds")
    zeros = Summary({"counts": np.zeros(1, dtype=np.int64), "sums": np.zeros(DRAWS, dtype=np.int64)})
    rows = []
    for schedule in SCHEDULES:
        weights = {name: Fraction(part) for name, part in count_and_sum_weights(10, "L1", SCHEDULES[schedule].split).items()}
        share = float(weights["sums"] / sum(weights.values()))
        for rho in RHOS:
            epsilon = float(1 - LOSS_SHARE) * float(np.log((WORLDS - 1) * float(rho) / (1 - float(rho))))
            terms = Terms(cl.Identifiability(rho=rho, worlds=WORLDS), Neighbours.REPLACE_ONE)
            task = Task(names, domain, terms, CLUSTERS, schedule=schedule)
            ratios = []
            for step, part in zip(rounds_of(task, find_start(task).rest(), 5), parts_of(schedule, 5), strict=True):
                drawn = np.abs(add_noise(step.mechanism, zeros)["sums"]).mean() / (2 * float(domain.halves[0]))
                ratios.append(float(drawn) / (len(names) / (epsilon * float(part) * share)))
            worst = float(max(abs(ratio - 1) for ratio in ratios)) * DRAWS**0.5
            rows.append({"schedule": schedule, "rho": rho, "first round / formula": ratios[0],
                         "last round / formula": ratios[-1], "worst, standard errors": worst, "bar": SURE,
                         "met": worst < SURE})  # fmt: skip
    return rows


def main() -> None:
    for name, measure in {"noise": noise, "NICV": quality}.items():
        rows = measure()
        show(f"MAGIC, k {CLUSTERS}: {name}", rows)
        keep(f"magic-{name}", rows)


if __name__ == "__main__":
    main()
