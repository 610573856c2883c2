"""Clusters as a value: they save and label alike, whoever found them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.clustering.clusters import loss_words
from cloister.clustering.domain import from_bounds
from cloister.clustering.request import ClusterRequest
from cloister.errors import SinkError, UsageError
from cloister.report.terminal import text
from cloister.sinks import file_hash
from cloister.testing import seeded_noise
from cloister.vault import Vault

FLAGS = ["--columns", "x,y", "--bounds", "0,1", "--k", "2", "--epsilon", "1", "--method", "lloyd"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two heaps, as a CSV file."""
    random = np.random.default_rng(0)
    rows = np.clip(random.normal([[0.2, 0.2]] * 200 + [[0.8, 0.8]] * 200, 0.05), 0, 1)
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "\n".join(f"{x:.4f},{y:.4f}" for x, y in rows) + "\n")
    return path


def test_python_and_the_command_line_write_the_same_bytes(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same noise and start `save` writes what `cloister cluster --labels` writes."""
    monkeypatch.setattr("cloister.clustering.request.public_chance", lambda _: np.random.default_rng(7))
    with seeded_noise(1):
        model = cl.KMeans(2, "1", (0.0, 1.0), "lloyd", columns=["x", "y"]).fit([str(table)])
    model.save(tmp_path / "python", label=[str(table)])
    with seeded_noise(1):
        done = CliRunner().invoke(app, ["cluster", str(table), *FLAGS, "--labels", "--out", str(tmp_path / "command")])
    assert done.exit_code == 0, done.output
    for name in ("centers.csv", "release.json", "labels.parquet"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()


def test_a_saved_folder_holds_labels_only_on_request(table: Path, tmp_path: Path) -> None:
    """Without `label` there are two files; with it a third, that the certificate names, without a hash and outside its digest."""
    clusters = ClusterRequest(n_clusters=2, columns=["x", "y"], bounds=(0, 1)).fit(table)
    plain, labelled = clusters.save(tmp_path / "plain"), clusters.save(tmp_path / "labelled", label=table)
    assert sorted(file.name for file in (tmp_path / "plain").iterdir()) == ["centers.csv", "release.json"]
    assert (plain.holder_files, labelled.holder_files) == ((), ("labels.parquet",))
    assert plain.digest() == labelled.digest() == clusters.release_.digest()
    assert "labels.parquet beside this certificate is for the holder only" in str(labelled.describe())
    labels_hash = file_hash(tmp_path / "labelled" / "labels.parquet")
    assert labels_hash not in (tmp_path / "labelled" / "release.json").read_text()  # it would give exact labels away
    labels = pq.read_table(tmp_path / "labelled" / "labels.parquet")["cluster"].to_numpy()
    assert np.array_equal(labels, clusters.predict(table))
    with pytest.raises(SinkError, match="exists already"):
        clusters.save(tmp_path / "plain")


def test_an_estimator_that_is_not_fitted_does_not_save(tmp_path: Path) -> None:
    """Nothing is written before `fit`."""
    with pytest.raises(Exception, match="not fitted"):
        cl.KMeans(2).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_clusters_of_a_synopsis_are_the_same_kind_of_result(table: Path, tmp_path: Path) -> None:
    """A synopsis' clusters predict and save as any others."""
    synopsis = cl.synopsis(table, 4.0, (0, 1), columns=["x", "y"])
    clusters = synopsis.cluster(2, random_state=0)
    assert type(clusters) is type(ClusterRequest(n_clusters=2, columns=["x", "y"], bounds=(0, 1)).fit(table))
    assert clusters.predict(table).shape == (400,)
    assert clusters.save(tmp_path / "out").adds_up()
    assert synopsis.release_ is synopsis.release


def test_labels_by_a_fit_are_recorded_in_the_ledger(table: Path, tmp_path: Path) -> None:
    """Saving labels of a named table leaves a holder's entry; plain prediction does not."""
    ledger = cl.Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("people", "add-remove", cl.PureDP(3).epsilon)
    request = ClusterRequest(n_clusters=2, columns=["x", "y"], bounds=(0, 1), table="people", ledger=ledger)
    clusters = request.fit(table)
    clusters.predict(table)
    assert ledger.account("people").holder_uses == 0
    clusters.save(tmp_path / "out", label=table)
    assert ledger.account("people").holder_uses == 1


def test_rows_of_another_width_are_refused() -> None:
    """An array must have the columns that were clustered."""
    clusters = ClusterRequest(n_clusters=2, bounds=(0, 1)).fit(np.random.default_rng(0).random((50, 2)))
    with pytest.raises(UsageError, match="expecting 2 features"):
        clusters.predict(np.zeros((3, 4)))


def test_a_small_clustering_loads_neither_scikit_learn_nor_pandas(table: Path, tmp_path: Path) -> None:
    """The command pays for what it uses; both are installed here, and would take longer than the work."""
    words = ["cloister", "cluster", str(table), *FLAGS[:-1], "votes", "--out", str(tmp_path / "out")]
    probe = f"import sys; sys.argv = {words}\nfrom cloister.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    probe += "print('loaded', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True)
    assert (tmp_path / "out" / "release.json").exists()
    loaded = set(done.stdout.partition("loaded ")[2].split())
    assert not {"sklearn", "pandas", "sqlalchemy", "pyspark"} & loaded


@pytest.mark.parametrize(("mean", "error", "is_told"), [(0.0, 0.53, False), (0.1, 0.1, False), (0.2, 0.1, True)])
def test_a_loss_that_is_nothing_but_noise_is_called_so(mean: float, error: float, is_told: bool) -> None:
    """Where the error is as large as the loss the words say that it was not measured, and keep the figures."""
    loss = {"mean_squared_distance": mean, "standard_error": error, "unit": "squared column widths"}
    words = loss_words(loss, from_bounds(["x"], (0, 1), "bounds"))
    assert words.startswith("not measurable at this budget") is not is_told
    assert f"{mean:.4g} +- {error:.2g} squared column widths (a width is 1)" in words


@pytest.mark.parametrize("budget", [cl.PureDP(2), cl.ApproxDP(2, 1e-6)], ids=["pure", "approx"])
@pytest.mark.parametrize("options", [{}, {"method": "lloyd"}, {"method": "lloyd", "tolerance": 50, "max_iter": 4}])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_noise_of_sizes_is_that_of_the_last_counts(
    monkeypatch: pytest.MonkeyPatch, budget: cl.PureDP | cl.ApproxDP, options: dict[str, Any], neighbours: str
) -> None:
    """The certificate has the deviation of the counts that the sizes were released from, and the words show it."""
    measured: list[float] = []
    measure = Vault.measure

    def measure_and_keep(*args: Any, **kwargs: Any) -> Any:
        released = measure(*args, **kwargs)
        if {"counts", "sums"} <= set(released.deviation):
            measured.append(released.deviation["counts"])
        return released

    monkeypatch.setattr(Vault, "measure", measure_and_keep)
    rows = np.random.default_rng(0).normal([[0.2, 0.2]] * 500 + [[0.8, 0.8]] * 500, 0.05)
    model = cl.KMeans(2, budget, (0, 1), neighbours=neighbours, **options).fit(rows)
    noise = model.release_.result["size_noise"]
    assert noise == pytest.approx(measured[-1], rel=1e-5)
    assert f"(sizes are noisy: +- {noise:,.2g})" in text(model._clusters.describe())
