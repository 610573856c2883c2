"""The certificate of a local table shows nothing of the search that made it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa

import cloister as cl


def test_the_certificate_of_a_local_table_does_not_tell_how_it_was_searched(tmp_path: Path) -> None:
    """The reason has no figure but k, and labels are listed in the order of their numbers, not of internal halves."""
    ages = np.random.default_rng(5).integers(18, 80, 400)
    table = pa.table({"age": ages, "city": np.random.default_rng(6).choice(["x", "y", "z"], 400)})
    made = cl.TopDownSpecialization(k=7, quasi=["age", "city"], scope="local")
    made.publish(table, tmp_path / "out.csv")
    facts = json.loads(made.release_.to_json())["result"]
    assert re.findall(r"\d+", facts["reason"]) == ["7"]
    labels = facts["columns"][0]["labels"]
    assert len(labels) > 20
    assert labels == sorted(labels, key=place_of)


def place_of(label: str) -> tuple[float, float]:
    """Where a label of numbers begins, wider ones first."""
    if label == "*":
        return -math.inf, -math.inf
    ends = [float(end) for end in re.findall(r"-?inf|\d+", label)]
    return ends[0], -(ends[-1] if len(ends) > 1 else ends[0] + 1)
