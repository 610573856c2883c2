"""Estimates and centres of collections read back from their files: the same as before they were written, or refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.collect import Collection, CollectionEstimate, LocalKModes, SavedEstimate, estimate, simulate
from cloister.collect.certified_tables import save_certified
from cloister.errors import DataError, SourceError, UsageError
from cloister.privacy.release import Release
from tests.collect.survey import survey
from tests.collect.test_estimates import PEOPLE

ENDINGS = [".csv", ".parquet"]


def estimated(method: str = "em", **changes: Any) -> CollectionEstimate:
    collection = survey(**changes)
    return estimate(collection, simulate(collection, PEOPLE).reports, method=method)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("method", ["em", "norm-sub", "unbiased", "clip"])
def test_an_estimate_that_is_read_is_the_one_that_was_written(method: str, ending: str, tmp_path: Path) -> None:
    """Tables with their errors, counts of reports, the collection, the certificate, pictures and what is shown."""
    found = estimated(method)
    written = found.save(tmp_path / f"e{ending}")
    again = CollectionEstimate.load(tmp_path / f"e{ending}")
    assert isinstance(again, SavedEstimate)
    assert again.release_ == written
    assert again.frame().equals(found.frame())
    assert again.collection == found.collection
    assert (again.reports, again.refused, again.method) == (found.reports, found.refused, method)
    assert again.pictures() == found.pictures()
    assert again.describe() == found.describe()
    for own, theirs in zip(again.tables(), found.tables(), strict=True):
        assert own.expected is not None
        assert theirs.expected is not None
        assert np.array_equal(own.expected, theirs.expected)
        assert own.query({own.names[0]: own.values[0][0]}) == theirs.query({own.names[0]: own.values[0][0]})


def test_other_tables_are_sums_of_those_that_were_written(tmp_path: Path) -> None:
    """A marginal that the file does not hold is the sum of the joint table; queries, rows and clusters follow from that."""
    found = estimated()
    found.save(tmp_path / "e.csv")
    again = SavedEstimate.load(tmp_path / "e.csv")
    summed = found.joint().marginal(["year", "smokes"])
    assert np.allclose(again.marginal(["year", "smokes"]).counts, summed.counts)
    asked = {"smokes": "yes", "year": ["2", "3"]}
    assert np.allclose(dataclasses.astuple(again.query(asked)), dataclasses.astuple(found.joint().query(asked)))
    assert again.synthesize(50, random_state=1).equals(found.synthesize(50, random_state=1))
    model = again.cluster(2, random_state=1)
    assert model.modes_ == found.cluster(2, random_state=1).modes_
    assert model.release_.files == {}
    assert model.release_.signature is None


def test_tables_that_were_chosen_come_back_in_their_order(tmp_path: Path) -> None:
    """Also one whose questions are not in the order of the collection; what no table holds is refused in a sentence."""
    found = estimated()
    chosen = [found.marginal(["year", "smokes"]), found.marginal("year")]
    found.save(tmp_path / "e.parquet", chosen)
    again = CollectionEstimate.load(tmp_path / "e.parquet")
    assert [table.names for table in again.tables()] == [("year", "smokes"), ("year",)]
    assert again.frame().equals(found.frame(chosen))
    assert len(again.pictures()[0].panels) == 2  # what it has answers to
    with pytest.raises(UsageError, match="Its tables: year x smokes, year"):
        again.joint()
    again.save(tmp_path / "twice.csv")
    assert CollectionEstimate.load(tmp_path / "twice.csv").frame().equals(again.frame())


def test_answers_that_are_bits_come_back(tmp_path: Path) -> None:
    """Each question by itself: there is no joint table."""
    found = estimated(protocol="unary")
    found.save(tmp_path / "bits.csv")
    again = CollectionEstimate.load(tmp_path / "bits.csv")
    assert again.query({"year": ["1", "2"]}) == found.query({"year": ["1", "2"]})
    assert again.frame().equals(found.frame())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_changed_estimate_is_refused(ending: str, tmp_path: Path) -> None:
    """Whoever changes the file, or takes the certificate of another one."""
    path, other = tmp_path / f"e{ending}", tmp_path / f"o{ending}"
    estimated().save(path)
    estimated().save(other)
    path.write_bytes(other.read_bytes())
    with pytest.raises(DataError, match="was changed after it was written"):
        CollectionEstimate.load(path)


def forged(rows: pa.Table, release: Release, path: Path, **parameters: Any) -> Path:
    """A file whose certificate was written anew for other rows."""
    save_certified(rows, dataclasses.replace(release, parameters={**release.parameters, **parameters}), path)
    return path


def test_rows_that_are_no_tables_of_the_collection_are_refused(tmp_path: Path) -> None:
    """A certificate that was signed again does not make cells of rows: they are as the collection says, each once, in order."""
    found = estimated()
    rows, release = found.frame(), found.release_
    stars = rows.set_column(0, "smokes", pa.array(["*"] * len(rows), pa.string()))
    infinite = rows.set_column(5, "standard_error", pa.array([np.inf] * len(rows)))
    wrongs = {
        "cut": rows.slice(0, 7),
        "empty": rows.slice(0, 0),
        "doubled cell": pa.concat_tables([rows.slice(0, 17), rows.slice(0, 1)]),
        "other share": rows.set_column(4, "share", pa.array(np.zeros(len(rows)))),
        "infinite": infinite,
        "stars": stars,
        "missing column": rows.drop_columns(["likes"]),
        "more columns": rows.append_column("note", pa.array(["x"] * len(rows))),
    }
    for name, wrong in wrongs.items():
        for ending in ENDINGS:
            with pytest.raises(DataError):
                CollectionEstimate.load(forged(wrong, release, tmp_path / f"{name}{ending}"))
    for number, parameters in enumerate([{"terms": "x"}, {"method": "guess"}, {"questions": {}}, {"id": 5}]):
        with pytest.raises(DataError):
            CollectionEstimate.load(forged(rows, release, tmp_path / f"parameter{number}.csv", **parameters))


def test_a_small_file_of_many_rows_is_not_read(tmp_path: Path) -> None:
    """Parquet may hold billions of equal rows in little room."""
    release = estimated().release_
    same = pa.array(np.zeros(5_000_000, np.int32))
    texts = dict.fromkeys(("smokes", "year", "likes"), pa.array(["no"]).take(same))
    rows = pa.table({**texts, **dict.fromkeys(("count", "share", "standard_error"), pa.array([1.0]).take(same))})
    with pytest.raises(DataError, match="more rows"):
        CollectionEstimate.load(forged(rows, release, tmp_path / "many.parquet"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_centres_that_are_read_are_those_that_were_written(ending: str, tmp_path: Path) -> None:
    """Centres, sizes, cost, parameters and the certificate."""
    model = estimated().cluster(3, init="frequent", max_iter=7, random_state=1)
    written = model.save(tmp_path / f"m{ending}")
    again = LocalKModes.load(tmp_path / f"m{ending}")
    assert again.release_ == written
    assert again.modes_ == model.modes_
    assert np.array_equal(again.codes_, model.codes_)
    assert np.array_equal(again.sizes_, model.sizes_)
    assert (again.cost_, again.n_clusters, again.init, again.max_iter) == (model.cost_, 3, "frequent", 7)
    assert again.pictures() == model.pictures()
    assert again.describe() == model.describe()


def test_changed_centres_are_refused(tmp_path: Path) -> None:
    """By their hash, and where a certificate was written anew by its own figures."""
    model = estimated().cluster(2, random_state=1)
    model.save(tmp_path / "m.csv")
    rows = model.frame()
    other = rows.set_column(3, "size", pa.array([1.0, 2.0]))
    with pytest.raises(DataError, match="its centres are not those of its certificate"):
        LocalKModes.load(forged(other, model.release_, tmp_path / "other.csv"))
    with pytest.raises(DataError):
        LocalKModes.load(forged(rows, model.release_, tmp_path / "more.csv", n_clusters=3))
    (tmp_path / "m.csv").write_text((tmp_path / "m.csv").read_text().replace("no", "yes"))
    with pytest.raises(DataError, match="was changed after it was written"):
        LocalKModes.load(tmp_path / "m.csv")


def test_files_of_something_else_are_refused_in_a_sentence(tmp_path: Path) -> None:
    """Centres in place of an estimate, made-up rows, a file without a certificate, one that is not there."""
    found = estimated()
    found.save(tmp_path / "e.csv")
    found.save_rows(tmp_path / "r.csv", 20)
    found.cluster(2).save(tmp_path / "m.csv")
    pq.write_table(found.frame(), tmp_path / "bare.parquet")
    for name in ("r.csv", "m.csv", "bare.parquet", "nothing.csv", "e.txt"):
        with pytest.raises(SourceError, match="Give an estimate that"):
            CollectionEstimate.load(tmp_path / name)
    with pytest.raises(SourceError, match="Give centres that"):
        LocalKModes.load(tmp_path / "e.csv")


def test_a_collection_of_one_question_comes_back(tmp_path: Path) -> None:
    """Its joint table is that of the question."""
    one = Collection("one", {"smokes": ["no", "yes"]}, 2)
    found = estimate(one, simulate(one, {"smokes": PEOPLE["smokes"]}).reports)
    found.save(tmp_path / "one.csv")
    again = CollectionEstimate.load(tmp_path / "one.csv")
    assert again.top(1) == found.top(1)
    assert "SavedEstimate(one: 1,000 reports, em)" in repr(again)
