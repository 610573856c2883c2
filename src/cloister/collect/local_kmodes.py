"""k-modes of a distribution that was estimated from reports (paper 002, algorithms 3 and 4). Free: no report is looked at.

What differs from the paper: its synthetic rows are cells with weights, so that nothing is rounded up and no row is written down;
the remainder of algorithm 3 is taken off digit by digit; in algorithm 4 f is ceil(K**(1/m)), and initial centres are drawn while
there are fewer than K. `init="best"`, the default, clusters the same cells from many starts: searching them costs no privacy.
"""

from __future__ import annotations

from math import ceil
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance, public_chance
from cloister.clustering.seeding.points_prototypes import (
    Prototypes,
    WeightedTuples,
    best_prototypes,
    lloyd_prototypes,
)
from cloister.collect.certified_tables import ENDINGS, collection_of, read_certified, save_certified
from cloister.collect.estimate_pictures import mode_pictures
from cloister.collect.estimated_table import EstimatedTable
from cloister.encode import Encoded
from cloister.errors import UsageError, VerificationFailed
from cloister.kernels import Modes
from cloister.parameters import check_path, check_whole, unknown_choice
from cloister.privacy.certified_files import existing_file, faults_told, read_beside
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, TextTable
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted

__all__ = ["LocalKModes"]

KIND = "local k-modes"
WANTED = "Give centres that cloister collect cluster or LocalKModes.save wrote"
MOST_CLUSTERS = 4096
RESTARTS = 20
INITS = ("best", "frequent")
MOST_TUPLES = 2**18  # of cells that are clustered: the heaviest ones; the others hold what is left, which is said
MOST_DRAWS = 1000  # of a centre that is not there yet


class HasJoint(Protocol):
    """What is clustered: an estimate of a joint distribution, with its certificate."""

    def joint(self) -> EstimatedTable: ...

    @property
    def release_(self) -> Release: ...


class LocalKModes(Plotted):
    """k-modes of an estimated joint distribution.

    Parameters
    ----------
    n_clusters : int
    init : "best" or "frequent"
        "best": k-modes++ from 20 starts, the best kept. "frequent": as paper 002 prints it, centres made of frequent values.
    max_iter : int
        Rounds of k-modes at most; the paper's T.
    random_state : int or numpy Generator, optional
        For the starts.

    Attributes
    ----------
    modes_ : list of dicts, the value of each question in each centre
    sizes_ : array, how many people are nearest to each, by estimate
    cost_ : float, how many answers of a person differ from the nearest centre, on average
    release_ : Release
    """

    def __init__(self, n_clusters: int = 8, *, init: str = "best", max_iter: int = 100, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, estimate: HasJoint) -> LocalKModes:
        """Cluster what was estimated."""
        clusters = check_whole(self.n_clusters, "n_clusters", 1, MOST_CLUSTERS)
        rounds = check_whole(self.max_iter, "max_iter", 0, 10**6)
        if self.init not in INITS:
            raise unknown_choice("init", self.init, INITS)
        random = public_chance(self.random_state)
        if not hasattr(estimate, "joint"):
            raise UsageError("fit takes what cloister.collect.estimate gives, and no rows or reports.")
        table = estimate.joint()
        tuples, left_out = heaviest_cells(table.counts)
        if len(tuples) == 0:
            raise UsageError("there is nothing to cluster: no report was counted.")
        if self.init == "best":
            found = best_prototypes(tuples, clusters, 1, random, restarts=RESTARTS, iterations=rounds)
        else:
            modes = frequent_centers(table.counts, clusters, random)
            found = lloyd_prototypes(tuples, np.zeros((clusters, 0), np.int32), modes, rounds)
        self._keep(estimate, table.names, table.values, found, left_out)
        return self

    def _keep(
        self,
        estimate: HasJoint,
        names: tuple[str, ...],
        values: tuple[tuple[str, ...], ...],
        found: Prototypes,
        left_out: float,
    ) -> None:
        order = np.argsort(-found.sizes, kind="stable")
        codes = found.modes.codes[order]
        self.modes_ = [
            {name: values[j][code] for j, (name, code) in enumerate(zip(names, row, strict=True))} for row in codes.tolist()
        ]
        self.codes_ = codes
        self.sizes_ = found.sizes[order]
        self.cost_ = found.loss / max(1e-300, float(found.sizes.sum()))
        notes = (f"{left_out:.2%} of the people lie in cells that were too many to cluster.",) if left_out > 0 else ()
        base = estimate.release_
        self.release_ = base.derived(
            kind=KIND,
            parameters={**base.parameters, "n_clusters": len(codes), "init": self.init, "max_iter": self.max_iter},
            result={**base.result, "modes": self.modes_, "sizes": [float(size) for size in self.sizes_], "cost": self.cost_},
            notes=(*base.notes, *notes),
            files={},
        )

    def frame(self) -> pa.Table:
        """The centres as an Arrow table, with their sizes."""
        columns = {name: pa.array([mode[name] for mode in self.modes_], pa.string()) for name in self.modes_[0]}
        return pa.table({**columns, "size": pa.array(self.sizes_)})

    def save(self, path: str | PathLike[str]) -> Release:
        """Write a new CSV or Parquet file of the centres, and its certificate beside it."""
        target = Path(check_path(path, "the output", "a new file"))
        if target.suffix.lower() not in ENDINGS:
            raise UsageError("clusters are written as .csv or .parquet. Give the file a name that ends so.")
        return save_certified(self.frame(), self.release_, target)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LocalKModes:
        """Read back what `save` or ``cloister collect cluster --out`` wrote: fitted centres, checked against their certificate.

        Raises
        ------
        SourceError
            It is no such file.
        DataError
            It was changed, or contradicts its certificate.
        """
        place = existing_file(path, ENDINGS, WANTED)
        release = read_beside(place, KIND, WANTED)
        joined = collection_of(release).joined
        names, values = [question.name for question in joined], [question.values for question in joined]
        with faults_told(place.name, WANTED):
            rows = read_certified(place, names, ["size"], MOST_CLUSTERS)
            try:
                facts, result = release.parameters, release.result
                model = cls(int(facts["n_clusters"]), init=str(facts["init"]), max_iter=int(facts["max_iter"]))
                model.modes_ = [{name: mode[name] for name in names} for mode in result["modes"]]
                codes = [[values[j].index(mode[name]) for j, name in enumerate(names)] for mode in model.modes_]
                model.codes_ = np.array(codes, dtype=np.int32)
                model.sizes_ = np.array(result["sizes"], dtype=np.float64)
                model.cost_, model.release_ = float(result["cost"]), release
                is_whole = model.n_clusters == len(rows) and model.frame().equals(rows.combine_chunks())
            except (LookupError, TypeError, ValueError):
                is_whole = False
        if not is_whole:
            raise VerificationFailed(
                f"{place.name} contradicts itself: its centres are not those of its certificate. Do not rely on it."
            )
        return model

    def pictures(self) -> tuple[Picture, ...]:
        """How many people are nearest to each centre, and what the centres answer."""
        return mode_pictures(self.modes_, self.sizes_.tolist())

    def describe(self) -> Document:
        """The centres and their sizes."""
        heads = [*self.modes_[0], "people"]
        rows = [[*mode.values(), f"{size:,.0f}"] for mode, size in zip(self.modes_, self.sizes_.tolist(), strict=True)]
        facts = Fact("answers that differ from the nearest centre, on average", f"{self.cost_:.3f} of {len(heads) - 1}")
        return Document((Section((TextTable.of(heads, rows, title="centres"), facts)),), title="Local k-modes")

    def __repr__(self) -> str:
        return f"LocalKModes(n_clusters={self.n_clusters}{'' if hasattr(self, 'modes_') else ', not fitted'})"

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def heaviest_cells(counts: NDArray[np.float64]) -> tuple[WeightedTuples, float]:
    """The cells with people in them, the heaviest ones where there are too many, and the share of people in the others."""
    flat = counts.ravel()
    cells = np.flatnonzero(flat > 0)
    whole = float(flat[cells].sum())
    if len(cells) > MOST_TUPLES:
        cells = np.sort(cells[np.argpartition(-flat[cells], MOST_TUPLES)[:MOST_TUPLES]])
    codes = np.stack(np.unravel_index(cells, counts.shape), axis=1).astype(np.int32)
    weights = flat[cells]
    left_out = 1 - float(weights.sum()) / whole if whole > 0 else 0.0
    rows = Encoded(np.zeros((len(codes), 0), np.int32), np.ascontiguousarray(codes))
    return WeightedTuples(rows, weights, counts.shape), max(0.0, left_out)


def frequent_centers(counts: NDArray[np.float64], clusters: int, random: PublicChance) -> Modes:
    """Initial centres of algorithm 4: each value drawn from the f most frequent ones of its question, all centres different.

    f = ceil(K**(1/m)) values of each question make at least K centres, unless a question has fewer; then centres repeat.
    """
    questions = counts.ndim
    most = ceil(round(clusters ** (1 / questions), 9))
    positive = np.maximum(counts, 0.0)
    frequent = [
        np.argsort(-positive.sum(axis=tuple(o for o in range(questions) if o != axis)), kind="stable")[:most]
        for axis in range(questions)
    ]
    chosen: list[tuple[int, ...]] = []
    tries = 0
    while len(chosen) < clusters:
        centre = tuple(int(values[random.integers(len(values))]) for values in frequent)
        tries += 1
        if centre not in chosen or tries > MOST_DRAWS:
            chosen.append(centre)
            tries = 0
    return Modes(np.array(chosen, dtype=np.int32), np.ones(clusters, dtype=np.int64))
