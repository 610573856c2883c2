"""Python's client computes what the shared vectors say; the browser's client is held to the same file."""

from __future__ import annotations

import json
from fractions import Fraction

from cloister.collect.protocols import protocol_of
from cloister.collect.protocols.channel import lie_units
from tests.collect.protocols.client_vectors import VECTORS, make_vectors, perturbed, written


def test_vectors_are_up_to_date() -> None:
    """The file is what its script writes; run python -m tests.collect.protocols.client_vectors if it should change."""
    assert VECTORS.read_text(encoding="utf-8") == written(make_vectors())


def test_python_computes_the_vectors() -> None:
    """Each vector of the file, by itself: probabilities, and answers from given words."""
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    for case in vectors["lie_units"]:
        assert lie_units(Fraction(case["epsilon"]), case["others"]) == int(case["units"])
    for case in vectors["answers"]:
        protocol = protocol_of(tuple(map(str, range(case["size"]))), Fraction(case["epsilon"]), case["protocol"])
        assert perturbed(protocol, case["code"], [*map(int, case["words"])]) == case["sent"]


def test_vectors_reach_every_outcome() -> None:
    """Each value of a small question is sent for some word, whatever the truth is; bits are seen at 0 and at 1."""
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    three = [case for case in vectors["answers"] if case["size"] == 3 and case["protocol"] == "randomized-response"]
    assert {(case["code"], case["sent"]) for case in three} == {(code, str(sent)) for code in range(3) for sent in range(3)}
    two = [case for case in vectors["answers"] if case["size"] == 2 and case["protocol"] == "unary"]
    assert {case["sent"] for case in two} >= {"00", "03"}
