"""Import, help, noise, the fold, memory, and Lloyd against diffprivlib: each beside a floor or a peer of the same run."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bench.anonymize import QUASI, TABLE, TREES
from bench.measure import installed, keep, run_peer, seconds, show

ROWS = 1_000_000
COLUMNS = 8
BIG = 50_000_000


def command(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, env=installed())


def starting() -> list[dict[str, Any]]:
    """Import and help, beside an empty interpreter."""
    python = sys.executable
    floor = seconds(lambda: command(python, "-c", "pass"), 7)
    cloister = str(Path(python).parent / "cloister")
    rows = []
    for what, words, bar in [
        ("import cloister", (python, "-c", "import cloister"), 0.15),
        ("cloister --help", (cloister, "--help"), 0.4),
    ]:
        taken = seconds(lambda words=words: command(*words), 7)
        rows.append({"what": what, "seconds": taken, "of which python": floor, "bar": f"{bar} s", "met": taken < bar})
    return rows


def processor_seconds(words: Callable[[int], Sequence[str]], repeats: int = 4) -> float:
    """The least processor time of a few runs of a command, warm: what else runs on the machine hardly counts."""
    taken = []
    for i in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command(*words(i))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def small_commands() -> list[dict[str, Any]]:
    """Whole commands on small tables, in processor time, beside the import of what they cannot do without."""
    python = sys.executable
    cloister = str(Path(python).parent / "cloister")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "x.csv"
        table.write_text("x,y\n" + "".join(f"{i * 37 % 1000 / 1000},{i * 91 % 1000 / 1000}\n" for i in range(2_000)))

        def cluster(i: int) -> list[str]:
            settings = ["--bounds", "0,1", "--columns", "x,y", "--k", "2", "--epsilon", "1"]
            return [cloister, "cluster", str(table), *settings, "--out", str(folder / f"clusters-{i}")]

        def anonymize(i: int) -> list[str]:
            settings = ["--k", "10", "--quasi", ",".join(QUASI), "--hierarchies", str(TREES)]
            return [cloister, "anonymize", str(TABLE), *settings, "--out", str(folder / f"adult-{i}.csv")]

        floor = processor_seconds(lambda _: [python, "-c", "import numpy, pyarrow"], 7)
        rows = []
        for what, words, bar in [("cluster, 2,000 rows", cluster, 5), ("anonymize, Adult", anonymize, 6)]:
            taken = processor_seconds(words)
            rows.append({"what": what, "processor seconds": taken, "numpy and pyarrow": floor, "times that": taken / floor,
                         "bar": f"{bar} x", "met": taken <= bar * floor})  # fmt: skip
    return rows


def noise() -> list[dict[str, Any]]:
    """Draws a second, beside NumPy's floating-point Laplace."""
    from cloister.privacy.noise import gaussian, laplace

    random, n = np.random.default_rng(), 2_000_000
    floor = seconds(lambda: random.laplace(size=n))
    rows = []
    for what, draw, bar in [
        ("Laplace, scale 1", lambda: laplace(Fraction(1), n), 2e6),
        ("Laplace, scale 1,000,000", lambda: laplace(Fraction(10**6), n), 2e6),
        ("Gaussian, sigma 10", lambda: gaussian(Fraction(10), n), None),
    ]:
        draw()
        taken = seconds(draw)
        rows.append({"what": what, "million a second": n / taken / 1e6, "times NumPy's time": taken / floor,
                     "bar": f"{bar:.0e} a second" if bar else "", "met": n / taken >= bar if bar else ""})  # fmt: skip
    return rows


def fold() -> list[dict[str, Any]]:
    """One fold of 1 million x 8 rows in memory, beside a NumPy pass over the same memory."""
    from cloister.clustering.domain import from_bounds
    from cloister.engines.local.engine import LocalEngine
    from cloister.kernels import CenterSums
    from cloister.sources.opening import open_source

    X = np.random.default_rng(0).random((ROWS, COLUMNS))
    domain = from_bounds([f"x{j}" for j in range(COLUMNS)], (0, 1), "bounds")
    engine = LocalEngine(open_source(X), domain.encoding)
    centers = domain.put(np.random.default_rng(1).uniform(-1, 1, (8, COLUMNS)) * domain.halves)
    kernel = CenterSums(centers, domain.clip)
    first = seconds(lambda: LocalEngine(open_source(X), domain.encoding).fold(kernel))
    engine.fold(kernel)
    warm = seconds(lambda: engine.fold(kernel), 5)
    floor = seconds(lambda: X.sum(axis=0), 5)
    return [
        {"what": "fold, first (encodes)", "seconds": first, "times a NumPy sum": first / floor},
        {"what": "fold, warm", "seconds": warm, "times a NumPy sum": warm / floor},
    ]


MEMORY = """
import json, resource, sys, time
from cloister.clustering.domain import from_bounds
from cloister.engines.local.engine import LocalEngine
from cloister.kernels import CenterSums
from cloister.kernels.exact import open_exact
from cloister.sources.opening import open_source
domain = from_bounds([f"x{j}" for j in range(8)], (0, 1), "bounds")
kernel = CenterSums(domain.put(domain.halves * [[i / 8 - 0.5] * 8 for i in range(8)]), domain.clip)
engine = LocalEngine(open_source(sys.argv[1]), domain.encoding)
start = time.perf_counter()
rows = int(open_exact(engine.fold(kernel))["counts"].sum())
print(json.dumps([rows, time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


def write_parquet(path: Path, rows: int) -> None:
    """Made-up float32 rows, written in pieces."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random, piece = np.random.default_rng(0), 1_000_000
    names = [f"x{j}" for j in range(COLUMNS)]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float32()) for name in names]), compression="none") as writer:
        for start in range(0, rows, piece):
            block = random.random((min(piece, rows - start), COLUMNS), dtype=np.float32)
            writer.write_table(pa.table({name: block[:, j] for j, name in enumerate(names)}))


def memory() -> list[dict[str, Any]]:
    """Peak memory and time of a fold over Parquet files, a tenth and the whole."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (BIG // 10, BIG):
            path = Path(folder) / f"{count}.parquet"
            write_parquet(path, count)
            done = subprocess.run([sys.executable, "-c", MEMORY, str(path)], check=True, capture_output=True, text=True)
            seen, taken, gigabytes = json.loads(done.stdout)
            assert seen == count
            rows.append({"rows": count, "seconds": taken, "peak GB": gigabytes, "bar": "1.5 GB", "met": gigabytes < 1.5})
    rows[-1]["times a tenth's time"] = rows[1]["seconds"] / rows[0]["seconds"]
    rows[0]["times a tenth's time"] = None
    return rows


def lloyd() -> list[dict[str, Any]]:
    """Private Lloyd against diffprivlib at the same epsilon: time and loss on the same rows."""
    from sklearn.datasets import make_blobs

    import cloister as cl

    X, _ = make_blobs(ROWS, n_features=COLUMNS, centers=8, random_state=0)
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / (high - low)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, X)
        peer = run_peer("peer_kmeans.py", str(path), "8", "1.0", "3")
    cl.KMeans(8, 1.0, (0, 1), "lloyd").fit(X[:1000])
    losses: list[float] = []

    def run() -> None:
        centers = cl.KMeans(8, 1.0, (0, 1), "lloyd").fit(X).cluster_centers_
        losses.append(float(((X[:100_000, None] - centers[None]) ** 2).sum(2).min(1).mean()))

    taken = seconds(run)
    return [
        {"what": "diffprivlib 0.6.6", "seconds": peer["seconds"], "loss": peer["loss"], "times faster": 1.0},
        {
            "what": "cloister lloyd",
            "seconds": taken,
            "loss": float(np.median(losses)),
            "times faster": peer["seconds"] / taken,
        },
    ]


def main() -> None:
    parts = {
        "starting": starting,
        "small_commands": small_commands,
        "noise": noise,
        "fold": fold,
        "memory": memory,
        "lloyd": lloyd,
    }
    for name, work in parts.items():
        rows = work()
        show(name, rows)
        keep(name, rows)


if __name__ == "__main__":
    main()
