"""Local recoding against ARX's figures, risk on five million rows, and what a classifier still learns from Adult."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import keep, seconds, show
from bench.panel import DATA

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
CLASS = "salary-class"
BIG = 5_000_000

# ARX 3.9.2 on the same table and hierarchies, measured once (shared oracles): loss, and seconds warm
ARX = {5: (0.0569, "3 to 8"), 10: (0.0790, "3 to 8"), 50: (0.1503, "3 to 8")}
BARS = {5: 0.055, 10: 0.078, 50: 0.148}

COMMAND = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run([sys.executable, "-c", sys.argv[1]], capture_output=True, text=True)
taken = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, taken, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20, done.stdout]))
"""


def command(*words: str) -> tuple[float, float, float, Any]:
    """Run a command as a user does: seconds, seconds of all cores, peak GB, and its JSON."""
    entry = f"from cloister.cli import main; import sys; sys.argv = ['cloister', *{list(words)!r}]; main()"
    done = subprocess.run([sys.executable, "-c", COMMAND, entry], check=True, capture_output=True, text=True)
    code, taken, cores, peak, output = json.loads(done.stdout)
    assert code == 0
    return taken, cores, peak, json.loads(output)


def write_big(path: Path) -> None:
    """Five million rows of Adult, drawn with replacement, in row groups of 100,000."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    table = pyarrow.csv.read_csv(DATA / "adult-30162.csv", parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    random = np.random.default_rng(0)
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(0, BIG, 100_000):
            writer.write_table(table.take(pa.array(random.integers(0, len(table), 100_000))))


def five_million() -> list[dict[str, Any]]:
    """The whole command on five million rows of Parquet, beside a bare read of its columns."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        write_big(path)
        bare = seconds(lambda: pq.read_table(path, columns=[*QUASI, CLASS], use_threads=False), 1)
        best = min(
            (command("risk", str(path), "--quasi", ",".join(QUASI), "--sensitive", CLASS, "--json") for _ in range(3)),
            key=lambda run: run[0],
        )
    taken, cores, peak, found = best
    assert found["risk"]["rows"] == BIG
    return [
        {
            "rows": BIG,
            "seconds": taken,
            "seconds of cores": cores,
            "bare read": bare,
            "peak GB": peak,
            "bar": "8 s, 1.5 GB",
            "met": taken < 8 and peak < 1.5,
        }
    ]


def wide() -> list[dict[str, Any]]:
    """The whole command with its default flags on 200 rows of 2,000 columns: two million pairs of columns are compared."""
    import pyarrow as pa
    import pyarrow.csv

    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        pyarrow.csv.write_csv(pa.table({f"c{j}": random.integers(0, 5, 200) for j in range(2000)}), path)
        taken, cores, peak, _ = command("risk", str(path), "--json")
    facts = {"rows": 200, "columns": 2000, "seconds": taken, "seconds of cores": cores, "peak GB": peak}
    return [{**facts, "bar": "10 s of cores", "met": cores < 10}]


def published(folder: str, k: int, scope: str, target: str | None = None, suppression: float = 0.0) -> tuple[Path, float]:
    """Adult, anonymized into a file, and how long that took in this process."""
    import time

    import cloister as cl

    out = Path(folder) / f"{scope}-{k}-{target}-{suppression}.csv"
    trees = DATA / "adult_hierarchies"
    model = cl.TopDownSpecialization(k, QUASI, trees, suppression=suppression, scope=scope, target=target)
    start = time.perf_counter()
    model.publish(DATA / "adult-30162.csv", out)
    return out, time.perf_counter() - start


def local_recoding() -> list[dict[str, Any]]:
    """The loss of local recoding, measured on the written file, and the time of the whole publication."""
    import cloister as cl

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        published(folder, 20, "local")  # compiles
        for k, (arx, arx_seconds) in ARX.items():
            out, taken = published(folder, k, "local")
            found = cl.risk(out, QUASI, against=DATA / "adult-30162.csv", hierarchies=DATA / "adult_hierarchies")
            rows.append(
                {
                    "k": k,
                    "LM": found.loss.lm,
                    "bar": BARS[k],
                    "ARX": arx,
                    "rows lost": found.loss.removed,
                    "smallest class": found.risk.k,
                    "seconds": taken,
                    "ARX seconds": arx_seconds,
                    "met": found.loss.lm <= BARS[k] and taken < 3 and found.loss.removed == 0 and found.risk.k >= k,
                }
            )
    return rows


def learning() -> list[dict[str, Any]]:
    """The accuracy of a classifier of income on Adult, anonymized and original, and what else the tables risk and lose."""
    import cloister as cl

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for scope, target, suppression in [
            ("global", None, 0.0),
            ("global", None, 0.02),
            ("global", CLASS, 0.02),
            ("local", None, 0.0),
        ]:
            for k in (10, 50, 100):
                out, _ = published(folder, k, scope, target, suppression)
                found = cl.risk(
                    out, QUASI, against=DATA / "adult-30162.csv", hierarchies=DATA / "adult_hierarchies", target=CLASS
                )
                what = scope + (", 2% suppressed" if suppression else "") + (", for the class" if target else "")
                rows.append(line(what, k, found))
        first = found.learning
        rows.insert(0, {**dict.fromkeys(rows[0]), "table": "original", "accuracy": first.original, "LM": 0.0})
        rows.insert(0, {**dict.fromkeys(rows[0]), "table": "most frequent class", "accuracy": first.majority})
    return rows


def line(what: str, k: int, found: Any) -> dict[str, Any]:
    """One table's part of the comparison."""
    return {
        "table": what,
        "k": k,
        "accuracy": found.learning.accuracy,
        "of what the original tells": found.learning.kept,
        "LM": found.loss.lm,
        "GCP": found.loss.gcp,
        "entropy": found.loss.entropy,
        "average risk": found.risk.prosecutor_average,
        "linked": found.linkage.linked if found.linkage else None,
    }


def main() -> None:
    for name, work in [
        ("risk of 2,000 columns", wide),
        ("risk of five million rows", five_million),
        ("local recoding", local_recoding),
        ("classifier", learning),
    ]:
        rows = work()
        show(name, rows)
        keep(name.replace(" ", "-"), rows)


if __name__ == "__main__":
    main()
