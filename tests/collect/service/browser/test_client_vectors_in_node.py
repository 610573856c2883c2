"""The browser's client computes what Python's does, to the last bit: the shared vectors, and what the client exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.collect.protocols.client_vectors import VECTORS
from tests.collect.service.browser.client_copies import PLANTED, run_in_node

RESULTS = {"lie_units": "units", "answers": "sent", "terms": "terms"}


def differing(computed: dict[str, list[str]], vectors: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The kinds of vectors for which something else was computed."""
    wanted = {kind: [case[result] for case in vectors[kind]] for kind, result in RESULTS.items()}
    return [kind for kind in RESULTS if computed[kind] != wanted[kind]]


def test_node_computes_the_vectors(tmp_path: Path) -> None:
    """Probabilities, answers from given words, and terms of collections with odd names are Python's."""
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert differing(run_in_node("compute_vectors.mjs", tmp_path, vectors), vectors) == []


@pytest.mark.parametrize("bug", PLANTED)
def test_vectors_catch_bugs(bug: str, tmp_path: Path) -> None:
    """Planted: clients with small bugs compute something else."""
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert differing(run_in_node("compute_vectors.mjs", tmp_path, vectors, bug), vectors) != []
