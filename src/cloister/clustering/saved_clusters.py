"""Clusters read back from the folder that `cloister cluster --out` wrote, checked against their certificate."""

from __future__ import annotations

import csv
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.center_digits import center_rows, decimals_of
from cloister.clustering.clusters import Clusters
from cloister.clustering.domain import Ball, Domain, from_bounds, with_categories
from cloister.encode import Codes
from cloister.errors import CloisterError, SourceError, VerificationFailed
from cloister.kernels import Modes
from cloister.parameters import check_path
from cloister.privacy.release import Release
from cloister.privacy.verification import check_consistency, read_certificate_file, unreadable_told
from cloister.schema import Schema
from cloister.schema.cell_format import PLAIN

__all__ = ["load_clusters", "read_clusters"]

CENTERS, CERTIFICATE = "centers.csv", "release.json"
KINDS = ("kmeans", "kprototypes", "kmodes")
WANTED = "Give the folder that cloister cluster --out wrote."


def load_clusters(path: str | PathLike[str], schema: Schema | None = None) -> Clusters:
    """Read clusters back.

    Parameters
    ----------
    path
        The folder that `cloister cluster --out` or `Clusters.save` wrote.
    schema : Schema, optional
        How the cells of the rows are written that will be labelled or scored: a certificate does not say it.

    Raises
    ------
    SourceError
        It is no such folder.
    DataError
        The certificate contradicts itself, or the files are not those that were written with it.
    """
    folder = Path(check_path(path, "the clusters"))
    file = folder / CERTIFICATE
    if not os.path.isfile(file):  # whatever it is called
        raise SourceError(f"{path} holds no {CERTIFICATE}. {WANTED}")
    with unreadable_told():
        try:
            release = read_certificate_file(file)
        except (ValueError, RecursionError) as error:
            if isinstance(error, CloisterError):
                raise
            raise SourceError(f"{path} cannot be read as a release. {WANTED}") from None
    if release.kind not in KINDS or CENTERS not in release.files:
        raise SourceError(f"{path} is a release of something else than clusters. {WANTED}")
    check_consistency(release, folder, file)
    return read_clusters(release, folder, schema)


def read_clusters(release: Release, folder: Path, schema: Schema | None = None) -> Clusters:
    """The clusters of a certificate that was checked, if its figures are such and centers.csv has the same.

    Raises
    ------
    VerificationFailed
        They are not.
    """
    try:
        domain = domain_of_release(release, schema)
        records = [list(record) for record in release.result["centers"]]
        centers = numbers_of(records, domain)
        modes = modes_of(records, domain, release.parameters["gamma"]) if domain.categories else None
        sizes = np.array(release.result["sizes"], dtype=np.float64)
        places = domain.put((centers - domain.decode(np.zeros_like(centers))) / domain.lengths())
        errors = errors_of(release.result.get("standard_errors"), len(centers), len(domain.columns))
        is_whole = sizes.shape == (len(centers),) and read_rows(folder / CENTERS) in written_centers(
            domain, sizes, records, errors
        )
        rounds = int(release.parameters.get("rounds", 0))  # clusters of a synopsis have none
        is_inside = bool((np.abs(domain.decode(places) - centers) <= domain.lengths()).all())
        told = release.result.get("loss", {})  # older certificates have none of some methods
        loss = told.get("mean_squared_distance")
        amounts = [loss, told.get("standard_error"), told.get("at_most"), release.result.get("size_noise")]
        is_whole = is_whole and all(amount is None or _is_amount(amount) for amount in amounts)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, csv.Error):
        is_whole = is_inside = False
    if not is_whole or not is_inside:
        raise VerificationFailed(
            f"{folder.name} contradicts itself: its centres are not those of its certificate. Do not rely on it."
        )
    return Clusters(domain, places, sizes, release, standard_errors_=errors, loss_=loss, n_iter_=rounds, modes=modes)


def _is_amount(value: Any) -> bool:
    """Whether this is a number that a loss or an error may be."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < np.inf


def domain_of_release(release: Release, schema: Schema | None) -> Domain:
    """The public grid that a certificate of clusters describes."""
    facts = release.parameters
    columns, domains = [str(name) for name in facts["columns"]], facts.get("domains", {})
    forms = {name: schema[name].kind.form if schema is not None and name in schema else PLAIN for name in columns}
    names = [name for name in columns if name not in domains]
    pairs = [pair for name, pair in zip(columns, facts["bounds"], strict=True) if name not in domains]
    ends, written = np.array(pairs, dtype=np.float64).reshape(-1, 2), [forms[name] for name in names]
    if facts["shape"] == "ball":
        return from_bounds(names, Ball((ends[0, 1] - ends[0, 0]) / 2, list(ends.mean(axis=1))), None, forms=written)
    defaults = [float(facts["defaults"][name]) for name in names]
    numbers = from_bounds(names, (ends[:, 0], ends[:, 1]), facts["scale"], defaults, written) if names else None
    if not domains:
        assert numbers is not None, "there is at least one column"
        return numbers
    categories = [
        Codes(name, tuple(domains[name]), list(domains[name]).index(facts["defaults"][name]), forms[name])
        for name in columns
        if name in domains
    ]
    return with_categories(numbers, categories, columns)


def numbers_of(records: list[list[Any]], domain: Domain) -> NDArray[np.float64]:
    """The numbers of centres, (k, d)."""
    places = [domain.columns.index(grid.name) for grid in domain.encoding.numbers]
    rows = [[record[place] for place in places] for record in records]
    return np.array(rows, dtype=np.float64).reshape(len(records), len(places))


def errors_of(lines: Any, k: int, columns: int) -> NDArray[np.float64] | None:
    """The noise's part in each coordinate, (k, columns); of clusters of a synopsis a certificate has none."""
    if lines is None:
        return None
    errors = np.array([[np.nan if error is None else float(error) for error in line] for line in lines])
    if errors.shape != (k, columns) or (errors < 0).any():
        raise ValueError
    return errors


def modes_of(records: list[list[Any]], domain: Domain, gamma: Any) -> Modes:
    """The categories of centres, with the weight of each on the grid."""
    columns = [(codes.domain, domain.columns.index(codes.name)) for codes in domain.categories]
    codes = np.array([[values.index(record[place]) for values, place in columns] for record in records], dtype=np.int32)
    gammas = np.broadcast_to(np.asarray(gamma, dtype=np.float64), (len(records),))
    return Modes(codes, np.rint(gammas / domain.unit**2).astype(np.int64))


def written_centers(
    domain: Domain, sizes: NDArray[np.float64], records: list[list[Any]], errors: NDArray[np.float64] | None
) -> list[list[list[str]]]:
    """The cells that centers.csv may hold: as `Clusters.save` writes them, or with all digits, as it did once."""
    digits = [decimals_of(domain, each, len(records)) for each in (errors, None)]
    return [center_rows(domain.columns, sizes, records, each) for each in digits]


def read_rows(path: Path) -> list[list[str]]:
    """The cells of a file of centres."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))
