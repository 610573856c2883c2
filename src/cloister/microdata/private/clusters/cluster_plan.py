"""How private rows by clusters spend their budget: a written rule from public facts and the noisy number of rows.

The number of rows is bought first with a pure epsilon (a fiftieth); under replace-one it is public. Of what is left, with c
columns of which d are numbers:

- ranges: 7.5% in two passes that find where numbers lie, in which a row moves d counts; nothing where there are no numbers, or
  all have so few values that each has a bin of its own;
- marginals: the rest of one half, the counts of every column's values, in which a row moves c counts;
- clusters: one half in three equal rounds, the value counts of every column in every cluster; a row moves c counts again.

There are as many clusters as leave each of them 25 times the noise of one count when rows are spread evenly, at least 4 and at
most 96. A table of one column has none: all is spent on its marginal. Within clusters a number has about 8 bins of equal weight,
and 16 where the budget would carry 96 clusters. Of two columns, which need few clusters for each bin, it has 16 from 8 clusters
on, and 24 from 96.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cloister.errors import UsageError, by_door
from cloister.microdata.private.row_task import RowTask
from cloister.microdata.private.single_columns.column_passes import (
    FIRST_BINS,
    RANGE_PASSES,
    RANGES_SHARE,
    count_noise,
    range_events,
)
from cloister.microdata.private.single_columns.number_places import MarginalPlaces
from cloister.privacy.events import Event
from cloister.privacy.mechanisms import Spend, event_of, explain_noise, part_of, whole_spend
from cloister.privacy.plan import Plan

__all__ = ["ClusterSpending", "check_values", "spending_on"]

CLUSTERS_SHARE, ROUNDS = Fraction(1, 2), 3
CLUSTER_SIGNAL = 25.0  # a cluster of average size, in deviations of the noise of one of its counts
LEAST_CLUSTERS, MOST_CLUSTERS = 4, 96
FEWEST_BINS = 8  # of a number within clusters
PAIR_SIGNAL = 8.0  # clusters from which on two columns have more of them
HOPELESS = 20  # rows are mostly noise where that of a count is more than one in so many of them
MOST_COUNTS = 4_000_000  # noisy counts of a round


@dataclass(frozen=True, slots=True)
class ClusterSpending:
    """What each step may spend, and how many clusters there are."""

    size: Fraction | None  # None: the number of rows is public
    ranges: Spend | None  # of each pass; None: there is none
    marginals: Spend
    round: Spend | None  # of each round of clusters; None: there is none
    clusters: int
    bins: int  # of a number within clusters, about

    def events(self) -> tuple[Event, ...]:
        """Every step's charge, in order."""
        size = (event_of("size", self.size),) if self.size is not None else ()
        rounds = [event_of(f"clusters {i + 1}", self.round) for i in range(ROUNDS)] if self.round is not None else []
        return (*size, *range_events(self.ranges), event_of("marginals", self.marginals), *rounds)

    def as_plan(self, task: RowTask, rows: float) -> Plan:
        """The plan for a table of about so many rows."""
        terms, domain = task.terms, task.domain
        numbers, categories = len(domain.halves), len(domain.sizes)
        noise = count_noise(terms, numbers + categories, self.marginals)
        expect = {"marginals": f"counts of values +-{noise:.3g} rows"}
        choices = {
            "method": "clusters: marginals of every column, then clusters that carry how columns depend on each other"
        }
        choices["noise"] = explain_noise(terms.budget)
        if noise > rows / HOPELESS:
            choices["expect"] = (
                "mostly noise: that of a count is a large part of all rows. Raise epsilon, or name fewer columns"
            )
        if self.round is None:
            choices["clusters"] = "none: there is one column" if numbers + categories == 1 else "none: 1 was asked for"
        else:
            noise = count_noise(terms, numbers + categories, self.round)
            expect |= {f"clusters {i + 1}": f"{self.clusters} clusters, counts +-{noise:.3g} rows" for i in range(ROUNDS)}
            reason = f"as many as leave an average one {CLUSTER_SIGNAL:g} times the noise of a count"
            choices["clusters"] = f"{self.clusters}, " + (
                "as asked for" if task.clusters else reason_within_limits(self, reason)
            )
        if self.ranges is not None:
            choices["numbers"] = "counted in bins that the steps called ranges find: narrow where many rows are"
        facts = {
            "rows": round(rows),
            **({"numbers": numbers} if numbers else {}),
            **({"categories": categories} if categories else {}),
            "clusters": self.clusters,
        }
        return Plan(terms.budget, terms.neighbours, self.events(), expect, facts, choices, terms.protected)


def reason_within_limits(spending: ClusterSpending, reason: str) -> str:
    """Why there are so many clusters."""
    limits = {LEAST_CLUSTERS: "the fewest that are made", MOST_CLUSTERS: "the most that are made"}
    return limits.get(spending.clusters, reason)


def spending_on(task: RowTask, rows: float) -> ClusterSpending:
    """What is spent on a table of about so many rows. Whatever their number is, the total is the same."""
    terms, domain = task.terms, task.domain
    columns = len(domain.halves) + len(domain.sizes)
    left = terms.budget.epsilon - (terms.size_epsilon or 0)
    whole = whole_spend(terms.budget, left)
    wide = any(MarginalPlaces.of(grid).count > FIRST_BINS for grid in domain.encoding.numbers)
    for_ranges = RANGES_SHARE if wide else Fraction(0)
    clustered = columns > 1 and task.clusters != 1
    for_clusters = CLUSTERS_SHARE if clustered else Fraction(0)
    each = part_of(whole, for_clusters / ROUNDS) if clustered else None
    clusters, carried = 1, 0.0
    if each is not None:
        carried = rows / (CLUSTER_SIGNAL * count_noise(terms, columns, each))
        drawn = MOST_COUNTS // values_of(task)
        clusters = task.clusters or int(max(LEAST_CLUSTERS, min(carried, MOST_CLUSTERS, drawn)))
    return ClusterSpending(
        terms.size_epsilon,
        part_of(whole, for_ranges / RANGE_PASSES) if wide else None,
        part_of(whole, 1 - for_ranges - for_clusters),
        each,
        clusters,
        bins_within(columns, carried),
    )


def bins_within(columns: int, carried: float) -> int:
    """About how many bins a number has within clusters, of which the budget carries so many."""
    few, more = (
        (FEWEST_BINS, 2 * FEWEST_BINS) if columns > 2 or carried < PAIR_SIGNAL else (2 * FEWEST_BINS, 3 * FEWEST_BINS)
    )
    return few if carried < MOST_CLUSTERS else more


def values_of(task: RowTask) -> int:
    """About how many values clusters tell apart, in all columns."""
    return sum(task.domain.sizes) + FIRST_BINS * len(task.domain.halves)


def check_values(task: RowTask) -> None:
    """Refuse, before a charge, more counts than are drawn noise for."""
    counts = values_of(task) * (task.clusters or LEAST_CLUSTERS)
    if counts > MOST_COUNTS:
        hint = (
            f"Ask for fewer {by_door('n_clusters', '--clusters')}" if task.clusters else "Group their values in the schema"
        )
        raise UsageError(
            f"{task.clusters or LEAST_CLUSTERS:,} clusters of {values_of(task):,} values of all columns are {counts:,} noisy "
            f"counts, and at most {MOST_COUNTS:,} are drawn. {hint}, or leave out columns with many values."
        )
