"""The two tables of paper 000, scaled by the public bounds of their schemas, with what is measured of centres on them.

The paper scales each column by the least and the largest value of its rows, which is a leak of its own. Here every form
gets the same rows, scaled by public bounds, so that their figures can be compared.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.scores.agreement import f_measure
from cloister.datasets import Dataset, load
from cloister.papers.di_clustering.printed import nearest
from cloister.papers.di_clustering.printed_prototypes import CodedRows
from cloister.papers.holder_rows import holder_numbers, holder_rows
from cloister.schema import Category, Number, Schema
from cloister.vault import Unprotected

__all__ = ["class_names", "f_and_nicv", "heart_rows", "heart_set", "magic_rows", "one_cluster"]

Array = NDArray[np.float64]


@lru_cache(maxsize=4)
def _loaded(name: str, folder: Path | None) -> Dataset:
    return load(name, folder=folder)


def heart_set(folder: Path | None) -> Dataset:
    """Statlog (Heart): 270 rows, 6 numbers, 7 categories, 2 classes."""
    return _loaded("heart", folder)


def class_names(name: str, folder: Path | None) -> NDArray[np.str_]:
    """The class of each row of a set."""
    target = _loaded(name, folder).target
    assert target is not None
    return np.array(target.to_pylist(), dtype=np.str_)


@lru_cache(maxsize=2)
def magic_rows(folder: Path | None) -> Unprotected[Array]:
    """MAGIC in the unit cube: 19,020 rows, 10 numbers."""
    dataset = _loaded("magic", folder)
    found = holder_numbers(dataset.data)
    return Unprotected(_scaled(found.value, dataset.schema, dataset.schema.names), found.purpose)


@lru_cache(maxsize=2)
def heart_rows(folder: Path | None) -> Unprotected[CodedRows]:
    """Heart as numbers in the unit cube and codes, columns as in table 4 of the paper."""
    dataset = heart_set(folder)
    numbers = [column.name for column in dataset.schema.columns if isinstance(column.kind, Number)]
    words = {column.name: column.kind.domain or () for column in dataset.schema.columns if isinstance(column.kind, Category)}
    found = holder_rows(dataset.data)
    places = _scaled(holder_numbers(dataset.data, numbers).value, dataset.schema, numbers)
    codes = [[values.index(cell) for cell in found.value[name].to_pylist()] for name, values in words.items()]
    table = CodedRows(places, np.array(codes, dtype=np.int64).T, tuple(len(values) for values in words.values()))
    return Unprotected(table, found.purpose)


def f_and_nicv(points: Array, centers: Array, classes: NDArray[np.str_]) -> tuple[float, float]:
    """The F-measure (eq. 17) of labels by centres (k, d), and NICV: the mean squared distance to the nearest centre."""
    labels = nearest(points, centers[None])[0]
    return f_measure(labels, classes), float(((points - centers[labels]) ** 2).sum(axis=1).mean())


def one_cluster(classes: NDArray[np.str_]) -> float:
    """The F-measure of everything in one cluster: what a score is to be compared with."""
    return f_measure(np.zeros(len(classes), dtype=np.int64), classes)


def _scaled(values: Array, schema: Schema, names: list[str] | tuple[str, ...]) -> Array:
    """Columns by their public bounds."""
    kinds = {column.name: column.kind for column in schema.columns}
    bounds = np.array([_bounds(kinds[name]) for name in names])
    return np.asarray((values - bounds[:, 0]) / (bounds[:, 1] - bounds[:, 0]))


def _bounds(kind: object) -> tuple[float, float]:
    assert isinstance(kind, Number)
    assert kind.bounds is not None
    low, high = kind.bounds
    return float(low), float(high)
