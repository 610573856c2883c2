"""The risk of a table and, against its original, what it no longer says: one page for its holder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cloister.risks import loss as losses
from cloister.risks import measures
from cloister.risks.learning import Learning
from cloister.risks.linkage import Linkage
from cloister.risks.loss import InformationLoss
from cloister.risks.measures import Reidentification, SensitiveRisk
from cloister.risks.singling_out import Combination

__all__ = ["STAMP", "RiskReport"]

STAMP = "for the holder only: not a private release"


@dataclass(frozen=True, slots=True)
class RiskReport:
    """What a table risks and what it still says.

    Privacy
    -------
    Exact numbers of a sensitive table, for its holder. They are not a private release, and carry the stamp that says so.
    """

    quasi: tuple[str, ...]
    counted: str  # "rows" or "people"
    risk: Reidentification
    sensitive: tuple[SensitiveRisk, ...] = ()
    combinations: tuple[Combination, ...] = ()
    loss: InformationLoss | None = None
    linkage: Linkage | None = None
    learning: Learning | None = None
    notes: tuple[str, ...] = ()
    stamp: str = STAMP

    def as_dict(self) -> dict[str, Any]:
        """Plain data, with the formula of every measure."""
        data = {"stamp": self.stamp, **{key: value for key, value in asdict(self).items() if key != "stamp"}}
        if self.learning is not None:
            data["learning"]["kept"] = self.learning.kept
        data["formulas"] = {"risk": measures.FORMULAS, **({"loss": losses.FORMULAS} if self.loss else {})}
        return data

    def __str__(self) -> str:
        from cloister.risks.description import page

        return page(self)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"
