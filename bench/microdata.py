"""Private rows beside microaggregation and paper 004: ``python -m bench microdata [paper] [rows] [attacks]``.

paper    SSE and linkage on Adult, 30,000 complete rows, epsilon 0.01 to 10 and k 2 to 500, with the time beside each
rows     how much of a table the rows of each method keep: shares, pairs, correlations, a classifier; 90th percentile and worst
attacks  anonymeter's attacks on private rows, in the peers' environment
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import cloister as cl
from bench.measure import RESULTS, keep, run_peer, show
from bench.panel import DATA
from cloister.schema import Category, Schema

ROWS = 30_000
EPSILONS = ("0.01", "0.1", "1", "10")
SIZES = (2, 5, 10, 20, 50, 100, 200, 500)
BEYOND = (1_000, 5_000, 15_000)  # groups that the paper did not try, where sound ICMD-DP is at its best
PARTS = ("paper", "rows", "attacks")
FITS = 5


def adult() -> tuple[pa.Table, pa.Table, Schema]:
    """Complete rows of Adult, 6 numbers and 8 categories: those that are published, those that are not, and the schema."""
    found = cl.datasets.load("adult", folder=DATA, fetch=False)
    whole = found.table
    complete = np.ones(whole.num_rows, dtype=bool)
    for column in found.schema.columns:
        if isinstance(column.kind, Category):
            complete &= pc.is_in(whole[column.name], pa.array(column.kind.domain)).to_numpy()
    order = np.random.default_rng(0).permutation(np.flatnonzero(complete))
    return whole.take(order[:ROWS]), whole.take(order[ROWS:]), found.schema


def compare(made: pa.Table, original: pa.Table, control: pa.Table, schema: Schema, **settings: Any) -> Any:
    """What the holder sees of rows that were released."""
    return cl.risk(made, list(schema.names), against=original, control=control, schema=schema, as_rows=True, **settings)


# What the papers print, on rows in memory: for comparison only, and not private.


class PaperRows:
    """Adult as integers and floats, with the distances of paper 004."""

    def __init__(self, table: pa.Table, schema: Schema) -> None:
        self.schema = schema
        self.names = list(schema.names)
        kinds = [schema[name].kind for name in self.names]
        self.numbers = [name for name, kind in zip(self.names, kinds, strict=True) if not isinstance(kind, Category)]
        self.categories = [name for name in self.names if name not in self.numbers]
        columns = [table[name].to_numpy().astype(np.float64) for name in self.numbers]
        ends: Any = [schema[name].kind.bounds for name in self.numbers]
        self.lows, self.highs = (np.array([end[side] for end in ends]) for side in (0, 1))
        self.scaled = (np.stack(columns, axis=1) - self.lows) / (self.highs - self.lows)  # (n, d)
        self.domains: Any = [schema[name].kind.domain for name in self.categories]
        self.codes = np.stack(
            [
                pc.index_in(table[name], pa.array(domain)).to_numpy()
                for name, domain in zip(self.categories, self.domains, strict=True)
            ],
            axis=1,
        )  # (n, c)

    def table(self, scaled: NDArray[np.float64], codes: NDArray[np.int64]) -> pa.Table:
        """Rows as a table again, numbers inside their bounds."""
        inside = np.clip(scaled, 0, 1) * (self.highs - self.lows) + self.lows
        columns: dict[str, Any] = dict(zip(self.numbers, inside.T, strict=True))
        for name, domain, column in zip(self.categories, self.domains, codes.T, strict=True):
            columns[name] = np.array(domain, dtype=object)[column]
        return pa.table({name: columns[name] for name in self.names})

    def distances(self, number: NDArray[np.float64], code: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of every row to one."""
        return np.abs(self.scaled - number).sum(axis=1) + (self.codes != code).sum(axis=1)

    def printed_order(self) -> NDArray[np.int64]:
        """ICMD's order as it is printed: by the farthest row from the centre, and the farthest from that."""
        modes = np.array([np.bincount(column).argmax() for column in self.codes.T])
        first = int(np.argmax(self.distances(self.scaled.mean(axis=0), modes)))
        near = self.distances(self.scaled[first], self.codes[first])
        last = int(np.argmax(near))
        return np.argsort(near - self.distances(self.scaled[last], self.codes[last]), kind="stable")

    def averaged(
        self, order: NDArray[np.int64], size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Means and modes of blocks along an order, and the block of each row in that order."""
        blocks = max(1, len(order) // size)
        block = np.minimum(np.arange(len(order)) // size, blocks - 1)
        lengths = np.bincount(block)
        means = np.stack([np.bincount(block, weights=column[order]) for column in self.scaled.T], axis=1) / lengths[:, None]
        modes = []
        for column, domain in zip(self.codes.T, self.domains, strict=True):
            counts = np.bincount(block * len(domain) + column[order], minlength=blocks * len(domain))
            modes.append(counts.reshape(blocks, -1).argmax(axis=1))
        return means, np.stack(modes, axis=1), block


def icmd(rows: PaperRows, size: int) -> pa.Table:
    """ICMD as printed: blocks along an order that follows from the rows. Not private."""
    means, modes, block = rows.averaged(rows.printed_order(), size)
    return rows.table(means[block], modes[block])


def icmd_dp_printed(rows: PaperRows, size: int, epsilon: float, seed: int) -> pa.Table:
    """ICMD-DP as printed: noise of scale n / k^2 ranges over epsilon on every record of every column. Not private as claimed."""
    random = np.random.default_rng(seed)
    means, modes, block = rows.averaged(rows.printed_order(), size)
    n = len(block)
    noisy = means[block] + random.laplace(scale=n / size**2 / epsilon, size=(n, means.shape[1]))
    codes = modes[block]
    for j, domain in enumerate(rows.domains):  # the exponential mechanism with a sensitivity of n / k^2
        stays = 1 / (1 + (len(domain) - 1) * np.exp(-epsilon * size**2 / n / 2))
        moved = random.random(n) >= stays
        codes[:, j] = np.where(moved, random.integers(len(domain), size=n), codes[:, j])
    return rows.table(noisy, codes)


def plain_noise(rows: PaperRows, epsilon: float, seed: int) -> pa.Table:
    """Noise on every row by itself, the epsilon shared by the columns: private, and without a collector that is trusted."""
    random = np.random.default_rng(seed)
    each = epsilon / len(rows.names)
    noisy = rows.scaled + random.laplace(scale=1 / each, size=rows.scaled.shape)
    codes = rows.codes.copy()
    for j, domain in enumerate(rows.domains):
        keeps = random.random(len(codes)) < np.exp(each) / (np.exp(each) + len(domain) - 1)
        codes[:, j] = np.where(keeps, codes[:, j], random.integers(len(domain), size=len(codes)))
    return rows.table(noisy, codes)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    made = work()
    return made, time.perf_counter() - start


def sampled_synopsis(original: pa.Table, schema: Schema, epsilon: str) -> pa.Table:
    """Made-up rows of a released tree over the numbers; it has no categories."""
    numbers = [column.name for column in schema.columns if not isinstance(column.kind, Category)]
    made = cl.synopsis(original, epsilon, schema=schema, columns=numbers, method="tree", neighbours="replace-one")
    return made.sample(max(1, round(made.total)))


def paper_settings(original: pa.Table, schema: Schema) -> Iterator[tuple[str, str, int | str, Callable[[], pa.Table]]]:
    """Method, epsilon, k, and what makes its rows."""
    rows = PaperRows(original, schema)
    for size in SIZES:
        yield "ICMD printed, no noise", "", size, lambda size=size: icmd(rows, size)
    for epsilon in EPSILONS:
        number = float(epsilon)
        for size in SIZES:
            yield "ICMD-DP printed", epsilon, size, lambda size=size, e=number: icmd_dp_printed(rows, size, e, 0)
        for size in (*SIZES, *BEYOND):
            yield (
                "ICMD-DP sound", epsilon, size,
                lambda size=size, e=epsilon: private(e, "insensitive", original, schema, k=size),
            )  # fmt: skip
        yield "plain noise", epsilon, "", lambda e=number: plain_noise(rows, e, 0)
        yield "clusters", epsilon, "", lambda e=epsilon: private(e, "clusters", original, schema)
        yield "marginals", epsilon, "", lambda e=epsilon: private(e, "marginals", original, schema)
        yield "Synopsis.sample", epsilon, "", lambda e=epsilon: sampled_synopsis(original, schema, e)


def private(epsilon: str, method: str, original: pa.Table, schema: Schema, **settings: Any) -> pa.Table:
    """Private rows, under replace-one like the sound ICMD-DP."""
    model = cl.PrivateMicrodata(epsilon, method, schema=schema, neighbours="replace-one", **settings)
    return model.sample(original).table


def averaged(original: pa.Table, schema: Schema, size: int) -> pa.Table:
    """CMD of paper 004, through the holder's door."""
    import tempfile
    from pathlib import Path

    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "averaged.parquet"
        cl.Microaggregation(k=size, columns=list(schema.names), schema=schema).publish(original, out)
        return pq.read_table(out)


def measured(method: str, epsilon: str, size: int | str, work: Callable[[], pa.Table], tables: Any) -> dict[str, Any]:
    """One line of the table."""
    original, control, schema = tables
    made, took = timed(work)
    names = [name for name in schema.names if name in made.schema.names]
    found = cl.risk(made, names, against=original, control=control, schema=schema, as_rows=True)
    beside = found.linkage.beside_control
    return {
        "method": method,
        "epsilon": epsilon,
        "k": size,
        "SSE a row, by nearest record": found.error.sse / found.rows,
        "SSE/SST": found.error.ratio,
        "linked": found.linkage.nearest,
        "linked, beyond control": None if beside is None else beside.excess,
        "seconds": took,
    }


def paper() -> None:
    """The setting of paper 004."""
    original, control, schema = adult()
    rows = []
    for each in SIZES:
        rows.append(
            measured("CMD", "", each, lambda size=each: averaged(original, schema, size), (original, control, schema))
        )
    for method, epsilon, size, work in paper_settings(original, schema):
        rows.append(measured(method, epsilon, size, work, (original, control, schema)))
        print(rows[-1], flush=True)
    show("Paper 004's setting: Adult, 30,000 rows, 6 numbers and 8 categories", rows)
    keep("microdata_paper", rows)
    draw(rows)


def draw(rows: list[dict[str, Any]]) -> None:
    """SSE over k for each epsilon, one line a method: ``docs/images/microdata-paper.png`` is this picture."""
    from matplotlib import pyplot

    key = "SSE a row, by nearest record"
    methods = list(
        dict.fromkeys(row["method"] for row in rows if row["method"] != "Synopsis.sample")
    )  # it has no categories
    colors = {method: f"C{place}" for place, method in enumerate(methods)}
    figure, axes = pyplot.subplots(1, len(EPSILONS), figsize=(14, 3.8), sharey=True)
    for axis, epsilon in zip(axes, EPSILONS, strict=True):
        for method in methods:
            mine = [row for row in rows if row["method"] == method and row["epsilon"] in ("", epsilon)]
            if mine[0]["k"] == "":
                axis.axhline(mine[0][key], label=method, linestyle="--", linewidth=1.5, color=colors[method])
            else:
                axis.plot(
                    [row["k"] for row in mine], [row[key] for row in mine], marker=".", label=method, color=colors[method]
                )
        axis.set(xscale="log", title=f"epsilon {epsilon}", xlabel="k")
        axis.grid(alpha=0.3)
    axes[0].set(ylabel="SSE a row, by nearest record", ylim=(0, None))
    axes[-1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "microdata_paper.png", dpi=100)
    pyplot.close(figure)


def quality() -> None:
    """What the rows of each method keep."""
    original, control, schema = adult()
    rows = []
    for budget in ("1", cl.ApproxDP(1, 1e-6), "3"):
        for method in ("clusters", "marginals"):
            found = []
            for _ in range(FITS):
                model = cl.PrivateMicrodata(budget, method, schema=schema)
                made, took = timed(lambda model=model: model.sample(original))
                found.append((compare(made.table, original, control, schema), took))
            rows.append(summary(f"{method}", str(budget), found))
            print(rows[-1], flush=True)
    show("Private rows of Adult, 14 columns, 30,000 rows", rows)
    keep("microdata_rows", rows)


def summary(method: str, budget: str, found: list[tuple[Any, float]]) -> dict[str, Any]:
    """The median, the 90th percentile and the worst of some fits."""
    columns = np.array([report.shares.column_mean for report, _ in found])
    pairs = np.array([report.shares.pair_mean for report, _ in found])
    errors = np.array([report.error.sse / report.rows for report, _ in found])
    return {
        "method": method,
        "budget": budget,
        "columns TV": float(np.median(columns)),
        "pairs TV, median": float(np.median(pairs)),
        "90%": float(np.percentile(pairs, 90)),
        "worst": float(pairs.max()),
        "SSE a row": float(np.median(errors)),
        "linked beyond control": float(np.median([report.linkage.beside_control.excess for report, _ in found])),
        "seconds": float(np.median([took for _, took in found])),
    }


def attacks() -> None:
    """anonymeter's attacks on private rows of Adult, nine columns."""
    import tempfile
    from pathlib import Path

    import pyarrow.csv as pa_csv

    # as many rows in the table as in the control: how many predicates single out hangs on the number of rows
    table, others, schema = adult()
    whole = pa.concat_tables([table, others])
    original, control = whole.slice(0, len(whole) // 2), whole.slice(len(whole) // 2, len(whole) // 2)
    rows = []
    for method in ("clusters", "marginals"):
        with tempfile.TemporaryDirectory() as folder:
            made = cl.PrivateMicrodata(1, method, schema=schema).sample(original)
            names = list(schema.names)
            for name, table in (("made", made.table), ("original", original), ("control", control)):
                pa_csv.write_csv(table.select(names), Path(folder) / f"{name}.csv")
            rows += [{"method": method, **row} for row in run_peer("peer_anonymeter.py", folder, peers="peers_rows")]
    show("anonymeter's attacks at epsilon 1: risk with its 95% interval", rows)
    keep("microdata_attacks", rows)


def main() -> None:
    wanted = sys.argv[2:] or list(PARTS)
    for part in wanted:
        {"paper": paper, "rows": quality, "attacks": attacks}[part]()
