"""``cloister schema --ask``: the questions of a schema on the terminal. Questions go to the error stream, the schema does not."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cloister.errors import SchemaError

if TYPE_CHECKING:
    from cloister.file_options import FileOptions
    from cloister.schema import Column, Schema
    from cloister.schema.interview import Interview

__all__ = ["ask_schema"]

INTRODUCTION = (
    "Enter takes what stands in brackets. ? tells more, back goes one question back, skip takes the rest of a column as it is, "
    "and done all that is left. Ctrl-C or Ctrl-D leaves without a file. Bounds and values are never proposed: taken from the "
    "rows they would give people away.\n"
)
WORDS = ("back", "skip", "done")


def ask_schema(data: Any, said: FileOptions, facts: str | None, out: Path | None) -> Schema:
    """Ask for every public fact of a table, beginning with a schema or else with a draft; `said`: how its files are written."""
    from cloister.schema import Schema
    from cloister.schema.drafts import draft, find_likely_unit
    from cloister.schema.interview import Interview
    from cloister.sources.misread_files import warn_of_misreading
    from cloister.sources.opening import open_source
    from cloister.sources.stated_names import StatedNames, names_stated

    known = Schema.from_toml(facts) if facts is not None else None
    source = open_source(data, names_stated(known) if known else StatedNames(keys_from_rows=True))
    warn_of_misreading(source)
    start = replace(draft(source), file=said)
    likely_unit = find_likely_unit(source, start)
    if known is not None:
        start = edited(known, start, out)
    talk = Interview(start, is_typed=getattr(source, "typed", True), likely_unit=likely_unit)
    say(INTRODUCTION)
    while True:
        answer_all(talk)
        if is_agreed(talk, out):
            return talk.schema()


def edited(known: Schema, guessed: Schema, out: Path | None) -> Schema:
    """A schema with the columns of the data that it does not describe yet, as they are guessed."""
    if unseen := [name for name in known.names if name not in guessed]:
        say(f"Not in the data, and kept as it is: {', '.join(unseen)}.\n")
    new = tuple(column for column in guessed.columns if column.name not in known)
    columns = (*(moved(column, out) for column in known.columns), *new)
    return replace(known, columns=columns, file=guessed.file.over(known.file))


def moved(column: Column, out: Path | None) -> Column:
    """The column with the path of its hierarchy as the file that is written needs it: relative to itself."""
    from cloister.schema import Category

    if not isinstance(column.kind, Category) or column.kind.hierarchy is None:
        return column
    folder = Path() if out is None else out.parent
    return replace(column, kind=replace(column.kind, hierarchy=os.path.relpath(column.kind.hierarchy, folder)))


def answer_all(talk: Interview) -> None:
    """Ask until nothing is left to be asked."""
    column = None
    while (question := talk.question) is not None:
        if question.key[0] != column:
            column = question.key[0]
            say("\n")
        text = prompt(f"{question.text} [{question.default}] ")
        if text == "?":
            say(f"  {question.more}\n")
        elif text in WORDS:
            follow(talk, text)
        else:
            try:
                talk.answer(text)
            except SchemaError as error:
                say(f"  {error}\n")


def follow(talk: Interview, word: str) -> None:
    """Do what a word says that is no answer."""
    if word == "skip":
        talk.skip()
    elif word == "done":
        talk.skip_all()
    elif not talk.back():
        say("  This is the first question.\n")


def is_agreed(talk: Interview, out: Path | None) -> bool:
    """Whether the schema is to be written; going back asks again."""
    while True:
        text = prompt(f"Write {'the schema' if out is None else out}: yes, no or back? [yes] ").lower()
        if text in ("", "y", "yes"):
            return True
        if text == "back":
            talk.back()
            return False
        if text in ("n", "no"):
            leave()
        say("  Type yes, no or back.\n")


def prompt(text: str) -> str:
    """A line that was typed."""
    say(text)
    line = sys.stdin.readline()
    if not line:
        say("\n")
        leave()
    if not sys.stdin.isatty():  # nobody sees the line that was typed
        say(line)
    return line.strip()


def leave() -> None:
    """End without a file."""
    say("Nothing was written.\n")
    raise typer.Exit(130)


def say(text: str) -> None:
    """Words for whoever answers; names of columns may hold signs that would move the cursor."""
    from cloister.report.one_line import one_line

    lines = [one_line(line) for line in text.split("\n")]
    if sys.stderr.isatty():
        lines = [broken(line, shutil.get_terminal_size().columns) for line in lines]
    typer.echo("\n".join(lines), err=True, nl=False)


def broken(line: str, width: int) -> str:
    r"""A line broken between words, as far as a terminal is wide; the blanks around it stay: behind them somebody types.

    >>> broken("  type one of yes, no or back ", 24)
    '  type one of yes, no or\n  back '
    """
    indent, end = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]
    return textwrap.fill(line.rstrip(), max(width, 20), subsequent_indent=indent, break_on_hyphens=False) + end
