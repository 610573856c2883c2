"""What an engine is, and how one is chosen.

An engine reads rows and runs kernels over them; it knows nothing of budgets and noise. Each engine is one folder with a
`Backend`, named in `registry.ENGINES`: a new engine is a new folder and one more line there. Nothing outside a folder imports
from it, and its heavy parts are loaded when its first table is opened. Whoever treats engines differently asks for their
`EngineTraits`, never for a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.registry import DEFAULT, ENGINES
from cloister.errors import EngineError, UsageError
from cloister.kernels import Kernel, Summary
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.exact import Exact
from cloister.kernels.keyed import InOrder, Keyed, KeyedKernel
from cloister.kernels.row_maps import RowMap
from cloister.schema.unit import Unit
from cloister.sources.opening import NOTHING_STATED, open_source
from cloister.sources.python_tables import is_unnamed
from cloister.sources.stated_names import StatedNames

__all__ = [
    "Backend",
    "ClustersPoints",
    "Draw",
    "Engine",
    "EngineChoice",
    "EngineOptions",
    "EngineTraits",
    "Folds",
    "OpenedData",
    "Shuffle",
    "choose_engine",
    "choose_points_engine",
    "clusters_points",
    "engine_traits",
    "open_data",
]

Draw = Callable[[NDArray[np.uint64], int], NDArray[np.bool_]]
"""A secret draw: from the hashes of rows or people, and the number of their batch, to which of them are kept."""


class Folds(Protocol):
    """Rows that a kernel can be folded over: those of an engine, or a secret sample of them."""

    def fold(self, kernel: Kernel) -> Exact[Summary]:
        """The summary of the rows."""
        ...


@dataclass(frozen=True, slots=True)
class Shuffle:
    """What an engine needs to write rows in an order that tells nothing about their order in the input.

    Engines do not make secrets: the vault hands in draws of the system's randomness. An engine whose order is a function of
    the written rows alone leaves them unused.
    """

    rows: int  # how many there are before the row map leaves some out
    integers: Callable[[int, int], NDArray[np.int64]]  # bound, count -> so many integers below the bound
    permutation: Callable[[int], NDArray[np.int64]]  # count -> an order of so many things


class Engine(Folds, Protocol):
    """Rows, read through an encoding. What comes of rows is handed out as `Exact`: only the vault opens it.

    Where a `Unit` bounds the rows of a person, folds, keyed folds and samples see at most so many rows of each.
    """

    encoding: Encoding

    def fold_by_key(self, kernel: KeyedKernel, person: str | None = None) -> Exact[Keyed]:
        """How many rows have each key, keys in rising order.

        With `person`, the column that says whose row it is, two integers at the end of each key stand for the person, and
        no row is left out: for counting people.
        """
        ...

    def rank(self, order: KeyedKernel) -> Exact[Keyed]:
        """The rows in a public order, equal ones together: order and row as keys, how many there are, and their `places`.

        Which row comes before which never depends on other rows, batches or the engine. Blocks of rows are cut along such
        an order (`kernels.ranked_blocks`).
        """
        width = len(self.encoding.numbers) + len(self.encoding.categories)
        return self.fold_by_key(InOrder(order, width))

    def label(self, function: Callable[[Encoded], NDArray[Any]], name: str) -> Exact[Any]:
        """A number for each row: an array in the order of the rows, or the engine's own table with one more column."""
        ...

    def sample(self, keep: Draw) -> Folds:
        """The rows that a secret draw keeps, drawn once; where rows are bounded, all rows of the people it keeps."""
        ...

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns."""
        ...

    def distinct(self, kernel: DistinctValues) -> Exact[pa.Table]:
        """The different values of some columns."""
        ...

    def gather(self, row_map: RowMap) -> Exact[pa.Table]:
        """Every row, mapped, in memory and in the order of the rows: for engines that keep one."""
        raise EngineError("rows that have no order cannot be gathered in one. Read the table with the local engine.")

    def rewrite(self, row_map: RowMap, path: str, format: str = "parquet", shuffle: Shuffle | None = None) -> None:
        """Write every row, mapped, to a new place: in the engine's own order, or shuffled. Stage it: `cloister.sinks`."""
        ...

    def close(self) -> None:
        """Let go of what is held between passes."""
        ...


class OpenedData(Protocol):
    """Data that was found and whose columns are known. No row has been read."""

    @property
    def names(self) -> tuple[str, ...]: ...


class EngineOptions:
    """How an engine is set up: what a user may give as ``engine=`` in place of its name."""

    __slots__ = ()
    engine: ClassVar[str]  # the name of the engine that these options are for


EngineChoice = str | EngineOptions | None
"""Who reads the rows: an engine by its name or its options; None: as the data asks for."""


class EngineTraits(Protocol):
    """How an engine differs from others, for whoever chooses what to do with one."""

    title: ClassVar[str]  # the engine's name in messages
    keeps_order: ClassVar[bool]  # whether rows come out in the order in which they went in
    labels_in_memory: ClassVar[bool]  # whether labels of rows come back as an array here, not as the engine's own table
    opens_at_once: ClassVar[bool]  # whether data is opened, for the names of its columns, without starting a system


class Backend(EngineTraits, Protocol):
    """The way into an engine's folder: light to import, it loads the engine when data is opened."""

    def __init__(self, options: Any = None) -> None:
        """With options for this engine, or its defaults."""

    @staticmethod
    def claims(data: Any) -> str | None:
        """What messages call such data, if only this engine reads it; the type alone says so."""
        ...

    def open_data(self, data: Any, names: StatedNames = NOTHING_STATED) -> OpenedData:
        """Find the data and the names of its columns."""
        ...

    def make_engine(self, data: Any, encoding: Encoding, unit: Unit | None, once: bool) -> Engine:
        """An engine for data that `open_data` opened; `once`: the rows are gone through one time only."""
        ...


@runtime_checkable
class ClustersPoints(Protocol):
    """What a backend has whose engine also clusters points that are released already, and too many for one machine."""

    def cluster_points(
        self, path: str, features: list[str], weight: str, total: float, clusters: int, seed: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Weighted k-means over a file of points: centres (k, d), their weights (k,), and the weighted squared error."""
        ...


def backend_class(name: str) -> type[Backend]:
    """The backend of a registered engine."""
    module, _, attribute = ENGINES[name].partition(":")
    backend: type[Backend] = getattr(import_module(module), attribute)
    return backend


def choose_engine(engine: EngineChoice, data: Any) -> Backend:
    """The engine that a user asked for, or the one that the data asks for: a Spark DataFrame is read by Spark alone."""
    if isinstance(engine, EngineOptions):
        return backend_class(engine.engine)(engine)
    if engine is not None and (not isinstance(engine, str) or engine not in ENGINES):
        names = " or ".join(f'"{name}"' for name in ENGINES)
        raise UsageError(f"engine must be {names}.")
    for name in ENGINES:
        backend = backend_class(name)
        if kind := backend.claims(data):
            if engine not in (None, name):
                raise UsageError(f'{kind} is read by the {backend.title} engine. Drop engine="{engine}".')
            return backend()
    return backend_class(engine or DEFAULT)()


def engine_traits(engine: EngineChoice, data: Any = None) -> EngineTraits:
    """How the engine that reads this data differs from others; nothing is started."""
    return choose_engine(engine, data)


def clusters_points(engine: EngineChoice) -> bool:
    """Whether this engine clusters released points itself (`choose_points_engine`)."""
    return isinstance(choose_engine(engine, None), ClustersPoints)


def choose_points_engine(engine: EngineChoice) -> ClustersPoints:
    """The engine that was asked for, if it clusters released points."""
    backend = choose_engine(engine, None)
    if not isinstance(backend, ClustersPoints):
        able = next(name for name in ENGINES if issubclass(backend_class(name), ClustersPoints))
        raise UsageError(f'this is for {backend_class(able).title}: give engine="{able}".')
    return backend


def open_data(data: Any, engine: EngineChoice = None, names: StatedNames = NOTHING_STATED) -> Any:
    """The data with the names of its columns, opened by the engine that reads it; no row is read.

    `names`: what the call says of the columns of data that does not name its own, see `open_source`.
    """
    backend = choose_engine(engine, data)
    return backend.open_data(open_source(data, names) if is_unnamed(data) else data, names)
