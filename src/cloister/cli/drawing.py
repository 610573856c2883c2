"""``--plot`` of the verbs: what cannot be drawn is refused before anything is charged, and drawn is what is written already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cloister.cli import output
from cloister.errors import CloisterError, UsageError

if TYPE_CHECKING:
    from cloister.report.plotted import Plotted

__all__ = ["drawing"]


@contextmanager
def drawing(path: Path | None, out: Path | None, *, quiet: bool) -> Iterator[Callable[[Plotted], None]]:
    """For a verb with a result to draw: hold the name of the picture, which is drawn by a call once the result is written.

    Another format, a missing matplotlib, a name that is taken or that lies in the folder of the release are refused here. A
    picture that fails after the charge is a warning: what was paid for is there.
    """
    if path is None:
        yield lambda _: None
        return
    from cloister.report.plot import check_drawable
    from cloister.sinks import reserved

    check_drawable(path)
    if out is not None and Path(os.path.abspath(path)).is_relative_to(os.path.abspath(out)):
        raise UsageError(
            "the picture would be --out itself, or lie in its folder, whose certificate lists every file. Give it a place beside."
        )
    with reserved(path):
        yield lambda result: draw_result(result, path, quiet=quiet)


def draw_result(result: Plotted, path: Path, *, quiet: bool) -> None:
    """Draw what is written already."""
    from cloister.sinks import stage

    try:
        with stage(path, directory=False) as staged:
            result.plot(staged.path)
            staged.commit()
    except Exception as error:  # whatever it is: it must not look as if the release had failed, and been paid for in vain
        why = str(error) if isinstance(error, CloisterError) else type(error).__name__
        output.print_warning(f"{path} could not be drawn ({why}). Everything else is written.")
        return
    if not quiet:
        output.print_line(f"Drawn: {path}")
