"""Made-up neighbouring tables that are hard on a mechanism: rows at corners, far out, unreadable; all alike; none at all.

Every table has the columns of `SCHEMA`: two numbers, a group, and whose row it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.schema import Category, Neighbours, Number, Schema, Text
from cloister.schema.column import Column

__all__ = ["NUMBERS", "SCHEMA", "NeighbourTables", "Whom", "large_neighbours", "random_neighbours", "worst_neighbours"]

NUMBERS = ("x", "y")
GROUPS = ("red", "green", "blue")
MAX_ROWS = 3  # of a person
LARGE = 70_000  # rows, from which seeding runs on a secret sample

Row = tuple[Any, Any, Any]  # x, y, group

SCHEMA = Schema(
    (
        Column("x", Number(bounds=(0.0, 1.0))),
        Column("y", Number(bounds=(0.0, 1.0))),
        Column("group", Category(GROUPS)),
        Column("who", Text()),
    )
)


@dataclass(frozen=True, slots=True)
class Whom:
    """Whom a guarantee protects, and which tables are neighbours."""

    neighbours: Neighbours
    per_person: bool = False

    @property
    def schema(self) -> Schema:
        """The public facts of the made-up tables."""
        if not self.per_person:
            return replace(SCHEMA, neighbours=self.neighbours)
        return replace(SCHEMA, neighbours=self.neighbours, unit="who", max_rows=MAX_ROWS)

    def __str__(self) -> str:
        return f"{self.neighbours.value}, per {'person' if self.per_person else 'row'}"


@dataclass(frozen=True, slots=True)
class NeighbourTables:
    """Two tables that a release may hardly tell apart."""

    name: str
    one: pa.Table
    other: pa.Table


CROWDS: dict[str, list[Row]] = {
    "no rows": [],
    "equal rows": [(0.5, 0.5, "red")] * 60,
    "rows in a corner": [(0.0, 0.0, "green")] * 40,
    "two heaps": [(0.25, 0.25, "red"), (0.75, 0.75, "blue")] * 60,
    "a line": [(i / 99, 1 - i / 99, GROUPS[i % 3]) for i in range(100)],
    "unreadable rows": [(None, nan, None)] * 30,
}

STRANGERS: dict[str, Row] = {
    "in the far corner": (1.0, 1.0, "blue"),
    "in the near corner": (0.0, 0.0, "red"),
    "in the middle": (0.5, 0.5, "red"),
    "on one side": (1.0, 0.5, "green"),
    "far outside": (1e308, -1e308, "purple"),
    "infinite": (inf, -inf, ""),
    "unreadable": (None, None, None),
    "not a number": (nan, 1.0, "nan"),
}


def worst_neighbours(whom: Whom) -> Iterator[NeighbourTables]:
    """Every crowd with every stranger; every second one as columns of text."""
    for i, (crowd, rows) in enumerate(CROWDS.items()):
        for j, (place, stranger) in enumerate(STRANGERS.items()):
            name = f"{crowd}, one {place}"
            is_text = (i + j) % 2 == 1
            if whom.per_person:
                yield person_apart(name, rows, stranger, is_text, j)
            elif whom.neighbours is Neighbours.ADD_REMOVE:
                at = len(rows) * (j % 3) // 2  # at the beginning, in the middle, at the end
                yield NeighbourTables(name, as_table([*rows[:at], stranger, *rows[at:]], is_text), as_table(rows, is_text))
            else:
                opposite = list(STRANGERS.values())[(j + 1 + i) % len(STRANGERS)]
                one, other = ([*rows, row] for row in (stranger, opposite))
                yield NeighbourTables(name, as_table(one, is_text), as_table(other, is_text))


def random_neighbours(whom: Whom, seed: int) -> NeighbourTables:
    """Tables of any size whose cells are drawn from all that is hard to read, with a stranger anywhere in them."""
    random = np.random.default_rng(seed)  # public: the tables are made up
    numbers = [0.0, 1.0, 0.5, -0.0, 1e-300, 1e308, -1e308, inf, -inf, nan, None, 0.1, 1 - 2**-53]

    def draw() -> Row:
        cells = [
            numbers[random.integers(len(numbers))] if random.random() < 0.3 else float(random.random()) for _ in NUMBERS
        ]
        return cells[0], cells[1], [*GROUPS, "purple", "", None][random.integers(6)]

    heap = [draw() for _ in range(random.integers(1, 6))]  # few different rows, so that many are alike
    rows = [heap[random.integers(len(heap))] if random.random() < 0.5 else draw() for _ in range(random.integers(0, 150))]
    at, is_text, name = int(random.integers(len(rows) + 1)), bool(random.integers(2)), f"random tables {seed}"
    if whom.per_person:
        return person_apart(name, rows, draw(), is_text, seed)
    one = as_table([*rows[:at], draw(), *rows[at:]], is_text)
    if whom.neighbours is Neighbours.ADD_REMOVE:
        return NeighbourTables(name, one, as_table(rows, is_text))
    return NeighbourTables(name, one, as_table([*rows[:at], draw(), *rows[at:]], is_text))


def person_apart(name: str, rows: Sequence[Row], stranger: Row, is_text: bool, number: int) -> NeighbourTables:
    """A person with rows in one place, in several places, with more than may count, or without a name."""
    other_rows = list(STRANGERS.values())
    kinds: list[tuple[list[Row], str | None]] = [
        ([stranger] * MAX_ROWS, "stranger"),
        ([stranger, *other_rows[: MAX_ROWS - 1]], "stranger"),
        ([stranger, *other_rows], "stranger"),
        ([stranger] * MAX_ROWS, None),
    ]
    more, who = kinds[number % len(kinds)]
    crowd = [f"p{i // 2}" for i in range(len(rows))]
    one = as_table([*more, *rows], is_text, [*[who] * len(more), *crowd])
    return NeighbourTables(f"{name}, a person", one, as_table(rows, is_text, crowd))


def large_neighbours(whom: Whom, seed: int = 0) -> NeighbourTables:
    """A large table with and without a row or person in a corner: seeding runs on a secret sample of it."""
    random = np.random.default_rng(seed)  # public: the table is made up
    places = np.clip(random.normal([[0.3, 0.3]] * (LARGE // 2) + [[0.7, 0.6]] * (LARGE // 2), 0.1), 0, 1)
    who = np.char.add("p", (np.arange(LARGE) // 2).astype(str))
    group = np.array(GROUPS)[np.arange(LARGE) % 3]
    crowd = pa.table({"x": places[:, 0], "y": places[:, 1], "group": group, "who": who})
    rows = [(1.0, 1.0, "blue")] * (MAX_ROWS if whom.per_person else 1)
    stranger = as_table(rows, False, ["stranger"] * len(rows)).cast(crowd.schema)
    return NeighbourTables("a large table, one in a corner", pa.concat_tables([crowd, stranger]), crowd)


def as_table(rows: Sequence[Row], is_text: bool, who: Sequence[str | None] | None = None) -> pa.Table:
    """Rows as columns of numbers, in which what cannot be read is null or nan; or as columns of text, with words in it."""
    who = who if who is not None else [f"p{i}" for i in range(len(rows))]
    groups = pa.array([row[2] for row in rows], pa.string())
    columns: dict[str, pa.Array] = {}
    for j, name in enumerate(NUMBERS):
        cells = [row[j] for row in rows]
        if is_text:
            columns[name] = pa.array(["?" if cell is None else str(cell) for cell in cells], pa.string())
        else:
            columns[name] = pa.array(cells, pa.float64())
    return pa.table({**columns, "group": groups, "who": pa.array(who, pa.string())})
