"""The public data sets by name, and loading one."""

from __future__ import annotations

import os
from typing import Any

from cloister.datasets.category_sets import CATEGORY_SETS
from cloister.datasets.data_files import FOLDER_VARIABLE, find_bytes
from cloister.datasets.dataset import Dataset, DatasetFacts
from cloister.datasets.mixed_sets import MIXED_SETS
from cloister.datasets.number_sets import NUMBER_SETS
from cloister.parameters import check_flag, check_path, unknown_choice

__all__ = ["SETS", "load", "names"]

SETS: dict[str, DatasetFacts] = dict(sorted({**NUMBER_SETS, **CATEGORY_SETS, **MIXED_SETS}.items()))


def names() -> dict[str, str]:
    """The data sets that `load` knows, each with a line that says what it is."""
    return {name: facts.title for name, facts in SETS.items()}


def load(name: str, *, folder: Any = None, fetch: bool = True) -> Dataset:
    """A public data set, with named and typed columns and a schema of public facts.

    Parameters
    ----------
    name : str
        One of `names`.
    folder : path, optional
        Where its files may lie. Default: the environment variable CLOISTER_DATA.
    fetch : bool, default True
        Whether files that are neither there nor in the cache, ``datasets`` in the user's data directory, are fetched over the
        network and kept in the cache.

    Returns
    -------
    Dataset
        With `data`, `target` and `schema`.

    Notes
    -----
    Every file is checked against a known SHA-256, wherever it comes from. Sets whose files have no address that is known must
    lie in `folder`.

    Examples
    --------
    >>> wine = load("wine")  # doctest: +SKIP
    >>> wine.data.num_rows, wine.data.num_columns, len(set(wine.target.to_pylist()))  # doctest: +SKIP
    (178, 13, 3)
    """
    if not isinstance(name, str) or name not in SETS:
        raise unknown_choice("data set", name, SETS)
    check_flag(fetch, "fetch")
    place = os.environ.get(FOLDER_VARIABLE) if folder is None else check_path(folder, "folder")
    facts = SETS[name]
    rows = facts.read(tuple(find_bytes(file, place, fetch) for file in facts.files), facts.schema)
    return Dataset(name, rows.data, rows.target, facts.schema, facts.title, facts.bounds_from)
