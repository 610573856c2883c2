"""The tables that risk is compared with pycanon on: made up by a fixed recipe, and Adult. Standard library only.

pycanon pins its own numpy, pandas and typer, so it lives in an environment of its own. There

    python -m pip install pycanon
    CLOISTER_DATA=... python tests/risk/pycanon_answers.py

writes its answers into pycanon.json, which the tests compare with.
"""

from __future__ import annotations

import random

TABLES = 40
ADULT = [
    (["sex", "race"], "salary-class"),
    (["sex", "age"], "salary-class"),
    (["sex", "race", "education", "marital-status"], "occupation"),
    (["sex", "race", "education"], "age"),
    (["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"], "salary-class"),
]
"""Quasi-identifiers and the sensitive column; age is a number, the others are words."""


def made_up(seed: int) -> dict[str, list[str] | list[int]]:
    """A small table: three quasi-identifiers, a sensitive word and a sensitive number, some more frequent than others."""
    dice = random.Random(seed)
    rows = dice.randint(2, 150)
    widths = [dice.randint(1, 4) for _ in range(3)]
    spread = dice.uniform(0.3, 2.0)

    def pick(values: int) -> int:
        return int(values * dice.random() ** spread)

    return {
        "number": [20 + pick(widths[0]) for _ in range(rows)],
        "word": [f"w{pick(widths[1])}" for _ in range(rows)],
        "label": [f"[{10 * pick(widths[2])}, 100)" for _ in range(rows)],
        "illness": [f"i{pick(4)}" for _ in range(rows)],
        "income": [100 * pick(6) for _ in range(rows)],
    }
