"""One keyed fold over a table: the histogram of its quasi-identifier tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.anonymization.counting.columns import Scale
from cloister.anonymization.counting.histogram import Histogram
from cloister.encode import Encoding
from cloister.errors import SchemaError, UsageError
from cloister.kernels.keyed import Keyed, RowKeys
from cloister.schema.hierarchies import MISSING, UNKNOWN, Hierarchy
from cloister.schema.hierarchies.tree import leaf_codes
from cloister.vault import Holder

__all__ = ["Counted", "Leaves", "count_population", "count_table", "leaves_of", "numbered_persons"]


@dataclass(frozen=True, slots=True)
class Leaves:
    """A column as codes: the place of a cell's text among `leaves`, or of its number between `edges`.

    A blank is `null`, or MISSING where that is -1; anything else is UNKNOWN.
    """

    name: str
    leaves: tuple[str, ...] | None
    edges: NDArray[np.float64] | None = field(compare=False)
    is_date: bool = False
    null: int = -1

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each cell."""
        found = leaf_codes(values, self.leaves, self.edges, is_date=self.is_date)
        found[found == MISSING] = self.null
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A table as a specialization sees it, with a leaf for nulls in the columns that have some."""

    rows: Histogram
    domains: list[Hierarchy | Scale]


def leaves_of(name: str, domain: Hierarchy | Scale) -> Leaves:
    """How the cells of a quasi-identifier become codes."""
    if isinstance(domain, Scale):
        return Leaves(name, None, domain.edges, domain.is_date)
    words = domain.nodes[: domain.leaves]
    null = words.index("") if "" in words else -1
    return Leaves(name, words if domain.edges is None else None, domain.edges, domain.is_date, null)


def count_table(
    table: Holder,
    names: Sequence[str],
    domains: Sequence[Hierarchy | Scale],
    sensitive: Sequence[Leaves] = (),
    target: Leaves | None = None,
    person: str | None = None,
) -> Counted:
    """Count a table; a value that a hierarchy lacks is refused, with its column and how many rows hold one."""
    coders = [leaves_of(name, domain) for name, domain in zip(names, domains, strict=True)]
    extra = [*sensitive, *([target] if target else [])]
    encoding = Encoding(categories=(*coders, *extra))
    keyed = table.count(encoding, RowKeys(len(coders) + len(extra)), person).value
    q, s = len(coders), len(sensitive)
    codes = keyed.keys[:, :q].astype(np.int32)
    for j, (name, domain) in enumerate(zip(names, domains, strict=True)):
        if unknown := int(keyed.counts[codes[:, j] == UNKNOWN].sum()):
            raise SchemaError(_lacking(name, domain, unknown))
    for j, coder in enumerate(extra, q):
        if (keyed.keys[:, j] < 0).any():  # a table that changes while it is read
            raise UsageError(
                f'column "{coder.name}" changed while it was read. Run it again on a table that stays as it is.'
            )
    full = [_with_null(domain) if (codes[:, j] == MISSING).any() else domain for j, domain in enumerate(domains)]
    for j, domain in enumerate(domains):
        codes[codes[:, j] == MISSING, j] = len(domain.values) if isinstance(domain, Scale) else domain.leaves
    rows = Histogram(
        codes,
        keyed.counts,
        sensitive=keyed.keys[:, q : q + s].astype(np.int32) if s else None,
        target=keyed.keys[:, q + s].astype(np.int32) if target else None,
        persons=None if person is None else numbered_persons(keyed.keys[:, -2:]),
    )
    return Counted(rows, full)


def count_population(counted: Counted, population: Holder, names: Sequence[str]) -> Histogram:
    """The histogram with how many people of a population hold each tuple; people whom no label describes do not count."""
    coders = [leaves_of(name, domain) for name, domain in zip(names, counted.domains, strict=True)]
    keyed: Keyed = population.count(Encoding(categories=tuple(coders)), RowKeys(len(coders))).value
    codes = keyed.keys.astype(np.int32)
    for j, domain in enumerate(counted.domains):
        if isinstance(domain, Scale) and domain.has_null:
            codes[codes[:, j] == MISSING, j] = len(domain.values)
    known = (codes >= 0).all(axis=1)
    rows = counted.rows
    return replace(
        rows,
        codes=np.concatenate([rows.codes, codes[known]]),
        counts=np.concatenate([rows.counts, np.zeros(known.sum(), np.int64)]),
        population=np.concatenate([np.zeros(len(rows.codes), np.int64), keyed.counts[known]]),
        **{
            part: np.concatenate([values, np.zeros((known.sum(), *values.shape[1:]), values.dtype)])
            for part in ("sensitive", "target", "persons")
            if (values := getattr(rows, part)) is not None
        },
    )


def _with_null(domain: Hierarchy | Scale) -> Hierarchy | Scale:
    return replace(domain, has_null=True) if isinstance(domain, Scale) else domain.with_null()


def numbered_persons(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """A small number for each person, who is known by two large ones."""
    whole = np.ascontiguousarray(pairs).view([("high", np.int64), ("low", np.int64)]).ravel()
    return np.unique(whole, return_inverse=True)[1].astype(np.int64)


def _lacking(name: str, domain: Hierarchy | Scale, rows: int) -> str:
    origin = domain.origin if isinstance(domain, Hierarchy) else "its values"
    held = "1 row holds" if rows == 1 else f"{rows:,} rows hold"
    return (
        f'column "{name}": {held} a value that {origin} lacks. Add what is missing to the hierarchy, or correct the rows '
        "(blanks need no line: they are a value of their own)."
    )
