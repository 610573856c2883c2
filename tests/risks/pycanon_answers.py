"""Writes pycanon.json: run it where pycanon is installed (see pycanon_tables)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

QUASI = ["number", "word", "label"]


def answers(table: Any, quasi: list[str], sensitive: list[str]) -> dict[str, float]:
    """k, l, t and what else both define."""
    from pycanon import anonymity, metrics

    found = {
        "k": int(anonymity.k_anonymity(table, quasi)),
        "average": float(metrics.average_ecsize(table, table, quasi)),
        "discernibility": int(metrics.discernability_metric(table, table, quasi)),
        "highest": float(metrics.max_rir(table, quasi)),
    }
    for name in sensitive:
        found[f"l {name}"] = int(anonymity.l_diversity(table, quasi, [name]))
        many = table[name].nunique() > 1  # pycanon divides by the number of values less one
        found[f"t {name}"] = float(anonymity.t_closeness(table, quasi, [name])) if many else 0.0
    return found


def main() -> None:
    import pandas as pd

    sys.path.insert(0, str(Path(__file__).parent))
    from pycanon_tables import ADULT, TABLES, made_up

    made = [answers(pd.DataFrame(made_up(seed)), QUASI, ["illness", "income"]) for seed in range(TABLES)]
    adult = pd.read_csv(Path(os.environ["CLOISTER_DATA"]) / "adult-30162.csv", sep=";")
    real = [answers(adult, quasi, [sensitive]) for quasi, sensitive in ADULT]
    document = {"pycanon": "1.3.6", "made up": made, "adult": real}
    (Path(__file__).parent / "pycanon.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
