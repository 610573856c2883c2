"""What the running command prints: words for people, one JSON document for programs, or nothing but errors."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

__all__ = [
    "answer_stream",
    "asks_for",
    "begin_printing",
    "is_quiet",
    "note_answer",
    "note_folder_settings",
    "silenced",
    "wants_json",
    "with_folder_settings",
]

_as_json = False
_quiet = False
_answered = False
_folder_settings: Mapping[str, str] = {}
_stdout: TextIO | None = None  # standard output, while it is silenced


def asks_for(flag: str, arguments: Sequence[str]) -> bool:
    """Whether a flag is among the words of a command line, which need not be a right one.

    >>> asks_for("--json", ["cluster", "--no-such-flag", "--json"]), asks_for("--json", ["risk", "--", "--json"])
    (True, False)
    """
    words = list(arguments)
    return flag in (words[: words.index("--")] if "--" in words else words)


def begin_printing(as_json: bool, quiet: bool) -> None:
    """Begin a command: nothing was printed yet."""
    global _as_json, _quiet, _answered, _folder_settings
    _as_json, _quiet, _answered, _folder_settings = as_json, quiet, False, {}


def note_folder_settings(settings: Mapping[str, str]) -> None:
    """Note what the current folder's file sets: every answer in JSON tells it."""
    global _folder_settings
    _folder_settings = settings


def with_folder_settings(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer in JSON, with what the current folder's file set, if it set anything."""
    return {**answer, **({"from_cloister_toml": dict(_folder_settings)} if _folder_settings else {})}


def wants_json() -> bool:
    """Whether the command answers in JSON, errors too."""
    return _as_json


def is_quiet() -> bool:
    """Whether the command prints nothing but errors, warnings and what it was asked for."""
    return _quiet


def note_answer() -> bool:
    """Note that a document goes to standard output; False: one was printed before, and a second cannot be parsed."""
    global _answered
    is_first, _answered = not _answered, True
    return is_first


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Drop what is printed on standard output: the result is in a file, or is the exit code; but see `answer_stream`."""
    global _stdout
    _stdout = sys.stdout
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        _stdout = None


def answer_stream() -> TextIO:
    """Standard output, silenced or not: for what must not be lost."""
    return _stdout or sys.stdout
