"""Private Lloyd for k-prototypes and k-modes: DI k-prototypes and DP-modes-Lloyd, with the noise that their sensitivity needs.

Privacy
-------
Released: the noisy number of rows (add-remove only), the noisy marginals of every column (`kernels.Marginals`), then in each
round the noisy counts, sums and value counts around each prototype, as one release (`kernels.PrototypeSums`, without clipping
beyond the bounds), at last the noisy capped loss (`loss_step`). Neighbours: both relations. Budget: a fiftieth for the number
of rows; of the rest a tenth for the marginals, which the start is drawn from, a fiftieth for the loss, and what is left for
the rounds, shared as the schedule says; every number of rounds costs the same in total. Post-processing: the start, gamma
where it is not given, the prototypes; a prototype that the noise left without rows keeps its numbers.

As printed, paper 000 (T. Shang et al.) divides noisy sums by exact counts, starts from the rows themselves, and reckons numbers
and categories as if they were of different people; DP-modes-Lloyd as in paper 002 adds Laplace noise of scale e^(-epsilon / (m
+ T)), which is never above 1, where c columns need a scale of c over the round's epsilon.

References
----------
T. Shang et al., "Differential identifiability clustering algorithms for big data analysis", 2021, section 7.
H. H. Nguyen et al., "Privacy-preserving mechanisms for k-modes clustering", Computers & Security 2018.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from cloister.clustering.chance import PublicChance
from cloister.clustering.fitted import Fitted
from cloister.clustering.loss_step import LOSS_SHARE, check_loss, expected_error, measure_loss
from cloister.clustering.progress import Progress
from cloister.clustering.prototypes.plan import (
    MOST_ROUNDS,
    check_carried,
    check_marginals,
    check_values,
    domain_of,
    expected_of_round,
    facts_of,
    largest_gamma,
    model_of,
    number_of_rounds,
)
from cloister.clustering.prototypes.refining import check_round, refine, round_kernel, round_weights, start_of
from cloister.clustering.prototypes.votes import PrototypeSteps
from cloister.clustering.schedules import check_parts, find_schedule, parts_of
from cloister.clustering.task import Task
from cloister.clustering.terms import buy_size
from cloister.clustering.votes.plan import FEWEST_ROWS
from cloister.errors import UsageError
from cloister.privacy.mechanisms import Spend, calibrate, event_of, explain_noise, norm_of, part_of
from cloister.privacy.plan import Branch, Plan, PlannedStep
from cloister.vault import Vault

__all__ = ["PrototypeLloyd"]

MARGINALS_SHARE = Fraction(1, 10)
WEIGHTS = {"marginals": MARGINALS_SHARE, "rounds": 1 - MARGINALS_SHARE - LOSS_SHARE, "loss": LOSS_SHARE}


class PrototypeLloyd:
    """Rounds of noisy Lloyd from a start that is drawn from released marginals."""

    name = "lloyd"
    seedings = ()
    has_schedule = True
    cluster_rule = "none: it is refused"  # `check`: a number must be given

    def __init__(self, name: str = "lloyd") -> None:
        pass

    def check(self, task: Task) -> None:
        """The number of clusters is fixed; noise that cannot be drawn and distances that would not be exact are refused."""
        if task.clusters is None:
            raise UsageError('method "lloyd" needs a number of clusters. Give one, or use method "votes".')
        spends, gamma = spends_of(task), max(task.gammas, default=largest_gamma(domain_of(task)))
        check_values(task)
        task.terms.size_step(spends.get("size"))
        check_marginals(task, spends["marginals"])
        rounds = task.rounds or MOST_ROUNDS
        check_parts(task.schedule, rounds)
        least = part_of(spends["rounds"], min(parts_of(task.schedule or "equal", rounds)))
        check_round(domain_of(task), task.terms, least, gamma, is_clipped=False)
        check_loss(domain_of(task), task.terms, spends["loss"])
        expected_of_round(task, least)  # its noise is reckoned for another radius, and must exist too

    def plan(self, task: Task, rows: float) -> Plan:
        """The plan for a table of about so many rows; no row is read."""
        check_carried(task, spends_of(task)["rounds"], max(rows, FEWEST_ROWS))
        return self._frozen(task, max(rows, FEWEST_ROWS))

    def _frozen(self, task: Task, rows: float) -> Plan:
        """The number of rows decides how many rounds there are, and nothing else."""
        spends, terms, schedule = spends_of(task), task.terms, task.schedule or "equal"
        rounds = number_of_rounds(task, spends["rounds"], rows, clusters_of(task))
        size = [event_of("size", spends["size"])] if "size" in spends else []
        branch = Branch("round", spends["rounds"], rounds, find_schedule(schedule).parts)
        steps: tuple[PlannedStep, ...] = (
            *size,
            event_of("marginals", spends["marginals"]),
            branch,
            event_of("loss", spends["loss"]),
        )
        choices = {"model": model_of(domain_of(task)), "method": f"rounds of Lloyd, schedule {schedule}"}
        choices["noise"] = explain_noise(terms.budget)
        expect = {
            f"round {i + 1}": expected_of_round(task, part_of(spends["rounds"], part))
            for i, part in enumerate(parts_of(schedule, rounds))
        }
        expect["loss"] = expected_error(terms, spends["loss"], rows)
        facts = facts_of(task, domain_of(task), rows)
        return Plan(terms.budget, terms.neighbours, steps, expect, facts, choices, terms.protected)

    def fit(self, vault: Vault, task: Task, random: PublicChance, progress: Progress) -> Fitted:
        """Run private Lloyd inside an open vault."""
        domain, spends, clusters = domain_of(task), spends_of(task), clusters_of(task)
        frozen = self._frozen(task, FEWEST_ROWS)
        vault.follow(frozen)
        rows = max(buy_size(vault, task.terms.size_step(spends.get("size")), progress), FEWEST_ROWS)
        check_carried(task, spends["rounds"], rows)
        search = PrototypeSteps(domain, rows, random, progress)
        cloud = search.marginals(vault, spends["marginals"], rows, clusters, task.gamma)
        rounds = number_of_rounds(task, spends["rounds"], rows, clusters)
        vault.choose("round", rounds)
        found = start_of(cloud.prototypes(clusters, task.gammas, random), rows)
        for i, part in enumerate(parts_of(task.schedule or "equal", rounds)):
            step, spend = f"round {i + 1}", part_of(spends["rounds"], part)
            progress(step)
            kernel = round_kernel(found.centers, found.modes, None, domain)
            mechanism = calibrate(vault.sensitivity(kernel), spend, round_weights(domain, norm_of(spend)))
            found = refine(kernel, vault.measure(kernel, mechanism, step), domain)
        loss = measure_loss(vault, search.measured(found), spends["loss"], progress)
        choices = dict(frozen.choices)
        sizes = np.maximum(found.counts, 0.0)
        return Fitted(domain, found.centers, sizes, found.errors, rounds, rows, loss, choices, found.modes)


def spends_of(task: Task) -> dict[str, Spend]:
    """What the number of rows (where it is bought), the marginals and all rounds together may cost."""
    return task.terms.shares(WEIGHTS)


def clusters_of(task: Task) -> int:
    """The number of clusters, which `check` has made sure is there."""
    assert task.clusters is not None
    return task.clusters
