"""Private rows by clusters: the default.

Privacy
-------
Released, each as `kernels.ClassCounts` with noise on every count, of empty bins and clusters too (2 and 3 are `ColumnPasses`):

1. the number of rows (add-remove only; under replace-one it is public);
2. in two passes how many rows lie in each bin of every number column, the bins of the second following from the first;
3. the marginals: how many rows lie in each bin of every number column and hold each value of every category column;
4. in three rounds how many rows of each cluster lie in each of a few bins of every number and hold each value of every category.
   A row's cluster is the one in which the scores of its own values add up to most. The scores of a round follow from what was
   released before it, never from rows, so that the clusters are public by then and a row is in exactly one.

Neighbours: both relations, per row or per person. Sensitivity: a row adds 1 to one count of each column that is counted, in one
cluster, so counts of c columns move by c in L1 and in squared L2 when a row is added or removed, and by twice that when one is
replaced, however many clusters and values there are. Noise does not grow with their number. Budget: `cluster_plan`, a rule from
public facts and the number of rows that was bought; the plan is frozen then. Post-processing: where bins are cut, counts that are
not negative and add up, clusters and their scores, made-up rows, weights; the random numbers in it are public.

A cluster is written as often as its released size says. Its spread is that of its own value counts: a number is drawn from a bin
of its cluster, and inside the bin as the marginal of the table says. So variances and marginals survive; how columns depend on
each other survives as far as clusters tell it.

References
----------
P. F. Lazarsfeld and N. W. Henry, "Latent structure analysis", 1968. G. Celeux and G. Govaert, "A classification EM algorithm for
clustering and two stochastic versions", Computational Statistics & Data Analysis 1992.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cloister.clustering.chance import PublicChance
from cloister.clustering.terms import buy_size
from cloister.encode import Encoding
from cloister.errors import UsageError
from cloister.kernels import ClassCounts, ValueBins
from cloister.microdata.private.clusters.cluster_plan import ROUNDS, ClusterSpending, check_values, spending_on
from cloister.microdata.private.clusters.row_cloud import ReleasedClusters, RowCloud, independent_rows, rows_of_clusters
from cloister.microdata.private.row_task import MOST_ROWS, MadeRows, Progress, RowTask, check_size
from cloister.microdata.private.single_columns.column_marginals import Array, ColumnMarginals
from cloister.microdata.private.single_columns.column_passes import ColumnPasses, count_noise, measure_counts
from cloister.microdata.private.single_columns.number_places import MarginalPlaces
from cloister.privacy.mechanisms import Spend
from cloister.privacy.plan import Plan
from cloister.vault import Vault

__all__ = ["ClusterRows"]

CLOUD_ROWS = 60_000  # made-up rows between rounds at most
LEAST_LAST, MOST_LAST = (
    200_000,
    2_000_000,
)  # made-up rows after the last round: twice as many as the table has up to the first


class ClusterRows:
    """Rows of a mixture of clusters, with the table's marginals."""

    name = "clusters"
    counts_first = False

    def check(self, task: RowTask) -> None:
        """Columns of which nothing is to be released, and noise that cannot be drawn, are refused."""
        if not len(task.domain.halves) + len(task.domain.sizes):
            raise UsageError("every column has a single value, which is public: there is nothing to release.")
        check_values(task)
        spending = spending_on(task, 1.0)
        check_size(task.terms)
        for spend in (spending.ranges, spending.marginals, spending.round):
            if spend is not None:
                count_noise(task.terms, len(task.domain.halves) + len(task.domain.sizes), spend)

    def encoding(self, task: RowTask) -> Encoding:
        """Numbers on a grid of their bounds, categories as codes."""
        return task.domain.encoding

    def plan(self, task: RowTask, rows: float) -> Plan:
        """The plan for a table of about so many rows; no row is read."""
        return spending_on(task, max(rows, 1.0)).as_plan(task, rows)

    def make(self, vault: Vault, task: RowTask, random: PublicChance, progress: Progress) -> MadeRows:
        """Marginals, then rounds of clusters, then rows."""
        rows = buy_size(vault, task.terms.size_step(task.terms.size_epsilon), progress)
        spending = spending_on(task, rows)
        plan = spending.as_plan(task, rows)
        vault.follow(plan)
        steps = ClusterSteps(vault, task, spending, rows, random, progress)
        marginals = steps.marginals()
        cloud, sizes = steps.clustered(marginals)
        names = task.domain.encoding.numbers
        values = {grid.name: marginals.values(j, cloud.codes[j], random) for j, grid in enumerate(names)}
        categories = zip(task.domain.categories, cloud.codes[len(names) :], strict=True)
        choices = dict(plan.choices)
        if len(cloud) < round(rows):
            choices["rows"] = f"{MOST_ROWS:,} are written, the most that are"
        return MadeRows(
            {**values, **{column.name: codes for column, codes in categories}},
            rows,
            choices,
            {"clusters": len(sizes), "cluster_sizes": [round(size) for size in sizes.tolist()]},
        )


@dataclass(frozen=True, slots=True)
class ClusterSteps:
    """The steps of one release."""

    vault: Vault
    task: RowTask
    spending: ClusterSpending
    rows: float
    random: PublicChance
    progress: Progress

    def measured(self, kernel: ClassCounts, spend: Spend, step: str) -> tuple[Array, float]:
        """Noisy counts, (classes, bins), and the deviation of their noise."""
        self.progress(step)
        return measure_counts(self.vault, kernel, spend, step)

    def marginals(self) -> ColumnMarginals:
        """Every column by itself: the ranges of numbers first, then all columns at once."""
        passes = ColumnPasses(self.task.terms, self.spending.ranges, self.spending.marginals, "marginals")
        domain = self.task.domain
        places = [MarginalPlaces.of(grid) for grid in domain.encoding.numbers]
        counted = passes.run(self.vault, places, ValueBins((), domain.sizes), self.rows, self.progress)
        return ColumnMarginals.of(counted.numbers, counted.fixed, self.rows, self.spending.bins)

    def clustered(self, marginals: ColumnMarginals) -> tuple[RowCloud, Array]:
        """Made-up rows after the last round, as many as the table has, and the released sizes of its clusters."""
        bins, table = marginals.bins, np.concatenate(marginals.coarse_shares())
        wanted = int(min(MOST_ROWS, max(1, round(self.rows))))
        between = min(2 * wanted, CLOUD_ROWS)
        last = min(max(wanted, min(2 * wanted, LEAST_LAST)), MOST_LAST)
        if self.spending.round is None:
            return independent_rows(table, bins, wanted, self.random), np.array([self.rows])
        cloud = independent_rows(table, bins, between, self.random)
        rounds: list[ReleasedClusters] = []
        sizes = np.zeros(0)
        for i in range(ROUNDS):
            scores = cloud.find_clusters(self.spending.clusters, table, self.random)
            released = ReleasedClusters(
                scores, *self.measured(ClassCounts(bins, scores), self.spending.round, f"clusters {i + 1}")
            )
            rounds.append(released)
            sizes = released.sizes(bins, self.rows)
            size, kept = (between, between) if i + 1 < ROUNDS else (last, wanted)
            drawn = rows_of_clusters(sizes, released.shares(sizes, table, bins), bins, size, self.random)
            cloud = drawn.resampled(drawn.agreeing(rounds, table, self.rows), kept, self.random)
        return cloud, sizes
