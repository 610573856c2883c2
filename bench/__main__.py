"""All benchmarks, or those named: ``python -m bench foundations``."""

from __future__ import annotations

import importlib
import sys

ALL = [
    "foundations", "kmeans_speed", "kmeans_quality", "kmeans_tails", "measured_loss", "found_bounds", "point_search", "spark",
    "synopsis", "tables", "magic", "mixed", "anonymize", "risk", "audit", "collect", "collect_service", "microaggregation",
    "microdata", "microdata_marginals", "database_rows",
]  # fmt: skip

IN_PARTS = {
    "found_bounds",
    "kmeans_tails",
    "mixed",
    "collect",
    "collect_service",
    "microdata",
    "microdata_marginals",
}  # what follows these are parts of them

for name in sys.argv[1:2] if IN_PARTS.intersection(sys.argv[1:2]) else sys.argv[1:] or ALL:
    importlib.import_module(f"bench.{name}").main()
