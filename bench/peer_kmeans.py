"""diffprivlib's k-means on an array; run with the peers' interpreter. Prints seconds and loss as JSON."""

import json
import sys
import time
import warnings

import numpy as np
from diffprivlib.models import KMeans

warnings.filterwarnings("ignore")
path, clusters, epsilon, runs = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
X = np.load(path)
bounds = (np.zeros(X.shape[1]), np.ones(X.shape[1]))
times, losses = [], []
for _ in range(runs):
    start = time.perf_counter()
    centers = KMeans(clusters, epsilon=epsilon, bounds=bounds).fit(X).cluster_centers_
    times.append(time.perf_counter() - start)
    losses.append(float(((X[:100_000, None] - centers[None]) ** 2).sum(2).min(1).mean()))
print(json.dumps({"seconds": min(times), "loss": float(np.median(losses))}))
