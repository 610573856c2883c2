"""The tables of local collection as counts of cells: Adult's five attributes, and those of paper 002 cut as its table 2 says.

The paper gives the sizes of the cut columns and not the cuts; those below are ours. A column of two values parts the values of
the original one by their order, and what is named first is code 0.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from bench.panel import DATA, lines
from cloister.clustering.seeding.points_prototypes import WeightedTuples, lloyd_prototypes, seed_prototypes
from cloister.collect import Collection, CollectionEstimate, LocalKModes
from cloister.collect.counting import ReportCounts
from cloister.collect.local_kmodes import heaviest_cells
from cloister.collect.packed_reports import packed_schema, perturbed_rows
from cloister.collect.protocols import RandomizedResponse
from cloister.kernels import Modes

PLAIN_RUNS = 1000
PART = 1_000_000  # reports a file

Codes = NDArray[np.int64]

SOIL_UNITS = [  # USDA ecological land type units of soil types 1 to 40; the first digit is the climatic zone
    2702, 2703, 2704, 2705, 2706, 2717, 3501, 3502, 4201, 4703, 4704, 4744, 4758, 5101, 5151, 6101, 6102, 6731, 7101, 7102,
    7103, 7201, 7202, 7700, 7701, 7702, 7709, 7710, 7745, 7746, 7755, 7756, 7757, 7790, 8703, 8707, 8708, 8771, 8772, 8776,
]  # fmt: skip
FIRST_ZONE = 2  # of 2 to 8: seven zones

CAR_CUTS = (
    "vhigh high | med low",  # buying
    "vhigh high | med low",  # maint
    "2 3 | 4 5more",  # doors
    "2 | 4 more",  # persons
    "small | med big",  # lug_boot
    "low | med high",  # safety
)
NURSERY_CUTS = (
    "usual | pretentious great_pret",  # parents
    "proper less_proper | improper critical very_crit",  # has_nurs
    "complete completed | incomplete foster",  # form
    "1 2 | 3 more",  # children
    "convenient | less_conv critical",  # housing
    "convenient | inconv",  # finance
    "nonprob slightly_prob | problematic",  # social
    "recommended priority | not_recom",  # health
)


@dataclass(frozen=True)
class CellTable:
    """How many people are in each cell: all that a collection of randomized responses can learn of a table."""

    name: str
    counts: Codes  # one axis a question
    clusters: int = 0  # the paper's K

    @property
    def people(self) -> int:
        return int(self.counts.sum())

    @property
    def shares(self) -> NDArray[np.float64]:
        return self.counts / self.people

    @cached_property
    def codes(self) -> Codes:
        """The rows, equal ones together, (questions, n)."""
        cells = np.repeat(np.arange(self.counts.size), self.counts.ravel())
        return np.stack(np.unravel_index(cells, self.counts.shape))

    @cached_property
    def tuples(self) -> WeightedTuples:
        """The true cells with their weights: for runs without noise."""
        return heaviest_cells(self.counts.astype(np.float64))[0]

    def collection(self, epsilon: float | Fraction) -> Collection:
        """The questions, each at this epsilon."""
        domains = {f"q{j}": [f"v{i}" for i in range(size)] for j, size in enumerate(self.counts.shape)}
        return Collection("bench", domains, epsilon=epsilon)

    def reports(self, collection: Collection) -> ReportCounts:
        """What comes in if everybody answers: every answer is perturbed by the client's own code, and counted plainly."""
        protocols = [each for each in collection.answering().values() if isinstance(each, RandomizedResponse)]
        sent = [protocol.perturb_codes(codes) for protocol, codes in zip(protocols, self.codes, strict=True)]
        return counted(collection, np.ravel_multi_index(sent, self.counts.shape), self.counts.shape)

    def one_way_distance(self, alone: Sequence[NDArray[np.float64]]) -> float:
        """The mean total variation of each question alone."""
        return float(np.mean([total_variation(*pair) for pair in zip(alone, margins(self.shares), strict=True)]))

    def nicv(self, centres: NDArray[np.int32]) -> float:
        """The mean Hamming distance of people to the nearest centre (paper 002, eq. 11)."""
        distances = (self.tuples.rows.codes[:, None] != centres).sum(axis=2).min(axis=1)
        return float(distances @ self.tuples.weights) / self.people


def counted(collection: Collection, cells: Codes, shape: tuple[int, ...]) -> ReportCounts:
    """Counts of reports from their cells."""
    joint = np.bincount(cells, minlength=prod(shape)).reshape(shape)
    values = {}
    for axis, name in enumerate(collection.names):
        values[name] = joint.sum(axis=tuple(other for other in range(joint.ndim) if other != axis))
    return ReportCounts(len(cells), {}, values, joint, {})


def estimated(collection: Collection, counts: ReportCounts, method: str) -> CollectionEstimate:
    return CollectionEstimate(collection, counts, method)


def margins(shares: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The shares of each question alone."""
    return [shares.sum(axis=tuple(o for o in range(shares.ndim) if o != axis)) for axis in range(shares.ndim)]


def total_variation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.abs(one - other).sum() / 2)


def product(factors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Independence: the table of the products of shares."""
    table: NDArray[np.float64] = np.ones(())
    for factor in factors:
        table = np.multiply.outer(table, factor)
    return table


def cells_of(columns: Iterable[Sequence[int] | Codes], shape: tuple[int, ...]) -> Codes:
    places = np.ravel_multi_index([np.asarray(column, dtype=np.int64) for column in columns], shape)
    return np.bincount(places, minlength=prod(shape)).astype(np.int64).reshape(shape)


def adult() -> CellTable:
    """Adult, training part: workclass with "?" (9), marital status (7), relationship (6), race (5), sex (2): 3,780 cells."""
    rows = [row for row in lines("adult.data") if len(row) == 15]
    columns = [np.unique([row[j].strip() for row in rows], return_inverse=True) for j in (1, 5, 7, 8, 9)]
    return CellTable("Adult", cells_of([codes for _, codes in columns], tuple(len(values) for values, _ in columns)))


def auto_mpg() -> CellTable:
    """D1, {3 2 3}: cylinders (up to 4, 5 or 6, 8), model year (up to 76, which is the median; later), origin (1, 2, 3)."""
    rows = [line.split() for line in (DATA / "auto-mpg.data").read_text().splitlines() if line.strip()]
    cylinders = np.searchsorted([4, 6], [int(row[1]) for row in rows])
    years = np.array([int(row[6]) for row in rows])
    columns = [cylinders, years > np.median(years), np.array([int(row[7]) for row in rows]) - 1]
    return CellTable("D1 Auto MPG", cells_of(columns, (3, 2, 3)), 3)


def cut_in_two(name: str, cuts: Sequence[str]) -> Codes:
    """Categories parted in two each."""
    rows = lines(name)
    columns = []
    for j, cut in enumerate(cuts):
        code = {value: i for i, values in enumerate(cut.split("|")) for value in values.split()}
        columns.append([code[row[j]] for row in rows])
    return cells_of(columns, (2,) * len(cuts))


def car() -> CellTable:
    """D2, six columns of 2: `CAR_CUTS`."""
    return CellTable("D2 Car", cut_in_two("car.data", CAR_CUTS), 4)


def nursery() -> CellTable:
    """D3, eight columns of 2: `NURSERY_CUTS`."""
    return CellTable("D3 Nursery", cut_in_two("nursery.data", NURSERY_CUTS), 5)


def covertypes() -> tuple[CellTable, CellTable]:
    """D4, {4 7}: wilderness area by climatic zone of the soil type, and by cover type (the paper does not say which)."""
    with gzip.open(DATA / "covtype.data.gz") as file:
        table = csv.read_csv(pa.py_buffer(file.read()), csv.ReadOptions(autogenerate_column_names=True))
    columns = [column.to_numpy() for column in table.columns]
    area = np.argmax(np.stack(columns[10:14]), axis=0)
    zone = np.array([unit // 1000 - FIRST_ZONE for unit in SOIL_UNITS])[np.argmax(np.stack(columns[14:54]), axis=0)]
    by_zone = CellTable("D4 Covertype, zone", cells_of([area, zone], (4, 7)), 7)
    return by_zone, CellTable("D4 Covertype, cover", cells_of([area, columns[54] - 1], (4, 7)), 7)


def best_plain(table: CellTable) -> float:
    """The NICV of the best of 1,000 runs of k-modes without noise: half from people drawn at random, half from seeds."""
    random = np.random.default_rng(0)
    tuples, k = table.tuples, table.clusters
    none, odds = np.zeros((k, 0), np.int32), tuples.weights / tuples.weights.sum()
    best = float("inf")
    for run in range(PLAIN_RUNS):
        if run % 2:
            start = seed_prototypes(tuples, k, 1, random)[1]
        else:
            people = random.choice(len(tuples), k, replace=False, p=odds)
            start = Modes(np.ascontiguousarray(tuples.rows.codes[people]), np.ones(k, np.int64))
        best = min(best, lloyd_prototypes(tuples, none, start).loss / table.people)
    return best


def nicv_runs(table: CellTable, epsilon: str, iterations: Sequence[int], runs: int) -> dict[str, NDArray[np.float64]]:
    """The NICV of each run: all ways cluster the same reports, so that they can be compared run by run."""
    collection = table.collection(Fraction(epsilon))
    found: dict[str, list[float]] = {}
    for seed in range(runs):
        counts = table.reports(collection)
        em, clip = (estimated(collection, counts, method) for method in ("em", "clip"))
        best = LocalKModes(table.clusters, random_state=seed)
        ways = {"a": (em, best), "d": (clip, best)}
        for rounds in iterations:
            model = LocalKModes(table.clusters, init="frequent", max_iter=rounds, random_state=seed)
            ways |= {f"b{rounds}": (em, model), f"c{rounds}": (clip, model)}
        for way, (estimate, model) in ways.items():
            found.setdefault(way, []).append(table.nicv(model.fit(estimate).codes_))
    return {way: np.array(values) for way, values in found.items()}


def write_parts(table: CellTable, folder: Path, reports: int) -> int:
    """Write packed reports of people drawn from a table, at epsilon 1, into a new folder, and say into how many files."""
    collection, random = table.collection(1), np.random.default_rng(0)
    schema = packed_schema(collection)
    folder.mkdir()
    for part, start in enumerate(range(0, reports, PART)):
        drawn = random.choice(table.counts.size, min(PART, reports - start), p=table.shares.ravel())
        codes = np.stack(np.unravel_index(drawn, table.counts.shape), axis=1)
        with pq.ParquetWriter(folder / f"part-{part:05d}.parquet", schema) as writer:
            for batch in perturbed_rows(collection, codes, schema):
                writer.write_batch(batch)
    return -(-reports // PART)
