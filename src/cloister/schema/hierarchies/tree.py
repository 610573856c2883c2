"""A hierarchy: the leaves are a column's values, every other node a more general label, the root everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.errors import SchemaError
from cloister.schema.arrow_numpy import from_numbers, from_texts, to_numbers
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import are_missing, days, kinds_apart, numbers, texts
from cloister.schema.hierarchies.exact_edges import rows_on_edges, shifts_by_digits
from cloister.schema.kinds import OTHER

__all__ = ["MISSING", "UNKNOWN", "Hierarchy", "leaf_codes", "spliced"]

MISSING = -1  # the code of a null, until `with_null` gives it a leaf
UNKNOWN = -2  # the code of a value that the hierarchy lacks

MOST_LEVELS = 256  # from a value to the root
_MANY = 256
_ROUNDING = 1e-6  # of a step


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """A tree of labels over the values of a column.

    Parameters
    ----------
    nodes : tuple of str
        Labels: first the leaves, every parent after its children, the root last.
    parent : array of int32, (nodes,)
        The node above each node; -1 above the root.
    leaves : int
        How many of the nodes are leaves.
    edges : array of float64, (leaves + 1,), optional
        For numbers and dates (days since 1970): leaf i holds what lies in [edges[i], edges[i + 1]); the last one holds its
        end too. Without edges a value belongs to the leaf whose label is its text.
    is_date : bool
        Whether the edges are days.
    is_grid : bool
        Whether a leaf is one number, the middle between its edges, and what lies beside it is in no leaf.
    origin : str
        Where the hierarchy came from, for messages.
    form : CellFormat
        How the cells of the column are written.
    has_other : bool
        Whether the leaf "(other)" holds missing values and those that the hierarchy lacks.

    Privacy
    -------
    A hierarchy is a public fact: written down before the rows are looked at. One drafted from the values of a table is
    for the holder.

    Examples
    --------
    >>> tree = Hierarchy.from_paths([("a", "letter", "*"), ("b", "letter", "*"), ("1", "digit", "*")])
    >>> tree.nodes, tree.parent.tolist()
    (('a', 'b', '1', 'letter', 'digit', '*'), [3, 3, 4, 5, 5, -1])
    >>> tree.loss.tolist()
    [0.0, 0.0, 0.0, 0.5, 0.0, 1.0]
    """

    nodes: tuple[str, ...]
    parent: NDArray[np.int32] = field(repr=False)
    leaves: int
    edges: NDArray[np.float64] | None = field(default=None, repr=False)
    is_date: bool = False
    origin: str = "the hierarchy"
    form: CellFormat = PLAIN
    has_other: bool = False
    is_grid: bool = False

    @classmethod
    def from_paths(
        cls, paths: Sequence[Sequence[str]], places: Sequence[str] | None = None, origin: str = "the hierarchy"
    ) -> Hierarchy:
        """Grow a tree from one path a leaf, each from the value to the root; `places` says where each path was read.

        Blanks around a label do not count, as they do not in cells.
        """
        places = places or [f"path {i + 1}" for i in range(len(paths))]
        if not paths:
            raise SchemaError(f"{origin}: no values. Write one line a value, from the value to *.")
        if max(map(len, paths)) > MOST_LEVELS:
            raise SchemaError(f"{origin}: a value has more than {MOST_LEVELS} labels above it. Leave levels out.")
        return _grow([[label.strip() for label in path] for path in paths], places, origin)

    @property
    def size(self) -> NDArray[np.int64]:
        """How many leaves lie under each node."""  # (nodes,)
        size = np.zeros(len(self.nodes), np.int64)
        size[: self.leaves] = 1
        for node, above in enumerate(self.parent[:-1].tolist()):  # a parent comes after its children
            size[above] += size[node]
        return size

    @property
    def loss(self) -> NDArray[np.float64]:
        """What publishing a node loses: (leaves under it - 1) / (leaves - 1)."""  # (nodes,)
        return (self.size - 1) / max(1, self.leaves - 1)

    @property
    def depth(self) -> NDArray[np.int32]:
        """The number of steps from the root to each node."""  # (nodes,)
        depth = np.zeros(len(self.nodes), np.int32)
        for node in range(len(self.nodes) - 2, -1, -1):
            depth[node] = depth[self.parent[node]] + 1
        return depth

    @property
    def levels(self) -> NDArray[np.int32]:
        """The node of each leaf at every level, the leaves first, the root last; a shallow leaf stays itself."""
        depth = self.depth
        rows = [np.arange(self.leaves, dtype=np.int32)]
        for deepest in range(int(depth.max()) - 1, -1, -1):
            below = rows[-1]
            rows.append(np.where(depth[below] > deepest, self.parent[below], below).astype(np.int32))
        return np.stack(rows)  # (levels, leaves)

    def codes(self, values: pa.Array) -> NDArray[np.int32]:
        """The leaf of each value; MISSING for a null, UNKNOWN for a value that the hierarchy lacks."""
        leaves = self.nodes[: self.leaves]
        words = leaves if self.edges is None else None
        codes = leaf_codes(values, words, self.edges, is_date=self.is_date, form=self.form, is_grid=self.is_grid)
        codes[codes == MISSING] = self.null
        codes[codes == UNKNOWN] = self.unknown
        return codes

    @property
    def null(self) -> int:
        """The leaf of a null; MISSING where there is none."""
        leaves = self.nodes[: self.leaves]
        return leaves.index("") if "" in leaves else leaves.index(OTHER) if self.has_other else MISSING

    @property
    def unknown(self) -> int:
        """The leaf of a value that the hierarchy lacks; UNKNOWN where there is none."""
        return self.nodes[: self.leaves].index(OTHER) if self.has_other else UNKNOWN

    def with_null(self) -> Hierarchy:
        """The same tree with a leaf for nulls under the root, written as an empty cell; unchanged if it has one."""
        return self._with_leaf("")

    def with_other(self) -> Hierarchy:
        """The same tree with a leaf "(other)" under the root, for missing values and those that it lacks.

        A hierarchy may have a leaf of that name already, and then says itself where it belongs.
        """
        return replace(self._with_leaf(OTHER), has_other=True)

    def _with_leaf(self, label: str) -> Hierarchy:
        if label in self.nodes[: self.leaves]:
            return self
        shifted = np.where(self.parent >= 0, self.parent + 1, -1)
        root = len(self.nodes)
        parent = np.concatenate([shifted[: self.leaves], [root], shifted[self.leaves :]])
        nodes = (*self.nodes[: self.leaves], label, *self.nodes[self.leaves :])
        if self.leaves == len(self.nodes):  # a single value is leaf and root in one: now it needs a root above
            nodes, parent = (self.nodes[0], label, "*"), np.array([2, 2, -1])
        return replace(self, nodes=nodes, parent=parent.astype(np.int32), leaves=self.leaves + 1)

    def to_csv(self, delimiter: str = ";") -> str:
        """One line a leaf, from the value to the root."""
        import csv
        import io

        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerows([self.nodes[node] for node in path] for path in self.levels.T)
        return text.getvalue()


def leaf_codes(
    values: pa.Array,
    leaves: Sequence[str] | None,
    edges: NDArray[np.float64] | None,
    *,
    is_date: bool,
    form: CellFormat = PLAIN,
    is_grid: bool = False,
) -> NDArray[np.int32]:
    """The place of each value among texts or between edges; MISSING for a null or blank, UNKNOWN for anything else.

    On a grid only the middle between two edges has a place.
    """
    is_coded = pa.types.is_dictionary(values.type)
    if is_coded or (len(values) > _MANY and _is_plain_text(values.type)):
        encoded = values if is_coded else values.dictionary_encode()
        if is_coded or len(encoded.dictionary) < len(values) // 2:  # most columns repeat few texts: each is looked up once
            places = to_numbers(encoded.indices.cast(pa.int64()), null=len(encoded.dictionary))
            once = leaf_codes(encoded.dictionary, leaves, edges, is_date=is_date, form=form, is_grid=is_grid)
            looked_up: NDArray[np.int32] = np.append(once, np.int32(MISSING))[places]
            return looked_up
    if edges is not None and pa.types.is_union(values.type):  # cells that keep their kinds: each as in a column of its own
        kinds, at = kinds_apart(values)
        by_kind = [leaf_codes(some, leaves, edges, is_date=is_date, form=form, is_grid=is_grid) for some in kinds]
        codes_by_kind: NDArray[np.int32] = np.concatenate([*by_kind, np.zeros(0, np.int32)])[at]
        return codes_by_kind
    if edges is not None:
        read = days if is_date else numbers
        cells = read(values, form)
        bins = len(edges) - 1
        codes = np.searchsorted(edges, cells, side="right").astype(np.int32) - 1
        codes[cells == edges[-1]] = bins - 1
        if not is_date and len(rows := rows_on_edges(values, cells, edges)):
            shifts = shifts_by_digits(values.take(from_numbers(rows)), cells[rows], form)
            at = np.searchsorted(edges, cells[rows])  # of the edge; above the last one there is no place
            codes[rows] = np.select([shifts < 0, shifts == 0, shifts > 0], [at - 1, np.minimum(at, bins - 1), at], UNKNOWN)
        codes[(codes < 0) | (codes >= bins)] = UNKNOWN  # NaN sorts last: what is no number is unknown too
        if is_grid:
            codes[~_are_middles(cells, edges, codes)] = UNKNOWN
        codes[are_missing(values, form, read)] = MISSING
        return codes
    assert leaves is not None
    words = texts(values, form)
    codes = to_numbers(pc.index_in(words, from_texts(leaves).cast(words.type)), null=UNKNOWN).astype(np.int32)
    codes[to_numbers(pc.binary_length(words), null=0) == 0] = MISSING
    return codes


def _are_middles(cells: NDArray[np.float64], edges: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which cells are the value in the middle of their edges, as floats are computed and as float32 holds it."""
    at = np.maximum(codes, 0)
    middles = (edges[at] + edges[at + 1]) / 2
    apart = np.maximum(_ROUNDING * (edges[1] - edges[0]), 4 * np.spacing(np.abs(middles)))
    with np.errstate(over="ignore"):
        as_float32 = middles.astype(np.float32).astype(np.float64)
    are: NDArray[np.bool_] = (codes >= 0) & ((np.abs(cells - middles) <= apart) | (cells == as_float32))
    return are


def _is_plain_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _grow(paths: Sequence[Sequence[str]], places: Sequence[str], origin: str) -> Hierarchy:
    leaf_of: dict[str, int] = {}
    above: dict[tuple[int, str], tuple[str, int]] = {}  # (height above the root, label) -> (parent's label, first path)
    root = paths[0][-1]
    for i, path in enumerate(paths):
        if path[0] in leaf_of:
            raise SchemaError(
                f"{origin}, {places[i]}: the value was listed before, in {places[leaf_of[path[0]]]}. Keep one of the two."
            )
        leaf_of[path[0]] = i
        if path[-1] != root:
            raise SchemaError(
                f"{origin}, {places[i]}: the last label differs from the one in {places[0]}. Every value ends in the same root."
            )
        for height, label in enumerate(reversed(path[1:])):
            if label == "":
                raise SchemaError(f"{origin}, {places[i]}: a label above the value is empty. Fill it in.")
            parent = path[len(path) - height] if height else ""
            before, first = above.setdefault((height, label), (parent, i))
            if before != parent:
                raise SchemaError(
                    f"{origin}, {places[i]}: a label has another parent here than in {places[first]}. Give it one parent."
                )
    keys: list[tuple[int, str]] = sorted(above, key=lambda key: -key[0])  # stable: the deepest first, else as read
    index = {key: len(leaf_of) + i for i, key in enumerate(keys)}
    nodes = [*leaf_of, *(label for _, label in keys)]
    parent_of = [index[len(path) - 2, path[1]] if len(path) > 1 else -1 for path in paths]
    parent_of += [index[height - 1, above[height, label][0]] if height else -1 for height, label in keys]
    return spliced(nodes, parent_of, len(leaf_of), origin)


def spliced(nodes: list[str], parent: list[int], leaves: int, origin: str) -> Hierarchy:
    """A hierarchy without the nodes that only repeat the label of their single child (files pad short paths in this way)."""
    children = [0] * len(nodes)
    for above in parent:
        if above >= 0:
            children[above] += 1
    echo = [False] * len(nodes)
    for node, above in enumerate(parent):
        if above >= 0 and children[above] == 1 and nodes[above] == nodes[node]:
            echo[above] = True
    for node in range(len(nodes)):
        while parent[node] >= 0 and echo[parent[node]]:
            parent[node] = parent[parent[node]]
    kept = [node for node in range(len(nodes)) if not echo[node]]
    index = {node: i for i, node in enumerate(kept)}
    renamed = [index[parent[node]] if parent[node] >= 0 else -1 for node in kept]
    return Hierarchy(tuple(nodes[node] for node in kept), np.array(renamed, np.int32), leaves, origin=origin)
