"""A recoding: which label replaces which value, as data. It can be shown, saved as JSON, and applied to rows.

A row is looked up in two steps: every quasi-identifier becomes a code, and the tuple of codes a class. Under global
recoding the codes are those of the published labels; under local recoding they are those of the raw values. A tuple that
no class holds is suppressed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.anonymization.counting.leaf_coder import LeafCoder
from cloister.anonymization.writing.recoding_json import read_fields, recoding_json
from cloister.anonymization.writing.tuple_ranks import TupleRanks
from cloister.schema.arrow_numpy import from_mask, from_numbers, from_texts
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.hierarchies import UNKNOWN

__all__ = ["STAR", "RecodedColumn", "Recoding"]

STAR = "*"


@dataclass(frozen=True, slots=True, eq=False)
class RecodedColumn:
    """A column of a recoding: how its values become codes, and the labels it may be published as.

    `leaves` are the texts of the values (or None, and `edges` bound the intervals of numbers or days that share a leaf); the
    leaf of a null is `null`, or -1, that of any other value `unknown`. `of` maps each leaf to the code that classes are looked up
    by.
    """

    name: str
    leaves: tuple[str, ...] | None
    edges: NDArray[np.float64] | None
    is_date: bool
    null: int
    of: NDArray[np.int32]  # (leaves,)
    labels: tuple[str, ...]
    unknown: int = UNKNOWN
    form: CellFormat = PLAIN  # how the cells are written
    is_grid: bool = False  # a leaf is the number in the middle of its edges alone

    def codes(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each value; negative for a value that the recoding does not know."""
        leaves = self.coder.look_up(values)
        return np.where(leaves >= 0, self.of[leaves], -1).astype(np.int32)

    @property
    def coder(self) -> LeafCoder:
        """How the values become leaves."""
        form, is_grid = self.form, self.is_grid
        return LeafCoder(self.name, self.leaves, self.edges, self.is_date, self.null, self.unknown, form, is_grid=is_grid)


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """How a table is published.

    Parameters
    ----------
    columns : tuple of RecodedColumn
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
    untouched : tuple of str, optional
        The columns that were published as they are: on other rows no further one is. None: not known (a file of version
        0.1), and then nothing is published that the recoding does not name.
    table : str, optional
        The name of the table in its ledger, which records every use of the recoding.

    Privacy
    -------
    It stays with the holder. A local recoding holds every tuple of the table; a global one the values of columns without
    a hierarchy, those of removed rows among them.
    On rows other than those that it was found on it guarantees nothing: their classes may be smaller than k.
    """

    columns: tuple[RecodedColumn, ...]
    keys: NDArray[np.int32]
    members: NDArray[np.int32]
    classes: NDArray[np.int32]
    is_starred: bool
    dropped: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    person: str | None = None
    untouched: tuple[str, ...] | None = None
    table: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.name for column in self.columns)

    def classify(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """The class of each row of leaf codes; -1: suppressed."""
        known = codes >= 0
        mapped = np.stack([column.of[np.where(known[:, j], codes[:, j], 0)] for j, column in enumerate(self.columns)], 1)
        return self._lookup()(np.where(known, mapped, -1).astype(np.int32))

    def publishes(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Which rows of a batch are published, and not removed."""
        if self.is_starred:
            return np.ones(batch.num_rows, bool)
        codes = np.stack([column.codes(batch.column(column.name)) for column in self.columns], axis=1)
        return np.asarray(self._lookup()(codes) >= 0)

    def published(self, labels: NDArray[np.int64]) -> list[tuple[str, ...]]:
        """What the rows of these classes are published as."""
        texts = [tuple(column.labels[at] for column, at in zip(self.columns, row, strict=True)) for row in self.classes]
        star = (STAR,) * len(self.columns)
        return [texts[label] if label >= 0 else star for label in labels.tolist()]

    def rewriter(self) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """A function that publishes a batch of rows: quasi-identifiers recoded, the other columns untouched.

        A null is published as a null or, with its class, as a more general label; a suppressed row as ``*``, or not at all.
        """
        lookup = self._lookup()
        shown = [from_texts([label or None for label in (*column.labels, STAR)]) for column in self.columns]
        stars = np.array([len(column.labels) for column in self.columns], np.int32)
        table = np.concatenate([self.classes, stars[None]])  # the last class is the suppressed one

        def rewrite(batch: pa.RecordBatch) -> pa.RecordBatch:
            codes = np.stack([column.codes(batch.column(column.name)) for column in self.columns], axis=1)
            labels = lookup(codes)
            for j, column in enumerate(self.columns):
                at = batch.schema.get_field_index(column.name)
                texts = shown[j].take(from_numbers(table[labels, j]))
                batch = batch.set_column(at, column.name, texts)
            return batch if self.is_starred else batch.filter(from_mask(labels >= 0))

        return rewrite

    def to_json(self) -> str:
        """The recoding as JSON text with a hash; `from_json` gives the same recoding back."""
        return recoding_json(self)

    @classmethod
    def from_json(cls, text: str) -> Recoding:
        """Read a recoding; one that was changed after it was written is refused."""
        return cls(**read_fields(text, RecodedColumn))

    def _lookup(self) -> Callable[[NDArray[np.int32]], NDArray[np.int64]]:
        """A function from tuples of codes to classes; -1 for a tuple that no class holds."""
        ranks = TupleRanks(self.keys)
        members = np.append(self.members.astype(np.int64), -1)
        return lambda codes: members[ranks.find(codes)]
