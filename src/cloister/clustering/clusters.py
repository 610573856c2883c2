"""Private clusters: what every way of clustering ends in, whoever asked for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.center_digits import center_rows, decimals_of, shown_cell, write_centers
from cloister.clustering.cluster_pictures import cluster_pictures
from cloister.clustering.domain import Domain
from cloister.clustering.expected_loss import TOO_LITTLE
from cloister.clustering.inputs import read_to_label
from cloister.clustering.scores.score_clusters import Centers, score_clusters
from cloister.clustering.scores.score_report import ScoreReport
from cloister.errors import UsageError
from cloister.kernels import CenterDistances, Labels, Modes
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Block, Document, Fact, Section, Sentence, TextTable, with_sentence
from cloister.report.one_line import one_line
from cloister.report.picture import Picture
from cloister.report.plotted import PlottedByColumn
from cloister.sinks import file_hash, stage
from cloister.vault import Vault, engine_traits

if TYPE_CHECKING:
    from cloister.privacy.ledger import Ledger

__all__ = ["Clusters"]

SHOWN = 8  # columns on a terminal
WIDTHS_SHOWN = 4
FAR = 2.0  # times the measured loss that it may at most be: from here on it is said
ESTIMATORS = {"kprototypes": "KPrototypes", "kmodes": "KModes"}
LABELS = "labels.parquet"
LABELS_STAMP = {"cloister": "for the holder only: labels are not a private release"}


@dataclass(frozen=True, slots=True, eq=False)
class Clusters(PlottedByColumn):
    """Centres, noisy sizes and the certificate: released values only.

    Attributes
    ----------
    domain
        The public grid.
    places : ndarray (k, d)
        The numbers of the centres in grid steps.
    cluster_sizes_ : ndarray (k,)
        How many rows each stands for; noisy.
    release_ : Release
        The certificate.
    standard_errors_ : ndarray (k, d) or None
        The noise's part in each coordinate; None for clusters of a synopsis that was released before.
    loss_ : float or None
        A private estimate of the mean squared distance to the nearest centre, in squared column widths (or own units); of
        clusters of a synopsis the mean squared distance of its cells, which no row is read for.
    n_iter_ : int
        Rounds on the rows.
    engine, ledger
        With which rows are labelled, and where that is recorded.
    modes : Modes or None
        The categories of the centres, and what one that differs adds to a distance; None: there are none.
    """

    domain: Domain = dataclasses.field(repr=False)
    places: NDArray[np.int32] = dataclasses.field(repr=False)
    cluster_sizes_: NDArray[np.float64]
    release_: Release
    standard_errors_: NDArray[np.float64] | None = None
    loss_: float | None = None
    n_iter_: int = 0
    engine: Any = None
    ledger: str | Ledger | None = dataclasses.field(default=None, repr=False)
    modes: Modes | None = dataclasses.field(default=None, repr=False)

    @property
    def cluster_centers_(self) -> NDArray[Any]:
        """The centres in the columns' own units, (k, columns): floats; with categories an array of floats and texts."""
        return self.domain.decode(self.places) if self.modes is None else np.array(self.records, dtype=object)

    @property
    def records(self) -> list[list[float | str]]:
        """The centres, each a list of one value a column."""
        return self.domain.records(self.places, None if self.modes is None else self.modes.codes)

    @property
    def warning(self) -> str | None:
        """That there are more clusters than stand out of the noise, as far as the released number of rows says; else None."""
        warning: str | None = self.release_.parameters["choices"].get(TOO_LITTLE)
        return warning

    @property
    def is_loss_noise(self) -> bool:
        """Whether the loss was measured on rows, and is no larger than its error."""
        return is_noise(self.release_.result.get("loss") or {})

    @property
    def n_features_in_(self) -> int:
        """How many columns were clustered."""
        return len(self.domain.columns)

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row, for whoever holds the rows. It is not a private release.

        On Spark: the DataFrame with one more column, "cluster", computed when it is read.
        """
        return self.label(X, record=False)

    def label(self, X: Any, *, record: bool = True) -> Any:
        """As `predict`; with `record` the ledger of the released table notes that the holder got labels."""
        return self._for_each_row(X, Labels(self.places, self.domain.clip, self.modes), "cluster", "labels", record)

    def transform(self, X: Any, *, record: bool = False) -> NDArray[np.float64]:
        """The distance of each row from every centre, (n, k), for whoever holds the rows. It is not a private release.

        Distances are in the unit of `loss_`: in column widths, or in the data's own units (``scale=None``, or a ball). With
        categories it is the root of the squared distance of the numbers plus gamma a differing category; of categories alone
        how many differ. So `predict` gives the place of the smallest one. Values beyond the bounds count as the bounds.
        """
        traits = engine_traits(self.engine, X)
        if not traits.labels_in_memory:
            raise UsageError(
                f"distances are an array in memory here, and {traits.title} has the rows elsewhere. Use predict, which adds "
                "the nearest centre as a column."
            )
        work = CenterDistances(self.places, self.domain.clip, self.modes)
        squares: NDArray[np.float64] = self._for_each_row(X, work, "distance", "distances", record)
        squares = squares.reshape(-1, len(self.places)) * self.domain.unit**2
        return squares if self.release_.kind == "kmodes" else np.sqrt(squares)

    def _for_each_row(self, X: Any, work: Labels | CenterDistances, name: str, purpose: str, record: bool) -> Any:
        table = self.release_.ledger["table"] if record and self.release_.ledger else None
        return Vault.label(
            read_to_label(X, self.domain.columns, self.engine, ESTIMATORS.get(self.release_.kind, "KMeans")),
            self.domain.encoding,
            work.apply,
            name=name,
            purpose=purpose,
            engine=self.engine,
            table=table,
            ledger=self.ledger if table else None,
        ).value

    def score_report(self, X: Any, truth: Any = None) -> ScoreReport:
        """How well these centres fit rows, for whoever holds them. It is not a private release, and the ledger notes it.

        Parameters
        ----------
        X : rows
            Whatever `predict` takes.
        truth : str or array (n,), optional
            The column of X that holds the true class of each row, or the classes themselves.
        """
        table = self.release_.ledger["table"] if self.release_.ledger else None
        ledger = self.ledger if table else None
        centers = Centers(self.domain, self.places, self.modes)
        return score_clusters(X, centers, truth, engine=self.engine, table=table, ledger=ledger)

    def describe(self, *, with_warning: bool = True) -> Document:
        """The centres, a row each, what was chosen on the way, and at last, if wanted, what is to be warned of."""
        names = list(map(str, self.domain.columns))
        decimals = decimals_of(self.domain, self.standard_errors_, len(self.places))
        rows = [
            [str(i), f"{size:,.0f}", *map(shown_cell, center[:SHOWN], digits[:SHOWN])]
            for i, (size, center, digits) in enumerate(zip(self.cluster_sizes_, self.records, decimals, strict=True))
        ]
        noise = self.release_.result.get("size_noise")
        title = f"{len(rows)} private clusters (sizes are noisy{'' if noise is None else f': +- {noise:,.2g}'})"
        blocks: list[Block] = [TextTable.of(["cluster", "size", *names[:SHOWN]], rows, title=title, align="right")]
        if len(names) > SHOWN:
            blocks.append(Sentence(f"... and {len(names) - SHOWN} columns more in centers.csv"))
        choices = self.release_.parameters["choices"]
        blocks += [Fact(name, choice) for name, choice in choices.items() if name != TOO_LITTLE]
        if loss := self.release_.result.get("loss"):
            blocks.append(Fact("loss", loss_words(loss, self.domain)))
        if with_warning and self.warning is not None:
            blocks.append(Fact("warning", self.warning))
        return Document((Section(tuple(blocks)),), title="Private clusters")

    def pictures(self, columns: Sequence[str] | None = None) -> tuple[Picture, ...]:
        """The centres in pairs of columns (those named, or those that tell them apart), their profile, their categories."""
        errors = self.standard_errors_
        if errors is not None:  # in the order of all columns, without a number for categories
            places = [self.domain.columns.index(grid.name) for grid in self.domain.encoding.numbers]
            errors = errors[:, places]
            errors = np.where(np.isfinite(errors), errors, 2 * self.domain.halves * self.domain.lengths())  # anywhere
        centers, noise = self.domain.decode(self.places), self.release_.result.get("size_noise")
        return cluster_pictures(self.domain, centers, self.cluster_sizes_, errors, self.modes, noise, columns)

    def with_choices(self, choices: Mapping[str, str]) -> Clusters:
        """The same clusters, whose certificate says more of what was chosen: of released values, which is free."""
        parameters = self.release_.parameters
        told = {**parameters, "choices": {**parameters["choices"], **choices}}
        return dataclasses.replace(self, release_=self.release_.derived(parameters=told))

    def _repr_html_(self) -> str:
        return notebook.html(with_sentence(self.describe(), str(self.release_.guarantee)))

    def __repr__(self) -> str:
        return one_line(
            f"Clusters({len(self.places)} of {', '.join(map(str, self.domain.columns[:SHOWN]))}; {self.release_.guarantee})"
        )

    def save(self, path: str | PathLike[str], *, label: Any = None) -> Release:
        """Write a new folder with centers.csv and release.json, and with `label` the labels of these rows.

        centers.csv has the digits that the noise leaves; release.json has all of them, and is what `load_clusters` labels by.

        Parameters
        ----------
        path
            A folder that does not exist yet; it appears whole or not at all.
        label : rows, optional
            Whatever `predict` takes. Their labels go into labels.parquet, for the holder only, and the ledger notes it.

        Returns
        -------
        Release
            The certificate as it was written: with the hash of centers.csv.
        """
        with stage(path, directory=True) as staged:
            centers = staged.path / "centers.csv"
            digits = decimals_of(self.domain, self.standard_errors_, len(self.places))
            write_centers(centers, center_rows(self.domain.columns, self.cluster_sizes_, self.records, digits))
            kept = () if label is None else (LABELS,)
            certificate = dataclasses.replace(self.release_, files={centers.name: file_hash(centers)}, holder_files=kept)
            (staged.path / "release.json").write_text(certificate.to_json(), encoding="utf-8")
            if label is not None:
                self._write_labels(label, staged.path / LABELS)
            staged.commit()
        return certificate

    def _write_labels(self, X: Any, path: Path) -> None:
        """The label of every row; the file itself says for whom it is."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"cluster": self.label(X)}).replace_schema_metadata(LABELS_STAMP), path)


def loss_words(loss: Mapping[str, Any], domain: Domain) -> str:
    """The loss of a certificate in words: with its error where it was measured on rows, and what its unit is.

    A loss that is smaller than its error tells nothing, and is not shown as if it did.
    """
    mean, unit = f"{loss['mean_squared_distance']:.4g}", f"{loss['unit']}{unit_widths(loss['unit'], domain)}"
    if "standard_error" not in loss:
        return f"{mean} {unit}, of the cells of the synopsis"
    told = f"{mean} +- {loss['standard_error']:.2g} {unit}"
    if is_noise(loss):
        return f"not measurable at this budget ({told})"
    most = loss.get("at_most", 0.0)  # certificates of before have none
    far = f"; rows far from every centre may raise it to {most:.2g}" if most > FAR * loss["mean_squared_distance"] else ""
    return f"{told}{far}; compare it only under the same bounds"


def is_noise(loss: Mapping[str, Any]) -> bool:
    """Whether the loss of a certificate is no larger than its error; that of a synopsis has none."""
    return "standard_error" in loss and bool(loss["standard_error"] >= loss["mean_squared_distance"])


def unit_widths(unit: str, domain: Domain) -> str:
    """How wide the columns are that a distance is counted in; nothing where it is in the data's own units."""
    if "column widths" not in unit:
        return ""
    widths = [(grid.name, f"{2 * grid.half * grid.step:,.6g}") for grid in domain.encoding.numbers]
    if len({width for _, width in widths}) == 1:
        return f" (a width is {widths[0][1]})"
    more = ", ..." if len(widths) > WIDTHS_SHOWN else ""
    return f" (widths: {', '.join(f'{name} {width}' for name, width in widths[:WIDTHS_SHOWN])}{more})"
