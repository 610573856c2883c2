"""Local collection beside floors, peers and paper 002, every bar beside what it gives: ``python -m bench collect [part ...]``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import bench.collect_tables as tables
from bench.collect_tables import CellTable, adult, counted, estimated, margins, product, total_variation
from bench.measure import keep, run_peer, seconds, show
from cloister.collect import Collection
from cloister.collect.counting import count_reports
from cloister.collect.estimating import METHODS
from cloister.collect.estimating.inversion import invert
from cloister.collect.packed_reports import packed_schema, perturbed_rows
from cloister.collect.protocols import RandomizedResponse
from cloister.collect.protocols.channel import channel_for

MILLION = 1_000_000
REPORTS = 2 * MILLION
SPARK_REPORTS = int(os.environ.get("CLOISTER_BENCH_REPORTS", 50 * MILLION))
QUALITY_RUNS, PEER_RUNS, NICV_RUNS = 20, 10, 50
QUALITY_BARS = {1: 0.30, 2: 0.17, 3: 0.10}
NICV_EPSILONS = ("0.1", "0.2", "0.5", "1", "2")
NICV_BARS = ("D3", "D4")  # tables that are held to 1.05 of the best run without noise, at epsilon 2
ROUNDS = (1, 5)
EQUAL = 1e-9  # costs that differ by less are equal

Row = dict[str, Any]


def timed(what: str, work: Callable[[], Any], amount: int = 0, bar: float | None = None, repeats: int = 5) -> Row:
    """Millions a second, or seconds where there is no amount: by the clock, and by the processor's time of this process."""
    took = cpu = float("inf")
    for _ in range(repeats):
        before = time.process_time()
        took = min(took, seconds(work, 1))
        cpu = min(cpu, time.process_time() - before)
    clock, processor = (amount / 1e6 / each if amount else each for each in (took, cpu))
    row = {"what": what, "by the clock": clock, "of processor time": processor, "unit": "M/s" if amount else "s"}
    if bar is None:
        return row
    return {**row, "bar": f"{'>=' if amount else '<'} {bar:g}", "met": clock >= bar if amount else clock < bar}


def speed_part() -> list[Row]:
    """Answers perturbed and counted in millions a second, beside floors of the same run; an inverse and EM in seconds."""
    table, random = adult(), np.random.default_rng(0)
    collection = table.collection(1)
    chosen = random.choice(table.counts.size, REPORTS, p=table.shares.ravel())
    codes = np.stack(np.unravel_index(chosen, table.counts.shape))  # (5, n)
    protocols = [p for p in collection.answering().values() if isinstance(p, RandomizedResponse)]
    answers = codes.size
    rows = [
        timed("floor: os.urandom, bytes", lambda: os.urandom(8 * MILLION), 8 * MILLION),
        timed("floor: os.urandom, 8 bytes an answer", lambda: os.urandom(8 * MILLION), MILLION),
        timed("answers perturbed", lambda: [p.perturb_codes(c) for p, c in zip(protocols, codes, strict=True)], answers, 5),
    ]
    schema = packed_schema(collection)
    reports = pa.Table.from_batches(list(perturbed_rows(collection, codes.T, schema)), schema)
    ready = [column.combine_chunks().indices.to_numpy() for column in reports.columns]  # the dictionaries list all values
    cells = np.ravel_multi_index(ready, table.counts.shape)

    def place_and_count() -> NDArray[np.int64]:
        return np.bincount(np.ravel_multi_index(ready, table.counts.shape), minlength=table.counts.size)

    rows += [
        timed("floor: np.bincount of ready cells, answers", lambda: np.bincount(cells), answers),
        timed("floor: np.ravel_multi_index and np.bincount of ready codes", place_and_count, answers),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        pq.write_table(reports, path)
        rows.append(timed("floor: pyarrow reads the file", lambda: list(pq.ParquetFile(path).iter_batches()), answers))
        for what, source in (("a packed Parquet file", str(path)), ("an Arrow table", reports)):
            joint = count_reports(collection, source).joint
            assert joint is not None
            assert np.array_equal(joint.ravel(), place_and_count())
            work = partial(count_reports, collection, source)
            rows.append(timed(f"answers counted, {what}", work, answers, 20, repeats=9))
    eights, eight = random.integers(0, 9, (8,) * 8), channel_for(Fraction(1), 8)
    rows.append(timed("inverse of 8^8 cells", lambda: invert(eights, [eight] * 8), bar=2))
    for epsilon in QUALITY_BARS:
        asked = table.collection(epsilon)
        seen: Any = table.reports(asked).joint
        em = partial(METHODS["em"], seen, asked.channels(asked.names), lambda _: None)
        rows.append(timed(f"EM on Adult's {table.counts.size:,} cells, epsilon {epsilon}", em, bar=2))
    return rows


def quality_part() -> list[Row]:
    """Adult, five attributes, 32,561 reports: joint total variation of 20 runs, by method, at epsilon an attribute."""
    table = adult()
    rows = []
    for epsilon, bar in QUALITY_BARS.items():
        collection = table.collection(epsilon)
        found: dict[str, list[float]] = {"em": [], "norm-sub": [], "clip": [], "product of em's marginals": []}
        for _ in range(QUALITY_RUNS):
            counts = table.reports(collection)
            for method in ("em", "norm-sub", "clip"):
                joint = estimated(collection, counts, method).joint().counts
                found[method].append(total_variation(joint / joint.sum(), table.shares))  # clip rounds up: its sum is larger
            estimate = estimated(collection, counts, "em")
            alone = product([estimate.marginal(name).shares for name in collection.names])
            found["product of em's marginals"].append(total_variation(alone, table.shares))
        for method, gaps in found.items():
            median = float(np.median(gaps))
            row = {"epsilon": epsilon, "method": method, "median": median, "90%": float(np.quantile(gaps, 0.9))}
            bars = {"bar": f"<= {bar}", "met": median <= bar} if method == "em" else {"bar": None, "met": None}
            rows.append({**row, "worst": max(gaps), **bars})
        exact = total_variation(product(margins(table.shares)), table.shares)
        rows.append({"epsilon": epsilon, "method": "product of the true marginals", "median": exact})
    return rows


def nicv_part() -> list[Row]:
    """Paper 002's tables, mean NICV of 50 runs: (a) default, (b) em, frequent, T rounds, (c) clip, the same, (d) clip, best."""
    rows = []
    for table in (tables.auto_mpg(), tables.car(), tables.nursery(), *tables.covertypes()):
        best = tables.best_plain(table)
        for epsilon in NICV_EPSILONS:
            found = tables.nicv_runs(table, epsilon, ROUNDS, NICV_RUNS)
            ratio = float(found["a"].mean()) / best
            has_bar = epsilon == "2" and table.name.startswith(NICV_BARS)
            for rounds in ROUNDS:
                worse = found["a"] - found[f"c{rounds}"]
                error = float(worse.std(ddof=1)) / NICV_RUNS**0.5
                mean = float(worse.mean())
                row: Row = {"table": table.name, "best of 1000": best, "epsilon": epsilon, "T": rounds}
                for way, label in (("a", "(a)"), (f"b{rounds}", "(b)"), (f"c{rounds}", "(c)"), ("d", "(d)")):
                    spread = found[way].std(ddof=1) / NICV_RUNS**0.5
                    row[label] = f"{found[way].mean():.4f} +- {spread:.4f}"
                row |= {"(a) - (c)": mean, "error of it": error, "a <= c + 3 errors": mean <= 3 * error + EQUAL}
                rows.append({**row, "a / best": ratio, "<= 1.05": ratio <= 1.05 if has_bar else None})
    return rows


def our_distances(table: CellTable, epsilon: Fraction) -> dict[str, list[float]]:
    """Runs with every attribute at this epsilon, estimated by em."""
    collection = table.collection(epsilon)
    found: dict[str, list[float]] = {"joint": [], "alone": []}
    for _ in range(PEER_RUNS):
        estimate = estimated(collection, table.reports(collection), "em")
        found["joint"].append(total_variation(estimate.joint().shares, table.shares))
        found["alone"].append(table.one_way_distance([estimate.marginal(name).shares for name in collection.names]))
    return found


def our_joint_response(table: CellTable, epsilon: Fraction) -> dict[str, list[float]]:
    """Randomized response on all combinations of values as one question, with our channel and our em."""
    domain = [f"v{i}" for i in range(table.counts.size)]
    collection = Collection("bench", {"all": domain}, epsilon=epsilon)
    protocol = collection.question("all").answering()
    assert isinstance(protocol, RandomizedResponse)
    cells = np.asarray(np.ravel_multi_index(tuple(table.codes), table.counts.shape))
    found: dict[str, list[float]] = {"joint": [], "alone": []}
    for _ in range(PEER_RUNS):
        counts = counted(collection, protocol.perturb_codes(cells), (table.counts.size,))
        shares = estimated(collection, counts, "em").joint().shares.reshape(table.counts.shape)
        found["joint"].append(total_variation(shares, table.shares))
        found["alone"].append(table.one_way_distance(margins(shares)))
    return found


def peers_part() -> list[Row]:
    """Adult, five attributes, medians of 10 runs: joint and mean one-way total variation, beside multi-freq-ldpy."""
    table = adult()
    attributes = table.counts.ndim
    labels = {
        "grr-joint": "GRR on 3,780 combinations (multi-freq-ldpy)",
        "grr-split": "GRR an attribute, product (multi-freq-ldpy)",
        "oue-split": "OUE an attribute, product (multi-freq-ldpy)",
        "oue-sample": "OUE of one attribute a person, product (multi-freq-ldpy)",
    }
    rows: list[Row] = []

    def add(case: str, what: str, total: Fraction, found: dict[str, list[float]]) -> None:
        middle = {name: float(np.median(found[key])) for name, key in (("joint TV", "joint"), ("one-way TV", "alone"))}
        rows.append({"case": case, "epsilon in all": float(total), "what": what, **middle})

    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/codes.npy", table.codes.T)
        sizes = ",".join(map(str, table.counts.shape))

        def peer(methods: list[str], epsilon: Fraction) -> Any:
            words = [f"{folder}/codes.npy", sizes, str(PEER_RUNS), ",".join(methods), str(float(epsilon))]
            return run_peer("peer_collect.py", *words)

        for each in (Fraction(1), Fraction(2)):
            total, ours = attributes * each, our_distances(table, each)
            case = "equal total"
            add(case, f"ours, em, {each} an attribute", total, ours)
            add(case, "GRR on 3,780 combinations (our channel and em)", total, our_joint_response(table, total))
            for method, found in peer(list(labels), total).items():
                add(case, labels[method], total, found)
            case = f"the paper's count: {each} against {each}"
            add(case, f"ours, em, {each} an attribute", total, ours)
            add(case, "GRR on 3,780 combinations (our channel and em)", each, our_joint_response(table, each))
            add(case, labels["grr-joint"], each, peer(["grr-joint"], each)["grr-joint"])
    return rows


def spark_session() -> Any:
    """Spark with little memory of its own: what is counted must not be held."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    made = SparkSession.builder.master("local[2]").config(map={**quiet, "spark.driver.memory": "1g"}).getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def count_alone(engine: str, folder: str, out: str) -> Row:
    """Count the reports of a folder in this process, and keep the counts in a file."""
    collection = adult().collection(1)
    reports = spark_session().read.parquet(folder) if engine == "spark" else folder
    begun = time.perf_counter()
    counts = count_reports(collection, reports)
    took = time.perf_counter() - begun
    assert counts.joint is not None
    np.save(out, counts.joint)
    return {"seconds": took, "reports": counts.reports, "refused": sum(counts.refused.values())}


def memory_of(root: int) -> float:
    """Resident memory of a process and all below it, in GB; pages that several share count for each."""
    parents, sizes = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents[int(entry.name)], sizes[int(entry.name)] = int(after_name[1]), int(after_name[21])
    family = {root}
    while more := {process for process, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(sizes.get(process, 0) for process in family) * os.sysconf("SC_PAGE_SIZE") / 2**30


def spark_part() -> list[Row]:
    """Packed reports in Parquet files, counted on Spark local[2] and locally, each in its own process: equal, memory bounded."""
    table, rows, joints = adult(), [], []
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        files = tables.write_parts(table, Path(folder) / "reports", SPARK_REPORTS)
        written = time.perf_counter() - begun
        for engine in ("local", "spark"):
            words = ["-W", "ignore", "-m", "bench.collect", engine, f"{folder}/reports", f"{folder}/{engine}.npy"]
            child = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
            peak = 0.0
            while child.poll() is None:
                peak = max(peak, memory_of(child.pid))
                time.sleep(0.1)
            assert child.stdout is not None
            found = json.loads(child.stdout.read().strip().splitlines()[-1])
            joints.append(np.load(f"{folder}/{engine}.npy"))
            row = {"engine": engine, **found, "M answers/s": found["reports"] * table.counts.ndim / found["seconds"] / 1e6}
            rows.append({**row, "peak GB": peak, "files": files, "seconds to write them": written})
    is_equal = bool(np.array_equal(*joints))
    return [{**row, "bar": "equal, <= 3 GB", "met": is_equal and row["peak GB"] <= 3} for row in rows]


PARTS: dict[str, Callable[[], list[Row]]] = {
    "speed": speed_part,
    "quality": quality_part,
    "nicv": nicv_part,
    "peers": peers_part,
    "spark": spark_part,
}


def main() -> None:
    """Every part, or those that are named after the benchmark."""
    for name in [name for name in sys.argv[2:] if name in PARTS] or list(PARTS):
        rows = PARTS[name]()
        columns = list(dict.fromkeys(column for row in rows for column in row))
        show(PARTS[name].__doc__ or name, [{column: row.get(column) for column in columns} for row in rows])
        keep(f"collect_{name}", rows)


if __name__ == "__main__":
    print(json.dumps(count_alone(*sys.argv[1:])))
