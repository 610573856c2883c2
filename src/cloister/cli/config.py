"""``cloister config``: which defaults hold here, and where each comes from."""

from __future__ import annotations

import contextlib

import typer

from cloister.cli import flags, output
from cloister.cli.flag_defaults import BUILT_IN, SETTINGS
from cloister.errors import CloisterError
from cloister.parameters import without_passwords
from cloister.report.document import Document, Section, Sentence, TextTable
from cloister.report.terminal import print_document

EXAMPLE = "Example: cloister config"


@flags.takes_groups
def config(context: typer.Context, *, everywhere: flags.Everywhere) -> None:
    """Show the defaults of flags: from CLOISTER_... variables, ./cloister.toml, and cloister.toml in your config folder."""
    settings = context.find_root().obj
    rows = [
        {
            "setting": name,
            "value": without_passwords(value, is_url=True)
            if isinstance(value := settings.values.get(name, built_in(name)), str)
            else value,
            "from": settings.origins.get(name, BUILT_IN),
            "variable": setting.variable,
        }
        for name, setting in SETTINGS.items()
    ]
    if everywhere.as_json:
        output.print_json({"settings": rows})
        return
    cells = [[str(row["setting"]), shown(row["value"]), str(row["from"])] for row in rows]
    rule = "A flag comes first, then CLOISTER_NAME in the environment, ./cloister.toml, and cloister.toml in your config folder."
    print_document(Document((Section((TextTable.of(["setting", "value", "from"], cells), Sentence(rule))),)))


def shown(value: object) -> str:
    """A value as a file would have it; what is not set is a dash."""
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def built_in(name: str) -> object:
    """What holds where nothing is set; None: nothing does."""
    if SETTINGS[name].is_switch:
        return False
    if name == "engine":
        return flags.DEFAULT_ENGINE
    if name == "ledger":
        from cloister.privacy.ledger import Ledger

        with contextlib.suppress(CloisterError):
            return Ledger.default().place
    return None
