"""The rows of a table, written to the disk, and counted there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cloister.anonymization.counting.leaf_coder import LeafCoder
from cloister.anonymization.writing.recount import PublishedClasses, count_output
from cloister.anonymization.writing.rewriting import Rewriting, shuffle_file
from cloister.privacy import noise
from cloister.vault import Holder, Vault

__all__ = ["count_again", "write_rows"]

ROWS_A_FILE = 2_000_000  # of a shuffled table on Spark


def write_rows(table: Holder, rewriting: Rewriting, path: Path, format: str, shuffled: int | None = None) -> None:
    """Write the rows; with the number of them in `shuffled`, in an order that holds nothing of the input's."""
    if shuffled is None:
        table.rewrite(rewriting, str(path), format)
    elif table.spark is not None:
        table.rewrite(rewriting, str(path), format, -(-shuffled // ROWS_A_FILE) or 1)
    else:
        ordered = path.with_name("in-order")
        table.rewrite(rewriting, str(ordered), "parquet")
        shuffle_file(ordered, path, format, noise.integers, noise.permutation)


def count_again(
    table: Holder, rewriting: Rewriting, path: Path, purpose: str, sensitive: Sequence[LeafCoder] = ()
) -> PublishedClasses:
    """The classes of what lies on the disk."""
    output = Vault.holding(str(path), purpose=purpose, engine=table.spark or "local")
    return count_output(output, rewriting.recoding, sensitive)
