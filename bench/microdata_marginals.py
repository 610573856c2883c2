"""Rows by marginals: ``python -m bench microdata_marginals [pairs] [budgets] [classifier] [inference] [peers]``.

pairs       total variation of all pairs of nine columns of Adult, 20 fits: median, 90th percentile, worst, and the time
budgets     the same at epsilon 0.1 to 10 on Adult, car, nursery and a mixed table: more budget is never worse
classifier  accuracy on income of a classifier trained on the rows, beside one trained on the original
inference   one fit of the same noisy tables here and with mbi, the field's library (``pip install 'mbi>=2'``)
peers       MST of dpmm, in an environment of its own (``peers_rows.txt``)
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

import cloister as cl
from bench.measure import keep, run_peer, show
from bench.panel import DATA
from cloister.schema import Number
from cloister.synthesis.marginal_model import NoisyMarginal, fit_marginals

PARTS = ("pairs", "budgets", "classifier", "inference", "peers")
FITS, FEWER_FITS = 20, 5
AGES = list(range(15, 100, 5))
APPROX = cl.ApproxDP(1, 1e-6)
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class PublicTable:
    """A table whose bounds and domains are taken for public; numbers are compared in bins."""

    name: str
    rows: pa.Table
    edges: dict[str, list[float]]  # of the bins of numbers

    @property
    def domains(self) -> dict[str, list[str]]:
        names = [name for name in self.rows.schema.names if name not in self.edges]
        return {name: sorted(set(self.rows[name].to_pylist())) for name in names}

    @property
    def sizes(self) -> tuple[int, ...]:
        domains = self.domains
        return tuple(
            len(self.edges[name]) - 1 if name in self.edges else len(domains[name]) for name in self.rows.schema.names
        )

    def codes(self, rows: pa.Table) -> Codes:
        """Rows as cells, (n, columns)."""
        columns, domains = [], self.domains
        for name in self.rows.schema.names:
            if name in self.edges:
                edges = self.edges[name]
                found = np.searchsorted(edges, rows[name].to_numpy(), side="right") - 1
                columns.append(np.clip(found, 0, len(edges) - 2))
            else:
                place = {value: i for i, value in enumerate(domains[name])}
                columns.append(np.array([place[value] for value in rows[name].to_pylist()]))
        return np.stack(columns, axis=1)

    def model(self, budget: Any) -> Any:
        bounds = {name: (edges[0], edges[-1]) for name, edges in self.edges.items()}
        bins = {name: edges[1:-1] for name, edges in self.edges.items()} or None
        return cl.PrivateMicrodata(budget, "marginals", bounds=bounds, domains=self.domains, bins=bins)


def adult() -> PublicTable:
    """The nine columns of Adult, age in steps of five."""
    parsing = pa_csv.ParseOptions(delimiter=";")
    return PublicTable("adult", pa_csv.read_csv(DATA / "adult-30162.csv", parse_options=parsing), {"age": list(AGES)})


def without_header(name: str, file: str) -> PublicTable:
    lines = [line.split(",") for line in (DATA / file).read_text().splitlines() if line.strip()]
    return PublicTable(name, pa.table({f"c{j}": list(column) for j, column in enumerate(zip(*lines, strict=True))}), {})


def mixed() -> PublicTable:
    """30,000 rows of Adult as it is, with its numbers in ten bins each."""
    found = cl.datasets.load("adult", folder=DATA, fetch=False)
    rows = found.table.drop_null().slice(0, 30_000)
    edges = {}
    for column in found.schema.columns:
        if isinstance(column.kind, Number) and column.kind.bounds is not None:
            edges[column.name] = np.linspace(column.kind.bounds[0], column.kind.bounds[1], 11).tolist()
    return PublicTable("adult, 14 columns", rows.select([column.name for column in found.schema.columns]), edges)


def counted(codes: Codes, sizes: tuple[int, ...], kept: tuple[int, ...]) -> NDArray[np.float64]:
    shape = [sizes[axis] for axis in kept]
    cells = np.ravel_multi_index([codes[:, axis] for axis in kept], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def variations(table: PublicTable, original: Codes, made: Codes) -> NDArray[np.float64]:
    """The total variation of every pair."""
    found = []
    for pair in combinations(range(len(table.sizes)), 2):
        one, other = (counted(codes, table.sizes, pair) / len(codes) for codes in (original, made))
        found.append(np.abs(one - other).sum() / 2)
    return np.array(found)


def fitted(table: PublicTable, budget: Any, fits: int) -> dict[str, Any]:
    """The pairs of some fits."""
    original = table.codes(table.rows)
    means, worst, took = [], [], []
    for _ in range(fits):
        start = time.perf_counter()
        made = table.model(budget).sample(table.rows)
        took.append(time.perf_counter() - start)
        found = variations(table, original, table.codes(made.table))
        means.append(found.mean())
        worst.append(found.max())
    return {
        "table": table.name,
        "budget": str(budget),
        "mean": float(np.median(means)),
        "90%": float(np.percentile(means, 90)),
        "largest": float(max(means)),
        "worst pair": float(np.median(worst)),
        "its 90%": float(np.percentile(worst, 90)),
        "its largest": float(max(worst)),
        "seconds": float(np.median(took)),
    }


def pairs() -> None:
    """The bars on Adult."""
    rows = [fitted(adult(), budget, FITS) for budget in (APPROX, cl.PureDP(1))]
    show("Total variation of the 36 pairs of Adult's nine columns", rows)
    keep("microdata_marginals_pairs", rows)


def budgets() -> None:
    """Other tables, and whether more budget is ever worse."""
    rows = []
    makers: list[Callable[[], PublicTable]] = [
        adult,
        lambda: without_header("car", "car.data"),
        lambda: without_header("nursery", "nursery.data"),
        mixed,
    ]
    for make in makers:
        table = make()
        for kind in (cl.PureDP, lambda epsilon: cl.ApproxDP(epsilon, 1e-6)):
            rows += [fitted(table, kind(epsilon), FEWER_FITS) for epsilon in ("0.1", "0.3", "1", "3", "10")]
            print(rows[-1], flush=True)
    show("More budget", rows)
    keep("microdata_marginals_budgets", rows)


def classifier() -> None:
    """A classifier of income, trained on four fifths of the rows or on what was made of them, tested on the last fifth."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    table = adult()
    order = np.random.default_rng(0).permutation(table.rows.num_rows)
    cut = len(order) * 4 // 5
    train, test = table.rows.take(order[:cut]), table.codes(table.rows.take(order[cut:]))

    def accuracy(codes: Codes) -> float:
        model = HistGradientBoostingClassifier(
            categorical_features=[j for j in range(8) if table.sizes[j] > 2], random_state=0
        )
        return float(model.fit(codes[:, :-1], codes[:, -1]).score(test[:, :-1], test[:, -1]))

    rows = [{"trained on": "the original", "accuracy": accuracy(table.codes(train)), "least": None}]
    for budget in (APPROX, cl.PureDP(1)):
        found = [accuracy(table.codes(table.model(budget).sample(train).table)) for _ in range(FEWER_FITS)]
        rows.append({"trained on": f"rows at {budget}", "accuracy": float(np.median(found)), "least": min(found)})
    show("A classifier of income", rows)
    keep("microdata_marginals_classifier", rows)


def inference() -> None:
    """The same noisy tables, fitted here and by mbi's accelerated methods; the loss is the same weighted sum of squares."""
    table, deviation = adult(), 18.0
    original, sizes, random = table.codes(table.rows), table.sizes, np.random.default_rng(0)
    names = table.rows.schema.names
    chosen = [("education", "occupation"), ("age", "marital-status"), ("sex", "marital-status"), ("sex", "occupation")]
    chosen += [("marital-status", "salary-class"), ("workclass", "occupation"), ("race", "native-country")]
    chosen += [
        ("education", "native-country"),
        ("occupation", "salary-class"),
        ("education", "salary-class"),
        ("age", "education"),
    ]
    kept: list[tuple[int, ...]] = [(axis,) for axis in range(len(names))]
    kept += [tuple(sorted((names.index(one), names.index(other)))) for one, other in chosen]
    counts = {each: counted(original, sizes, each) for each in kept}
    noisy = [
        NoisyMarginal(each, table + random.normal(0, deviation, table.shape), deviation) for each, table in counts.items()
    ]
    total = float(len(original))

    def loss(marginal: Callable[[tuple[int, ...]], NDArray[np.float64]]) -> float:
        return float(sum(((marginal(each.kept) - each.counts) ** 2).sum() / deviation**2 for each in noisy))

    start = time.perf_counter()
    model = fit_marginals(sizes, noisy, total, 400)
    here = time.perf_counter() - start
    rows = [{"by": "cloister", "steps": 400, "loss": loss(lambda each: total * model.table(each)), "seconds": here}]
    rows += with_mbi(noisy, sizes, total, loss)
    show(f"One fit of {len(noisy)} noisy tables", rows)
    keep("microdata_marginals_inference", rows)


def with_mbi(
    noisy: list[NoisyMarginal], sizes: tuple[int, ...], total: float, loss: Callable[..., float]
) -> list[dict[str, Any]]:
    """mbi's fits of the same tables, compilation included."""
    try:
        warnings.simplefilter("ignore")
        import jax

        jax.config.update("jax_enable_x64", True)
        import mbi
    except ImportError:
        print("mbi is not installed: pip install 'mbi>=2'")
        return []
    domain = mbi.Domain([str(axis) for axis in range(len(sizes))], sizes)
    measured = [
        mbi.LinearMeasurement(each.counts.ravel(), tuple(map(str, each.kept)), stddev=each.deviation) for each in noisy
    ]
    rows = []
    for name in ("InteriorGradient", "MirrorDescent"):
        start = time.perf_counter()
        model = getattr(mbi.estimation, name)().estimate(domain, measured, known_total=total, iters=400)
        took = time.perf_counter() - start

        def marginal(kept: tuple[int, ...], model: Any = model) -> NDArray[np.float64]:
            return np.asarray(model.project(tuple(map(str, kept))).datavector(flatten=False))

        rows.append({"by": f"mbi {name}", "steps": 400, "loss": loss(marginal), "seconds": took})
    return rows


def peers() -> None:
    """dpmm's MST on the same cells; it takes Adult's domains as public."""
    table = adult()
    original = table.codes(table.rows)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "codes.npy", original)
        rows = run_peer("peer_dpmm.py", folder, ",".join(map(str, table.sizes)), peers="peers_rows")
        found = []
        for row in rows:
            variation = variations(table, original, np.load(Path(folder) / row.pop("file")))
            found.append({**row, "mean": float(variation.mean()), "worst pair": float(variation.max())})
    show("Peers at epsilon 1, delta 1e-6", found)
    keep("microdata_marginals_peers", found)


def main() -> None:
    wanted = sys.argv[2:] or list(PARTS)
    for part in wanted:
        {"pairs": pairs, "budgets": budgets, "classifier": classifier, "inference": inference, "peers": peers}[part]()
