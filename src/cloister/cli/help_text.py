"""What ``--help`` shows of flags and arguments: what to type, in the user's words, and no type of Python."""

from __future__ import annotations

from typing import Any

__all__ = ["hide_types"]


def hide_types(command: Any, context: Any) -> None:
    """Leave out the types that typer shows of a flag without a value (<bool>) and of DATA (<list[str]>), in all sub-commands."""
    for parameter in command.get_params(context):
        if getattr(parameter, "is_flag", False) or parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
    for inner in getattr(command, "commands", {}).values():
        hide_types(inner, context)
