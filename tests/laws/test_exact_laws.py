"""Engines hand out exact values closed, and nothing but the vault opens them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cloister
from cloister.engines.base import Engine, backend_class
from cloister.engines.local.engine import LocalEngine
from cloister.engines.registry import ENGINES
from cloister.kernels import Rows
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.exact import Exact
from cloister.kernels.keyed import RowKeys
from cloister.privacy.secret_draws import SecretDraw
from cloister.sources.opening import open_source
from tests.engines.kernels import FromCorner
from tests.laws.tables import identity, random_rows, table
from tests.spark_hosts import Host

SOURCE = Path(cloister.__file__).parent
MAY_OPEN = ("kernels/exact.py", "vault/")
ROWS = random_rows(5, 40, 2, 3, (3,))
ENCODING = identity(2, 3, (3,))
ELSEWHERE = {"spark"}  # tried in a process of its own, by the next test
DRAW = SecretDraw(Fraction(1, 2), bytes(range(32)))


def unwrapped(engine: Engine) -> list[str]:
    """The verbs of an engine that hand out what they make of rows without `Exact`."""
    outcomes = {
        "fold": engine.fold(Rows()),
        "fold_by_key": engine.fold_by_key(RowKeys(3)),
        "fold_by_key of people": engine.fold_by_key(RowKeys(3), "id"),
        "rank": engine.rank(FromCorner()),
        "sample": engine.sample(DRAW.keep).fold(Rows()),
        "label": engine.label(lambda rows: rows.codes[:, 0], "label"),
        "distinct": engine.distinct(DistinctValues(("n0",), (10,))),
    }
    engine.close()
    return [verb for verb, outcome in outcomes.items() if type(outcome) is not Exact]


def unwrapped_on_spark(path: str) -> list[str]:
    """The same on a Spark host: nothing exact could be sent back."""
    from tests.engines.spark import jobs

    return unwrapped(jobs.engine(path, ENCODING))


@pytest.mark.parametrize("name", sorted(ENGINES.keys() - ELSEWHERE))
def test_every_engine_hands_out_exact_values_closed(name: str, tmp_path: Path) -> None:
    """Whatever comes of rows is `Exact`: also on an engine that is registered tomorrow."""
    pq.write_table(table(ROWS), tmp_path / "rows.parquet")
    backend = backend_class(name)()
    opened = backend.open_data(str(tmp_path / "rows.parquet"))
    assert unwrapped(backend.make_engine(opened, ENCODING, None, once=False)) == []


@pytest.mark.spark
def test_spark_hands_out_exact_values_closed(classic: Host, tmp_path: Path) -> None:
    """Whatever comes of rows is `Exact`, on Spark too."""
    pq.write_table(table(ROWS), tmp_path / "rows.parquet")
    assert classic(unwrapped_on_spark, str(tmp_path / "rows.parquet")) == []


def test_a_verb_that_forgets_is_caught() -> None:
    """A planted bug: keyed folds that come unwrapped."""

    class Forgets(LocalEngine):
        def fold_by_key(self, *arguments: object) -> object:  # type: ignore[override]
            return super().fold_by_key(*arguments)._value  # type: ignore[arg-type]

    assert unwrapped(Forgets(open_source(table(ROWS)), ENCODING)) == ["fold_by_key", "fold_by_key of people", "rank"]


def openings(code: str) -> Iterator[str]:
    """Where code opens an exact value: by the function that does, or by the slot that holds it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from (alias.name for alias in node.names if alias.name == "open_exact")
        elif isinstance(node, ast.Attribute) and node.attr in ("open_exact", "_value"):
            yield node.attr
        elif isinstance(node, ast.Constant) and node.value in ("open_exact", "_value"):  # getattr
            yield str(node.value)


def test_only_the_vault_opens_exact_values() -> None:
    """No other module of the package does, by whatever name."""
    opening = [
        str(path.relative_to(SOURCE)) for path in sorted(SOURCE.rglob("*.py")) if any(openings(path.read_text("utf-8")))
    ]
    assert [name for name in opening if not name.startswith(MAY_OPEN)] == []
    assert [name for name in opening if name.startswith("vault/")], "the vault opens some"


@pytest.mark.parametrize(
    "code",
    [
        "from cloister.kernels.exact import open_exact as look",
        "from cloister.kernels import exact\nexact.open_exact(secret)",
        "secret._value",
        'getattr(secret, "_value")',
    ],
)
def test_an_opening_is_seen(code: str) -> None:
    """Planted openings are caught."""
    assert list(openings(code))
