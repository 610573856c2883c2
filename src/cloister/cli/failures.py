"""How a command that fails says so: one line for people on standard error, and with ``--json`` one object on standard output.

The object is ``{"error": {"type", "message", "exit_code", "charged", "notes"}}``. Neither form holds a data value.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer

from cloister.cli import verbosity
from cloister.errors import CloisterError, ExitCode, out_of_memory
from cloister.report.one_line import escape_controls, one_line
from cloister.report.terminal import screen_width, wrapped
from cloister.stopped_commands import charge_dicts, charges_made, describe_charges, describe_stop

__all__ = ["is_printing", "is_usage", "print_lines", "tell_failure", "tell_usage", "unprintable"]


def tell_failure(error: BaseException) -> int | None:
    """Say why a command failed; its exit code, or None for what others show."""
    if isinstance(error, CloisterError):
        return tell(type(error).__name__, str(error), error, error.exit_code)
    if isinstance(error, KeyboardInterrupt):
        return tell_stop(error)
    if isinstance(error, BrokenPipeError):  # nobody reads on, which is no fault; what was paid for is said all the same
        if charged := charges_made(error):
            with contextlib.suppress(OSError, ValueError):
                print_lines([charged, *getattr(error, "__notes__", ())])
        return None
    if isinstance(error, MemoryError):
        return tell("EngineError", _words(str(out_of_memory("the command ran")), describe_charges(error)), error, 1)
    if is_usage(error):
        tell_usage(error)
        return None
    # A traceback may quote rows: it is for whoever debugs with made-up data.
    if os.environ.get("CLOISTER_DEBUG") or is_printing(error):
        return None
    return tell_bug(error)


def tell(kind: str, message: str, error: BaseException, exit_code: int) -> int:
    """One line for an error, and one for each thing that was done before it, whatever names of files stand in them."""
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    _print([f"{kind}: {message}", *notes], kind, message, exit_code, notes)
    return exit_code


def tell_bug(error: BaseException) -> int:
    """What is said of an exception that nobody foresaw."""
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    message = _words(
        f"Unexpected {type(error).__name__}.",
        describe_charges(error),
        "This is a bug: please report it, with the traceback that CLOISTER_DEBUG=1 shows on made-up data.",
    )
    _print([message, *notes], type(error).__name__, message, ExitCode.BUG, notes)
    return ExitCode.BUG


def tell_stop(error: BaseException) -> int:
    """What is said of a command that a signal stopped."""
    code = getattr(error, "exit_code", ExitCode.INTERRUPTED)
    message, *notes = describe_stop(error).split("\n")
    print_error("Interrupted", message, code, notes)
    if not (verbosity.is_quiet() and verbosity.wants_json()):
        print_lines([message, *notes])
    return int(code)


def tell_usage(error: Any) -> None:
    """What the parser of the command line refuses, for programs; for people it prints itself."""
    if options := getattr(error, "possibilities", None):  # the parser lists whatever shares a few letters
        error.possibilities = difflib.get_close_matches(getattr(error, "option_name", ""), options, n=3, cutoff=0.8)
    is_help = type(error).__name__ == "NoArgsIsHelpError"  # its message is the whole help
    message = "Missing command. See --help." if is_help else error.format_message()
    print_error("UsageError", message, error.exit_code)


def print_error(kind: str, message: str, exit_code: int, notes: Sequence[str] = ()) -> None:
    """With ``--json``: the error as one object, on standard output unless a result stands there already."""
    if not verbosity.wants_json():
        return
    charges = charge_dicts()
    facts = {
        "type": kind,
        "message": one_line(message),
        "exit_code": int(exit_code),
        "charged": charges[-1] if charges else None,
        "notes": [one_line(note) for note in notes],
    }
    text = escape_controls(json.dumps(verbosity.with_folder_settings({"error": facts}), indent=2, ensure_ascii=False))
    if verbosity.note_answer():
        with contextlib.suppress(OSError, ValueError):  # nobody reads it: the exit code stands
            typer.echo(text, file=verbosity.answer_stream())
    else:
        typer.echo(text, err=True)


def print_lines(lines: Sequence[str]) -> None:
    """Lines on standard error."""
    width = screen_width(sys.stderr)
    typer.echo("\n".join(wrapped(one_line(line), width) for line in lines), err=True)


def is_printing(error: BaseException) -> bool:
    """Whether the system refused what a command printed, as it does where a full disk is behind standard output."""
    if not isinstance(error, OSError) or error.filename is not None:
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith(("typer.", "click.", "rich.", "cloister.report."))


def unprintable(error: OSError) -> str:
    """What is said where standard output takes nothing."""
    return _words(f"the answer cannot be printed: {os.strerror(error.errno or 0)}.", charges_made(error))


def is_usage(error: BaseException) -> bool:
    """Whether the command line parser raised this: it prints itself."""
    return hasattr(error, "show") and hasattr(error, "exit_code")


def _print(lines: Sequence[str], kind: str, message: str, exit_code: int, notes: Sequence[str]) -> None:
    print_error(kind, message, exit_code, notes)
    if not (verbosity.is_quiet() and verbosity.wants_json()):
        print_lines(lines)


def _words(*sentences: str) -> str:
    """Sentences one after another, without empty ones."""
    return " ".join(filter(None, sentences))
