"""The file of a collection: TOML, or JSON with the same names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from cloister.errors import SchemaError, UsageError
from cloister.parameters import check_path
from cloister.schema.strict_json import read_json
from cloister.schema.strict_toml import read_toml
from cloister.schema.toml import toml_key, toml_value
from cloister.sinks import stage

__all__ = ["check_facts", "read_facts", "write_facts"]

KEYS = ("id", "title", "collector", "opens", "closes", "epsilon", "protocol", "questions")
LONGEST = 2**26  # bytes of a file: a million values of 60 letters
NEW = "Write one with: cloister collect new"


def read_facts(path: str | PathLike[str]) -> dict[str, Any]:
    """What the file says, as the parameters of a `Collection`."""
    file = Path(check_path(path, "the file of a collection"))
    try:
        with file.open("rb") as opened:
            read = opened.read(LONGEST + 1)
    except FileNotFoundError:
        raise SchemaError(f"{file}: no such collection. {NEW}") from None
    except OSError as error:
        raise SchemaError(f"{file}: the collection cannot be read ({error.strerror}).") from None
    if len(read) > LONGEST:
        raise SchemaError(f"{file}: too long for a collection.")
    if file.suffix.lower() == ".json":
        facts = read_json(read, file.name, SchemaError)
    else:
        try:
            facts = read_toml(read.decode("utf-8-sig"), file.name)
        except UnicodeDecodeError:
            raise SchemaError(f"{file.name}: not UTF-8 text. Save it as UTF-8.") from None
    return check_facts(facts, file.name)


def check_facts(facts: Any, name: str) -> dict[str, Any]:
    """What a file of this name says, checked for its keys, as the parameters of a `Collection`."""
    if not isinstance(facts, Mapping):
        raise SchemaError(f"{name}: a collection is an object with {', '.join(KEYS)}.")
    if unknown := [key for key in facts if key not in KEYS]:
        shown = f' "{unknown[0]}"' if len(unknown[0]) <= 40 and unknown[0].isprintable() else ""
        raise SchemaError(f"{name} has an unknown key{shown}. A collection may hold {', '.join(KEYS)}.")
    for key in ("id", "questions"):
        if key not in facts:
            raise SchemaError(f"{name}: {key} is missing. {NEW}")
    return {key: value for key, value in facts.items() if value is not None}


def write_facts(facts: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write a new file that appears whole or not at all."""
    target = Path(check_path(path, "the file of a collection"))
    if target.suffix.lower() not in (".toml", ".json"):
        raise UsageError("a collection is written as .toml or .json. Give it a name that ends so.")
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n" if target.suffix.lower() == ".json" else toml_text(facts)
    with stage(target, directory=False) as staged:
        staged.path.write_text(text, encoding="utf-8")
        staged.commit()


def toml_text(facts: Mapping[str, Any]) -> str:
    """The facts as TOML."""
    lines = [
        "# A collection: what is asked, and what an answer costs. Public: everybody who answers may read it.",
        *(f"{key} = {toml_value(value)}" for key, value in facts.items() if key != "questions"),
    ]
    for name, question in facts["questions"].items():
        lines += ["", f"[questions.{toml_key(name)}]"]
        for key, value in question.items():
            is_decimal = key == "epsilon" and "/" not in value
            shown = value if is_decimal else toml_value(tuple(value) if isinstance(value, list) else value)
            lines.append(f"{key} = {shown}")
    return "\n".join(lines) + "\n"
