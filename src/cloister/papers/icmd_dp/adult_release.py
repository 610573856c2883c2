"""The paper's experiment on Adult, one release at a time: what is published, and how far it is from the table.

Released by the sound methods are rows in an order of their own, none of which is anybody's. The paper's two measures pair each
record with what is published in its place, so they are taken of printed forms alone; beside them stand two that need no pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.datasets import load
from cloister.microdata.private.private_microdata import PrivateMicrodata
from cloister.papers.icmd_dp.nearest_rows import link_both_ways, link_own_rows, nearest_rows
from cloister.papers.icmd_dp.printed import AS_CLAIMED, AS_IN_FIGURE_3, icmd, icmd_dp, noise_on_each_record, publish_cmd
from cloister.papers.icmd_dp.unit_rows import UnitRows, read_unit_rows
from cloister.schema import Category, Schema
from cloister.testing import seeded_noise
from cloister.vault import Unprotected

__all__ = [
    "AdultRelease",
    "AdultTable",
    "Method",
    "ReleaseFigures",
    "adult_rows",
    "measure_release",
    "run_release",
    "time_release",
]

Method = Literal[
    "cmd", "icmd", "icmd-dp", "icmd-dp, one group", "each record", "each record, shared", "insensitive", "clusters"
]
SOUND: tuple[Method, ...] = ("insensitive", "clusters")


@dataclass(frozen=True, slots=True, eq=False)
class AdultTable:
    """Complete rows of Adult, 6 numbers and 8 categories: those that are published, and others, which are not."""

    table: pa.Table
    schema: Schema
    held: Unprotected[UnitRows]
    others: UnitRows


@cache
def adult_rows(rows: int, folder: Path | None) -> AdultTable:
    """So many complete rows of Adult in a fixed random order, and as many others as there are, at most the same number."""
    dataset = load("adult", folder=folder)
    complete = np.ones(dataset.table.num_rows, dtype=bool)
    for column in dataset.schema.columns:
        if isinstance(column.kind, Category):
            complete &= pc.is_in(dataset.table[column.name], pa.array(column.kind.domain)).to_numpy()
    order = np.random.default_rng(0).permutation(np.flatnonzero(complete))
    table, others = (dataset.table.take(order[some]) for some in (slice(rows), slice(rows, 2 * rows)))
    held = read_unit_rows(table, dataset.schema)
    return AdultTable(table, dataset.schema, held, read_unit_rows(others, dataset.schema).value)


@dataclass(frozen=True, slots=True)
class AdultRelease:
    """What is run: a method on so many rows, with an epsilon as it is typed, a k and a seed where it takes them."""

    method: Method
    rows: int
    epsilon: str = ""
    k: int = 0
    seed: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether it is this project's own, and its epsilon proved."""
        return self.method in SOUND


@dataclass(frozen=True, slots=True)
class ReleaseFigures:
    """What was measured of a release.

    Attributes
    ----------
    own_error
        SSE a row, record by record (section 3.2.1), numbers as they are published; None: no row is anybody's.
    own_linkage
        RL in percent (section 3.2.2): records to whose published row they are the nearest, divided by how many are as near.
    nearest_error
        SSE a row, to the nearest published row, numbers clipped into their bounds.
    excess_linkage
        In percent, how many more rows of the table than rows that were not in it are linked with their nearest published row
        and from there back.
    excess_error
        Its standard error, since some of the rows are looked at.
    """

    own_error: float | None
    own_linkage: float | None
    nearest_error: float
    excess_linkage: float
    excess_error: float


def run_release(what: AdultRelease, adult: AdultTable) -> UnitRows:
    """The rows that a method publishes."""
    held, epsilon = adult.held, float(what.epsilon or 0)
    match what.method:
        case "cmd":
            return publish_cmd(adult.table, adult.schema, what.k).value
        case "icmd":
            return icmd(held, what.k).value
        case "icmd-dp":
            return icmd_dp(held, what.k, epsilon, what.seed, AS_IN_FIGURE_3).value
        case "icmd-dp, one group":
            return icmd_dp(held, what.k, epsilon, what.seed, AS_CLAIMED).value
        case "each record" | "each record, shared":
            return noise_on_each_record(held, epsilon, what.seed, what.method != "each record").value
    k = what.k if what.method == "insensitive" else None
    model = PrivateMicrodata(
        what.epsilon, what.method, k=k, schema=adult.schema, neighbours="replace-one", random_state=what.seed
    )
    with seeded_noise(what.seed):
        return read_unit_rows(model.sample(adult.table).table, adult.schema).value


@lru_cache(maxsize=1024)  # two items show the same runs
def measure_release(what: AdultRelease, folder: Path | None, drawn: int) -> ReleaseFigures:
    """Run a release, and measure it by so many rows of the table: the first ones, which are in a random order."""
    adult = adult_rows(what.rows, folder)
    original, published = adult.held.value, run_release(what, adult)
    some, number = np.arange(min(drawn, what.rows, len(adult.others))), min(what.rows, len(adult.others))
    inside, others = published.inside_bounds(), adult.others
    among = original.taken(np.arange(number))  # as many as there are others: of fewer rows more are linked
    near, near_others = nearest_rows(among.taken(some), inside), nearest_rows(others.taken(some), inside)
    linked, linked_others = link_both_ways(near, among, inside), link_both_ways(near_others, others, inside)
    own_error = own_linkage = None
    if not what.is_sound:
        own_error = float(original.squared_errors(published).mean())
        own_linkage = 100 * link_own_rows(published, original, some)
    excess = 100 * float(linked.mean() - linked_others.mean())
    error = 100 * float(np.sqrt((linked.var() + linked_others.var()) / len(some)))
    return ReleaseFigures(own_error, own_linkage, float(near.squares.mean()), excess, error)


def time_release(what: AdultRelease, folder: Path | None) -> float:
    """Seconds of the faster of two runs: the first one may load and compile."""
    adult = adult_rows(what.rows, folder)
    seconds = []
    for _ in range(2):
        start = perf_counter()
        run_release(what, adult)
        seconds.append(perf_counter() - start)
    return min(seconds)
