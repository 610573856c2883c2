"""All benchmarks, or those named: ``python -m bench foundations``."""

from __future__ import annotations

import importlib
import sys

ALL = ["foundations", "kmeans_speed", "kmeans_quality", "spark", "synopsis", "magic", "anonymize", "risk", "audit"]

for name in sys.argv[1:] or ALL:
    importlib.import_module(f"bench.{name}").main()
