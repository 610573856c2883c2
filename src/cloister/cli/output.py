"""What verbs print: a result as JSON for programs or as a document for people, a plan, and the step that is running."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from cloister.cli import verbosity
from cloister.errors import UnwrittenRelease
from cloister.report.document import Document
from cloister.report.one_line import escape_controls, one_line
from cloister.report.terminal import print_document, screen_width, text, wrapped
from cloister.work_done import watched

if TYPE_CHECKING:
    from pathlib import Path

    from cloister.privacy.ledger import Ledger
    from cloister.privacy.plan import Plan
    from cloister.privacy.release import Release

__all__ = [
    "named_files",
    "print_json",
    "print_line",
    "print_notice",
    "print_plan",
    "print_release",
    "print_text",
    "print_warning",
    "progress",
    "write_release",
    "write_text",
]

T = TypeVar("T")


def print_line(line: str) -> None:
    """One line on standard output, whatever names of files and columns stand in it."""
    typer.echo(wrapped(one_line(line), screen_width()))


def print_text(lines: str | Document) -> None:
    """Lines on standard output, broken between words where they are wider than the screen; tables without borders."""
    width = screen_width()
    for line in (lines if isinstance(lines, str) else text(lines, width)).splitlines():
        typer.echo(wrapped(one_line(line), width))


def print_notice(line: str) -> None:
    """One line on the error stream, beside the answer."""
    typer.echo(wrapped(one_line(line), screen_width(sys.stderr)), err=True)


def print_warning(text: str) -> None:
    """One line on the error stream, in the colour of a warning where that is a terminal."""
    from rich.console import Console
    from rich.text import Text

    sys.stdout.flush()  # what was printed before stands before it
    line = wrapped(one_line(f"Warning: {text}"), screen_width(sys.stderr))
    Console(stderr=True).print(Text(line, style="bold yellow"), soft_wrap=True)


def print_json(data: dict[str, Any], *, to_be_read_back: bool = False) -> None:
    """One JSON document on standard output; one that is to be read back holds nothing but the release."""
    verbosity.note_answer()
    data = data if to_be_read_back else verbosity.with_folder_settings(data)
    typer.echo(escape_controls(json.dumps(data, indent=2, ensure_ascii=False)), file=verbosity.answer_stream())


def named_files(**paths: Path | None) -> dict[str, str]:
    """For the JSON of a verb: the files that it writes beside its result, where they were asked for."""
    return {what: str(path) for what, path in paths.items() if path is not None}


def print_release(release: Release, written: str) -> None:
    """Guarantee, status and notes of a release, and the files that were written."""
    print_document(release.describe())
    print_line(f"Written: {written}")


def print_plan(plan: Plan, as_json: bool, rows: int | None = None) -> None:
    """A plan, for ``--dry-run``; `rows` is the expected size of the table, where the plan depends on it."""
    if as_json:
        print_json(plan.as_dict())
        return
    print_text(str(plan))
    size = f"For about {rows:,} rows (change with --rows). " if rows is not None else ""
    print_line(f"{size}No row was read and nothing was charged.")


def write_release(
    release: Release,
    ledger: str | Ledger | None,
    out: Path,
    *,
    write: Callable[[Path], T],
    save: Callable[[Path], object] | None = None,
    as_data: Callable[[], Any],
    reader: str = "",
) -> T:
    """Write a private release, which is kept until it is there; where it can neither be written nor kept, print it as JSON.

    Where `write` writes more than the release, `save` writes that alone. `reader` is what reads the printed JSON, if it is to be
    read back.
    """
    from cloister.privacy import kept_releases

    try:
        return kept_releases.write_release(release, ledger, out, save or write, write)
    except UnwrittenRelease as error:
        if not error.is_kept:
            try:
                print_json(as_data(), to_be_read_back=True)
            except OSError:  # standard output takes nothing either: that error says nothing of the charge
                print_notice(f"{type(error).__name__}: {error}")
                raise
            if reader:
                error.args = (f"{error} It is printed whole, as JSON: save that, and read it in Python with {reader}.",)
        raise


def write_text(path: Path, text: str, *, for_holder: bool = False) -> None:
    """Write a new text file that appears whole or not at all; one for the holder only its owner may read."""
    from cloister.sinks import stage

    with stage(path, directory=False) as staged:
        staged.path.touch(mode=0o600 if for_holder else 0o666)
        staged.path.write_text(text, encoding="utf-8")
        staged.commit()


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on the terminal: which step is running, how much is done, the time left; nothing when it is not a terminal."""
    if quiet or verbosity.is_quiet() or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    from cloister.cli.progress_line import ProgressLine

    with Console(stderr=True).status("starting") as status:
        line = ProgressLine(lambda words: status.update(Text(words)))
        with watched(line.count_share, line.count_step):
            yield line.begin
