"""What would be done to a table, before a row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cloister.anonymization.counting.quasi_columns import read_hierarchies
from cloister.anonymization.request import Request

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

    def __str__(self) -> str:
        width = max(map(len, self.quasi))
        lines = [f"{self.scope} recoding, by {self.gain}; every class holds, counted by {self.unit}:"]
        lines += [f"  {guard}" for guard in self.guards]
        lines.append(f"At most {100 * self.suppression:g}% of the rows are suppressed.")
        lines.append("Quasi-identifiers:")
        lines += [f"  {name.ljust(width)}  {how}" for name, how in self.quasi.items()]
        for what, names in (
            ("Compared by guards", self.sensitive),
            ("Predicted", (self.target,) if self.target else ()),
            ("Dropped", self.dropped),
            ("Pseudonyms", self.pseudonyms),
            ("Published as they are", self.untouched),
        ):
            if names:
                lines.append(f"{what}: {', '.join(names)}")
        return "\n".join(lines)


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
