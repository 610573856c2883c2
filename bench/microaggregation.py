"""Microaggregation: the losses of the literature, Adult against NumPy's own time for the distances, a million rows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.measure import keep, seconds, show
from bench.panel import DATA, lines

# 100 SSE/SST of MDAV on z-scores, for k 3, 5, 10
REFERENCES = {
    "casc-census.csv": {3: 5.6922, 5: 9.0884, 10: 14.1559},
    "casc-tarragona.csv": {3: 16.9326, 5: 22.4619, 10: 33.1929},
}
NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours-per-week", "native-country",
]  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
ROWS = 30_000
K = 5
FLOOR_ROUNDS = 60  # of the 3,000 that NumPy's time is measured on

PUBLISH = """
import json, resource, sys, time
from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation
model = Microaggregation(k=5, columns=sys.argv[3].split(","))
start = time.perf_counter()
model.publish(sys.argv[1], sys.argv[2])
taken = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([taken, used.ru_maxrss / 2**20, model.summary_.as_dict()]))
"""


def adult() -> dict[str, Any]:
    """The first 30,000 complete rows of Adult, 6 columns of numbers and 8 of categories."""
    rows = [[cell.strip() for cell in line] for line in lines("adult.data")]
    complete = [row for row in rows if "?" not in row][:ROWS]
    cells = {name: [row[j] for row in complete] for j, name in enumerate(NAMES)}
    return {name: np.array(values, np.int64 if name in NUMBERS else None) for name, values in cells.items()}


def more_rows(count: int) -> pa.Table:
    """Rows drawn from Adult, numbers moved by about 5%, a tenth of the other cells taken from other rows."""
    table, random = adult(), np.random.default_rng(0)
    at = random.integers(0, ROWS, count)
    for name, values in table.items():
        drawn = values[at]
        if name in NUMBERS:
            table[name] = np.rint(drawn * np.exp(random.normal(0, 0.05, count))).astype(np.int64)
        else:
            table[name] = np.where(random.random(count) < 0.1, values[random.integers(0, ROWS, count)], drawn)
    return pa.table(table)


def publish(path: Path, out: Path) -> tuple[float, float, dict[str, Any]]:
    """Seconds, gigabytes and the summary of a publication in a process of its own."""
    words = [sys.executable, "-c", PUBLISH, str(path), str(out), ",".join(NAMES)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    taken, gigabytes, summary = json.loads(done.stdout.splitlines()[-1])
    return taken, gigabytes, summary


def references() -> list[dict[str, Any]]:
    """The losses of the literature, by the summary of a publication."""
    from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for file, figures in REFERENCES.items():
            names = (DATA / file).read_text().splitlines()[0].split(",")
            for k, figure in figures.items():
                model = Microaggregation(k=k, distance="standardized", rule="mdav", columns=names)
                taken = seconds(lambda m=model, f=file, k=k: m.publish(DATA / f, Path(folder) / f"{f}-{k}.parquet"), 1)
                loss = model.summary_.sse_percent or 0.0
                rows.append({"table": file, "k": k, "100 SSE/SST": f"{loss:.4f}", "bar": f"{figure:.4f}", "seconds": taken,
                             "met": f"{loss:.4f}" == f"{figure:.4f}"})  # fmt: skip
    return rows


def numpy_floor(numbers: np.ndarray, codes: np.ndarray) -> float:
    """Seconds that NumPy takes for the distances alone: three passes a round over what is left, a round making two groups.

    Measured on rounds from all over the run, and nothing else is done in them: no search, no means, no rows moved.
    """
    left = np.linspace(ROWS, 2 * K, FLOOR_ROUNDS).astype(int)

    def some_rounds() -> None:
        for count in left:
            for _ in range(3):
                distances = np.zeros(count)
                for values in numbers[:, :count]:
                    distances += np.abs(values - 0.5)
                for held in codes[:, :count]:
                    distances += held != 1

    return seconds(some_rounds) * (ROWS / (2 * K)) / FLOOR_ROUNDS


def adult_time() -> list[dict[str, Any]]:
    """Adult: the groups beside NumPy's floor, and the whole publication from Parquet."""
    from cloister.microdata.microaggregation.grouping import make_groups
    from cloister.microdata.microaggregation.mixed_rows import MixedRows, NumberColumn, WordColumn
    from cloister.microdata.microaggregation.row_scales import scales_of

    table = adult()
    columns: list[NumberColumn | WordColumn] = []
    for name, values in table.items():
        if name in NUMBERS:
            columns.append(NumberColumn(name, values.astype(np.float64), False))
        else:
            words, codes = np.unique(values, return_inverse=True)
            columns.append(WordColumn(name, codes.astype(np.int32), pa.array(words.tolist())))
    rows = MixedRows(tuple(columns), np.zeros(0, np.int32), ROWS)
    make_groups(rows, K, "mixed", "cmd")  # compiled
    taken = seconds(lambda: make_groups(rows, K, "mixed", "cmd"))
    scaled = scales_of(rows, "mixed").scaled(np.arange(ROWS))
    floor = numpy_floor(scaled.numbers, scaled.codes)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.table(table), Path(folder) / "adult.parquet")
        whole, gigabytes, _ = publish(Path(folder) / "adult.parquet", Path(folder) / "out.parquet")
    return [{"rows": ROWS, "groups, seconds": taken, "NumPy's distances, seconds": floor, "ratio": taken / floor,
             "publish, seconds": whole, "peak GB": gigabytes, "bar": "20 s, ratio 2",
             "met": whole < 20 and taken < 2 * floor}]  # fmt: skip


def many_rows() -> list[dict[str, Any]]:
    """A million rows in blocks, from Parquet to Parquet: time, memory, loss, what a cut costs."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for count, bar in ((100_000, None), (1_000_000, 60)):
            path = Path(folder) / f"{count}.parquet"
            pq.write_table(more_rows(count), path)
            taken, gigabytes, summary = publish(path, Path(folder) / f"out-{count}.parquet")
            rows.append({"rows": count, "blocks": summary["blocks"], "seconds": taken, "peak GB": gigabytes,
                         "100 SSE/SST": summary["sse_percent"], "a cut costs, %": summary["block_cost_percent"],
                         "bar": f"{bar} s" if bar else "", "met": taken < bar if bar else ""})  # fmt: skip
    return rows


def main() -> None:
    if not (DATA / "adult.data").exists():
        print("adult.data is not there: set CLOISTER_DATA to the folder of the real data sets")
        return
    for name, work in [
        ("microaggregation-references", references),
        ("microaggregation-adult", adult_time),
        ("microaggregation-rows", many_rows),
    ]:
        rows = work()
        show(name, rows)
        keep(name, rows)


if __name__ == "__main__":
    main()
