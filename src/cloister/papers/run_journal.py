"""What a reproduction has done so far: a file of lines, one a finished task, so that a killed run goes on where it was.

The first line says what is run; a run of another kind in the same place is refused. A line that was being written when the
process died is left out, and its task runs again.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from cloister.errors import SinkError, UsageError
from cloister.papers.reproduced_row import ReproducedRow

__all__ = ["Journal", "open_journal"]


class Journal:
    """The finished tasks of one paper, by item and name."""

    def __init__(self, file: BinaryIO, tasks: dict[tuple[str, str], tuple[ReproducedRow, ...]]) -> None:
        self._file = file
        self._tasks = tasks

    def rows(self, item: str, task: str) -> tuple[ReproducedRow, ...] | None:
        """What a task gave; None: it is not finished."""
        return self._tasks.get((item, task))

    def add(self, item: str, task: str, rows: Iterable[ReproducedRow]) -> None:
        """Note that a task is finished; it is on the disk when this returns."""
        found = tuple(rows)
        _append(self._file, {"item": item, "task": task, "rows": [row.as_dict() for row in found]})
        self._tasks[item, task] = found


@contextmanager
def open_journal(path: Path, run: dict[str, str]) -> Iterator[Journal]:
    """The journal at a path, made when it is not there; `run` says what is run, and must be what it was begun with.

    Raises
    ------
    UsageError
        It is of another run, or a run is under way.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError:
        raise SinkError(f"{path} cannot be written. Give --out a folder of your own.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"another process is running this paper in {path.parent}. Wait for it, or give another --out."
            ) from None
        file.seek(0)
        whole = file.read()
        kept = whole[: whole.rfind(b"\n") + 1]
        file.truncate(len(kept))
        try:
            lines = [json.loads(line) for line in kept.splitlines()]
            begun = lines[0] if lines else None
            tasks = {
                (line["item"], line["task"]): tuple(ReproducedRow.from_dict(row) for row in line["rows"])
                for line in lines[1:]
            }
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{path} is not what a reproduction writes. Move it away, or give another --out.") from None
        if begun is None:
            _append(file, run)
        elif begun != run:
            raise UsageError(
                f"{path.parent} holds another run (--quick or not, or of another version). Give another --out, or remove it."
            )
        yield Journal(file, tasks)


def _append(file: BinaryIO, line: Mapping[str, object]) -> None:
    try:
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    except OSError:
        raise SinkError("the disk does not take what was run. Make room, and start again: it goes on from there.") from None
