"""Words of a command that are empty where a path is wanted: a shell makes one of a variable that is not set.

The system takes an empty path for the current folder, whose files would be read, and charged. Only the parser knows which word is
the value of a flag and which stands for itself, so that it is asked, before it makes a path of the word.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from cloister.errors import UsageError

__all__ = ["refuse_empty_words"]

PATHS = ("FILE", "DIR", "PATH", "URL", "PUBLIC")  # what options that take paths show in the help


def refuse_empty_words(command: Any) -> None:
    """Let a command and its sub-commands refuse an empty word as an argument, and as the value of a flag that takes a path."""
    for parameter in command.params:
        is_argument = parameter.param_type_name == "argument"
        if (is_argument or (parameter.metavar or "").strip("[]") in PATHS) and "process_value" not in vars(parameter):
            parameter.process_value = partial(_processed, parameter, parameter.process_value)
    for inner in getattr(command, "commands", {}).values():
        refuse_empty_words(inner)


def _processed(parameter: Any, process: Any, context: Any, value: Any) -> Any:
    """What the parser makes of the words of a parameter, none of which is empty."""
    words = value if isinstance(value, list | tuple) else [value]
    if "" in words and not context.resilient_parsing:
        name = parameter.metavar.strip("[]") if parameter.param_type_name == "argument" else parameter.opts[0]
        what = "a name" if name in ("NAME", "ID", "ENTRY") else "a path"
        raise UsageError(f"{name} is empty. Give {what}, or leave it out.")
    return process(context, value)
