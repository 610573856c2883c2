"""A table and its certificate beside it, as CSV or Parquet: both appear together, and are read back together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from cloister.collect.collection import Collection
from cloister.collect.collection_files import KEYS
from cloister.errors import CloisterError, VerificationFailed
from cloister.privacy.release import Release
from cloister.sinks import file_hashes, stage
from cloister.sources.sound_batches import read_table

__all__ = ["ENDINGS", "collection_of", "read_certified", "save_certified"]

ENDINGS = (".csv", ".parquet")


def save_certified(rows: pa.Table, release: Release, target: Path) -> Release:
    """Write a table as CSV or Parquet with its certificate beside it; both appear together."""
    with stage(target, directory=False, with_certificate=True) as staged:
        if target.suffix.lower() == ".csv":
            from pyarrow import csv

            csv.write_csv(rows, staged.path)
        else:
            import pyarrow.parquet as pq

            pq.write_table(rows, staged.path)
        written = replace(release, files=file_hashes(staged.path))
        staged.commit(written.to_json())
    return written


def read_certified(place: Path, texts: Sequence[str], numbers: Sequence[str], most_rows: int) -> pa.Table:
    """The rows of a file that `save_certified` wrote: these columns of texts and, after them, of numbers.

    Raises
    ------
    VerificationFailed
        It has others, or more rows than such a table has: a small Parquet file may hold billions.
    """
    wanted = pa.schema([*((name, pa.string()) for name in texts), *((name, pa.float64()) for name in numbers)])
    if place.suffix.lower() == ".csv":
        from pyarrow import csv

        kinds = dict(zip(wanted.names, wanted.types, strict=True))
        options = csv.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False)
        rows = csv.read_csv(place, None, None, options)
    else:
        import pyarrow.parquet as pq

        if pq.read_metadata(place).num_rows > most_rows:
            raise VerificationFailed(f"{place.name} holds more rows than its certificate is of. Do not rely on it.")
        rows = read_table(place)
    if not rows.schema.equals(wanted) or rows.num_rows > most_rows or any(column.null_count for column in rows.columns):
        raise VerificationFailed(f"{place.name} contradicts itself: its rows are not of the table of its certificate.")
    return rows


def collection_of(release: Release) -> Collection:
    """The collection that a certificate describes.

    Raises
    ------
    VerificationFailed
        It describes none, or one of other terms or another guarantee than it says.
    """
    try:
        facts = release.parameters
        collection = Collection(**{key: facts[key] for key in KEYS if key in facts})
        is_whole = collection.terms == facts["terms"] and collection.guarantee == release.guarantee
    except (CloisterError, LookupError, TypeError, ValueError, AttributeError):
        is_whole = False
    if not is_whole:
        raise VerificationFailed("this release contradicts itself: it does not describe its collection. Do not rely on it.")
    return collection
