"""diffprivlib's k-means on two neighbouring arrays, with every draw of noise observed; run with the peers' interpreter.

The second fit is made to draw what the first one drew, as `cloister.testing.walks` does. Prints both walks as JSON: of each
step the kind of noise, its parameters, the exact value and what came out.
"""

import json
import sys
import warnings
from typing import Any

import numpy as np
from diffprivlib.mechanisms import GeometricFolded, LaplaceBoundedDomain
from diffprivlib.models import KMeans

warnings.filterwarnings("ignore")


class Parted(Exception):
    """The second fit draws more often than the first."""


def observe(kind: Any, parameters: Any, steps: list[dict[str, Any]], forced: list[dict[str, Any]] | None) -> Any:
    """Let a mechanism draw, or hand out what was drawn before, and write the step down."""
    draw = kind.randomise

    def randomise(self: Any, value: Any) -> Any:
        released = draw(self, value)
        if forced is not None:
            if len(steps) >= len(forced):
                raise Parted
            released = type(released)(forced[len(steps)]["released"])
        step = {"kind": kind.__name__, **parameters(self), "exact": float(value), "released": float(released)}
        steps.append(step)
        return released

    kind.randomise = randomise
    return lambda: setattr(kind, "randomise", draw)


def walk(rows: Any, clusters: int, epsilon: float, forced: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The steps of one fit, and what it ended in."""
    steps: list[dict[str, Any]] = []
    undo = [
        observe(LaplaceBoundedDomain, lambda m: {"scale": m._scale, "lower": m.lower, "upper": m.upper}, steps, forced),
        observe(GeometricFolded, lambda m: {"scale": m.sensitivity / m.epsilon, "lower": m.lower}, steps, forced),
    ]
    ended = None
    try:
        bounds = (np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
        KMeans(clusters, epsilon=epsilon, bounds=bounds, random_state=0).fit(rows)
    except Exception as error:  # an error is an outcome too
        ended = type(error).__name__
    finally:
        for restore in undo:
            restore()
    return {"steps": steps, "error": ended}


if __name__ == "__main__":
    path, clusters, epsilon = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    tables = np.load(path)
    first = walk(tables["one"], clusters, epsilon)
    second = walk(tables["other"], clusters, epsilon, first["steps"])
    print(json.dumps({"first": first, "second": second}))
