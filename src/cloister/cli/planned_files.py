"""``--out``, ``--report`` and ``--plot`` in a dry run: what a run would refuse is refused, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cloister.cli import output
from cloister.cli.default_reports import ALONE
from cloister.cli.drawing import drawing
from cloister.cli.report import check_page

__all__ = ["planned_files"]


@contextmanager
def planned_files(
    out: Path | None, report: Path | None, plot: Path | None = None, *, with_certificate: bool = False, as_json: bool
) -> Iterator[None]:
    """Hold the names while a plan is made, as a run would; then say that none of them is written."""
    from cloister.sinks import reserved

    with ExitStack() as names:
        if out is not None:
            names.enter_context(reserved(out, with_certificate=with_certificate))
        if report is not None:
            names.enter_context(reserved(check_page(report, out, ALONE)))
        names.enter_context(drawing(plot, out, quiet=True))
        yield
    idle = [flag for flag, path in (("--report", report), ("--plot", plot)) if path is not None]
    if idle and not as_json:
        output.print_line(f"A dry run writes no file: the name in {' and in '.join(idle)} was checked, and can be used.")
