"""Certificates of prototypes: what cannot be true of them is found."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import cloister as cl
from cloister.privacy.certificate_figures import find_contradiction
from cloister.privacy.release import Release


@pytest.fixture(scope="module")
def release() -> Release:
    rows = [{"age": i % 90, "sex": "fm"[i % 2]} for i in range(300)]
    model = cl.KPrototypes(2, budget=3, bounds=(0, 100), categories={"sex": ["f", "m"]}, columns=["age", "sex"], gamma=0.2)
    return model.fit(rows).release_


def changed(release: Release, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Release:
    """The release with its parameters and its result changed."""
    parameters, result = copy.deepcopy(release.parameters), copy.deepcopy(release.result)
    change(parameters, result)
    return dataclasses.replace(release, parameters=parameters, result=result)


def test_a_sound_one_is_left_alone(release: Release) -> None:
    """Nothing is found in what was released, also after it was written and read."""
    assert find_contradiction(release) is None
    assert find_contradiction(Release.from_json(release.to_json())) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda parameters, result: result["centers"].append([1.0, "f"]), "as many"),
        (lambda parameters, result: result["centers"][0].append("f"), "as many"),
        (lambda parameters, result: result["centers"][0].__setitem__(1, "x"), "a category that its column does not have"),
        (lambda parameters, result: result["centers"][0].__setitem__(0, "f"), "no number"),
        (lambda parameters, result: parameters.__setitem__("gamma", -1.0), "gamma"),
        (lambda parameters, result: parameters.__delitem__("gamma"), "missing"),
    ],
)
def test_forgeries_are_found(release: Release, change: Callable[[Any, Any], None], words: str) -> None:
    """Centres of another number, width, domain or kind, and a gamma that no fit has."""
    found = find_contradiction(changed(release, change))
    assert found is not None
    assert words in found
