"""What a method of private rows works on, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.terms import Terms
from cloister.encode import Encoding
from cloister.errors import UsageError
from cloister.microdata.private.row_columns import RowColumns
from cloister.privacy.plan import Plan
from cloister.vault import Vault

__all__ = ["MOST_ROWS", "MadeRows", "Progress", "RowMethod", "RowTask", "check_size"]

MOST_ROWS = 10_000_000  # that are made up: they are held in memory

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RowTask:
    """The columns, what may be spent, and the options of methods that were stated: public facts alone."""

    columns: RowColumns
    terms: Terms
    clusters: int | None = None  # of "clusters"; None: as many as the budget carries
    group: int | None = None  # rows of a group of "insensitive"; None: what the plan expects to be best
    bins: Mapping[str, Any] = field(default_factory=dict)  # of numbers and dates, for "marginals": see `tabulate`

    @property
    def domain(self) -> Domain:
        """The grid and the domains of the columns."""
        return self.columns.domain


@dataclass(frozen=True, slots=True, eq=False)
class MadeRows:
    """Made-up rows, from released values and public chance alone.

    Attributes
    ----------
    values
        By column: numbers and days in the column's own units, codes of categories. One array a column, all of one length. A
        category with a single value may be left out.
    size
        The number of rows of the table: noisy, or public under replace-one.
    choices
        What was chosen on the way, with the reason.
    result
        What else was released, for the certificate.
    """

    values: Mapping[str, NDArray[Any]]
    size: float
    choices: Mapping[str, str] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many there are."""
        return max((len(column) for column in self.values.values()), default=0)

    def shuffled(self, random: PublicChance) -> MadeRows:
        """The same rows in an order that says nothing of the groups or clusters that they were made from."""
        order = random.permutation(self.rows)
        return MadeRows({name: column[order] for name, column in self.values.items()}, self.size, self.choices, self.result)


def check_size(terms: Terms) -> None:
    """Refuse a budget that does not even tell how many rows to write."""
    step = terms.size_step(terms.size_epsilon)
    if step is not None and (error := step.mechanism.deviation()["counts"]) > MOST_ROWS / 10:
        raise UsageError(f"the number of rows would be off by about {error:.0e}. Raise epsilon.")


class RowMethod(Protocol):
    """A way to make private rows."""

    @property
    def name(self) -> str:
        """How users call it."""
        ...

    @property
    def counts_first(self) -> bool:
        """Whether it asks for the number of rows before the charge, which only replace-one makes public."""
        ...

    def check(self, task: RowTask) -> None:
        """Refuse, before a charge, what cannot be done whatever the rows are."""
        ...

    def encoding(self, task: RowTask) -> Encoding:
        """How rows are read."""
        ...

    def plan(self, task: RowTask, rows: float) -> Plan:
        """What it would spend on a table of about so many rows; refuses what those cannot carry. No row is read."""
        ...

    def make(self, vault: Vault, task: RowTask, random: PublicChance, progress: Progress) -> MadeRows:
        """Follow the plan inside an open vault, and make rows from what is released."""
        ...
