"""MST of dpmm on a table of codes, in the peers' environment: ``peer_dpmm.py FOLDER SIZES``.

It reads codes.npy, writes the rows of each method beside it, and prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

EPSILON, DELTA = 1.0, 1e-6
METHODS = ("MST",)  # AIM did not finish in 6 minutes on Adult


def main() -> None:
    from dpmm import pipelines

    folder, sizes = Path(sys.argv[1]), [int(size) for size in sys.argv[2].split(",")]
    codes = np.load(folder / "codes.npy")
    frame = pd.DataFrame({f"c{j}": pd.Categorical(codes[:, j], categories=range(size)) for j, size in enumerate(sizes)})
    domain = {f"c{j}": {"categories": list(range(size))} for j, size in enumerate(sizes)}
    rows = []
    for name in METHODS:
        start = time.perf_counter()
        model = getattr(pipelines, f"{name}Pipeline")(epsilon=EPSILON, delta=DELTA, proc_epsilon=0.0)
        model.fit(frame, domain)
        made = model.generate(n_records=len(frame))
        took = time.perf_counter() - start
        file = f"{name}.npy"
        np.save(folder / file, made[list(frame)].astype(int).to_numpy())
        rows.append({"method": f"dpmm {name}", "seconds": took, "file": file})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
