"""Pictures of a private choice: where it lies among its candidates, and how near to the best it is. Of its certificate alone."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from cloister.privacy.mechanisms.exponential import CONFIDENCE, largest_gap
from cloister.privacy.release import Release
from cloister.report.picture import CenterProfile, MeasuredBars, Picture, PicturePanel
from cloister.schema.numerals import read_exact_text

__all__ = ["choice_pictures"]

SURE = (0.5, 0.8, CONFIDENCE, 0.99)  # probabilities of which it is told how near the choice is
UNITS = {
    "count": "rows fewer than the most common",
    "rank": "ranks farther from the target than the best",
    "distance": "added-up distance more than that of the best",
}
MOST_OPTIONS = 7  # that are drawn one by one: as many as there are colours
NEARNESS = (
    "With each probability the choice is no farther from the best candidate: what its noise leaves, whatever the rows."
)


def choice_pictures(release: Release) -> tuple[Picture, ...]:
    """What was chosen, as far as it is known to whoever has the certificate: no score of a candidate is released."""
    facts, result = release.parameters, release.result
    panels = [panel for panel in (_place(facts, result), _nearness(facts)) if panel is not None]
    return (
        Picture(f"Private choice of {facts['column']}: {result['value']}", tuple(panels), _caption(facts, result), across=1),
    )


def _place(facts: Mapping[str, Any], result: Mapping[str, Any]) -> PicturePanel | None:
    """Where it lies between the bounds, with the other options where they are few; a category has no bounds."""
    grid, options = facts["grid"], facts["options"]
    if "low" not in grid:
        return None
    chosen, last = int(result["candidate"]), grid["values"] - 1
    others = [place for place in range(len(options)) if place != chosen] if options else []
    if len(others) >= MOST_OPTIONS:
        others = []
    names = (f"{result['value']} (chosen)", *(str(options[place]) for place in others))
    places = [facts["places"][place] for place in (chosen, *others)] if options else [chosen]
    shares = tuple(place / last for place in places)
    ends = (_ends(grid),)
    return CenterProfile("where it lies", names, (str(facts["column"]),), (shares,), (), ends, "between the public bounds")


def _ends(grid: Mapping[str, Any]) -> tuple[str, str]:
    """The first and the last value of a grid, as they are written."""
    last = grid["values"] - 1
    if isinstance(grid["low"], str):
        return grid["low"], str(datetime.date.fromisoformat(grid["low"]) + datetime.timedelta(days=last))
    return f"{grid['low']:,.6g}", f"{grid['low'] + last * grid['step']:,.6g}"


def _nearness(facts: Mapping[str, Any]) -> MeasuredBars:
    """How far the choice lies behind the best at most, with some probabilities: public numbers."""
    scale = Fraction(read_exact_text(facts["scale"]))
    gaps = [largest_gap(facts["candidates"], scale, sure) for sure in SURE]
    words = tuple(f"{sure:.0%} sure" for sure in SURE)
    return MeasuredBars(
        "how near to the best", words, tuple(gap * _unit(facts) for gap in gaps), label=UNITS[facts["score"]]
    )


def _unit(facts: Mapping[str, Any]) -> float:
    """What a gap of 1 between two scores is worth."""
    if facts["quantile"] is not None:
        return 1 / read_exact_text(facts["quantile"]).denominator
    step = facts["grid"].get("step")
    return float(step) if facts["score"] == "distance" and not isinstance(step, str) else 1.0


def _caption(facts: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    rows = result.get("rows")
    share = ""
    if rows is not None and facts["score"] != "distance" and rows["count"] > 0:
        part = min(1.0, result["within"] / rows["count"])
        share = f" {CONFIDENCE:.0%}: {part:.2%} of the {rows['count']:,.0f} rows."
    return f"{NEARNESS}{share} Chosen among {facts['candidates']:,} candidates."
