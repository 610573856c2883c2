"""``cloister schema``: draft the public facts of a table, or check data against them."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloister.cli import flags
from cloister.cli.output import print_json, print_line, write_text
from cloister.cli.verbosity import silenced
from cloister.errors import ExitCode, SchemaError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cloister.file_options import FileOptions
    from cloister.schema import Schema
    from cloister.schema.check import CellCounts, Problem

EXAMPLE = (
    "Example: cloister schema people.csv -o people.toml; later: cloister schema people.csv --schema people.toml --check"
)


@flags.takes_groups
def schema(
    data: flags.Data,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="A new file for the draft. Default: the screen.")
    ] = None,
    facts: flags.SchemaFile = None,
    hierarchies: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draft a hierarchy for every quasi-identifier into a new folder, for the holder."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the data with --schema, strictly, for the holder's eyes only.")
    ] = False,
    file: flags.FileFlags,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask for every fact in the terminal, beginning with --schema or else with a draft.")
    ] = False,
    everywhere: flags.Everywhere,
) -> None:
    """Draft a schema: kinds, roles and formats are guessed, bounds and domains are left blank for you to fill in."""
    if ask:
        if check or hierarchies is not None:
            raise UsageError("--ask stands alone: drop --check and --hierarchies, or run them by themselves.")
        write_answers(file.files(data), file.options(), facts, out, everywhere.as_json)
        return
    if hierarchies is not None:
        if check or out is not None:
            raise UsageError("--hierarchies stands alone: drop --check and -o, or run them by themselves.")
        with silenced() if everywhere.quiet and not everywhere.as_json else contextlib.nullcontext():
            write_hierarchies(file.files(data), facts, hierarchies, everywhere.as_json)
        return
    if check:
        if facts is None:
            raise UsageError("what should the data be checked against? Give --schema FILE.")
        if out is not None:
            raise UsageError("--check writes no file. Drop -o, or drop --check to draft a schema.")
        show_check(file.files(data), facts, everywhere.as_json, quiet=everywhere.quiet)
        return
    if facts is not None:
        raise UsageError(
            "--schema goes with --check, --ask or --hierarchies. Add one of them, or drop --schema to draft a new one."
        )
    write_draft(file.files(data), file.options(), out, everywhere.as_json)


def write_answers(data: Any, said: FileOptions, facts: str | None, out: Path | None, as_json: bool) -> None:
    """Ask for a schema and write it as TOML."""
    from cloister.cli.schema_questions import ask_schema
    from cloister.sinks import check_free

    if out is not None:
        check_free(out)
    answered = ask_schema(data, said, facts, out)
    text = answered.to_toml(hints=True)
    if out is not None:
        write_text(out, text)
    if as_json:
        print_json({"out": None if out is None else str(out), "columns": listed_columns(answered), "toml": text})
    elif out is None:
        typer.echo(text, nl=False)
    else:
        print_line(f"Written: {out}. Compare the data with it: cloister schema DATA --schema {out} --check")


def listed_columns(schema: Schema) -> list[dict[str, Any]]:
    """The columns of a schema, in JSON."""
    return [
        {
            "name": column.name,
            "kind": type(column.kind).__name__.lower(),
            "role": str(column.role),
            "guessed": column.guessed,
        }
        for column in schema.columns
    ]


def write_draft(data: Any, said: FileOptions, out: Path | None, as_json: bool) -> None:
    """Guess a schema and write it as TOML."""
    from cloister.schema.drafts import draft, draft_text, find_likely_unit
    from cloister.sinks import check_free
    from cloister.sources.misread_files import warn_of_misreading
    from cloister.sources.opening import open_source
    from cloister.sources.stated_names import StatedNames

    if out is not None:
        check_free(out)
    source = open_source(data, StatedNames(keys_from_rows=True))
    warn_of_misreading(source)
    guessed = dataclasses.replace(draft(source), file=said)
    likely_unit = find_likely_unit(source, guessed)
    text = draft_text(guessed, likely_unit)
    if out is not None:
        write_text(out, text)
    if as_json:
        about = {"columns": listed_columns(guessed), "likely_unit": likely_unit, "toml": text}
        print_json({"out": None if out is None else str(out), **about})
    elif out is None:
        typer.echo(text, nl=False)
    else:
        print_line(
            f"Written: {out}. Check what is marked as guessed, and fill in bounds and domains from public facts alone."
        )
        if likely_unit is not None:
            print_line(
                f'Does "{likely_unit}" say whose a row is? Then uncomment unit and max_rows: guarantees are per person.'
            )


def write_hierarchies(data: Any, facts: str | None, folder: Path, as_json: bool) -> None:
    """Draft a hierarchy for every quasi-identifier: from the public facts of a schema, or else from the rows."""
    import numpy as np
    import pyarrow as pa

    from cloister.anonymization.counting.column_values import MOST_CODES, fetch_values
    from cloister.schema import Number, Role, Schema
    from cloister.schema.drafts import draft as guess
    from cloister.schema.hierarchies import draft, draft_from_values
    from cloister.sinks import check_free, stage
    from cloister.sources.opening import open_source
    from cloister.sources.stated_names import StatedNames, names_stated
    from cloister.vault import Vault

    check_free(folder)
    expected = Schema.from_toml(facts) if facts else None
    source = open_source(data, names_stated(expected) if expected else StatedNames(keys_from_rows=True))
    known = expected or guess(source)
    columns = [column for column in known.columns if column.role is Role.QUASI]
    if not columns:
        raise UsageError("no column is a quasi-identifier. Give columns the role in a schema, and pass it with --schema.")
    files: dict[str, tuple[str, str]] = {}
    for column in columns:
        with contextlib.suppress(SchemaError):  # bounds or domain are not filled in
            files[column.name] = draft(column)
    rest = [column for column in columns if column.name not in files]
    wanted = {column.name: MOST_CODES for column in rest}
    values_of = fetch_values([(Vault.holding(source, purpose="hierarchies"), wanted)], known)
    skipped = []
    for column in rest:
        cells = values_of[column.name]
        if cells.is_many and not (len(cells.numbers) and cells.is_numeric):
            skipped.append(column.name)
            continue
        # numbers were read as their type or the schema says; the text of a typed one is not written in the schema's format
        is_number = isinstance(column.kind, Number) and bool(np.isfinite(cells.numbers).any())
        files[column.name] = draft_from_values(
            column, pa.array(cells.numbers if is_number else cells.words or cells.numbers)
        )
    with stage(folder, directory=True) as staged:
        for name, text in files.values():
            write_new(staged.path / name, text)
        staged.commit()
    from_rows = sorted(column.name for column in rest if column.name not in skipped)
    if as_json:
        drafted = {owner: name for owner, (name, _) in files.items()}
        print_json({"out": str(folder), "files": drafted, "from_rows": from_rows, "skipped": skipped})
        return
    for owner, (name, _) in files.items():
        print_line(f"{owner}: {name}" + (" (from the rows: for the holder)" if owner in from_rows else ""))
    for owner in skipped:
        print_line(f"{owner}: more than {MOST_CODES:,} different texts, no draft")
    print_line(f"Written: {folder}. Sort the values into groups that readers of the table would recognise.")


def write_new(path: Path, text: str) -> None:
    """Write a draft; never over a file that is there, as two columns may have one name where capitals do not count."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f'two columns would have their drafts in "{path.name}". Rename one of them.') from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise UsageError("the name of a column is too long for a file. Rename the column, or leave it out.") from None


def show_check(data: Any, facts: str, as_json: bool, *, quiet: bool) -> None:
    """Tell the holder what does not fit; exit code 5 if anything does not.

    Cells without a value are told, and no fault; nor is what the schema leaves blank, which private verbs alone need.

    `quiet`: say nothing where nothing is a fault.
    """
    from cloister.schema import Schema
    from cloister.schema.check import STAMP, count_cells, find_problems
    from cloister.sources.opening import open_source
    from cloister.sources.ragged_rows import count_ragged, is_json
    from cloister.sources.stated_names import names_stated

    expected = Schema.from_toml(facts)
    source = open_source(data, names_stated(expected))
    counts = count_cells(expected, source)
    ragged = count_ragged(source)
    problems = find_problems(expected, source, counts)
    has_faults = bool(ragged) or any(problem.is_fault for problem in problems)
    if as_json:
        print_json({"stamp": STAMP, "fits": not has_faults, "ragged_rows": ragged, **found_facts(problems, counts)})
    elif has_faults or not quiet:
        print_check(problems, counts, ragged, in_json=is_json(source))
        if not problems and not ragged:
            print_line(f"The data fits the schema: {len(expected.columns)} columns, every cell.")
        elif not has_faults:
            print_line(f"The data fits the schema{what_is_missing(problems)}")
        print_line(STAMP)
    if has_faults:
        raise typer.Exit(int(ExitCode.VERIFICATION_FAILED))


def what_is_missing(problems: Sequence[Problem]) -> str:
    """The end of the sentence that nothing is wrong, though something was told."""
    from cloister.schema.check import Trouble

    troubles = {problem.trouble for problem in problems}
    cells = "what is missing is missing as the schema says" if Trouble.EMPTY in troubles else ""
    facts = "what it leaves blank, private verbs alone need" if Trouble.BLANK in troubles else ""
    return f": {'; '.join(filter(None, (cells, facts)))}."


def print_check(problems: Sequence[Problem], counts: Sequence[CellCounts], ragged: int, *, in_json: bool) -> None:
    """What a check found, for a person."""
    if ragged and in_json:
        of_lines = f"{ragged:,} of {counts[0].rows:,} lines" if counts else f"{ragged:,} lines"
        print_line(
            f"{of_lines} are no JSON objects: in a release every value of theirs is missing. Write one object a line."
        )
    elif ragged:
        of_rows = f"{ragged:,} of {counts[0].rows:,} rows" if counts else f"{ragged:,} rows"
        print_line(
            f"{of_rows} have more or fewer cells than the table has columns: in a release what they lack is missing and what "
            "they have too much of is left out. Look for signs that should stand in quotes."
        )
    for problem in problems:
        print_line(str(problem))
    for c in counts:
        if c.made_up:
            print_line(f"{c.column.name}: in a release {c.made_up:,} of {c.rows:,} values would be made up.")


def found_facts(problems: Sequence[Problem], counts: Sequence[CellCounts]) -> dict[str, Any]:
    """What a check found, for a program."""
    listed = [
        {"column": p.column, "trouble": str(p.trouble), "fault": p.is_fault, "count": p.count, "rows": p.rows}
        | {"message": p.message}
        for p in problems
    ]
    columns = [
        {"column": c.column.name, "rows": c.rows, "missing": c.empty, "unreadable": c.unreadable, "outside": c.outside}
        | {"made_up": c.made_up, "clipped": c.clipped}
        for c in counts
    ]
    return {"problems": listed, "columns": columns}
