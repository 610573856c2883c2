"""The command line: one file a verb. Exit code 0 only when the result exists, 2 for usage, 1 for the rest."""

from __future__ import annotations

import io
import logging
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cloister.cli import anonymize, audit, calibrate, cluster, demo, ledger, risk, schema, synopsis, tabulate, verify
from cloister.errors import CloisterError

__all__ = ["app", "main"]


class Verbs(TyperGroup):
    """The group of all verbs: turns errors into one or two lines and an exit code, and never shows a data value."""

    def invoke(self, ctx: Any) -> Any:
        if not os.environ.get("CLOISTER_DEBUG"):
            logging.disable()  # what libraries log may quote values, and drowns the sentence that says what to do
        try:
            return super().invoke(ctx)
        except CloisterError as error:
            typer.echo(f"{type(error).__name__}: {error}", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            typer.echo("Stopped. What was charged to a ledger stays charged; nothing half-written is left.", err=True)
            raise typer.Exit(130) from None
        except (BrokenPipeError, typer.Exit, typer.Abort):
            raise
        except Exception as error:
            # A traceback may quote rows: it is for whoever debugs with made-up data.
            if os.environ.get("CLOISTER_DEBUG") or _is_usage(error):
                raise
            typer.echo(
                f"Unexpected {type(error).__name__}. What was charged to a ledger stays charged. This is a bug: please report "
                "it, with the traceback that CLOISTER_DEBUG=1 shows on made-up data.",
                err=True,
            )
            raise typer.Exit(1) from None


def _is_usage(error: Exception) -> bool:
    """Whether the command line parser raised this: it prints itself."""
    return hasattr(error, "show") and hasattr(error, "exit_code")


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Turn a sensitive table into something that may leave the building, with a guarantee that is proved and shown.",
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
app.command(name="anonymize", epilog=anonymize.EXAMPLE)(anonymize.anonymize)
app.command(name="risk", epilog=risk.EXAMPLE)(risk.risk)
app.command(name="calibrate", epilog=calibrate.EXAMPLE)(calibrate.calibrate)
app.command(name="verify", epilog=verify.EXAMPLE)(verify.verify)
app.command(name="demo", epilog=demo.EXAMPLE)(demo.demo)
app.add_typer(ledger.app, name="ledger")
app.add_typer(audit.app, name="audit")


def main() -> None:
    """Run the command line. A character that the terminal lacks is written as its code: printing never fails."""
    if sys.stderr is None:  # closed by whoever started this: what is written to it is dropped
        sys.stderr = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
