"""What a public data set is: its files, what is publicly known of its columns, and its rows once they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from cloister.schema import Schema

__all__ = ["CLASS", "DataFile", "Dataset", "DatasetFacts", "DatasetRows"]

CLASS = "class"
"""What the column of known classes is called."""

FROM_MEANING = "the bounds follow from what the columns mean and from the set's documentation"
FROM_PUBLISHED = "the bounds are ranges that are published with the set, rounded outwards"
FROM_ROWS = "the set's documentation has no ranges: the bounds are those of its public rows, rounded outwards"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set.

    Attributes
    ----------
    name
        As it is called in the folder of data sets and in the cache.
    sha256
        Of its bytes; of a file that ends in .gz, of what is packed in it: the same rows may be packed in other ways.
    address
        Where it can be fetched; None: nowhere that is known to have these bytes.
    """

    name: str
    sha256: str
    address: str | None = None

    @property
    def is_packed(self) -> bool:
        """Whether its bytes are compressed."""
        return self.name.endswith(".gz")


@dataclass(frozen=True, slots=True)
class DatasetRows:
    """The rows of a set: the columns of its schema, and the class of each row; None: there are no classes."""

    data: pa.Table
    target: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """What is known of a set before it is read.

    Attributes
    ----------
    title
        One line: what it is, and how large.
    files
        All that `read` needs, in its order.
    schema
        Public facts of the columns, without the class.
    bounds_from
        Where the bounds of the numbers come from.
    read
        From the bytes of the files to the rows.
    """

    title: str
    files: tuple[DataFile, ...]
    schema: Schema
    bounds_from: str
    read: Callable[[tuple[bytes, ...], Schema], DatasetRows]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A public data set.

    Attributes
    ----------
    name : str
    data : pyarrow.Table
        The columns that the schema describes; what is missing is null.
    target : pyarrow.Array of str, or None
        The class of each row; None: the set has no classes.
    schema : Schema
        Kinds, bounds and domains of the columns of `data`.
    title : str
        What it is, in a line.
    bounds_from : str
        Where the bounds come from. For a table of one's own they never come from the rows; these rows are public.
    """

    name: str
    data: pa.Table
    target: pa.Array | None
    schema: Schema
    title: str
    bounds_from: str

    @property
    def table(self) -> pa.Table:
        """The rows with their class, if there is one, in a last column called "class"."""
        return self.data if self.target is None else self.data.append_column(CLASS, self.target)

    def __repr__(self) -> str:
        return f'Dataset("{self.name}": {self.title})'
