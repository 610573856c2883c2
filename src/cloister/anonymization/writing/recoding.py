"""A recoding: which label replaces which value, as data. It can be shown, saved as JSON, and applied to rows.

A row is looked up in two steps: every quasi-identifier becomes a code, and the tuple of codes a class. Under global
recoding the codes are those of the published labels; under local recoding they are those of the raw values. A tuple that
no class holds is suppressed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.anonymization.counting.columns import Block, Scale
from cloister.errors import UsageError
from cloister.schema.hierarchies import MISSING, Hierarchy
from cloister.schema.hierarchies.tree import leaf_codes

__all__ = ["Ranks", "Recoded", "Recoding", "make_global", "make_local"]

STAR = "*"
VERSION = 2  # 1 did not say which columns must not be published
_DENSE = 1 << 22  # tuples of a table that is looked up directly


@dataclass(frozen=True, slots=True, eq=False)
class Recoded:
    """A column of a recoding: how its values become codes, and the labels it may be published as.

    `leaves` are the texts of the values (or None, and `edges` bound the intervals of numbers or days that share a leaf); the
    leaf of a null is `null`, or -1. `of` maps each leaf to the code that classes are looked up by.
    """

    name: str
    leaves: tuple[str, ...] | None
    edges: NDArray[np.float64] | None
    is_date: bool
    null: int
    of: NDArray[np.int32]  # (leaves,)
    labels: tuple[str, ...]

    def codes(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each value; negative for a value that the recoding does not know."""
        found = leaf_codes(values, self.leaves, self.edges, is_date=self.is_date)
        found[found == MISSING] = self.null
        return np.where(found >= 0, self.of[found], -1).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """How a table is published.

    Parameters
    ----------
    columns : tuple of Recoded
        One for each quasi-identifier.
    keys : array of int32, (m, q)
        Tuples of codes.
    members : array of int32, (m,)
        The class of each tuple.
    classes : array of int32, (c, q)
        The labels that each class is published as.
    is_starred : bool
        Whether suppressed rows are kept, as ``*`` in every column; otherwise they are removed.
    dropped, pseudonyms : tuple of str
        The columns that were dropped, and those that were replaced by a keyed hash: applied elsewhere they go too.
    person : str, optional
        The column that says whose a row is, where k counted persons.

    Privacy
    -------
    It stays with the holder. A local recoding holds every tuple of the table; a global one the values of columns without
    a hierarchy, those of removed rows among them.
    On rows other than those that it was found on it guarantees nothing: their classes may be smaller than k.
    """

    columns: tuple[Recoded, ...]
    keys: NDArray[np.int32]
    members: NDArray[np.int32]
    classes: NDArray[np.int32]
    is_starred: bool
    dropped: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    person: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.name for column in self.columns)

    def classify(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """The class of each row of leaf codes; -1: suppressed."""
        known = codes >= 0
        mapped = np.stack([column.of[np.where(known[:, j], codes[:, j], 0)] for j, column in enumerate(self.columns)], 1)
        return self._lookup()(np.where(known, mapped, -1).astype(np.int32))

    def published(self, labels: NDArray[np.int64]) -> list[tuple[str, ...]]:
        """What the rows of these classes are published as."""
        texts = [tuple(column.labels[at] for column, at in zip(self.columns, row, strict=True)) for row in self.classes]
        star = (STAR,) * len(self.columns)
        return [texts[label] if label >= 0 else star for label in labels.tolist()]

    def rewriter(self) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """A function that publishes a batch of rows: quasi-identifiers recoded, the other columns untouched.

        A null is published as a null, where its class publishes it at all; a suppressed row as ``*``, or not at all.
        """
        lookup = self._lookup()
        shown = [pa.array([label or None for label in (*column.labels, STAR)], pa.string()) for column in self.columns]
        stars = np.array([len(column.labels) for column in self.columns], np.int32)
        table = np.concatenate([self.classes, stars[None]])  # the last class is the suppressed one

        def rewrite(batch: pa.RecordBatch) -> pa.RecordBatch:
            codes = np.stack([column.codes(batch.column(column.name)) for column in self.columns], axis=1)
            labels = lookup(codes)
            for j, column in enumerate(self.columns):
                at = batch.schema.get_field_index(column.name)
                texts = shown[j].take(pa.array(table[labels, j]))
                batch = batch.set_column(at, column.name, texts)
            return batch if self.is_starred else batch.filter(pa.array(labels >= 0))

        return rewrite

    def to_json(self) -> str:
        """The recoding as JSON text; `from_json` gives the same recoding back."""
        columns = [
            {
                "name": column.name,
                "leaves": None if column.leaves is None else list(column.leaves),
                "edges": None if column.edges is None else _listed(column.edges),
                "is_date": column.is_date,
                "null": column.null,
                "of": column.of.tolist(),
                "labels": list(column.labels),
            }
            for column in self.columns
        ]
        arrays = {name: getattr(self, name).tolist() for name in ("keys", "members", "classes")}
        others = {"dropped": list(self.dropped), "pseudonyms": list(self.pseudonyms), "person": self.person}
        facts = {"kind": "recoding", "version": VERSION, "is_starred": self.is_starred, **others}
        return json.dumps({**facts, "columns": columns, **arrays}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recoding:
        """Read a recoding."""
        try:
            whole: dict[str, Any] = json.loads(text)
            if whole["kind"] != "recoding" or whole["version"] != VERSION:
                raise ValueError
            columns = tuple(
                Recoded(
                    str(entry["name"]),
                    None if entry["leaves"] is None else tuple(entry["leaves"]),
                    None if entry["edges"] is None else np.array([float(edge) for edge in entry["edges"]]),
                    bool(entry["is_date"]),
                    int(entry["null"]),
                    np.array(entry["of"], np.int32),
                    tuple(entry["labels"]),
                )
                for entry in whole["columns"]
            )
            q = len(columns)
            keys = np.array(whole["keys"], np.int32).reshape(-1, q)
            classes = np.array(whole["classes"], np.int32).reshape(-1, q)
            members = np.array(whole["members"], np.int32)
            if len(members) != len(keys) or (len(members) and members.max() >= len(classes)):
                raise ValueError
            person = None if whole["person"] is None else str(whole["person"])
            dropped, pseudonyms = (tuple(map(str, whole[what])) for what in ("dropped", "pseudonyms"))
            return cls(columns, keys, members, classes, bool(whole["is_starred"]), dropped, pseudonyms, person)
        except (KeyError, TypeError, ValueError):
            raise UsageError("this is not a recoding that this version can read. Make it again.") from None

    def _lookup(self) -> Callable[[NDArray[np.int32]], NDArray[np.int64]]:
        """A function from tuples of codes to classes; -1 for a tuple that no class holds."""
        ranks = Ranks(self.keys)
        members = np.append(self.members.astype(np.int64), -1)
        return lambda codes: members[ranks.find(codes)]


class Ranks:
    """The place of a tuple among known tuples.

    A tuple is one number where that fits 63 bits; it is looked up in a table of all numbers where that is small, else
    searched. Where it does not fit, columns are paired one after the other.
    """

    def __init__(self, keys: NDArray[np.int32]) -> None:
        self._count = len(keys)
        self._sizes = keys.max(axis=0, initial=0).astype(np.int64) + 1  # (q,)
        possible = 1
        for size in self._sizes.tolist():
            possible *= size
        self._table: NDArray[np.int64] | None = None
        self._stages: list[NDArray[np.int64]] = []
        if possible <= _DENSE:
            self._table = np.full(possible + 1, len(keys))  # the last is for what is not known
            self._table[self._numbers(keys)] = np.arange(len(keys))
            return
        self._fits = possible < 2**63
        rank = self._numbers(keys) if self._fits else np.zeros(len(keys), np.int64)
        for column in [None] if self._fits else keys.T:
            stage, rank = np.unique(rank if column is None else _paired(rank, column), return_inverse=True)
            self._stages.append(stage)
        self._place = np.full(len(keys) + 1, len(keys))
        self._place[rank] = np.arange(len(keys))

    def find(self, tuples: NDArray[np.int32]) -> NDArray[np.int64]:
        """The index of each tuple; the number of known tuples for one that is not known."""
        if self._table is not None:
            return self._table[self._numbers(tuples)]
        if not self._count:
            return np.zeros(len(tuples), np.int64)
        if self._fits:
            number = self._numbers(tuples)
            at = np.minimum(np.searchsorted(self._stages[0], number), self._count - 1)
            return np.where(self._stages[0][at] == number, self._place[at], self._count)
        rank = np.zeros(len(tuples), np.int64)
        for stage, column in zip(self._stages, tuples.T, strict=True):
            pair = _paired(rank, column)
            at = np.minimum(np.searchsorted(stage, pair), len(stage) - 1)
            rank = np.where((rank >= 0) & (column >= 0) & (stage[at] == pair), at, -1)
        return self._place[np.where(rank >= 0, rank, self._count)]

    def _numbers(self, tuples: NDArray[np.int32]) -> NDArray[np.int64]:
        """Each tuple as one number; -1 for one outside the range of the known ones."""
        number = np.zeros(len(tuples), np.int64)
        is_outside = np.zeros(len(tuples), bool)
        for column, size in zip(tuples.T, self._sizes.tolist(), strict=True):
            number = number * size + column
            is_outside |= (column < 0) | (column >= size)
        number[is_outside] = -1
        return number


def _listed(edges: NDArray[np.float64]) -> list[float | str]:
    """Numbers for JSON, which has no infinite ones: those are words."""
    return [edge if np.isfinite(edge) else str(edge) for edge in edges.tolist()]


def _paired(rank: NDArray[np.int64], column: NDArray[np.int32]) -> NDArray[np.int64]:
    return (rank << 31) | column.astype(np.int64)


def make_global(
    names: Sequence[str],
    columns: Sequence[Hierarchy | Scale],
    blocks: Sequence[Block],
    samples: NDArray[np.int32],
    is_starred: bool,
) -> Recoding:
    """The recoding of a cut; `samples` holds the leaf codes of one tuple of each class."""
    recoded = []
    for j, (name, domain) in enumerate(zip(names, columns, strict=True)):
        mine = sorted((block for block in blocks if block.column == j), key=lambda block: int(block.codes.min()))
        of = np.empty(domain.leaves, np.int32)
        for at, block in enumerate(mine):
            of[block.codes] = at
        recoded.append(_recoded(name, domain, of, tuple(block.label for block in mine)))
    classes = np.stack([column.of[samples[:, j]] for j, column in enumerate(recoded)], axis=1)
    return Recoding(tuple(recoded), classes, np.arange(len(classes), dtype=np.int32), classes, is_starred)


def make_local(
    names: Sequence[str],
    trees: Sequence[Hierarchy],
    tuples: NDArray[np.int32],
    members: NDArray[np.int64],
    classes: NDArray[np.int32],
) -> Recoding:
    """The recoding of classes of tuples; `classes` holds the node of each class in each column."""
    recoded = [
        _recoded(name, tree, np.arange(tree.leaves, dtype=np.int32), tree.nodes)
        for name, tree in zip(names, trees, strict=True)
    ]
    kept = members >= 0
    return Recoding(tuple(recoded), tuples[kept], members[kept].astype(np.int32), classes, is_starred=False)


def _recoded(name: str, domain: Hierarchy | Scale, of: NDArray[np.int32], labels: tuple[str, ...]) -> Recoded:
    if isinstance(domain, Scale):
        null = len(domain.values) if domain.has_null else -1
        return Recoded(name, None, _reaching(domain, of), domain.is_date, null, of, labels)
    leaves = domain.nodes[: domain.leaves]
    null = leaves.index("") if "" in leaves else -1
    return Recoded(name, None if domain.edges is not None else leaves, domain.edges, domain.is_date, null, of, labels)


def _reaching(scale: Scale, of: NDArray[np.int32]) -> NDArray[np.float64]:
    """The edges, the outermost as far out as the intervals that they end are published; single values reach nowhere."""
    if not len(scale.values):
        return scale.edges
    edges, ends = scale.edges.copy(), scale.ends
    under = np.bincount(of)
    if scale.top is not None or under[of[0]] > 1:
        edges[0] = ends[0]
    if scale.top is not None or under[of[len(scale.values) - 1]] > 1:
        edges[-1] = ends[1]
    return edges
