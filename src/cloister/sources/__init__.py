"""Where rows come from: files, folders, globs, URLs, NumPy, and whatever speaks Arrow. All become record batches.

A source is read as a stream, any number of times, never whole. What a cell means is not decided here but in `encode`.
"""

from __future__ import annotations

from cloister.sources.opening import open_source
from cloister.sources.source import BATCH_ROWS, Source

__all__ = ["BATCH_ROWS", "Source", "open_source"]
