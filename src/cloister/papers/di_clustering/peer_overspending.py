"""A peer: diffprivlib's k-means, of the family that table 2 lists, replayed exactly by ``python -m bench audit``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredBars, Picture

__all__ = ["PEER", "read_peers"]

SPENT = "epsilon that a replay finds, at least"
SOURCE = "table 2, Improved DPLloyd"
CLAIM = "what is asked of it"
PARTED = "rows decide how often noise is drawn"
HOW = "python -m bench audit writes bench/results/audit.json, and --peers takes it"


def read_peers(path: Path | None) -> list[dict[str, Any]]:
    """The lines of the file that hold what is needed; none where it is not there or is something else."""
    if path is None:
        return []
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        return [row for row in rows if _is_audit(row)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _is_audit(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("columns"), int)
        and isinstance(row.get("clusters"), int)
        and _is_number(row.get("claimed"))
        and "found" in row
        and (row["found"] is None or _is_number(row["found"]))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    return [ItemTask("audit", lambda: _rows(effort.peers))]


def _rows(path: Path | None) -> list[ReproducedRow]:
    rows = [ReproducedRow(CLAIM, "printed", SPENT, 1.0, SOURCE, claimed=1.0)]
    for row in read_peers(path):
        claimed = float(row["claimed"])
        setting = f"diffprivlib, {row['columns']} columns, {row['clusters']} cluster{'s' if row['clusters'] > 1 else ''}"
        found = None if row["found"] is None else float(row["found"])
        # what is proved of it here is no more than was asked: the loss of one pair of tables is a bound from below
        proved = math.inf if found is None else max(found, claimed)
        note = PARTED if found is None else "the loss on one pair of tables"
        rows.append(ReproducedRow(setting, "peer", SPENT, found, SOURCE, claimed=claimed, epsilon=proved, note=note))
    return rows


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    peers = [row for row in rows if row.form == "peer"]
    if not peers:
        return [f"No file of the peer's audit was given, so nothing is said of it here: {HOW}."]
    over = [row for row in peers if row.value is not None and row.claimed is not None and row.value > row.claimed * 1.001]
    parted = [row for row in peers if row.value is None]
    found = []
    if over:
        times = max((row.value or 0.0) / (row.claimed or 1.0) for row in over)
        settings = "; ".join(row.setting.removeprefix("diffprivlib, ") for row in over)
        found.append(
            f"It spends more than the epsilon it is given at {settings}: {times:.3g} times as much at most. Its "
            "two shares, of a count and of a column's sum, are unpacked in the wrong order, which costs more from 5 columns on."
        )
    else:
        found.append("It spends no more than it is given on these tables.")
    if parted:
        settings = "; ".join(row.setting.removeprefix("diffprivlib, ") for row in parted)
        found.append(f"At {settings} {PARTED}: there no finite epsilon was found.")
    return found


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    peers = [row for row in rows if row.form == "peer" and row.value is not None]
    if not peers:
        return []
    words = tuple(row.setting.removeprefix("diffprivlib, ") for row in peers)
    bars = MeasuredBars("", words, tuple(row.value or 0.0 for row in peers), label="epsilon spent", line=(1.0, "claimed"))
    return [Picture("What diffprivlib's k-means spends", (bars,), "Exact losses on one pair of tables each.", across=1)]


PEER = Item(
    "peer",
    "A peer's k-means",
    "Table 2 lists private k-means of others; diffprivlib has one of that family. Does it keep the epsilon that it is given?",
    _tasks,
    _finds,
    _draws,
)
