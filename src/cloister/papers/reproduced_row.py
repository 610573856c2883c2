"""A row of the tidy table that a reproduction makes: one number, of one form of one item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

__all__ = ["FORMS", "Form", "ReproducedRow"]

Form = Literal["printed", "as printed", "sound", "plain", "peer"]
"""What the paper prints; what its algorithm gives when it is run again; what the sound form gives; what no privacy at all
gives; what somebody else's library gives."""
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    """One number.

    Attributes
    ----------
    setting
        What it was run with, in words that a table shows: ``"rho 0.05"``.
    form
        Whose number it is.
    measure
        What was measured: ``"F-measure"``.
    value
        None: the paper has a figure and our text of it no number, or nothing can be given; `note` says which.
    source
        Where the paper says it: ``"table 3"``, ``"figure 2"``, ``"section 6.2"``.
    low, high
        The ends of an interval, if the value has one of its own. Values of several seeds get one from each other.
    claimed
        The epsilon that the paper (or the peer) claims for this number, if any.
    epsilon
        What is proved of this number: an epsilon, `math.inf` where no finite one covers it, None where nothing private was run.
    seed
        Of the run; None: nothing random.
    note
        A sentence.
    """

    setting: str
    form: Form
    measure: str
    value: float | None
    source: str
    low: float | None = None
    high: float | None = None
    claimed: float | None = None
    epsilon: float | None = None
    seed: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"{self.form} is no form")
        if not (self.setting and self.measure and self.source):
            raise ValueError("a row says its setting, its measure and its source")
        if self.form in ("as printed", "sound", "peer") and self.epsilon is None:
            raise ValueError("what was run says what is proved of it")
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"{name} is no number")

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON: no finite epsilon is the text "none"."""
        return {name: "none" if value == math.inf else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> ReproducedRow:
        """The row that `as_dict` wrote."""
        known = {field.name for field in fields(cls)}
        if set(facts) != known:
            raise ValueError("other fields")
        values: dict[str, Any] = {name: math.inf if value == "none" else value for name, value in facts.items()}
        return cls(**values)
