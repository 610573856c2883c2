"""Calls of the public Python names with one argument of a type that makes no sense."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import cloister as cl
from cloister.anonymization.reporting.curve import curve as loss_and_risk
from cloister.anonymization.writing.recoding import Recoding
from cloister.clustering import scores
from cloister.clustering.saved_clusters import load_clusters
from cloister.privacy.release import Release
from cloister.schema.hierarchies import flat

ROWS = np.random.default_rng(0).random((60, 2))
TABLE = pa.table({"age": [float(i % 50) for i in range(60)], "sex": ["f", "m"] * 30, "city": ["a", "b", "c"] * 20})
SCHEMA = cl.Schema.from_text(
    '[columns.age]\nkind = "number"\nbounds = [0, 100]\n[columns.sex]\nkind = "category"\ndomain = ["f", "m"]\n'
)

WRONG: list[Any] = [
    None, True, False, 0, -1, -0.0, 1, 2, 3.5, 10**400, -(10**400), float("nan"), float("inf"), -float("inf"), 1e-400, 1e400,
    "1e400", "1e-400", "1e9999999", "nan", "-0", "", " ", "text", "\x00", "\ud800", "x" * 5000, b"", b"bytes", [], [1], [None],
    ["age"], ["age", "age"], [["age"]], (), (0, 1), (1, 0), (0, 0), (None, None), ("a", "b"), (0, "x"), (0, 1, 2), {}, {"age": 1},
    {"age": (0, 1)}, {1: 2}, {"age": None}, {"sex": ["f", "f"]}, set(), {"age"}, object(), object, len, lambda: 0, Ellipsis,
    1j, Decimal("NaN"), Decimal("1e9999"), Fraction(1, 3), date(2024, 1, 1), np.nan, np.int64(3), np.float32(0.5), np.array([]),
    np.array([1, 2]), np.array(["a"]), np.zeros((2, 2)), np.array(3), np.datetime64("NaT"), pa.scalar(1), pa.array([1]),
    Path("/no/such/file"), Path("."), ValueError("x"), range(3), iter([1]), memoryview(b"x"), random.Random(1), cl.PureDP(1),
]  # fmt: skip


def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="cloister-fuzz-"))


def _recoding() -> Recoding:
    model = cl.TopDownSpecialization(k=2, quasi=["sex"], hierarchies={"sex": flat(["f", "m"])})
    model.publish(TABLE, _scratch() / "out.csv")
    return model.recoding_


def kmeans(**given: Any) -> Any:
    X = given.pop("X", ROWS)
    return cl.KMeans(**{"n_clusters": 2, "budget": 5, "bounds": (0, 1), "max_iter": 1, **given}).fit(X)


def kmeans_plan(**given: Any) -> Any:
    return cl.KMeans(n_clusters=2, budget=5, bounds=(0, 1)).plan(**{"n": 1000, "d": 2, **given})


def kmeans_predict(**given: Any) -> Any:
    return cl.KMeans(n_clusters=2, budget=5, bounds=(0, 1), max_iter=1).fit(ROWS).predict(given["X"])


def synopsis(**given: Any) -> Any:
    return cl.synopsis(given.pop("X", ROWS), **{"budget": 5, "bounds": (0, 1), **given})


_SYNOPSIS: list[Any] = []


def _released() -> Any:
    if not _SYNOPSIS:
        _SYNOPSIS.append(synopsis())
    return _SYNOPSIS[0]


def synopsis_cluster(**given: Any) -> Any:
    return _released().cluster(**{"k": 2, **given})


def synopsis_suggest(**given: Any) -> Any:
    return _released().suggest_k(**given)


def synopsis_sample(**given: Any) -> Any:
    if isinstance(given.get("n"), int) and abs(given["n"]) > 10**6:
        given["n"] = 5
    return _released().sample(**{"n": 3, **given})


def synopsis_count(**given: Any) -> Any:
    return _released().count(**{"box": {}, **given})


def tabulate(**given: Any) -> Any:
    return cl.tabulate(given.pop("X", TABLE), **{"by": ["sex"], "budget": 1, "schema": SCHEMA, **given})


def choose(**given: Any) -> Any:
    return cl.choose(given.pop("X", TABLE), **{"column": "sex", "budget": 1, "schema": SCHEMA, **given})


def choose_number(**given: Any) -> Any:
    return cl.choose(given.pop("X", ROWS), **{"column": "x0", "budget": 1, "bounds": (0, 1), "options": [0, 1], **given})


def table_margin(**given: Any) -> Any:
    return tabulate().margin(given["columns"])


def anonymize(**given: Any) -> Any:
    X = given.pop("X", TABLE)
    out = given.pop("out", _scratch() / "out.csv")
    model = cl.TopDownSpecialization(**{"k": 2, "quasi": ["sex"], "hierarchies": {"sex": flat(["f", "m"])}, **given})
    return model.publish(X, out)


def curve(**given: Any) -> Any:
    X = given.pop("X", TABLE)
    model = cl.TopDownSpecialization(quasi=["sex"], hierarchies={"sex": flat(["f", "m"])})
    return loss_and_risk(model, X, **{"ks": [2], **given})


def risk(**given: Any) -> Any:
    return cl.risk(given.pop("X", TABLE), **{"quasi": ["sex"], **given})


def pure(**given: Any) -> Any:
    return cl.PureDP(**given)


def approximate(**given: Any) -> Any:
    return cl.ApproxDP(**{"epsilon": 1, "delta": "1e-6", **given})


def identifiability(**given: Any) -> Any:
    return cl.Identifiability(**{"rho": 0.05, "worlds": 100, **given})


def ball(**given: Any) -> Any:
    return cl.KMeans(2, budget=5, bounds=cl.Ball(**{"radius": 1, **given}), max_iter=1).fit(ROWS)


def schema(**given: Any) -> Any:
    return cl.Schema(**{"columns": SCHEMA.columns, **given})


def schema_text(**given: Any) -> Any:
    return cl.Schema.from_text(**given)


def schema_file(**given: Any) -> Any:
    return cl.Schema.from_toml(**given)


def schema_column(**given: Any) -> Any:
    return SCHEMA[given["name"]]


def release(**given: Any) -> Any:
    return Release.from_json(given["text"])


def recoding(**given: Any) -> Any:
    return Recoding.from_json(given["text"])


def score_report(**given: Any) -> Any:
    model = cl.KMeans(n_clusters=2, budget=5, bounds=(0, 1), max_iter=1).fit(ROWS)
    return model.score_report(given.pop("X", ROWS), **{"truth": ["f", "m"] * 30, **given})


def f_measure(**given: Any) -> Any:
    return scores.f_measure(**{"labels": [0, 1], "classes": [0, 1], **given})


def nicv(**given: Any) -> Any:
    return scores.nicv(**{"points": ROWS, "centers": ROWS[:2], **given})


def mixed_cost(**given: Any) -> Any:
    usual = {"numbers": ROWS, "categories": ROWS > 0.5, "centers": ROWS[:2], "modes": ROWS[:2] > 0.5}
    return scores.mixed_cost(**{**usual, **given})


def clusters_load(**given: Any) -> Any:
    return load_clusters(given["path"])


def dataset(**given: Any) -> Any:
    return cl.datasets.load(**{"name": "wine", "folder": "/no/such/folder", **given, "fetch": False})


def synopsis_load(**given: Any) -> Any:
    return cl.Synopsis.load(given["path"])


def ledger(**given: Any) -> Any:
    return cl.Ledger(given["url"])


def ledger_create(**given: Any) -> Any:
    return cl.Ledger(_scratch() / "ledger.sqlite").create(
        **{"table": "t", "neighbours": "add-remove", "epsilon": 1, **given}
    )


CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    call.__name__: (call, tuple(parameters.split()))
    for call, parameters in [
        (
            kmeans,
            "X n_clusters budget bounds method scale max_iter columns schema neighbours table engine random_state seeding "
            "evolution schedule tolerance",
        ),
        (kmeans_plan, "n d names"),
        (kmeans_predict, "X"),
        (synopsis, "X budget bounds method columns schema neighbours table engine scale c1 c2"),
        (synopsis_cluster, "k seeding random_state evolution"),
        (synopsis_suggest, "most relative"),
        (synopsis_sample, "n random_state"),
        (synopsis_count, "box"),
        (tabulate, "X by budget bounds domains bins measures schema neighbours table engine"),
        (table_margin, "columns"),
        (choose, "X column budget domain options score count_rows schema neighbours columns table engine"),
        (choose_number, "X bounds step quantile options score clip columns"),
        (anonymize, "X out k quasi sensitive identifiers hierarchies suppression scope gain l_diversity t_closeness schema"),
        (curve, "X ks"),
        (risk, "X quasi sensitive schema against population"),
        (pure, "epsilon"),
        (approximate, "epsilon delta"),
        (identifiability, "rho worlds"),
        (ball, "radius center"),
        (schema, "columns table neighbours unit max_rows"),
        (schema_text, "text"),
        (schema_file, "path"),
        (schema_column, "name"),
        (release, "text"),
        (recoding, "text"),
        (score_report, "X truth"),
        (f_measure, "labels classes definition"),
        (nicv, "points centers labels"),
        (mixed_cost, "numbers categories centers modes gamma labels"),
        (clusters_load, "path"),
        (dataset, "name folder"),
        (synopsis_load, "path"),
        (ledger, "url"),
        (ledger_create, "table epsilon delta neighbours"),
    ]
}


def number_of_calls() -> int:
    """How many different calls there are."""
    return sum(len(parameters) for _, parameters in CALLS.values()) * len(WRONG)


def wrong_call(number: int) -> tuple[str, Callable[[], Any]]:
    """The call of this number: what it is, and the call itself."""
    value = WRONG[number % len(WRONG)]
    pairs = [(name, parameter) for name, (_, parameters) in CALLS.items() for parameter in parameters]
    name, parameter = pairs[number // len(WRONG) % len(pairs)]
    return f"{name}({parameter}={type(value).__name__} #{number % len(WRONG)})", lambda: CALLS[name][0](**{parameter: value})
