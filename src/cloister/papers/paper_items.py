"""What is reproduced of a paper: its items, each a list of tasks that run by themselves, so that a run can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import Picture

__all__ = ["RunEffort", "Item", "Paper", "ItemTask"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunEffort:
    """How much is run, and where data lie.

    Attributes
    ----------
    is_quick
        Half a minute a paper: fewer runs and fewer settings of the same items.
    data
        The folder of the public data sets; None: as `datasets.load` finds them.
    peers
        The file of peers' rows that ``python -m bench audit`` writes, if there is one.
    """

    is_quick: bool = False
    data: Path | None = None
    peers: Path | None = None

    def pick(self, whole: T, quick: T) -> T:
        """What is run: all of it, or what fits into half a minute.

        >>> RunEffort(is_quick=True).pick(50, 3)
        3
        """
        return quick if self.is_quick else whole


@dataclass(frozen=True, slots=True)
class ItemTask:
    """A part of an item that runs by itself; its name is unique inside the item, and the same in every run of that effort."""

    name: str
    work: Callable[[], Iterable[ReproducedRow]]


@dataclass(frozen=True, slots=True)
class Item:
    """Something that a paper claims, and what became of it.

    Attributes
    ----------
    name
        Of files and in the table: lower case with hyphens.
    title
        A heading.
    asks
        A sentence or two for somebody who has not read the paper: what is claimed, and what is compared here.
    tasks
        What is run.
    finds
        From all rows of the item to sentences on what came out. They are made of the rows: nothing is written down beforehand.
    draws
        From all rows to pictures.
    """

    name: str
    title: str
    asks: str
    tasks: Callable[[RunEffort], Sequence[ItemTask]]
    finds: Callable[[Sequence[ReproducedRow]], Sequence[str]] = lambda rows: ()
    draws: Callable[[Sequence[ReproducedRow]], Sequence[Picture]] = lambda rows: ()


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: what it promised, what holds, and what is run of it.

    Attributes
    ----------
    number, title, citation
        The number is that of the command: ``"000"``.
    promised
        Sentences, for somebody who has not read it.
    holds
        Sentences: what is proved, and what is not.
    claim, proved
        The same as `Claimed` has it in the certificate of a reproduction, a few words each.
    datasets
        The names of the public data sets that its items load: looked for before anything runs.
    items
        In the order of the page.
    """

    number: str
    title: str
    citation: str
    promised: tuple[str, ...]
    holds: tuple[str, ...]
    claim: str
    proved: str
    datasets: tuple[str, ...]
    items: tuple[Item, ...]
