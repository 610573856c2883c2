"""k-prototypes and k-modes by votes and by Lloyd: what is found in made-up tables, and what is released of them."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

from cloister.clustering.prototype_request import PrototypeRequest
from cloister.privacy.budgets import ApproxDP, PureDP
from cloister.testing import seeded_noise

DOMAINS = {"job": ["cook", "smith", "clerk"], "sex": ["f", "m"], "town": [f"t{i}" for i in range(12)]}
NAMES = ["age", "job", "pay", "sex", "town"]
CENTERS = [(20.0, "cook", 10.0, "f", "t0"), (45.0, "smith", 60.0, "m", "t5"), (80.0, "clerk", 30.0, "f", "t9")]


def table(rows: int, seed: int = 0) -> pa.Table:
    """Rows around three prototypes; one cell in ten of the categories is any value."""
    random = np.random.default_rng(seed)
    which = random.integers(0, 3, rows)
    cells: dict[str, list[object]] = {}
    for j, name in enumerate(NAMES):
        if name in DOMAINS:
            stray, any_value = random.random(rows) < 0.1, random.choice(DOMAINS[name], rows)
            cells[name] = [any_value[i] if stray[i] else CENTERS[which[i]][j] for i in range(rows)]
        else:
            cells[name] = list(np.array([CENTERS[w][j] for w in which]) + random.normal(0, 3, rows))
    return pa.table(
        {name: pa.array(column, pa.string() if name in DOMAINS else pa.float64()) for name, column in cells.items()}
    )


def request(**settings: object) -> PrototypeRequest:
    fixed = {"n_clusters": 3, "bounds": (0, 100), "categories": DOMAINS, "columns": NAMES, "gamma": 0.1}
    return PrototypeRequest(**{**fixed, **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [PureDP(4), ApproxDP(4, 1e-6)], ids=["pure", "approx"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("method", ["votes", "lloyd"])
def test_three_heaps_are_found(method: str, neighbours: str, budget: object) -> None:
    """Numbers within two units, categories exactly, sizes within a tenth; Lloyd is given the best of a few fits."""
    data = table(6000)
    fits = []
    for seed in range(1 if method == "votes" else 4):
        with seeded_noise(seed):
            found = request(budget=budget, neighbours=neighbours, method=method, random_state=seed).fit(data)
        assert found.release_.adds_up()
        fits.append(sorted(zip(found.records, found.cluster_sizes_, strict=True)))
    best = min(fits, key=lambda fit: sum(abs(a[0][0] - b[0]) for a, b in zip(fit, CENTERS, strict=True)))
    for (record, size), center in zip(best, CENTERS, strict=True):
        assert [record[j] for j in (1, 3, 4)] == [center[j] for j in (1, 3, 4)]
        assert abs(record[0] - center[0]) < 2
        assert abs(record[2] - center[2]) < 2
        assert 1700 < size < 2300


def test_modes_alone_are_found() -> None:
    """k-modes of the categories of the same table."""
    with seeded_noise(2):
        found = request(model="kmodes", columns=["town", "sex", "job"], bounds=None, gamma="auto", budget=4).fit(table(6000))
    assert sorted(found.records) == sorted([c[4], c[3], c[1]] for c in CENTERS)
    assert found.loss_ is not None
    assert 0.1 < found.loss_ < 0.4  # three columns, of which a cell in ten is any value


def test_the_loss_is_that_of_the_prototypes() -> None:
    """The private estimate lies near the mean distance, gamma for each differing category included."""
    data = table(6000)
    with seeded_noise(3):
        found = request(budget=10).fit(data)
    labels = found.predict(data)
    total = 0.0
    for row, label in zip(data.to_pylist(), labels, strict=True):
        center = dict(zip(NAMES, found.records[label], strict=True))
        total += sum(((row[name] - center[name]) / 100) ** 2 for name in ("age", "pay"))
        total += 0.1 * sum(row[name] != center[name] for name in DOMAINS)
    assert found.loss_ == pytest.approx(total / 6000, rel=0.05)


def test_gamma_is_found_inside_the_budget() -> None:
    """ "auto" makes an average category column count as much as an average number column, and says so."""
    with seeded_noise(4):
        found = request(budget=5, gamma="auto").fit(table(6000))
    gamma = found.release_.parameters["gamma"]
    spread = np.mean([np.var([c[j] / 100 for c in CENTERS]) for j in (0, 2)])
    assert 0.5 * spread < gamma < 3 * spread
    assert "released marginals" in found.release_.parameters["choices"]["gamma"]


def test_the_number_of_clusters_is_found() -> None:
    """Three heaps, of which none is given."""
    with seeded_noise(5):
        assert len(request(budget=5, n_clusters="auto").fit(table(6000)).records) == 3


def test_nothing_but_released_values_is_left_behind() -> None:
    """A pickled result is a few thousand bytes, whatever the table."""
    found = request(budget=2).fit(table(3000))
    assert len(pickle.dumps(found)) < 20_000


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tables_of_hardly_any_rows_are_answered(rows: int) -> None:
    """More clusters than distinct rows, and none at all: noise, and no error that would tell."""
    found = request(budget=1).fit(table(rows))
    assert len(found.records) == 3
    assert found.release_.adds_up()


def test_all_missing_is_an_answer() -> None:
    """Cells that cannot be read count as defaults: a release like any other."""
    nothing = pa.table({name: pa.array([None] * 200, pa.string() if name in DOMAINS else pa.float64()) for name in NAMES})
    found = request(budget=5).fit(nothing)
    assert found.release_.parameters["defaults"]["job"] == "(other)"


def test_unseen_and_missing_values_are_data() -> None:
    """At predict time too, a value outside the domain is "(other)": it differs from every listed one."""
    with seeded_noise(6):
        found = request(budget=5).fit(table(3000))
    center = dict(zip(NAMES, found.records[0], strict=True))
    rows = [{**center, "job": "astronaut", "sex": None}, center]
    assert found.predict(rows).tolist() == [0, 0]


def test_hundreds_of_categories_are_carried() -> None:
    """A column of 400 values in a table large enough for its budget; its mode is found."""
    random = np.random.default_rng(0)
    values = [f"v{i}" for i in range(400)]
    data = pa.table(
        {"v": np.where(random.random(20_000) < 0.5, "v77", random.choice(values, 20_000)), "w": ["a", "b"] * 10_000}
    )
    domains = {"v": values, "w": ["a", "b"]}
    with seeded_noise(7):
        found = PrototypeRequest(model="kmodes", n_clusters=2, budget=2, categories=domains, columns=["v", "w"]).fit(data)
    assert [record[0] for record in found.records] == ["v77", "v77"]


def test_missing_values_are_counted_on_request() -> None:
    """Of numbers and of categories, "(other)" included."""
    data = table(1000).set_column(1, "job", pa.array([None] * 300 + ["cook"] * 700))
    with seeded_noise(8):
        found = request(budget=20, count_missing=True).fit(data)
    assert found.release_.result["missing"]["counts"]["job"] == pytest.approx(300, abs=30)
    assert found.release_.result["missing"]["counts"]["age"] == pytest.approx(0, abs=30)
