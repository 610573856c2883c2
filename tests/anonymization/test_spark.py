"""The same table from Spark as from this process: partition, recoding and rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.writing.rewriting import Rewriting
from cloister.datasets import PUPILS, pupils
from tests.engines.spark import jobs
from tests.spark_hosts import Host

pytestmark = pytest.mark.spark

PER_PUPIL = cl.Schema.from_text('unit = "pupil_id"\n[columns.pupil_id]\nkind = "text"\n')
SETTINGS: dict[str, dict[str, Any]] = {
    "global": {"k": 10, "schema": PUPILS, "suppression": 0.02},
    "local": {"k": 5, "schema": PUPILS, "scope": "local"},
    "numbers and guards": {
        "k": 5, "quasi": ["platform_days", "sex"], "identifiers": ["pupil_id"], "sensitive": "quintile", "l_diversity": 3,
        "t_closeness": 0.3,
    },
    "people": {"k": 5, "quasi": ["sex", "state"], "schema": PER_PUPIL},
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up pupils with some blanks, as Parquet."""
    path = tmp_path_factory.mktemp("pupils") / "pupils.parquet"
    rows = pupils(4_000)
    states = rows["state"].to_pylist()
    states[::50] = [None] * len(states[::50])
    pq.write_table(rows.set_column(rows.schema.get_field_index("state"), "state", [states]), path)
    return path


def publish_there(path: Path, settings: dict[str, Any], out: str, cut: jobs.Cut) -> tuple[str, dict[str, Any]]:
    """In the host: publish, and say how."""
    model = cl.TopDownSpecialization(**settings)
    release = model.publish(jobs.frame(path, cut), out)
    return model.recoding_.to_json(), dict(release.result)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("cut", [1, (5, "sex")], ids=["one", "five"])
def test_spark_publishes_the_local_table(classic: Host, table: Path, name: str, cut: jobs.Cut, tmp_path: Path) -> None:
    """However the rows are partitioned, Spark finds the recoding of the local engine, bit for bit, and writes its rows."""
    model = cl.TopDownSpecialization(**SETTINGS[name])
    release = model.publish(table, tmp_path / "here.parquet")
    recoding, result = classic(publish_there, table, SETTINGS[name], str(tmp_path / "there.parquet"), cut)
    assert recoding == model.recoding_.to_json()
    assert result == dict(release.result)
    here, there = (pq.read_table(tmp_path / f"{place}.parquet") for place in ("here", "there"))
    assert here.column_names == there.column_names
    assert Counter(map(str, here.to_pylist())) == Counter(map(str, there.to_pylist()))
    assert (tmp_path / "there.parquet" / "_SUCCESS").exists()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_shuffled_rows_keep_nothing_of_their_order(classic: Host, table: Path, suffix: str, tmp_path: Path) -> None:
    """The same rows in another order and other partitions come out the same; unshuffled ones do not."""
    turned = tmp_path / "turned.parquet"
    rows = pq.read_table(table)
    pq.write_table(rows.take(np.arange(len(rows))[::-1]), turned)

    def written(source: Path, cut: jobs.Cut, shuffle: bool) -> list[str]:
        out = tmp_path / f"{source.stem}-{shuffle}{suffix}"
        classic(publish_there, source, {**SETTINGS["global"], "shuffle": shuffle}, str(out), cut)
        parts = sorted(out.glob("part-*"))
        if suffix == ".csv":
            return [line for part in parts for line in part.read_text().splitlines()[1:]]
        return [str(row) for part in parts for row in pq.read_table(part).to_pylist()]

    one, other = written(table, 1, True), written(turned, (4, "sex"), True)
    plain = written(table, 1, False)
    assert one == other
    assert plain != one
    assert Counter(plain) == Counter(one)


def test_a_job_that_fails_leaves_nothing(classic: Host, table: Path, tmp_path: Path) -> None:
    """When the rewrite fails on a worker there is no output, no certificate and no staging."""
    kind, told = classic(jobs.attempt, publish_and_fail, table, str(tmp_path / "out.parquet"))
    assert kind == "EngineError"
    assert "Harbour" not in told
    assert not list(tmp_path.iterdir())


def publish_and_fail(path: Path, out: str) -> None:
    """In the host: publish with a rewrite that fails on every worker."""
    from cloister.anonymization import publish as anonymize

    made = anonymize.make_rewriting
    anonymize.make_rewriting = lambda *arguments: Failing(*made(*arguments).__getstate__().values())
    try:
        cl.TopDownSpecialization(**SETTINGS["global"]).publish(jobs.frame(path), out)
    finally:
        anonymize.make_rewriting = made


class Failing(Rewriting):
    """A rewriting that breaks at the first batch with a value in its message."""

    def map_batch(self, batch: Any) -> Any:
        raise ValueError(f"cannot write {batch.column('state')[0]}, Harbour")
