"""Clusters read back from the folder that `cloister cluster --out` wrote, checked against their certificate."""

from __future__ import annotations

import csv
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cloister.clustering.clusters import Clusters
from cloister.clustering.domain import Ball, Domain, from_bounds
from cloister.errors import CloisterError, DataError, SourceError
from cloister.parameters import check_path
from cloister.privacy.release import Release
from cloister.privacy.verification import check_consistency, read_certificate_file, unreadable_told
from cloister.schema import Schema
from cloister.schema.cell_format import PLAIN

__all__ = ["load_clusters"]

CENTERS, CERTIFICATE = "centers.csv", "release.json"
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
    if release.kind != "kmeans" or CENTERS not in release.files:
        raise SourceError(
            f"{path} is a release of something else than clusters of numbers, which alone are scored here. {WANTED}"
        )
    check_consistency(release, folder, file)
    try:
        domain = domain_of_release(release, schema)
        centers = np.array(release.result["centers"], dtype=np.float64).reshape(-1, len(domain.columns))
        sizes = np.array(release.result["sizes"], dtype=np.float64)
        places = domain.put((centers - domain.decode(np.zeros_like(centers))) / domain.lengths())
        is_whole = sizes.shape == (len(centers),) and written_centers(domain, sizes, centers) == read_rows(folder / CENTERS)
        is_inside = bool((np.abs(domain.decode(places) - centers) <= domain.lengths()).all())
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, csv.Error):
        is_whole = is_inside = False
    if not is_whole or not is_inside:
        raise DataError(f"{path} contradicts itself: its centres are not those of its certificate. Do not rely on it.")
    return Clusters(domain, places, sizes, release)


def domain_of_release(release: Release, schema: Schema | None) -> Domain:
    """The public grid that a certificate of clusters describes."""
    facts = release.parameters
    names, ends = [str(name) for name in facts["columns"]], np.array(facts["bounds"], dtype=np.float64)
    forms = [schema[name].kind.form if schema is not None and name in schema else PLAIN for name in names]
    if facts["shape"] == "ball":
        return from_bounds(names, Ball((ends[0, 1] - ends[0, 0]) / 2, list(ends.mean(axis=1))), None, forms=forms)
    defaults = [float(facts["defaults"][name]) for name in names]
    return from_bounds(names, (ends[:, 0], ends[:, 1]), facts["scale"], defaults, forms)


def written_centers(domain: Domain, sizes: Any, centers: Any) -> list[list[str]]:
    """The cells of centers.csv, as `Clusters.save` writes them."""
    rows = [
        [str(i), f"{size:.0f}", *(f"{value:.9g}" for value in center)]
        for i, (size, center) in enumerate(zip(sizes, centers, strict=True))
    ]
    return [["cluster", "size", *domain.columns], *rows]


def read_rows(path: Path) -> list[list[str]]:
    """The cells of a file of centres."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))
