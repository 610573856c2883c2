"""What would be done to a table, before a row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cloister.anonymization.request import Request
from cloister.report import notebook, terminal
from cloister.report.document import Document, Fact, Section, Sentence, TextTable
from cloister.schema.hierarchies.of_columns import read_hierarchies

__all__ = ["PublicationPlan", "plan_publication"]


@dataclass(frozen=True, slots=True)
class PublicationPlan:
    """The columns of a table with what becomes of each, and what every class will hold."""

    quasi: Mapping[str, str]  # how each quasi-identifier generalises
    sensitive: tuple[str, ...]
    target: str | None
    dropped: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    untouched: tuple[str, ...]
    guards: tuple[str, ...]  # k-anonymity first
    unit: str  # what k counts
    scope: str
    gain: str
    suppression: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def describe(self) -> Document:
        """The plan as a document: what every class will hold, then what becomes of each column."""
        promise = [
            Sentence(f"{self.scope} recoding, by {self.gain}; every class holds, counted by {self.unit}:"),
            *(Sentence(f"  {guard}") for guard in self.guards),
            Sentence(f"At most {100 * self.suppression:g}% of the rows are suppressed."),
        ]
        columns = TextTable.of(["quasi-identifier", "how it generalises"], list(self.quasi.items()), align="left")
        others = {
            "compared by guards": self.sensitive,
            "predicted": (self.target,) if self.target else (),
            "dropped": self.dropped,
            "pseudonyms": self.pseudonyms,
            "published as they are": self.untouched,
        }
        facts = [Fact(what, ", ".join(names)) for what, names in others.items() if names]
        return Document((Section((*promise, columns, *facts)),), title="Plan of a k-anonymous table")

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def plan_publication(request: Request, names: Sequence[str]) -> PublicationPlan:
    """What a request would do to a table with these columns; no row is read, hierarchies are."""
    fitted = request.on(names)
    trees = read_hierarchies(fitted.hierarchies, fitted.quasi, names, fitted.schema)
    quasi = dict.fromkeys(fitted.quasi, "numbers and dates are split, other values listed")
    quasi |= {name: f"{trees[name].leaves} values by {trees[name].origin}" for name in fitted.quasi if name in trees}
    changed = {*fitted.quasi, *fitted.dropped}
    return PublicationPlan(
        quasi=quasi,
        sensitive=fitted.sensitive,
        target=fitted.target,
        dropped=tuple(name for name in fitted.dropped if name not in fitted.pseudonyms),
        pseudonyms=fitted.pseudonyms,
        untouched=tuple(name for name in names if name not in changed),
        guards=(f"k-anonymity, k = {fitted.k}", *fitted.guards_in_words),
        unit=fitted.unit_words,
        scope=fitted.scope,
        gain=str(fitted.gain),
        suppression=fitted.suppression,
    )
