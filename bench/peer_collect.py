"""multi-freq-ldpy on category codes; run with the peers' interpreter: ``peer_collect.py CODES.npy SIZES RUNS METHOD EPSILON``.

CODES is (n, attributes), SIZES and METHOD are words separated by commas, EPSILON is that of a whole report. Prints, for each
method, the joint distance and the mean distance of the attributes alone (total variation) of each run, as JSON.

- grr-joint: generalized randomized response on all combinations of values
- grr-split, oue-split: every attribute at an equal part of epsilon (the package's SPL)
- oue-sample: one attribute a person, drawn at random, at the whole epsilon (the package's SMP)

Those that give attributes alone give the product of them for the joint. All estimates are the package's own (its MI).
"""

import json
import sys
from functools import reduce
from typing import Any

import numpy as np
from multi_freq_ldpy.mdim_freq_est import SMP_solution as smp  # type: ignore[import-not-found]
from multi_freq_ldpy.mdim_freq_est import SPL_solution as spl
from multi_freq_ldpy.pure_frequency_oracles import GRR as grr  # type: ignore[import-not-found]  # noqa: N811

codes = np.load(sys.argv[1])  # (n, d)
sizes = [int(size) for size in sys.argv[2].split(",")]
runs, methods, epsilon = int(sys.argv[3]), sys.argv[4].split(","), float(sys.argv[5])
rows, d = codes.tolist(), len(sizes)
cells = np.ravel_multi_index(codes.T, sizes)
true = np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes) / len(codes)


def alone(joint: Any) -> list[Any]:
    """The shares of each attribute."""
    return [joint.sum(axis=tuple(o for o in range(d) if o != j)) for j in range(d)]


def grr_joint() -> Any:
    """An estimate of the joint table."""
    count = int(np.prod(sizes))
    reports = [grr.GRR_Client(cell, count, epsilon) for cell in cells.tolist()]
    return grr.GRR_Aggregator_MI(reports, count, epsilon).reshape(sizes)


def grr_split() -> Any:
    return spl.SPL_GRR_Aggregator_MI([spl.SPL_GRR_Client(row, sizes, d, epsilon) for row in rows], sizes, d, epsilon)


def oue_split() -> Any:
    return spl.SPL_UE_Aggregator_MI([spl.SPL_UE_Client(row, sizes, d, epsilon) for row in rows], d, epsilon)


def oue_sample() -> Any:
    return smp.SMP_UE_Aggregator_MI([smp.SMP_UE_Client(row, sizes, d, epsilon) for row in rows], d, epsilon)


WAYS = {"grr-joint": grr_joint, "grr-split": grr_split, "oue-split": oue_split, "oue-sample": oue_sample}
found: dict[str, dict[str, list[float]]] = {}
for method in methods:
    found[method] = {"joint": [], "alone": []}
    for _ in range(runs):
        estimate = WAYS[method]()
        shares = alone(estimate) if method == "grr-joint" else [np.asarray(each, dtype=float) for each in estimate]
        joint = estimate if method == "grr-joint" else reduce(np.multiply.outer, shares)
        found[method]["joint"].append(float(np.abs(joint - true).sum() / 2))
        gaps = [np.abs(one - other).sum() / 2 for one, other in zip(shares, alone(true), strict=True)]
        found[method]["alone"].append(float(np.mean(gaps)))
print(json.dumps(found))
