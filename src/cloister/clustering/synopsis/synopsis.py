"""`Synopsis`: released cells, with everything that can be done with them for free."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.clustering.chance import public_chance
from cloister.clustering.chosen_clusters import BY_DISTANCE, chosen_clusters
from cloister.clustering.clusters import Clusters
from cloister.clustering.domain import Domain
from cloister.clustering.seeding.canopy import Suggestion, suggest
from cloister.clustering.seeding.evolution_options import evolution_options
from cloister.clustering.seeding.weighted import cluster_points
from cloister.clustering.synopsis.files import Contents, as_printed, load, load_about, read_printed, save
from cloister.clustering.synopsis.noisy_cells import Cells, log_densities
from cloister.clustering.synopsis.queries import Count, around_values, count_in, draw_rows, kept_weights, read_box
from cloister.clustering.synopsis.synopsis_pictures import synopsis_pictures
from cloister.errors import UsageError
from cloister.parameters import check_flag, check_text, check_whole
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section
from cloister.report.picture import Picture
from cloister.report.plotted import PlottedByColumn
from cloister.vault import Vault

__all__ = ["Synopsis"]

FREE = "The centres come from a released synopsis alone: they cost nothing beyond it."
SIGNED = "The synopsis was read from a file that is signed by {}."
NOT_SIGNED = "The synopsis was read from a file that is not signed: nothing vouches for it."


@dataclass(frozen=True, slots=True, eq=False)
class Synopsis(PlottedByColumn):
    """Cells of the domain with noisy counts, released once; a value, and a file.

    Attributes
    ----------
    cells
        In grid steps; `frame` gives them in the columns' own units.
    domain
        The public grid.
    total
        The best estimate of the number of rows.
    release
        The certificate.
    is_read
        It comes from a file, which somebody else may have written: what is derived from it says who signed it.

    Privacy
    -------
    Everything here is computed from released counts, public noise scales and public random numbers. None of it is charged.

    Examples
    --------
    >>> import numpy as np
    >>> import cloister as cl
    >>> rows = np.random.default_rng(0).normal([[0.2, 0.2]] * 500 + [[0.8, 0.8]] * 500, 0.05)
    >>> cells = cl.synopsis(rows, budget=4, bounds=(0, 1))
    >>> cells.cluster(2).cluster_centers_.shape
    (2, 2)
    """

    cells: Cells
    domain: Domain
    total: float
    release: Release
    is_read: bool = False

    @property
    def release_(self) -> Release:
        """The certificate, under the name that it has on every result."""
        return self.release

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.domain.columns

    @property
    def method(self) -> str:
        """The name of the shape of its cells."""
        return str(self.release.parameters["method"])

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return (
            f"Synopsis({self.method}, {len(self):,} cells, about {max(0, self.total):,.0f} rows, {self.release.guarantee})"
        )

    def describe(self) -> Document:
        """What was released, in a few facts."""
        facts = {
            "method": self.method,
            "columns": ", ".join(map(str, self.columns)),
            "cells": f"{len(self):,}",
            "rows, about": f"{max(0, self.total):,.0f}",
            "guarantee": str(self.release.guarantee),
        }
        return Document((Section(tuple(Fact(*fact) for fact in facts.items())),), title="Private synopsis")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    def weights(self) -> NDArray[np.float64]:
        """A weight for each cell, not negative, adding up to about `total`."""
        return kept_weights(self.cells.counts, self.total)

    def cluster(
        self,
        k: int | Literal["auto"],
        seeding: str = "kmeans++",
        random_state: Any = None,
        evolution: Mapping[str, Any] | None = None,
    ) -> Clusters:
        """Cluster the cells by weighted k-means, for any k, as often as you like.

        Parameters
        ----------
        k : int or "auto"
            "auto" takes the number that `suggest_k` proposes.
        seeding : "kmeans++", "kmeans||", "canopy" or "evolution"
            "kmeans++" starts a search that goes on beyond Lloyd: centres are added where the error is, and others merged.
        random_state : int or numpy Generator, optional
            For the seeding. Public.
        evolution : dict, optional
            What to set of the seeding "evolution": "population", "generations", "F", "CR", a pair between which the
            crossover rate rises, and "start": "search" (from what "kmeans++" finds) or "random", as in the paper.
        """
        if isinstance(k, str) and k == "auto":
            chosen = self.cluster(self.suggest_k().clusters, seeding, random_state, evolution)
            return chosen.with_choices(chosen_clusters(len(chosen.places), BY_DISTANCE))
        clusters = at_least_one(k, 'or "auto"')
        options = evolution_options(evolution)
        if evolution is not None and seeding != "evolution":
            raise UsageError('options of evolution go with seeding="evolution". Give that too, or leave them out.')
        weights = self._positive_weights()
        full = weights > 0
        points, mass = self.cells.points[full], weights[full]
        densities = log_densities(self.cells, weights)[full]
        best = cluster_points(points, mass, clusters, seeding, public_chance(random_state), densities, options)
        loss = best.loss / float(weights.sum())
        seeded = seeding if evolution is None else f"{seeding}: {options.words()}"
        return release_clusters(self.release, self.domain, best.centers, best.sizes, loss, seeded, is_read=self.is_read)

    def suggest_k(self, most: int = 30, relative: bool = True) -> Suggestion:
        """How many clusters there seem to be: where the max-min distance of the dense cells changes most.

        With ``relative=False`` by the printed depth rule, on the distances themselves; see `cloister.clustering.seeding.canopy`.
        """
        most = check_whole(most, "most", 2)
        check_flag(relative, "relative")
        weights = self._positive_weights()
        full = weights > 0
        return suggest(self.cells.points[full], weights[full], most, log_densities(self.cells, weights)[full], relative)

    def sample(self, n: int, random_state: Any = None) -> pa.Table:
        """n made-up rows that follow the synopsis; where the schema gave a column a step, its values lie on it."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise UsageError("the number of made-up rows must be a whole number of at least 0.")
        rows = draw_rows(self.cells, self._positive_weights(), int(n), public_chance(random_state))
        decoded = self.domain.nearest_values(self.domain.decode(self.domain.put(rows)))
        return pa.table({name: decoded[:, j] for j, name in enumerate(self.columns)})

    def count(self, box: Mapping[str, tuple[float, float]]) -> Count:
        """How many rows lie in a box, such as ``{"age": (20, 30)}``, with its standard error.

        Both ends belong to the box. Where the schema gave a column a step, its values are counted as a whole: ``(7, 7)`` is
        how many rows hold 7. The error is the noise's. It does not hold what is lost by taking the rows of a cell to lie
        evenly in it.
        """
        read = read_box(box, self.columns)
        low, high = np.full(len(self.columns), -np.inf), np.full(len(self.columns), np.inf)
        for j, grid in enumerate(self.domain.encoding.numbers):
            if grid.name in read:
                ends = read[grid.name] if grid.values is None else grid.values.span(*read[grid.name])
                low[j], high[j] = ((end - grid.center) / grid.step for end in ends)
        return count_in(around_values(self.cells, self.domain.encoding.numbers), low, high)

    def frame(self) -> pa.Table:
        """The cells in the columns' own units: edges, the point that stands for its rows, count and standard error."""
        decode = self.domain.decode
        parts = {"low": decode(self.cells.lower), "high": decode(self.cells.upper), "point": decode(self.cells.points)}
        columns = {f"{name} {part}": parts[part][:, j] for j, name in enumerate(self.columns) for part in parts}
        return pa.table({**columns, "count": self.cells.counts, "standard error": np.sqrt(self.cells.variances)})

    def pictures(self, columns: Sequence[str] | None = None) -> tuple[Picture, ...]:
        """How many rows lie where: a heat map of two columns, and each column by itself. `columns`: which, default the first."""
        return synopsis_pictures(self.cells, self.weights(), self.domain, columns)

    def save(self, path: str | PathLike[str]) -> Release:
        """Write the synopsis with its certificate to one new Parquet file; returns the certificate."""
        save(self._contents(), path)
        return self.release

    def as_dict(self) -> dict[str, Any]:
        """The certificate as plain data, with the whole file in it: what a command prints that has no room to write it."""
        return as_printed(self._contents())

    def _contents(self) -> Contents:
        return Contents(self.domain, self.total, self.release, self.cells)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Synopsis:
        """Open a synopsis file; the data is not needed."""
        contents = load(path)
        return cls(contents.cells, contents.domain, contents.total, contents.release, is_read=True)

    @classmethod
    def from_json(cls, text: str) -> Synopsis:
        """Open what ``cloister synopsis`` printed where it had no room to write; `save` then makes the file of it."""
        contents = read_printed(check_text(text, "the JSON of a synopsis"))
        return cls(contents.cells, contents.domain, contents.total, contents.release, is_read=True)

    @staticmethod
    def cluster_file(path: str | PathLike[str], k: int, engine: Any = "spark", random_state: Any = None) -> Clusters:
        """Cluster a synopsis file on Spark, for one too large for this machine: MLlib's weighted k-means with k-means||.

        The file has to be where this process and Spark's workers can read it. It is checked against its certificate, batch by
        batch, before Spark reads it.
        """
        clusters = at_least_one(k)
        about = load_about(path)
        name = os.fspath(path)
        features = [f"points {j}" for j in range(len(about.domain.columns))]
        seed = int(public_chance(random_state).integers(2**31))
        centers, sizes, loss = Vault.public_clusters(name, features, "counts", about.total, clusters, seed, engine)
        mean = loss / float(sizes.sum())
        seeding = "kmeans|| by MLlib"
        clusters_on_spark = release_clusters(about.release, about.domain, centers, sizes, mean, seeding, is_read=True)
        return dataclasses.replace(clusters_on_spark, engine=engine)

    def _positive_weights(self) -> NDArray[np.float64]:
        """The weights, of which at least one must be above 0."""
        weights = self.weights()
        if not (weights > 0).any():
            raise UsageError(
                "every cell of this synopsis is empty, as far as its noise lets one see. There is nothing to use."
            )
        return weights


def at_least_one(k: Any, otherwise: str = "") -> int:
    """A number of clusters, checked."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise UsageError(f"the number of clusters must be a whole number of at least 1{otherwise and ', ' + otherwise}.")
    return int(k)


def release_clusters(
    release: Release,
    domain: Domain,
    centers: NDArray[np.float64],
    sizes: NDArray[np.float64],
    loss: float,
    seeding: str,
    *,
    is_read: bool,
) -> Clusters:
    """Clusters of a released synopsis, with its certificate: centres and mean loss are in grid steps.

    Of one that was read the certificate says who signed it: whoever signs the clusters vouches for no more than that.
    """
    places = domain.put(centers)
    mean = loss * domain.unit**2
    unit = "squared column widths" if release.parameters["scale"] == "bounds" else "squared units of the data"
    result: dict[str, Any] = {
        "centers": domain.decode(places).tolist(),
        "sizes": sizes.tolist(),
        "loss": {"mean_squared_distance": mean, "of": "the synopsis", "unit": unit},
        "synopsis": release.digest(),
    }
    parameters = {**release.parameters, "n_clusters": len(places), "choices": {"seeding": seeding}}
    notes = (*release.notes, FREE)
    if is_read:
        signer = None if release.signature is None else release.signature.key
        result["synopsis_signer"] = signer
        notes += (SIGNED.format(signer) if signer else NOT_SIGNED,)
    certificate = release.derived(kind="kmeans", parameters=parameters, result=result, notes=notes)
    return Clusters(domain, places, sizes, certificate, loss_=mean)
