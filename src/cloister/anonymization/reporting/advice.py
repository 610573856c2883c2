"""What would lose less on the same table, with figures: found on the counts that are in memory anyway.

Privacy
-------
Exact numbers, for the holder: nothing of them is in the certificate or in the table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from cloister.anonymization.counting.count_request import OpenedTables
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.request import Request
from cloister.anonymization.searching.find_recoding import SearchResult, find_recoding
from cloister.anonymization.searching.gains import Gain
from cloister.errors import Unattainable
from cloister.report import notebook, terminal
from cloister.report.document import Block, Document, Section, Sentence
from cloister.schema.hierarchies import Hierarchy

__all__ = ["MUCH", "Advice", "Alternative", "find_advice"]

MUCH = 0.25  # from this loss on alternatives are looked for
LONGEST = 4.0  # seconds of a search from which on no other is tried, and of all others together
LESS = 0.95  # of the loss: what saves less is not worth telling
SHARES = (0.02, 0.05)  # of the rows to suppress


@dataclass(frozen=True, slots=True)
class Alternative:
    """What to ask for instead, as flags, and what would then be lost."""

    flags: str
    loss: float


@dataclass(frozen=True, slots=True)
class Advice:
    """What would lose less on this table; nothing, where little is lost."""

    loss: float
    alternatives: tuple[Alternative, ...] = ()
    without_hierarchy: tuple[str, ...] = ()  # columns of words that lose most of what they say
    is_skipped: bool = False  # much is lost, and the table is too large to try everything

    @property
    def sentences(self) -> tuple[str, ...]:
        """The advice in words."""
        told = []
        if self.alternatives:
            first, *others = self.alternatives
            parts = [f"With {first.flags} the loss would be {first.loss:.3f}"]
            parts += [f"with {other.flags} {other.loss:.3f}" for other in others]
            told.append(f"{', '.join(parts)}.")
        if self.is_skipped:
            told.append(
                "Much is lost, and the table is large: what would lose less was not computed to the end. Try --scope local, "
                "--suppress 0.02, or a hierarchy for columns that lose most."
            )
        if self.without_hierarchy:
            names = ", ".join(f'"{name}"' for name in self.without_hierarchy)
            told.append(
                f"Without a hierarchy a value is published as it is or as *: give {names} one (cloister schema DATA "
                "--hierarchies DIR drafts them), and more may be left."
            )
        return tuple(told)

    @property
    def nothing(self) -> str:
        """What is told where there is no advice."""
        return (
            "Little is lost: nothing else was tried." if self.loss < MUCH else "Nothing that was tried loses less by much."
        )

    def describe(self) -> Document:
        """The advice as a document."""
        blocks: tuple[Block, ...] = tuple(Sentence(sentence) for sentence in self.sentences or (self.nothing,))
        return Document((Section(blocks),), title="What would lose less")

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def find_advice(
    opened: OpenedTables,
    counted: CountedTable,
    result: SearchResult,
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> Advice:
    """What would lose less than a search that took so many seconds."""
    if result.loss <= MUCH:
        return Advice(result.loss)
    lacking = _without_hierarchy(opened, counted, result)
    if seconds > LONGEST:
        return Advice(result.loss, (), lacking, is_skipped=True)
    found, start, is_skipped = [], clock(), False
    for flags, request in _others(opened.request):
        if clock() - start > LONGEST:
            is_skipped = True
            break
        try:
            loss = find_recoding(request, counted).loss
        except Unattainable:
            continue
        if loss <= LESS * result.loss:
            found.append(Alternative(flags, loss))
    return Advice(result.loss, tuple(found), lacking, is_skipped)


def _others(request: Request) -> Iterator[tuple[str, Request]]:
    """Requests with the same guarantees, and the flags that ask for them."""
    scope = "" if request.scope == "global" else "--scope global "
    for share in SHARES:
        if share > request.suppression:
            yield f"{scope}--suppress {share:g}", replace(request, scope="global", suppression=share)
    if request.scope == "global" and request.gain is Gain.LOSS:
        dropped = " without --suppress" if request.suppression else ""
        yield f"--scope local{dropped}", replace(request, scope="local", suppression=0.0)


def _without_hierarchy(opened: OpenedTables, counted: CountedTable, result: SearchResult) -> tuple[str, ...]:
    """Columns of words that nobody gave a hierarchy, and that lose most of what they say."""
    columns: Sequence[object] = counted.columns
    return tuple(
        name
        for name, column, loss in zip(counted.names, columns, result.losses, strict=True)
        if name not in opened.hierarchies and isinstance(column, Hierarchy) and column.leaves > 2 and loss > 0.5
    )
