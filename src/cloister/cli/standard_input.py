"""Standard input as a file: what is piped in as ``-`` is spooled, since rows may be gone through several times.

The file has no name where the system allows it (Linux), so that nothing stays behind whatever ends the process; elsewhere it is
removed when the command ends. Only its owner may read it.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from cloister.cli.output import progress
from cloister.errors import CloisterError, SourceError, UsageError

__all__ = ["spooled_input"]

AT_ONCE = 1 << 20
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def spooled_input(data: list[str], is_quiet: bool) -> Iterator[list[str]]:
    """DATA, which is ``-``, as a file that is there while the block runs."""
    if len(data) > 1:
        raise UsageError("- is standard input, and stands alone: give it, or files.")
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("standard input is a terminal. Pipe a file into it: zcat people.csv.gz | cloister VERB - ...")
    folder = Path(tempfile.mkdtemp(prefix="cloister-"))  # its owner's alone
    try:
        path = folder / "standard-input"
        with open(path, "x+b", opener=lambda name, flags: os.open(name, flags, 0o600)) as spool:
            if sys.platform == "linux":
                path.unlink()
                path.symlink_to(f"/proc/{os.getpid()}/fd/{spool.fileno()}")
            with progress(is_quiet) as step:
                _copy(spool, folder, step)
            with _called_standard_input(str(path)):
                yield [str(path)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _called_standard_input(path: str) -> Iterator[None]:
    """Errors name what the user gave, not the file that stands for it."""
    try:
        yield
    except CloisterError as error:
        error.args = tuple(part.replace(path, "standard input") if isinstance(part, str) else part for part in error.args)
        raise


def _copy(spool: BinaryIO, folder: Path, step: Callable[[str], None]) -> None:
    copied = 0
    try:
        while piece := sys.stdin.buffer.read(AT_ONCE):
            spool.write(piece)
            copied += len(piece)
            step(f"reading standard input: {copied / 1e6:,.0f} MB")
        spool.flush()
    except OSError as error:
        if error.errno in NO_ROOM:
            raise SourceError(
                f"{folder.parent} has no room for standard input. Set TMPDIR to a folder that has, or give a file."
            ) from None
        raise SourceError("standard input cannot be read to its end. Give a file.") from None
