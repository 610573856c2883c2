"""Figures of the certificate of a choice that follow from others of it: `certificate_figures` compares them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from typing import Any

from cloister.kernels.scores import Counts, RankDistance, TotalDistance
from cloister.privacy.choice_words import nearness_words
from cloister.privacy.guarantees import Guarantee
from cloister.privacy.mechanisms.exponential import CONFIDENCE, largest_gap
from cloister.privacy.release import Release
from cloister.schema import Neighbours
from cloister.schema.numerals import read_exact_text

__all__ = ["count_of", "of_choice"]

ROUNDING = 1e-14  # of floats that a certificate holds in place of the exact grid


def of_choice(release: Release, rows_each: int) -> Iterator[str]:
    """Of a choice: what was chosen is a candidate, and what it cost and how near it is follow from how it was drawn.

    `rows_each`: how many rows whom its guarantee protects may have.
    """
    parameters, result = release.parameters, release.result
    candidates, scale = count_of(parameters["candidates"]), read_exact_text(parameters["scale"])
    options = parameters["options"]
    if count_of(result["candidate"]) >= candidates or (
        options is not None and not _is_same(options[result["candidate"]], result["value"])
    ):
        yield "what was chosen is not one of its candidates"
    if options is not None and not _are_placed(options, parameters["places"], parameters["grid"]):
        yield "its options do not lie where it says"
    if not _is_clipped(parameters):
        yield "its clip is not as many steps as it says"
    if (options is not None and len(options) != candidates) or result["gap"] != largest_gap(candidates, scale):
        yield "how near it is to the best does not follow from its candidates"
    if options is None and not _is_at(result["value"], result["candidate"], candidates, parameters["grid"]):
        yield "what was chosen is not the value of its candidate"
    yield from _of_nearness(parameters, result)
    assert isinstance(release.guarantee, Guarantee)
    neighbours = release.guarantee.neighbours
    yield from _of_rows(release, neighbours)
    if count_of(parameters["reach"]) != _row_reach(parameters, neighbours) * rows_each:
        yield "how far a row moves its scores is not what its score and its neighbours say"
    costs = [event.cost().epsilon for event in release.events if event.kind == "exponential"]
    if costs != [parameters["reach"] / scale]:
        yield "what it cost does not follow from how it was drawn"


def _of_rows(release: Release, neighbours: Neighbours) -> Iterator[str]:
    """The number of rows, where it was told: a step bought it, or it is public."""
    if "rows" not in release.result:
        return
    rows = release.result["rows"]
    if set(rows) != {"count", "standard_error"} or not all(type(value) in (int, float) for value in rows.values()):
        yield "its number of rows is not a number with its standard error"
    elif not (rows["count"] >= 0 and rows["standard_error"] >= 0):
        yield "its number of rows lies below 0"
    is_bought = any(event.step == "size" for event in release.events)
    if neighbours is Neighbours.ADD_REMOVE and not is_bought:
        yield "it tells a number of rows that no step bought"


def _row_reach(parameters: Mapping[str, Any], neighbours: Neighbours) -> int:
    """How far a row moves two scores apart, from what went in."""
    if parameters["score"] == "count":
        return Counts().reach(neighbours)
    if parameters["score"] == "rank":
        quantile = read_exact_text(parameters["quantile"])
        return RankDistance(quantile.numerator, quantile.denominator).reach(neighbours)
    places, farthest = parameters["places"], count_of(parameters["grid"]["values"]) - 1
    steps = farthest if parameters["clip"] is None else count_of(parameters["clip_steps"])
    return TotalDistance(steps, max(places) - min(places)).reach(neighbours)


def _is_clipped(parameters: Mapping[str, Any]) -> bool:
    """Whether a clip is as many steps of the grid as it says: the largest whole number in it, and no more than the grid has."""
    clip, steps, grid = parameters["clip"], parameters["clip_steps"], parameters["grid"]
    if clip is None or steps is None:
        return clip is steps
    step = 1.0 if isinstance(grid["low"], str) else grid["step"]
    meant, farthest = float(read_exact_text(clip)) / step, count_of(grid["values"]) - 1
    slack = 1e-9 * (1 + meant)  # a certificate has the step as a float
    is_floor = steps <= farthest and meant - 1 - slack <= steps <= meant + slack
    return bool(is_floor or steps == farthest <= meant + slack)


def _is_same(option: Any, value: Any) -> bool:
    """Whether they are one text or one number: `true` is not 1."""
    return bool(option == value) and type(option) is type(value)


def _are_placed(options: list[Any], places: list[Any], grid: Mapping[str, Any]) -> bool:
    """Whether each option counts as the place of the grid that is named for it; of a category only that there is one."""
    if len(places) != len(options) or not all(count_of(place) < grid["values"] for place in places):
        return False
    if "low" not in grid:
        return all(isinstance(option, str) for option in options)
    if isinstance(grid["low"], str):
        first = datetime.date.fromisoformat(grid["low"])
        days = [str(first + datetime.timedelta(days=place)) for place in places]
        return days == options
    low, step = grid["low"], grid["step"]
    return all(
        abs(low + place * step - option) <= step / 2 + ROUNDING * (step + abs(low) + place * step)
        for option, place in zip(options, places, strict=True)
    )


def _is_at(value: Any, candidate: int, candidates: int, grid: Mapping[str, Any]) -> bool:
    """Whether a value is the one at this place of a grid; the values of a category are not in a certificate."""
    if count_of(grid["values"]) != candidates:
        return False
    if "low" not in grid:
        return isinstance(value, str)
    if isinstance(grid["low"], str):
        first = datetime.date.fromisoformat(grid["low"])
        return bool(value == str(first + datetime.timedelta(days=candidate)) and grid["step"] == "1 day")
    if type(value) not in (int, float):
        return False
    meant = grid["low"] + candidate * grid["step"]
    slack = 1e-9 * (abs(value) + grid["step"]) + ROUNDING * (abs(grid["low"]) + candidate * grid["step"])
    return bool(abs(value - meant) <= slack)


def _of_nearness(parameters: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[str]:
    """How near to the best a choice is, in figures and in words."""
    score, grid = parameters["score"], parameters["grid"]
    quantile = None if parameters["quantile"] is None else read_exact_text(parameters["quantile"])
    if (quantile is not None) != (score == "rank"):
        yield "its quantile does not go with its score"
        return
    is_day = isinstance(grid.get("low"), str)
    unit = grid["step"] if score == "distance" and not is_day else 1 if quantile is None else 1 / quantile.denominator
    is_near = math.isclose(result["within"], result["gap"] * unit, rel_tol=1e-9)
    words = nearness_words(score, result["within"], quantile, has_options=parameters["options"] is not None, is_day=is_day)
    if not is_near or result["confidence"] != CONFIDENCE or result["nearness"] != words:
        yield "how near it is to the best, in words, is not what its figures say"


def count_of(value: Any) -> int:
    """A whole number of at least 0."""
    if type(value) is not int or value < 0:
        raise ValueError("no count")
    return value
