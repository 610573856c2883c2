"""The command line: one file a verb. Exit code 0 only when the result exists; the others are `cloister.errors.ExitCode`."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cloister.cli import (
    anonymize,
    audit,
    calibrate,
    choosing,
    cluster,
    collect,
    config,
    demo,
    ledger,
    microdata,
    report,
    reproduce,
    risk,
    schema,
    score,
    synopsis,
    tabulate,
    verify,
)
from cloister.cli.default_reports import name_reports
from cloister.cli.empty_words import refuse_empty_words
from cloister.cli.failures import is_printing, is_usage, print_lines, tell_failure, tell_usage, unprintable
from cloister.cli.flag_defaults import FlagDefaults, read_settings
from cloister.cli.help_text import hide_types
from cloister.cli.verbosity import asks_for, begin_printing, note_folder_settings
from cloister.errors import (
    CloisterError,
    LikelyMisread,
    LostClusters,
    UnprotectedColumns,
    UnsignedRelease,
    UntoldLedger,
    at_shell,
)
from cloister.interrupts import handle_interrupts
from cloister.stopped_commands import begin_command

__all__ = ["app", "main"]


class Verbs(TyperGroup):
    """The group of all verbs: turns errors into one or two lines and an exit code, and never shows a data value."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            hide_types(command, ctx)
            refuse_empty_words(command)
        return command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        hide_types(self, ctx)
        super().format_help(ctx, formatter)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        begin_printing(asks_for("--json", args), asks_for("--quiet", args))
        args = name_reports(args)
        try:
            if args and not extra.get("resilient_parsing") and not {"--help", "--version"}.intersection(args):
                extra |= self._settle(list(args))
            return super().make_context(info_name, args, parent, **extra)
        except CloisterError as error:
            raise typer.Exit(int(tell_failure(error) or 1)) from None
        except Exception as error:
            if is_usage(error):
                tell_usage(error)
            raise

    def _settle(self, arguments: list[str]) -> dict[str, Any]:
        """What the parser is told of settings; what a file sets that the current folder brings along is always told."""
        settings = read_settings()
        is_quiet = asks_for("--quiet", arguments) or bool(settings.values.get("quiet"))
        begin_printing(asks_for("--json", arguments) or bool(settings.values.get("json")), is_quiet)
        if arguments[0] != "config" and (here := settings.from_folder()):
            note_folder_settings(here)
            print_lines([f"From ./cloister.toml: {', '.join(f'{name} {value}' for name, value in here.items())}."])
        return {"default_map": settings.flag_defaults(self, arguments), "obj": settings}

    def invoke(self, ctx: Any) -> Any:
        begin_command()
        if not os.environ.get("CLOISTER_DEBUG"):
            logging.disable()  # what libraries log may quote values, and drowns the sentence that says what to do
        try:
            here = ctx.obj.in_environment() if isinstance(ctx.obj, FlagDefaults) else contextlib.nullcontext()
            with at_shell(), here, warnings.catch_warnings():
                warnings.simplefilter("ignore", UntoldLedger)  # `write_release` tries again, and says it in its own words
                warnings.simplefilter("ignore", LostClusters)  # `cluster` says it last, where it is seen
                warnings.simplefilter("always", UnsignedRelease)
                warnings.simplefilter("always", UnprotectedColumns)
                warnings.simplefilter("always", LikelyMisread)
                warnings.showwarning = partial(_show_warning, warnings.showwarning, set())
                return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            code = tell_failure(error)
            if code is None:
                raise
            raise typer.Exit(int(code)) from None


def _show_warning(
    otherwise: Callable[..., None], shown: set[str], message: Warning | str, category: type[Warning], *place: Any
) -> None:
    """One line for a warning of Cloister's own, once a command: a certificate is made when it is kept and when it is written."""
    if not issubclass(category, UnsignedRelease | UnprotectedColumns | LikelyMisread):
        otherwise(message, category, *place)
    elif str(message) not in shown:
        shown.add(str(message))
        print_lines([f"Warning: {message}"])


def _drop_output() -> None:
    """Send what is still to be printed nowhere: Python would try again at exit, and fail with a message of its own."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Turn a sensitive table into something that may leave the building, with a guarantee that is proved and shown.",
    epilog="Exit codes: 0 done, 2 usage, 3 budget refused, 4 ledger unreachable, 5 a check failed, 70 bug, 130 stopped, 1 else.",
)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from cloister import __version__

        typer.echo(f"cloister {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    pass


app.command(name="schema", epilog=schema.EXAMPLE)(schema.schema)
app.command(name="cluster", epilog=cluster.EXAMPLE)(cluster.cluster)
app.command(name="synopsis", epilog=synopsis.EXAMPLE)(synopsis.synopsis)
app.command(name="tabulate", epilog=tabulate.EXAMPLE)(tabulate.tabulate)
app.command(name="choose", epilog=choosing.EXAMPLE)(choosing.choose)
app.command(name="anonymize", epilog=anonymize.EXAMPLE)(anonymize.anonymize)
app.command(name="microdata", epilog=microdata.EXAMPLE)(microdata.microdata)
app.command(name="risk", epilog=risk.EXAMPLE)(risk.risk)
app.command(name="score", epilog=score.EXAMPLE)(score.score)
app.command(name="calibrate", epilog=calibrate.EXAMPLE)(calibrate.calibrate)
app.command(name="report", epilog=report.EXAMPLE)(report.report)
app.command(name="verify", epilog=verify.EXAMPLE)(verify.verify)
app.command(name="reproduce", epilog=reproduce.EXAMPLE)(reproduce.reproduce)
app.command(name="config", epilog=config.EXAMPLE)(config.config)
app.command(name="demo", epilog=demo.EXAMPLE)(demo.demo)
app.add_typer(ledger.app, name="ledger")
app.add_typer(audit.app, name="audit")
app.add_typer(collect.app, name="collect")


def main() -> None:
    """Run the command line. A character that the terminal lacks is written as its code: printing never fails."""
    handle_interrupts()
    if sys.stderr is None:  # closed by whoever started this: what is written to it is dropped
        sys.stderr = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as leaving:
        # The parser turns a signal that comes around `Verbs.invoke` into an exit without a word, always with code 130.
        stop = leaving.__context__.__cause__ if isinstance(leaving.__context__, typer.Exit) else None
        if not isinstance(stop, KeyboardInterrupt):
            raise
        raise stop from None
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if not is_printing(error):
            raise
        _drop_output()
        print_lines([f"SinkError: {unprintable(error)}", *getattr(error, "__notes__", ())])
        sys.exit(1)
