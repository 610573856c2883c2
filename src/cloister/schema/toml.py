"""A schema as TOML, both ways. Errors name the column and the key, before any row is read."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import date, datetime
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import TypedDict, TypeVar

from cloister.column_names import nearest_name
from cloister.errors import SchemaError, UsageError
from cloister.file_options import NOTHING_SAID, FileOptions
from cloister.schema.column import Column, Role
from cloister.schema.kinds import Category, Date, Kind, Number, Text
from cloister.schema.neighbours import Neighbours
from cloister.schema.strict_toml import read_toml

__all__ = ["TableFacts", "parse", "read_text", "relocated", "toml_key", "toml_value", "write"]

_TOP = ("table", "neighbours", "unit", "max_rows", "file", "numbers", "categories", "columns")
_FILE = tuple(field.name for field in fields(FileOptions))
_KEYS: dict[str, tuple[str, ...]] = {
    "number": ("bounds", "step", "default", "decimal", "thousands", "missing"),
    "category": ("domain", "hierarchy", "default", "other", "missing"),
    "date": ("bounds", "default", "format", "missing"),
    "text": (),
}
_OF_COLUMNS = ("kind", "role", "weight", "most_level", "widest")  # of every kind
_WISHES = _OF_COLUMNS[2:]
_SHORT = {"numbers": "bounds", "categories": "values"}  # what the short form of a column states
_FORMATS = ("decimal", "thousands", "format", "missing")  # a draft guesses them from a look at the rows
_TABLE_HINTS = {
    "table": '# table = "people"              the name of the table in the ledger',
    "neighbours": '# neighbours = "add-remove"     or "replace-one", when the number of rows is public',
    "unit": '# unit = "person_id"            the column that says whose a row is, where people have several',
    "max_rows": "# max_rows = 5                  and how many rows of a person may count",
}
_HINTS = {
    ("number", "bounds"): "# bounds = [0, 100]             the lowest and the highest value that make sense",
    ("number", "step"): "# step = 1                      how finely values are told apart",
    ("category", "domain"): '# domain = ["one", "another"]   every value that may occur',
    ("date", "bounds"): "# bounds = [1900-01-01, 2030-12-31]   the first and the last day that make sense",
}
_REMARKS = {("category", "other"): '  # missing and unseen values are counted in a cell of their own, "(other)"'}
# what other tools call these keys
_SYNONYMS = {
    "missing": ("na", "nan", "null", "nulls", "na_values", "null_values", "nodata", "sentinel"),
    "thousands": ("grouping", "group_separator", "digit_group"),
    "decimal": ("comma", "point", "decimal_mark"),
    "format": ("strptime", "pattern", "dateformat", "datetime_format"),
    "domain": ("values", "levels", "categories"),
    "bounds": ("range", "limits", "min", "max"),
}
_T = TypeVar("_T")
_Word = TypeVar("_Word", bound=StrEnum)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class TableFacts(TypedDict):
    """What a schema file says: the parameters of a `Schema`, each column checked by itself."""

    columns: tuple[Column, ...]
    table: str | None
    neighbours: Neighbours | None
    unit: str | None
    max_rows: int | None
    file: FileOptions
    is_in_row_order: bool


def read_text(path: str | PathLike[str]) -> str:
    """The text of a schema file."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise SchemaError(
            f"{path}: no such schema. Draft one with: cloister schema DATA -o {shlex.quote(str(path))}"
        ) from None
    except OSError as error:
        raise SchemaError(f"{path}: the schema cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise SchemaError(f"{path}: the schema is not UTF-8 text. Save it as UTF-8.") from None


def parse(text: str) -> TableFacts:
    """The facts that TOML text states."""
    document = read_toml(text)
    _refuse_unknown(document, _TOP, "the schema")
    columns = document.get("columns", {})
    if not isinstance(columns, dict):
        raise SchemaError("columns must be tables, one a column, such as [columns.age].")
    return TableFacts(
        columns=(*_short_forms(document), *(_column(name, facts) for name, facts in columns.items())),
        table=_typed(document, "table", str, "a text in quotes"),
        neighbours=_one_of(document, "neighbours", Neighbours, "the schema"),
        unit=_typed(document, "unit", str, "the name of a column, in quotes"),
        max_rows=_typed(document, "max_rows", int, "a whole number"),
        file=_file(document.get("file", {})),
        is_in_row_order=sum(bool(document.get(part)) for part in ("numbers", "categories", "columns")) <= 1,
    )


def write(facts: TableFacts, hints: bool = False, likely_unit: str | None = None) -> str:
    """The facts as TOML text; with hints, comments show how to fill in those that are missing.

    `likely_unit` is a column that may say whose a row is: a comment asks about it.
    """
    blocks = [
        "\n".join(_head(facts, hints, likely_unit)),
        "\n".join(_file_block(facts["file"])),
        *("\n".join(_block(column, hints)) for column in facts["columns"]),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def relocated(columns: Iterable[Column], folder: Path) -> tuple[Column, ...]:
    """The columns with the paths of their hierarchies taken relative to a folder."""
    return tuple(_relocated(column, folder) for column in columns)


# --- reading ---------------------------------------------------------------------------------------------------------


def _file(facts: object) -> FileOptions:
    """What is said of the table's files."""
    if not isinstance(facts, dict):
        raise SchemaError('file must be a table: [file] and its keys below, such as names = ["age", "sex"] or skip = 2.')
    _refuse_unknown(facts, _FILE, "[file]")
    try:
        return FileOptions(**facts)
    except UsageError as error:
        raise SchemaError(f"[file]: {error}") from None


def _column(name: str, facts: object) -> Column:
    where = f'column "{name}"'
    if not isinstance(facts, dict):
        raise SchemaError(f"{where} must be a table: [columns.{toml_key(name)}] and its keys below.")
    if "kind" not in facts:
        raise SchemaError(f"{where} needs a kind: one of {', '.join(_KEYS)}.")
    word = facts["kind"]
    if not isinstance(word, str) or word not in _KEYS:
        hint = nearest_name(word, _KEYS) if isinstance(word, str) else ""
        raise SchemaError(f"{where}: kind must be one of {', '.join(_KEYS)}.{hint}")
    known = (*_OF_COLUMNS, *_KEYS[word])
    _refuse_unknown(facts, known, f"{where} (a {word})")
    role = _one_of(facts, "role", Role, where)
    try:
        kind = _READERS[word]({key: value for key, value in facts.items() if key not in _OF_COLUMNS})
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None
    return Column(name, kind, role or Role.OTHER, **{key: facts[key] for key in _WISHES if key in facts})


def _short_forms(document: Mapping[str, object]) -> Iterator[Column]:
    """The columns of the short form: `numbers` with bounds each, `categories` with a domain each and "(other)" for the rest."""
    for key, example in (("numbers", "{ age = [0, 110] }"), ("categories", '{ sex = ["f", "m"] }')):
        columns = document.get(key, {})
        if not isinstance(columns, dict):
            raise SchemaError(f"{key} must name columns with their {_SHORT[key]}, such as {key} = {example}.")
        for name, facts in columns.items():
            if not isinstance(facts, list):
                raise SchemaError(f'{key}: column "{name}" needs its {_SHORT[key]} in square brackets: {key} = {example}.')
            more = (
                {"kind": "number", "bounds": facts}
                if key == "numbers"
                else {"kind": "category", "domain": facts, "other": True}
            )
            yield _column(name, more)


def _number(facts: Mapping[str, object]) -> Number:
    return Number(**{**facts, **_tuples(facts, "bounds", "missing")})  # type: ignore[arg-type]


def _category(facts: Mapping[str, object]) -> Category:
    return Category(**{**facts, **_tuples(facts, "domain", "missing")})  # type: ignore[arg-type]


def _date(facts: Mapping[str, object]) -> Date:
    lists = _tuples(facts, "bounds", "missing")
    days = {"bounds": tuple(_day(day) for day in lists["bounds"])} if "bounds" in lists else {}
    default = {"default": _day(facts["default"])} if "default" in facts else {}
    return Date(**{**facts, **lists, **days, **default})  # type: ignore[arg-type]


# the kinds check the types of what they are given: one place says what a bound may be, for TOML and for Python
_READERS: dict[str, Callable[[Mapping[str, object]], Kind]] = {
    "number": _number,
    "category": _category,
    "date": _date,
    "text": lambda facts: Text(),
}


def _day(value: object) -> object:
    """A day may also be written in quotes, as people do."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return value
    return value


def _tuples(facts: Mapping[str, object], *keys: str) -> dict[str, tuple[object, ...]]:
    """Those of these keys that are there, as tuples."""
    lists = {key: facts[key] for key in keys if key in facts}
    for key, value in lists.items():
        if not isinstance(value, list):
            raise SchemaError(f"{key} must be a list in square brackets.")
    return {key: tuple(value) for key, value in lists.items() if isinstance(value, list)}


def _typed(facts: Mapping[str, object], key: str, kind: type[_T], words: str) -> _T | None:
    value = facts.get(key)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise SchemaError(f"{key} must be {words}.")
    return value


def _one_of(facts: Mapping[str, object], key: str, words: type[_Word], where: str) -> _Word | None:
    value = facts.get(key)
    if value is None:
        return None
    for word in words:
        if word == value:
            return word
    hint = nearest_name(value, words) if isinstance(value, str) else ""
    raise SchemaError(f"{where}: {key} must be one of {', '.join(words)}.{hint}")


def _refuse_unknown(facts: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in facts:
        if key not in known:
            raise SchemaError(f'{where} has an unknown key "{key}".{_hint_at_key(key, known)}')


def _hint_at_key(key: str, known: tuple[str, ...]) -> str:
    """The known key that was probably meant, or where this one belongs."""
    owners = [f"a {word}" for word, keys in _KEYS.items() if key in keys]
    if key in _OF_COLUMNS and known == _TOP:
        return " It is a key of a column: put it below [columns.NAME]."
    if owners and known == _TOP:
        return f" It is a key of a column: put it below [columns.NAME] of {' or '.join(owners)}."
    if owners:
        return f" It is a key of {' or '.join(owners)}: change the kind, or drop the key."
    word = key.lower().replace("-", "_")
    meant = [name for name in known if word in _SYNONYMS.get(name, ()) or (len(name) > 3 and name in word)]
    if meant:
        return f' Did you mean "{meant[0]}"?'
    return nearest_name(word, known) or f" It may hold {', '.join(known)}."


def _relocated(column: Column, folder: Path) -> Column:
    if isinstance(column.kind, Category) and column.kind.hierarchy is not None:
        return replace(column, kind=replace(column.kind, hierarchy=str(folder / column.kind.hierarchy)))
    return column


# --- writing ---------------------------------------------------------------------------------------------------------


def _head(facts: TableFacts, hints: bool, likely_unit: str | None) -> Iterator[str]:
    if hints:
        yield "# Public facts of a table. Fill them in from what the columns mean, never from the rows."
    for key, hint in _TABLE_HINTS.items():
        value = facts[key]  # type: ignore[literal-required]
        if value is not None:
            yield f"{key} = {toml_value(value)}"
        elif hints and key == "unit" and likely_unit is not None:
            unit = toml_value(likely_unit)
            yield f"# unit = {unit}  # its values repeat: if they say whose a row is, uncomment this and max_rows"
        elif hints:
            yield hint


def _file_block(file: FileOptions) -> Iterator[str]:
    """How the table's files are written, if that must be said."""
    if file != NOTHING_SAID:
        yield "[file]"
        yield from (f"{key} = {toml_value(value)}" for key, value in file.stated().items())


def _block(column: Column, hints: bool) -> Iterator[str]:
    note = "  # guessed" if column.guessed else ""
    word = type(column.kind).__name__.lower()
    yield f"[columns.{toml_key(column.name)}]"
    yield f'kind = "{word}"{note}'
    for key in _KEYS[word]:
        value = getattr(column.kind, key)
        if value is not None and value is not False and value != () and (key, value) != ("decimal", "."):
            remark = _REMARKS.get((word, key), "") if hints else ""
            yield f"{key} = {toml_value(value)}{note if key in _FORMATS else ''}{remark}"
        elif hints and (word, key) in _HINTS:
            yield _HINTS[word, key]
    if column.role is not Role.OTHER or column.guessed:
        yield f'role = "{column.role}"{note}'
    for key in _WISHES:
        if (wish := getattr(column, key)) is not None:
            yield f"{key} = {toml_value(wish)}"


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, tuple):
        return f"[{', '.join(toml_value(part) for part in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def toml_key(name: str) -> str:
    """A name as a key of TOML."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, but for the delete character, which TOML wants escaped too
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
