"""Defaults of flags: from the environment, from ``cloister.toml`` in the current folder, and from the user's own.

A flag comes before a variable of the environment, that before the file in the current folder, that before the user's file. How
much a release may reveal is no setting: it is said with every release. A file in the current folder may have come with the data:
it may not say who gets to see the rows, nor with which key releases are signed.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloister.cli.flags import ENGINE_NAMES
from cloister.errors import UsageError
from cloister.parameters import without_passwords

__all__ = ["SETTINGS", "KnownSetting", "FlagDefaults", "read_settings"]

FILE_NAME = "cloister.toml"
BUILT_IN = "built in"
LONGEST_FILE = 1_000_000  # bytes


@dataclass(frozen=True, slots=True)
class KnownSetting:
    """One default: its name in a file, what it is, and the parameter of verbs that it stands for."""

    name: str
    help: str
    parameter: str = ""  # empty: not a flag, read from the environment where it is used
    is_switch: bool = False
    is_path: bool = False
    is_own: bool = False  # not taken from the current folder's file, which somebody else may have written
    outranked_by: tuple[str, ...] = ()  # flags beside which it does not count

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"CLOISTER_{self.name.upper()}"


SETTINGS = {
    each.name: each
    for each in (
        KnownSetting("ledger", "where budgets are kept, of tables that a schema or --table names", is_path=True),
        KnownSetting("key", "the private key of this host", is_path=True, is_own=True),
        KnownSetting("data", "where public data sets are kept", is_path=True),
        KnownSetting("schema", "public facts of the table", "schema", is_path=True, outranked_by=("--synopsis",)),
        KnownSetting("table", "name of the table in the ledger", "table", outranked_by=("--synopsis",)),
        KnownSetting("engine", "who reads the rows", "engine", outranked_by=("--master", "--remote")),
        KnownSetting("master", "where Spark is started", "master", is_own=True, outranked_by=("--remote", "--engine")),
        KnownSetting("remote", "a Spark Connect server", "remote", is_own=True, outranked_by=("--master", "--engine")),
        KnownSetting("json", "answer in JSON", "as_json", is_switch=True),
        KnownSetting("quiet", "say nothing when all is well", "quiet", is_switch=True),
    )
}
WITHOUT = {  # what verbs have under the same name and mean otherwise
    "ledger": {"table", "schema"},
    "collect": {"table", "schema"},
    "config": {"table", "schema"},
}


@dataclass(frozen=True, slots=True)
class FlagDefaults:
    """What each setting is, and where that comes from."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]

    def flag_defaults(self, group: Any, arguments: Sequence[str]) -> dict[str, Any]:
        """The defaults of all verbs as the parser takes them: by verb, then by parameter."""
        given = {word.partition("=")[0] for word in arguments}
        usable = {
            setting.parameter: self.values[name]
            for name, setting in SETTINGS.items()
            if setting.parameter and name in self.values and not given.intersection(setting.outranked_by)
        }
        return {verb: _defaults(command, usable, WITHOUT.get(verb, set())) for verb, command in group.commands.items()}

    def from_folder(self) -> dict[str, str]:
        """What the file in the current folder sets, which somebody else may have written."""
        names = [name for name, origin in self.origins.items() if origin == FILE_NAME]
        words = {
            name: str(self.values[name]).lower() if SETTINGS[name].is_switch else str(self.values[name]) for name in names
        }
        return {name: without_passwords(text, is_url=True) for name, text in words.items()}

    @contextmanager
    def in_environment(self) -> Iterator[None]:
        """FlagDefaults that are no flags, where they are looked for."""
        set_here = {
            setting.variable: str(self.values[name])
            for name, setting in SETTINGS.items()
            if not setting.parameter and name in self.values and not os.environ.get(setting.variable)
        }
        os.environ.update(set_here)
        try:
            yield
        finally:
            for variable in set_here:
                os.environ.pop(variable, None)


def read_settings() -> FlagDefaults:
    """The settings of whoever runs this, here."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    own = _own_file()
    _refuse_empty_variables()
    for path, origin in (*([(own, str(own))] if own is not None else []), (Path(FILE_NAME), FILE_NAME)):
        if origin == FILE_NAME and own is not None and path.absolute() == own:
            continue  # the user works in the config folder
        for name, value in _read_file(path).items():
            if origin == FILE_NAME and SETTINGS[name].is_own:
                raise UsageError(_not_here(name, own))
            is_elsewhere = SETTINGS[name].is_path and "://" not in value and origin != FILE_NAME
            values[name] = str(path.parent / Path(value).expanduser()) if is_elsewhere else value
            origins[name] = origin
    for name, setting in SETTINGS.items():
        if text := os.environ.get(setting.variable):
            values[name] = _read_switch(text, setting.variable) if setting.is_switch else text
            origins[name] = setting.variable
    _check_engine(values, origins)
    return FlagDefaults(values, origins)


def _refuse_empty_variables() -> None:
    """Refuse an empty variable: a default would stand in for it, and be charged, or sign, instead of what was meant."""
    for setting in SETTINGS.values():
        if not setting.is_switch and os.environ.get(setting.variable) == "":
            what = "a path" if setting.is_path else "a name"
            raise UsageError(f"{setting.variable} is empty. Set it to {what}, or unset it.")


def _not_here(name: str, own: Path | None) -> str:
    """Why the current folder's file may not set this, and what may."""
    flag = "" if not SETTINGS[name].parameter else f", or give --{name}"
    place = f"your own file, {own}" if own is not None else "a cloister.toml in your config folder"
    return (
        f"./{FILE_NAME} sets {name}, which is not taken from the current folder: the file may have come with the data. Delete "
        f"that line; set it in {place}, or in {SETTINGS[name].variable}{flag}."
    )


def _own_file() -> Path | None:
    import platformdirs

    try:
        folder = platformdirs.user_config_path("cloister", appauthor=False)
    except RuntimeError:
        return None
    return folder / FILE_NAME if folder.is_absolute() else None


def _read_file(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        if not path.is_file() or path.stat().st_size > LONGEST_FILE:  # a pipe or a device may never end
            raise ValueError
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        # the place alone: the rest of the parser's words quotes the file
        place = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(error))
        at = f" (at {place[1]})" if place else ""
        raise UsageError(f"{path} cannot be read as TOML{at}. Mend it, or move it away.") from None
    for name, value in facts.items():
        if name not in SETTINGS:
            more = "How much may be revealed is said with every release. " * (name in ("epsilon", "delta", "rho"))
            raise UsageError(f'{path} sets "{name}", which is no setting. {more}There are: {", ".join(SETTINGS)}.')
        if SETTINGS[name].is_switch != isinstance(value, bool) or not isinstance(value, bool | str) or value == "":
            raise UsageError(f"{path}: {name} must be {'true or false' if SETTINGS[name].is_switch else 'a text'}.")
    return facts


def _read_switch(text: str, variable: str) -> bool:
    if text.lower() not in ("1", "true", "yes", "0", "false", "no"):
        raise UsageError(f"{variable} must be 1 or 0.")
    return text.lower() in ("1", "true", "yes")


def _check_engine(values: Mapping[str, Any], origins: Mapping[str, str]) -> None:
    """Refuse the name of an engine that there is none of: the parser would blame a flag."""
    if "engine" in values and values["engine"] not in ENGINE_NAMES:
        raise UsageError(f"the engine in {origins['engine']} is none. There are: {', '.join(ENGINE_NAMES)}.")


def _defaults(command: Any, usable: Mapping[str, Any], without: set[str]) -> dict[str, Any]:
    """The defaults of a verb, or of each verb of a group."""
    if inner := getattr(command, "commands", None):
        own = {name: _defaults(each, usable, without) for name, each in inner.items()}
        return own | _defaults_of(command, usable, without)
    return _defaults_of(command, usable, without)


def _defaults_of(command: Any, usable: Mapping[str, Any], without: set[str]) -> dict[str, Any]:
    return {param.name: usable[param.name] for param in command.params if param.name in usable and param.name not in without}
