"""Hierarchies from files: CSV with one line a value, nested TOML or JSON, or a rule (intervals, prefix) in either."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cloister.errors import SchemaError, SourceError
from cloister.parameters import check_path
from cloister.schema.cell_values import float_text
from cloister.schema.hierarchies.build import calendar, intervals, prefix
from cloister.schema.hierarchies.tree import Hierarchy
from cloister.schema.strict_json import line_of, read_json
from cloister.schema.strict_toml import read_toml

__all__ = ["file_stem", "find_hierarchies", "read_hierarchy"]

SUFFIXES = (".csv", ".txt", ".toml", ".json")
_UNSAFE = frozenset('%/\\:*?"<>|')  # separators, what some system forbids, and the sign that they are written with
_RULES = {
    "intervals": ("low", "high", "step", "width", "cuts", "fanout"),
    "prefix": ("values", "lengths"),
}


def file_stem(name: str) -> str:
    """The name of a column as that of a file: what would lead out of a folder or hide the file is written as in a web address.

    >>> file_stem("age"), file_stem("Kosten €"), file_stem("age/years"), file_stem("../x"), file_stem("100%")
    ('age', 'Kosten €', 'age%2Fyears', '%2E.%2Fx', '100%25')
    """
    safe = "".join(quote(c, safe="") if c in _UNSAFE or not c.isprintable() else c for c in name)
    return f"%2E{safe[1:]}" if safe.startswith(".") else safe or "%"


def find_hierarchies(directory: str | PathLike[str], columns: Iterable[str]) -> dict[str, Path]:
    """The hierarchy file of each column: the one whose name ends in the column's name.

    ``adult_hierarchy_age.csv`` and ``age.csv`` belong to ``age``. Of several columns that fit, the longest name wins. A
    column whose name no file can have is known by `file_stem`: ``age%2Fyears.csv`` belongs to ``age/years``.
    """
    place = Path(check_path(directory, "hierarchies", "a directory"))
    if not os.path.isdir(place):
        raise SourceError(f'"{place}" is not a directory. Name the one that holds the hierarchies.')
    names = sorted(columns, key=len, reverse=True)
    file_of: dict[str, Path] = {}
    for path in sorted(place.iterdir()):
        if path.suffix.lower() not in SUFFIXES:
            continue
        owner = next((name for name in names if path.stem == file_stem(name)), None)
        if owner is None:
            owner = next((name for name in names if _ends_in(path.stem, name) or _ends_in(path.stem, file_stem(name))), None)
        if owner is None:
            continue
        if owner in file_of:
            raise SchemaError(
                f'column "{owner}" has two hierarchies, {file_of[owner].name} and {path.name}. Move one of them away.'
            )
        file_of[owner] = path
    return file_of


def read_hierarchy(path: str | PathLike[str]) -> Hierarchy:
    """Read a hierarchy: ``.csv`` or ``.txt`` (``;`` or ``,``), ``.toml`` or ``.json``.

    Notes
    -----
    CSV: one line a value, without a header, the value at the left, the root at the right, as many labels in every line.
    TOML and JSON: nested tables whose innermost level is a list of values; or one table ``intervals`` (low, high, and
    step, width, cuts, fanout as wanted; with dates for low and high: a calendar) or ``prefix`` (values, lengths).
    """
    place = Path(path)
    try:
        raw = place.read_bytes()
    except OSError:
        raise SourceError(f'the hierarchy "{place}" cannot be read. Check the path.') from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    match place.suffix.lower():
        case ".csv" | ".txt":
            return _from_csv(text, place.name)
        case ".toml":
            return _from_tree(read_toml(text, place.name), text, place.name)
        case ".json":
            return _from_tree(read_json(text, place.name, SchemaError), text, place.name)
        case _:
            raise SourceError(f'the hierarchy "{place.name}" is of an unknown format. Known: {", ".join(SUFFIXES)}.')


def _ends_in(stem: str, name: str) -> bool:
    stem, name = stem.casefold(), name.casefold()
    if not stem.endswith(name):
        return False
    before = stem[: len(stem) - len(name)]
    return not before or not before[-1].isalnum()


def _from_csv(text: str, origin: str) -> Hierarchy:
    first = text.lstrip().split("\n", 1)[0]
    reader = csv.reader(text.splitlines(), delimiter=";" if ";" in first else ",", skipinitialspace=True)
    paths: list[list[str]] = []
    places: list[str] = []
    try:
        for line in reader:
            cells = [cell.strip() for cell in line]
            if not any(cells):
                continue
            where = f"line {reader.line_num}"
            if paths and len(cells) != len(paths[0]):
                raise SchemaError(
                    f"{origin}, {where}: {len(cells)} labels, and {len(paths[0])} in {places[0]}. "
                    "Every line needs as many, from the value to the root."
                )
            paths.append(cells)
            places.append(where)
    except csv.Error:
        raise SchemaError(f"{origin}, line {reader.line_num}: the line cannot be read. Check its quotes.") from None
    if paths and len(paths[0]) == 1:  # a plain list of values
        paths = [[*path, "*"] for path in paths]
    return Hierarchy.from_paths(paths, places, origin)


def _from_tree(tree: Any, text: str, origin: str) -> Hierarchy:
    if isinstance(tree, dict) and len(tree) == 1:
        rule, facts = next(iter(tree.items()))
        if rule in _RULES and isinstance(facts, dict) and {"low", "high", "values"} & set(facts):
            return _from_rule(rule, facts, origin)
    if isinstance(tree, dict) and len(tree) == 1 and isinstance(next(iter(tree.values())), dict):
        root, tree = next(iter(tree.items()))
    else:
        root = "*"
    paths = [tuple(reversed(path)) for path in _walk(tree, (root,), origin)]
    return Hierarchy.from_paths(paths, _Lines(text, [path[0] for path in paths]), origin)


class _Lines(Sequence[str]):
    """In which line each value stands; looked up when a message needs it, since each search goes through the text."""

    def __init__(self, text: str, values: list[str]) -> None:
        self._text, self._values = text, values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: Any) -> Any:
        value = self._values[place]
        return line_of(self._text, value, self._values[: place + 1].count(value))


def _walk(tree: Any, path: tuple[str, ...], origin: str) -> Iterator[tuple[str, ...]]:
    """Every path from the root to a value."""
    if isinstance(tree, dict):
        if len({label.strip() for label in tree}) < len(tree):
            raise SchemaError(f"{origin}: two labels of one group differ in blanks alone. Keep one of the two.")
        for label, below in tree.items():
            yield from _walk(below, (*path, label.strip()), origin)
    elif isinstance(tree, list):
        for item in tree:
            yield from _walk(item, path, origin) if isinstance(item, (dict, list)) else [(*path, _word(item, origin))]
    else:
        yield (*path, _word(tree, origin))


def _word(item: object, origin: str) -> str:
    if item is None:
        return ""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (str, int, float, date)):
        return float_text(item) or "" if isinstance(item, float) else str(item).strip()
    raise SchemaError(f"{origin}: a value must be a text or a number.")


def _from_rule(rule: str, facts: dict[str, Any], origin: str) -> Hierarchy:
    unknown = sorted(set(facts) - set(_RULES[rule]))
    if unknown:
        raise SchemaError(f'{origin}: {rule} has no key "{unknown[0]}". Known: {", ".join(_RULES[rule])}.')
    try:
        if rule == "prefix":
            return prefix([_word(value, origin) for value in facts["values"]], facts.get("lengths"), origin)
        low, high = facts["low"], facts["high"]
        if isinstance(low, date) and isinstance(high, date):
            return calendar(low, high, cuts=facts.get("cuts"), origin=origin)
        return intervals(
            float(low), float(high), origin=origin, **{k: v for k, v in facts.items() if k not in ("low", "high")}
        )
    except KeyError as missing:
        raise SchemaError(f"{origin}: {rule} needs the key {missing}.") from None
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"{origin}: {rule} needs numbers (or dates), and lists of them for cuts and lengths.") from None
