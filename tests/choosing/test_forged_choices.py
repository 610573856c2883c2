"""Certificates of choices are held to what follows from their own figures."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.privacy.certificate_figures import find_contradiction
from cloister.privacy.release import Release

AGES = pa.table({"age": [30, 40, 50] * 100})


def chosen(**more: Any) -> Release:
    """A choice of an age."""
    asked = {"quantile": 0.5, **more}
    return cl.choose(AGES, "age", budget=1, bounds=(0, 99), step=1, **asked).release_


@pytest.mark.parametrize(
    ("part", "forged"),
    [
        ("result", {"value": 12345}),
        ("result", {"value": "cancer"}),
        ("result", {"value": True}),
        ("parameters", {"grid": {"values": 7, "low": 0.0, "step": 1.0}}),
        ("parameters", {"score": "count"}),
        ("result", {"confidence": 0.999}),
        (
            "result",
            {"nearness": "With probability 99.9% its rank is within 12 of the target, 0.5 times the number of rows."},
        ),
        ("result", {"rows": {"count": 300.0, "standard_error": 1.0}}),
        ("parameters", {"clip": "3", "quantile": None}),
    ],
)
def test_a_choice_says_what_follows_from_its_figures(part: str, forged: dict[str, Any]) -> None:
    """A value that is not its candidate, another grid or score, other words and a number that nobody bought are found."""
    release = chosen()
    assert find_contradiction(release) is None
    assert find_contradiction(dataclasses.replace(release, **{part: {**getattr(release, part), **forged}})) is not None


def test_how_near_a_distance_is_follows_too() -> None:
    """Of the nearest option, within is the gap in units of the column."""
    release = chosen(quantile=None, options=[30, 40])
    assert find_contradiction(release) is None
    forged = {**release.result, "within": release.result["within"] / 2}
    assert find_contradiction(dataclasses.replace(release, result=forged)) is not None


@pytest.mark.parametrize(
    "asked",
    [{"quantile": 0.5}, {"quantile": None}, {"quantile": None, "options": [30, 47], "clip": 5}, {"quantile": "1/3"}],
)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_reach_of_a_choice_follows_from_its_score(asked: dict[str, Any], neighbours: str) -> None:
    """A choice that says that a row moves it half as far, and cost half as much, is found: so much it did cost."""
    release = chosen(neighbours=neighbours, **asked)
    assert find_contradiction(release) is None
    for factor in (2, 3):
        reach = release.parameters["reach"] * factor
        event = dataclasses.replace(release.events[0], epsilon=release.events[0].epsilon * factor)
        guarantee = dataclasses.replace(release.guarantee, epsilon=release.guarantee.epsilon * factor)
        forged = {"parameters": {**release.parameters, "reach": reach}, "events": (event,), "guarantee": guarantee}
        assert find_contradiction(dataclasses.replace(release, **forged)) is not None


def test_the_number_of_rows_is_a_number() -> None:
    """With its standard error, and nothing beside it."""
    release = chosen(count_rows=True)
    assert find_contradiction(release) is None
    for rows in (
        {"count": -5, "standard_error": 1.0},
        {"count": "x", "standard_error": 1.0},
        {"count": 300.0},
        {**release.result["rows"], "note": "Ann"},
    ):
        assert find_contradiction(dataclasses.replace(release, result={**release.result, "rows": rows})) is not None


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_genuine_choices_hold(neighbours: str) -> None:
    """Days, categories, numbers without a step and counted rows have no contradiction."""
    days = cl.choose(
        pa.table({"born": pa.array([3, 9, 9]).cast(pa.int32()).cast(pa.date32())}), "born", budget=1, quantile="1/3",
        schema=cl.Schema.from_text('[columns.born]\nkind = "date"\nbounds = [1970-01-01, 1970-02-01]\n'),
        neighbours=neighbours, count_rows=True,
    )  # fmt: skip
    letters = cl.choose(pa.table({"c": list("aab")}), "c", budget=1, domain=["a", "b", "c"], neighbours=neighbours)
    parts = cl.choose(AGES, "age", budget=1, bounds=(0, 100.7), quantile=0.9, neighbours=neighbours)
    rho = cl.choose(AGES, "age", budget=cl.Identifiability(0.1), bounds=(0, 99), step=1, quantile=0.9)
    for made in (days, letters, parts, rho):
        assert find_contradiction(made.release_) is None


def test_a_note_on_rho_follows_from_its_numbers() -> None:
    """A certificate that promises a smaller probability in words than in numbers is found."""
    release = cl.choose(AGES, "age", budget=cl.Identifiability(0.1), bounds=(0, 99), step=1, quantile=0.5).release_
    notes = tuple(note.replace("at most 0.1", "at most 0.0001") for note in release.notes)
    assert notes != release.notes
    assert find_contradiction(dataclasses.replace(release, notes=notes)) is not None


def test_a_long_clip_is_refused_before_the_charge(tmp_path: Path) -> None:
    """A clip of thousands of digits cannot be written into a certificate."""
    from fractions import Fraction

    ledger = cl.Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", 5)
    clip = Fraction(10**4400 + 1, 10**4399)
    with pytest.raises(UsageError, match="digits"):
        cl.choose(AGES, "age", budget=1, options=[30, 40], bounds=(0, 99), step=1, clip=clip, table="t", ledger=ledger)
    assert ledger.account("t").epsilon_spent == 0


def test_bounds_of_a_call_keep_the_step_of_the_schema() -> None:
    """Whole numbers stay whole; bounds that begin between two steps are refused."""
    schema = cl.Schema.from_text('[columns.age]\nkind = "number"\nbounds = [0, 120]\nstep = 1\n')
    made = cl.choose(AGES, "age", budget=1, quantile=0.5, schema=schema, bounds=(0, 99))
    assert made.release_.parameters["candidates"] == 100
    with pytest.raises(UsageError, match="step"):
        cl.choose(AGES, "age", budget=1, quantile=0.5, schema=schema, bounds=(0.5, 99))


@pytest.mark.parametrize("seed", range(60))
def test_every_choice_among_options_holds(seed: int) -> None:
    """Whatever bounds, steps, clips and options: what is written has no contradiction, also as it is read back."""
    random = np.random.default_rng(seed)
    low = float(np.round(random.normal(0, 10.0 ** random.integers(-3, 9)), 3))
    high = low + float(np.round(10.0 ** random.uniform(-1, 7), 3)) + 1
    step = [None, 0.5, 0.001, 1][random.integers(4)]
    options = sorted({float(np.round(value, random.integers(0, 4))) for value in random.uniform(low, high, 4)})
    options = [min(max(option, low), high) for option in options]
    clip = None if random.integers(2) else float(np.round((high - low) * random.uniform(0.01, 2), 4))
    asked = {"neighbours": ["add-remove", "replace-one"][random.integers(2)], "bounds": (low, high), "step": step}
    try:
        made = cl.choose({"x": [low, high] * 5}, "x", budget=1, options=options, clip=clip, **asked)
    except UsageError:  # a step that is too fine or too wide for these bounds
        return
    assert find_contradiction(Release.from_json(made.release_.to_json())) is None
    if clip is not None:
        steps = {**made.release_.parameters, "clip_steps": made.release_.parameters["clip_steps"] + 3}
        assert find_contradiction(dataclasses.replace(made.release_, parameters=steps)) is not None
    places = made.release_.parameters["places"]
    moved = {**made.release_.parameters, "places": [place + 2 for place in places]}
    assert find_contradiction(dataclasses.replace(made.release_, parameters=moved)) is not None


@pytest.mark.parametrize(
    ("clip", "step"), [(0.57 * 100, 1), (0.3 - 0.1, 0.1), (56.99999999999999, 1), (57, 1), (1e9, 1), (0.7 + 0.1, 0.1)]
)
def test_a_clip_beside_a_whole_number_of_steps_holds(clip: float, step: float) -> None:
    """Floats that were meant for one lie a hair below it: the exact number of steps is written down."""
    made = cl.choose({"x": [1.0, 50.0] * 20}, "x", budget=1, options=[0, 60, 99], clip=clip, bounds=(0, 99), step=step)
    assert find_contradiction(Release.from_json(made.release_.to_json())) is None


def test_a_quantile_near_zero_of_far_bounds_holds() -> None:
    """What is left of a small number after a large one was taken away has few digits."""
    bounds = (-89913.32196563442, -7.988994766560923e-07)
    made = cl.choose({"x": [-0.00196563442] * 5000}, "x", budget=100, quantile=0.5, bounds=bounds, step=0.01)
    assert find_contradiction(Release.from_json(made.release_.to_json())) is None
