"""All benchmarks, or those named: ``python -m bench foundations``."""

from __future__ import annotations

import importlib
import sys

ALL = [
    "foundations", "kmeans_speed", "kmeans_quality", "spark", "synopsis", "magic", "mixed", "anonymize", "risk", "audit",
]  # fmt: skip

for name in sys.argv[1:2] if sys.argv[1:2] == ["mixed"] else sys.argv[1:] or ALL:  # what follows "mixed" are its parts
    importlib.import_module(f"bench.{name}").main()
