"""The package kmodes on category codes; run with the peers' interpreter. Prints costs and seconds an iteration as JSON.

``peer_kmodes.py CODES.npy best CLUSTERS RUNS``: the cost of each of so many runs, by the package's own seedings.
``peer_kmodes.py CODES.npy from STARTS.npy``: the cost and the modes from each of these starts, (starts, k, c).
"""

import json
import sys
import time

import numpy as np
from kmodes.kmodes import KModes

codes, what = np.load(sys.argv[1]), sys.argv[2]
if what == "best":
    clusters, runs = int(sys.argv[3]), int(sys.argv[4])
    models = [KModes(clusters, init="Cao" if seed == 0 else "Huang", n_init=1, random_state=seed) for seed in range(runs)]
else:
    starts = np.load(sys.argv[3])
    models = [KModes(len(start), init=start, n_init=1) for start in starts]
costs, passes, modes = [], [], []
for model in models:
    start = time.perf_counter()
    model.fit(codes)
    passes.append((time.perf_counter() - start) / (model.n_iter_ + 1))  # the first assignment is a pass too
    costs.append(float(model.cost_))
    modes.append(model.cluster_centroids_.astype(int).tolist())
print(json.dumps({"costs": costs, "pass": min(passes), "modes": modes}))
