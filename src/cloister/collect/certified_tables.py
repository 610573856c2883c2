"""A table and its certificate beside it, as CSV or Parquet: both appear together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from cloister.privacy.release import Release
from cloister.sinks import file_hashes, stage

__all__ = ["save_certified"]


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
