"""The stand-in of LETEO's table: made-up pupils with its columns, their taxonomies, and the sound form run on them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import cloister as cl
from cloister.anonymization.estimator import TopDownSpecialization
from cloister.datasets import PUPIL_TREES, PUPILS, pupils
from cloister.schema import Category, Role
from cloister.schema.hierarchies import Hierarchy, flat

__all__ = ["K", "QUASI", "SEED", "cached_pupils", "copied", "pupil_trees", "published"]

K = 10
QUASI = tuple(column.name for column in PUPILS.columns if column.role is Role.QUASI)
SEED = 11  # of the made-up table


@cache
def pupil_trees() -> dict[str, Hierarchy]:
    """The taxonomy of each quasi-identifier: that of the made-up country, or its values under ``*``."""
    trees = {}
    for name in QUASI:
        kind = PUPILS[name].kind
        assert isinstance(kind, Category)
        assert kind.domain is not None
        lines = PUPIL_TREES.get(f"{name}.csv", "").splitlines()
        trees[name] = Hierarchy.from_paths([line.split(";") for line in lines]) if lines else flat(kind.domain)
    return trees


@cache
def cached_pupils(rows: int = 60_000, seed: int = SEED, unique: int = 12) -> pa.Table:
    """The made-up table, made once."""
    return pupils(rows, seed, unique)


def copied(table: pa.Table, times: int) -> pa.Table:
    """The rows of a table several times over, as section 3.3 may have augmented its own."""
    return table.take(np.tile(np.arange(len(table)), times))


def published(table: Any, **settings: Any) -> TopDownSpecialization:
    """The project's own top-down specialization of pupils, written to a file that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        return publish_to(table, Path(folder) / "published.parquet", **settings)


def publish_to(table: Any, path: Path, **settings: Any) -> TopDownSpecialization:
    """The same, to a file that stays."""
    asked: Mapping[str, Any] = {"k": K, "schema": PUPILS, "hierarchies": pupil_trees(), **settings}
    model = cl.TopDownSpecialization(**asked)
    model.publish(table, path)
    return model
