"""The JSON of a recoding: written with a hash, and checked before a row is looked up in it.

A recoding says which columns must not be published. From version 3 on it carries a hash, and names every column of its
table; version 2 has neither, so that what it is applied to must be looked at more strictly (`apply.check_columns`). Version
4 also carries the name that the table has in its ledger.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.errors import SchemaError, UsageError
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.hierarchies import UNKNOWN
from cloister.schema.strict_json import read_json

__all__ = ["read_fields", "recoding_json"]

VERSION = 4  # 1 did not say which columns must not be published, 2 had no hash and did not name the untouched columns
COLUMN_KEYS = {"name", "leaves", "edges", "is_date", "null", "of", "labels"}
FORMAT_KEYS = {"unknown", "form", "is_grid"}  # only where they are not the usual ones
KEYS = {"kind", "version", "is_starred", "dropped", "pseudonyms", "person", "columns", "keys", "members", "classes"}
KEYS_BY_VERSION = {2: KEYS, 3: KEYS | {"untouched", "sha256"}, VERSION: KEYS | {"untouched", "sha256", "table"}}
FOREIGN = "this is not a recoding that this version can read. Make it again."
CHANGED = "this recoding was changed after it was written: its hash differs. Take the original, or anonymize the table anew."


class WrittenColumn(Protocol):
    """The fields of a `RecodedColumn`, which imports this module."""

    @property
    def name(self) -> str: ...
    @property
    def leaves(self) -> tuple[str, ...] | None: ...
    @property
    def edges(self) -> NDArray[np.float64] | None: ...
    @property
    def is_date(self) -> bool: ...
    @property
    def null(self) -> int: ...
    @property
    def of(self) -> NDArray[np.int32]: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def unknown(self) -> int: ...
    @property
    def form(self) -> CellFormat: ...
    @property
    def is_grid(self) -> bool: ...


class Written(Protocol):
    """The fields of a `Recoding`."""

    @property
    def columns(self) -> tuple[WrittenColumn, ...]: ...
    @property
    def keys(self) -> NDArray[np.int32]: ...
    @property
    def members(self) -> NDArray[np.int32]: ...
    @property
    def classes(self) -> NDArray[np.int32]: ...
    @property
    def is_starred(self) -> bool: ...
    @property
    def dropped(self) -> tuple[str, ...]: ...
    @property
    def pseudonyms(self) -> tuple[str, ...]: ...
    @property
    def person(self) -> str | None: ...
    @property
    def untouched(self) -> tuple[str, ...] | None: ...
    @property
    def table(self) -> str | None: ...


def recoding_json(recoding: Written) -> str:
    """A recoding as JSON text with its hash."""
    columns = [
        {
            "name": column.name,
            "leaves": None if column.leaves is None else list(column.leaves),
            "edges": None if column.edges is None else _listed(column.edges),
            "is_date": column.is_date,
            "null": column.null,
            "of": column.of.tolist(),
            "labels": list(column.labels),
            **({} if column.unknown == UNKNOWN else {"unknown": column.unknown}),
            **({} if column.form == PLAIN else {"form": {**asdict(column.form), "missing": list(column.form.missing)}}),
            **({"is_grid": True} if column.is_grid else {}),
        }
        for column in recoding.columns
    ]
    facts = {
        "kind": "recoding",
        "version": VERSION,
        "is_starred": recoding.is_starred,
        "dropped": list(recoding.dropped),
        "pseudonyms": list(recoding.pseudonyms),
        "person": recoding.person,
        "untouched": None if recoding.untouched is None else list(recoding.untouched),
        "table": recoding.table,
        "columns": columns,
        **{name: getattr(recoding, name).tolist() for name in ("keys", "members", "classes")},
    }
    return json.dumps({**facts, "sha256": _hash_of(facts)}, ensure_ascii=False)


def read_fields(text: str, make_column: Callable[..., Any]) -> dict[str, Any]:
    """The fields of a recoding, by name, from its JSON; one that was changed, or that makes no sense, is refused."""
    whole = read_json(text, "the recoding", UsageError)
    _need(isinstance(whole, dict) and whole.get("kind") == "recoding" and type(whole.get("version")) is int)
    _need(whole.keys() == KEYS_BY_VERSION.get(whole["version"]))
    is_hashed = "sha256" in whole
    if is_hashed and whole.pop("sha256") != _hash_of(whole):
        raise UsageError(CHANGED)
    _need(isinstance(whole["columns"], list) and len(whole["columns"]) > 0)
    columns = tuple(make_column(**_column(entry)) for entry in whole["columns"])
    sizes = np.array([len(column.labels) for column in columns])
    classes = _codes(whole["classes"], (-1, len(columns)), sizes)
    names = [column.name for column in columns]
    _need(len(set(names)) == len(names) and isinstance(whole["is_starred"], bool))
    _need(whole["person"] is None or isinstance(whole["person"], str))
    _need(whole.get("table") is None or (isinstance(whole["table"], str) and whole["table"] != ""))
    keys = _codes(whole["keys"], (-1, len(columns)), sizes)
    members = _codes(whole["members"], (-1,), np.array(len(classes)))
    _need(len(members) == len(keys))
    return {
        "columns": columns,
        "keys": keys,
        "members": members,
        "classes": classes,
        "is_starred": whole["is_starred"],
        "dropped": _texts(whole["dropped"]),
        "pseudonyms": _texts(whole["pseudonyms"]),
        "person": whole["person"],
        "untouched": _texts(whole["untouched"]) if is_hashed and whole["untouched"] is not None else None,
        "table": whole.get("table"),
    }


def _column(entry: Any) -> dict[str, Any]:
    """The fields of a column; the codes that its leaves become are among its labels."""
    _need(isinstance(entry, dict) and entry.keys() - FORMAT_KEYS == COLUMN_KEYS)
    _need(isinstance(entry["name"], str) and isinstance(entry["is_date"], bool))
    _need((entry["leaves"] is None) != (entry["edges"] is None))
    labels = _texts(entry["labels"])
    of = _codes(entry["of"], (-1,), np.array(len(labels)))
    leaves = None if entry["leaves"] is None else _texts(entry["leaves"])
    edges = None if entry["edges"] is None else _edges(entry["edges"])
    null, unknown = entry["null"], entry.get("unknown", UNKNOWN)
    _need(type(null) is int and -1 <= null < len(of))
    _need(type(unknown) is int and UNKNOWN <= unknown < len(of))
    form = _form(entry["form"]) if "form" in entry else PLAIN
    _need("is_grid" not in entry or (entry["is_grid"] is True and edges is not None))
    _need(len(of) >= (len(leaves) if leaves is not None else len(edges) - 1 if edges is not None else 0))
    return {**entry, "labels": labels, "of": of, "leaves": leaves, "edges": edges, "unknown": unknown, "form": form}


def _form(entry: Any) -> CellFormat:
    try:
        return CellFormat(**entry)
    except (SchemaError, TypeError):
        raise UsageError(FOREIGN) from None


def _codes(listed: Any, shape: tuple[int, ...], sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Codes from 0 up to `sizes`, each column below its own."""
    _need(isinstance(listed, list))
    if not listed:
        return np.zeros((0, *shape[1:]), np.int32)
    try:
        codes = np.array(listed).reshape(shape)
    except ValueError:  # ragged, or of another width
        raise UsageError(FOREIGN) from None
    _need(codes.dtype.kind == "i" and bool((codes >= 0).all()) and bool((codes < sizes).all()))
    return codes.astype(np.int32)


def _edges(listed: Any) -> NDArray[np.float64]:
    """Numbers that do not fall; infinite ones are words."""
    _need(isinstance(listed, list) and len(listed) > 0)
    for edge in listed:
        _need(edge in ("inf", "-inf") if isinstance(edge, str) else isinstance(edge, int | float))
    edges = np.array([float(edge) for edge in listed])
    _need(bool((edges[1:] >= edges[:-1]).all()))
    return edges


def _texts(listed: Any) -> tuple[str, ...]:
    _need(isinstance(listed, list) and all(isinstance(text, str) for text in listed))
    return tuple(listed)


def _need(holds: bool) -> None:
    if not holds:
        raise UsageError(FOREIGN)


def _hash_of(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")).hexdigest()


def _listed(edges: NDArray[np.float64]) -> list[float | str]:
    """Numbers for JSON, which has no infinite ones: those are words."""
    return [edge if np.isfinite(edge) else str(edge) for edge in edges.tolist()]
