"""anonymeter's three attacks on made-up rows, run with the interpreter of the peers: a folder with three CSV files -> JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

ATTACKS = 1000
KNOWN = (
    ["age", "workclass", "education", "marital-status"],
    ["occupation", "relationship", "race", "sex", "native-country"],
)
SECRET = "occupation"


def main() -> None:
    folder = Path(sys.argv[1])
    made, original, control = (pd.read_csv(folder / f"{name}.csv") for name in ("made", "original", "control"))
    np.random.seed(0)  # noqa: NPY002 - anonymeter draws its attacks from it
    control = control.sample(min(len(control), len(original)), random_state=0)
    rows = []
    for mode, columns in (("univariate", 3), ("multivariate", 3), ("multivariate", 5)):
        attack = SinglingOutEvaluator(ori=original, syn=made, control=control, n_attacks=ATTACKS, n_cols=columns)
        try:
            attack.evaluate(mode=mode)
        except RuntimeError:  # it found no guesses that single a made-up row out
            rows.append(
                {"attack": f"singling out, {mode} {columns}", "risk": 0.0, "low": 0.0, "high": 0.0, "note": "no guesses"}
            )
            continue
        rows.append(line(f"singling out, {mode}{'' if mode == 'univariate' else f' {columns}'}", attack))
    known = tuple([name for name in side if name in made] for side in KNOWN)
    for neighbours in (1, 10):
        linking = LinkabilityEvaluator(
            ori=original, syn=made, control=control, aux_cols=known, n_attacks=ATTACKS, n_neighbors=neighbours
        )
        linking.evaluate(n_jobs=1)
        rows.append(line(f"linkability, {neighbours} neighbours", linking))
    others = [name for name in made.columns if name != SECRET]
    inferring = InferenceEvaluator(
        ori=original, syn=made, control=control, aux_cols=others, secret=SECRET, n_attacks=ATTACKS
    )
    inferring.evaluate(n_jobs=1)
    rows.append(line(f"inference of {SECRET}", inferring))
    print(json.dumps(rows))


def line(name: str, attack: object) -> dict[str, object]:
    """Risk beyond that of the control, with its 95% interval."""
    risk = attack.risk(confidence_level=0.95)  # type: ignore[attr-defined]
    return {"attack": name, "risk": float(risk.value), "low": float(risk.ci[0]), "high": float(risk.ci[1]), "note": ""}


if __name__ == "__main__":
    main()
