"""From reports to tables: unbiased where that is promised, near the truth, and all that follows from a table."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.collect import Collection, LocalKModes, estimate, plan, simulate
from cloister.collect.counting import ReportCounts, carried_tables
from cloister.collect.estimates import CollectionEstimate
from cloister.errors import UsageError
from cloister.privacy.release import Release
from cloister.testing import seeded_noise
from tests.collect.survey import survey

PEOPLE = {
    "smokes": ["no"] * 600 + ["yes"] * 400,
    "year": ["1", "2", "3"] * 200 + ["1"] * 400,
    "likes": ["tea"] * 500 + ["coffee"] * 500,
}


def expected_reports(collection: Collection, truth: np.ndarray) -> np.ndarray:
    """The reports that a table of people is expected to send."""
    expected = truth.astype(np.float64)
    for axis, channel in enumerate(collection.channels(collection.names)):
        moved = np.moveaxis(expected, axis, 0)
        total = moved.sum(axis=0, keepdims=True)
        expected = np.moveaxis(float(channel.lie) * total + channel.contrast * moved, 0, axis)
    return expected


def estimated_from(collection: Collection, counts: np.ndarray, method: str) -> CollectionEstimate:
    """An estimate from counts of reports."""
    whole = np.rint(counts).astype(np.int64)
    values = {
        name: whole.sum(axis=tuple(other for other in range(whole.ndim) if other != axis))
        for axis, name in enumerate(collection.names)
    }
    return CollectionEstimate(collection, ReportCounts(int(whole.sum()), {}, values, whole, {}), method)


@pytest.mark.parametrize("method", ["em", "norm-sub", "unbiased", "clip"])
def test_expected_reports_give_the_truth_back(method: str) -> None:
    """Without sampling error every method finds the table, and each of its marginals."""
    collection = survey()
    truth = np.zeros((2, 3, 3))
    truth[0, 0, 1], truth[1, 2, 0], truth[1, 1, 2] = 5e8, 3e8, 2e8
    found = estimated_from(collection, expected_reports(collection, truth), method)
    assert np.abs(found.joint().counts - truth).sum() / 2e9 < 0.005
    assert np.abs(found.marginal("year").shares - np.array([0.5, 0.2, 0.3])).max() < 0.001
    assert found.marginal(["likes", "smokes"]).counts.shape == (3, 2)
    assert np.abs(found.marginal(["likes", "smokes"]).shares - truth.sum(axis=1).T / 1e9).max() < 0.002


def test_unbiased_means_unbiased() -> None:
    """Over all reports that two people can send, weighted by their probabilities, the unbiased estimate averages to the truth."""
    collection = Collection("q", {"a": ["x", "y"], "b": ["u", "v", "w"]}, 1)
    truth = [(0, 2), (1, 0)]
    channels = collection.channels(collection.names)
    cells = list(product(range(2), range(3)))

    def chance(person: tuple[int, int], sent: tuple[int, int]) -> float:
        return float(np.prod([float(c.truth if a == b else c.lie) for a, b, c in zip(person, sent, channels, strict=True)]))

    mean = np.zeros((2, 3))
    for first, second in product(cells, cells):
        counts = np.zeros((2, 3), dtype=np.int64)
        counts[first] += 1
        counts[second] += 1
        mean += (
            chance(truth[0], first)
            * chance(truth[1], second)
            * estimated_from(collection, counts, "unbiased").joint().counts
        )
    wanted = np.zeros((2, 3))
    wanted[0, 2] = wanted[1, 0] = 1
    assert np.allclose(mean, wanted)


def test_standard_errors_cover() -> None:
    """Of 200 seeded collections the truth lies within two standard errors in 90 to 99%, cell by cell and for queries."""
    collection = survey()
    inside = answers = 0
    with seeded_noise(5):
        for _ in range(200):
            played = simulate(collection, PEOPLE, method="unbiased")
            table, true = played.estimate.marginal(["smokes", "year"]), played.true_counts(("smokes", "year"))
            inside += int((np.abs(table.counts - true) <= 2 * table.errors).sum())
            answer = table.query({"smokes": "no", "year": ["1", "2"]})
            answers += abs(answer.count - true[0, :2].sum()) <= 2 * answer.standard_error
    assert 0.90 < inside / 1200 < 0.99
    assert 0.88 < answers / 200 < 0.995


@pytest.mark.parametrize("method", ["em", "norm-sub", "unbiased", "clip"])
def test_the_order_of_names_changes_nothing(method: str) -> None:
    """A marginal under another order of its questions has the same counts and the same errors, and so has one of the joint."""
    with seeded_noise(3):
        found = simulate(survey(), PEOPLE, method=method).estimate
    here, there = found.marginal(["smokes", "likes"]), found.marginal(["likes", "smokes"])
    assert np.allclose(here.counts, there.counts.T)
    assert np.allclose(here.errors, there.errors.T)
    here, there = found.joint().marginal(["year", "smokes"]), found.joint().marginal(["smokes", "year"])
    assert np.allclose(here.errors, there.errors.T)
    assert here.errors.min() > 10


def test_queries_ranges_and_the_most_frequent() -> None:
    """They are sums of cells, and refuse names and values that are not there."""
    collection = survey()
    truth = np.arange(18, dtype=np.float64).reshape(2, 3, 3) * 1e6
    found = estimated_from(collection, expected_reports(collection, truth), "unbiased")
    assert found.query({"smokes": "yes", "year": ["1", "3"]}).count == pytest.approx(truth[1, [0, 2]].sum(), rel=1e-3)
    assert found.range("year", "2", "3").count == pytest.approx(truth[:, 1:].sum(), rel=1e-3)
    first = found.top(1)[0]
    assert (first["smokes"], first["year"], first["likes"]) == ("yes", "3", "coffee")
    for wrong in ({}, {"year": "9"}, {"wrong": "1"}, 5, {"year": 5}, {"year": None}):
        with pytest.raises(UsageError):
            found.query(wrong)  # type: ignore[arg-type]
    for ends in (("3", "2"), ("1", "9")):
        with pytest.raises(UsageError):
            found.range("year", *ends)
    for names in ([], ["year", "year"], ["wrong"], 5):
        with pytest.raises(UsageError):
            found.marginal(names)  # type: ignore[arg-type]


def test_rows_follow_the_joint() -> None:
    """Made-up rows have the counts of the estimate, each within one."""
    with seeded_noise(1):
        found = simulate(survey(3), PEOPLE).estimate
    rows = found.synthesize(random_state=0)
    assert rows.num_rows == 1000
    assert rows.column_names == ["smokes", "year", "likes"]
    counted = {tuple(row.values()): 0 for row in rows.to_pylist()}
    for row in rows.to_pylist():
        counted[tuple(row.values())] += 1
    for cell in found.joint().rows():
        assert abs(counted.get((cell["smokes"], cell["year"], cell["likes"]), 0) - cell["count"]) <= 1
    assert found.synthesize(0).num_rows == 0


def many_questions(count: int) -> tuple[Collection, dict[str, list[str]]]:
    """So many questions of two values, each answered as the one before it, nine times of ten."""
    random = np.random.default_rng(0)
    codes = np.zeros((20_000, count), dtype=np.int64)
    codes[:, 0] = random.integers(0, 2, 20_000)
    for j in range(1, count):
        codes[:, j] = np.where(random.random(20_000) < 0.9, codes[:, j - 1], 1 - codes[:, j - 1])
    names = [f"q{j:02}" for j in range(count)]
    people = {name: np.array(["n", "y"])[codes[:, j]].tolist() for j, name in enumerate(names)}
    return Collection("many", {name: ["n", "y"] for name in names}, 3), people


def test_beyond_the_cells_marginals_are_estimated() -> None:
    """Thirty questions have no joint; their pairs are near the truth, and rows along a tree keep them."""
    collection, people = many_questions(30)
    with seeded_noise(2):
        played = simulate(collection, people)
    found = played.estimate
    with pytest.raises(UsageError, match="cells"):
        found.joint()
    with pytest.raises(UsageError, match="at most"):
        found.marginal(collection.names[:5])
    assert played.distance(("q03", "q04")) < 0.03
    rows = found.synthesize(20_000, random_state=1)
    for a, b in (("q03", "q04"), ("q10", "q12")):
        same = np.mean(np.array(rows[a].to_pylist()) == np.array(rows[b].to_pylist()))
        true = np.mean(np.array(people[a]) == np.array(people[b]))
        assert abs(same - true) < 0.05


def test_pairs_stay_within_the_memory() -> None:
    """Two questions of 50,000 values have no joint and no pair; forty of 1,000 have the pairs that fit, and rows all the same."""
    huge = Collection("huge", {name: [f"{name}{i}" for i in range(50_000)] for name in "ab"}, 1)
    assert carried_tables(huge, huge.names, 10) == []
    wide = Collection("wide", {f"q{j}": [str(i) for i in range(1000)] for j in range(40)}, 1)
    assert len(carried_tables(wide, wide.names, 10)) == 4
    found = estimate(huge, pa.table({"a": ["a1"], "b": ["b2"]}), unmarked=True)
    assert found.synthesize(3, random_state=0).num_rows == 3


def test_small_epsilons_of_many_questions() -> None:
    """Where the unbiased cells are a billion times the number of people every method still gives a table."""
    collection = Collection("q", {f"q{j}": ["n", "y"] for j in range(12)}, "0.001")
    reports = pa.table({name: ["n", "y"] for name in collection.names})
    for method in ("em", "norm-sub", "clip"):
        table = estimate(collection, reports, method=method, unmarked=True).joint()
        assert np.isfinite(table.counts).all()
        assert table.counts.min() >= 0


def test_a_certificate_of_nothing_but_refusals_verifies() -> None:
    """All reports were of another collection: the estimate says so, and its certificate does not contradict itself."""
    from cloister.collect import Client
    from cloister.privacy.certificate_figures import find_contradiction

    other = Client(survey(2)).report({"smokes": "no", "year": 1, "likes": "tea"})
    assert find_contradiction(estimate(survey(), [other]).release_) is None


def test_errors_of_bits_are_those_of_a_population() -> None:
    """The stated error of a share and of a query covers who happened to answer, as that of randomized response does."""
    collection = Collection("q", {"t": {"domain": [str(i) for i in range(12)], "protocol": "unary"}}, 3)
    random = np.random.default_rng(0)
    shares, queries, stated = [], [], []
    with seeded_noise(8):
        for _ in range(300):
            people = {"t": random.choice([str(i) for i in range(12)], 500, p=[0.5] + [0.5 / 11] * 11).tolist()}
            table = simulate(collection, people, method="unbiased").estimate.marginal("t")
            shares.append(table.counts[0])
            queries.append(table.query({"t": ["0", "1", "2"]}).count)
            stated.append((table.errors[0], table.query({"t": ["0", "1", "2"]}).standard_error))
    assert np.std(shares) == pytest.approx(np.mean([error for error, _ in stated]), rel=0.15)
    assert np.std(queries) == pytest.approx(np.mean([error for _, error in stated]), rel=0.15)


def test_orders_follow_from_reports_and_epsilon() -> None:
    """Few reports carry pairs, many carry triples; nothing else decides."""
    collection, _ = many_questions(30)
    assert {len(names) for names in carried_tables(collection, collection.names, 10)} == {2}
    assert {len(names) for names in carried_tables(collection, collection.names, 10**6)} == {2, 3}


def test_bits_are_marginals_alone() -> None:
    """A question in unary encoding has its own shares near the truth, and is not joined."""
    collection = Collection("q", {"town": {"domain": [str(i) for i in range(40)], "protocol": "unary"}, "a": ["x", "y"]}, 2)
    people = {"town": [str(i % 40) if i % 2 else "7" for i in range(20_000)], "a": ["x"] * 20_000}
    with seeded_noise(3):
        played = simulate(collection, people)
    table = played.estimate.marginal("town")
    assert table.counts.sum() == pytest.approx(20_000)
    assert table.counts.min() >= 0
    assert abs(table.query({"town": "7"}).share - 0.5) < 4 * table.query({"town": "7"}).standard_error / 20_000
    assert played.estimate.joint().names == ("a",)
    with pytest.raises(UsageError, match="unary"):
        played.estimate.marginal(["town", "a"])
    assert played.estimate.synthesize(100).column_names == ["town", "a"]


def test_nobody_answered() -> None:
    """No reports: tables of nothing, without a warning; no clusters."""
    found = estimate(survey(), [])
    for method in ("em", "norm-sub", "unbiased", "clip"):
        table = CollectionEstimate(found.collection, found.counts, method).joint()
        assert table.counts.sum() == 0
        assert not np.isnan(table.errors).any()
    with pytest.raises(UsageError, match="nothing to cluster"):
        found.cluster(2)
    assert found.synthesize().num_rows == 0


# Certificates and files.


def test_certificates_verify(tmp_path: Path) -> None:
    """Estimate, rows and centres are written with a certificate of the local guarantee; a changed file does not verify."""
    collection = survey()
    found = simulate(collection, PEOPLE).estimate
    found.save(tmp_path / "e.csv")
    found.save(tmp_path / "m.parquet", [found.marginal("year")])
    found.save_rows(tmp_path / "rows.csv", 10)
    found.cluster(2).save(tmp_path / "modes.csv")
    for name in ("e.csv", "m.parquet", "rows.csv", "modes.csv"):
        result = CliRunner().invoke(app, ["verify", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        assert "epsilon 1 for each answer that differs; 3 for all 3 answers" in result.output
        release = Release.from_json((tmp_path / f"{name}.release.json").read_text())
        assert release.status == "private in the local model, nothing is charged"
        assert release.version == 4
    with (tmp_path / "e.csv").open("a") as file:
        file.write("more\n")
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "e.csv")]).exit_code == 5
    assert pacsv.read_csv(tmp_path / "rows.csv").num_rows == 10


def test_forged_local_certificates_are_found() -> None:
    """Steps that are not the questions, a charge, another unit: contradictions."""
    from dataclasses import replace
    from fractions import Fraction

    from cloister.privacy.certificate_figures import find_contradiction
    from cloister.privacy.guarantees import Guarantee, Local
    from cloister.schema import Neighbours

    genuine = estimate(survey(), []).release_
    assert find_contradiction(genuine) is None
    assert genuine.adds_up()
    assert Release.from_json(genuine.to_json()) == genuine
    forged = [
        replace(genuine, guarantee=Local((Fraction(1, 100),) * 3)),
        replace(genuine, events=genuine.events[:2]),
        replace(genuine, guarantee=Local((Fraction(1),) * 2), events=genuine.events[:2]),
        replace(genuine, guarantee=Local((Fraction(1),) * 3, "village")),
        replace(genuine, ledger={"table": "t", "entry": 1}),
        replace(genuine, result={}),
        replace(genuine, kind="kmeans"),
        replace(genuine, guarantee=Guarantee(Fraction(9), Fraction(0), Neighbours.ADD_REMOVE)),
        replace(genuine, result={**genuine.result, "terms_checked": "yes"}),
        replace(genuine, result={**genuine.result, "refused": 7}),
        replace(genuine, parameters={**genuine.parameters, "questions": {}}),
    ]
    assert all(find_contradiction(each) for each in forged)
    assert not forged[0].adds_up()


def test_seeded_simulations_are_stamped() -> None:
    """Their estimate is NOT PRIVATE, and so is one from reports that were written down."""
    with seeded_noise(1):
        played = simulate(survey(), PEOPLE)
    assert "NOT PRIVATE" in played.estimate.release_.status
    assert "NOT PRIVATE" in estimate(survey(), played.reports).release_.status
    assert "NOT PRIVATE" not in simulate(survey(), PEOPLE).estimate.release_.status


# Clusters.


def test_centres_of_the_estimate() -> None:
    """Two clear groups are found, by both starts; sizes are people."""
    people = {"smokes": ["no"] * 700 + ["yes"] * 300, "year": ["1"] * 700 + ["3"] * 300, "likes": ["tea"] * 700 + [""] * 300}
    with seeded_noise(4):
        found = simulate(survey(4), people).estimate
    for init in ("best", "frequent"):
        model = LocalKModes(2, init=init, random_state=0).fit(found)
        assert [tuple(mode.values()) for mode in model.modes_] == [("no", "1", "tea"), ("yes", "3", "")]
        assert abs(model.sizes_[0] - 700) < 100
        assert model.cost_ < 0.3
    for wrong in ({"n_clusters": 0}, {"init": "magic"}, {"max_iter": -1}):
        with pytest.raises(UsageError):
            LocalKModes(**{"n_clusters": 2, **wrong}).fit(found)  # type: ignore[arg-type]


def test_frequent_centres_are_different_while_they_can_be() -> None:
    """f = ceil(K**(1/m)) values of each question: K different centres, or all there are."""
    from cloister.collect.local_kmodes import frequent_centers

    counts = np.arange(18, dtype=np.float64).reshape(2, 3, 3)
    centres = frequent_centers(counts, 5, np.random.default_rng(0)).codes
    assert len({tuple(row) for row in centres.tolist()}) == 5
    assert set(centres[:, 1]) <= {1, 2}  # the two most frequent years
    assert len(frequent_centers(np.ones((2,)), 7, np.random.default_rng(0)).codes) == 7


# Planning.


def test_planned_errors_are_those_of_simulations() -> None:
    """The standard error that the plan names is what 300 seeded collections show, within 15%."""
    collection = Collection("q", {"a": ["x", "y", "z"], "b": {"domain": ["u", "v", "w"], "protocol": "unary"}}, 1)
    random = np.random.default_rng(0)
    planned = {each.name: each.error for each in plan(collection, 300).questions}
    shares: dict[str, list[float]] = {"a": [], "b": []}
    with seeded_noise(6):
        for _ in range(300):
            drawn = random.choice(3, (300, 2), p=[0.5, 0.25, 0.25])  # half of them: about where the error is largest
            people = {
                "a": np.array(["x", "y", "z"])[drawn[:, 0]].tolist(),
                "b": np.array(["u", "v", "w"])[drawn[:, 1]].tolist(),
            }
            found = simulate(collection, people, method="unbiased").estimate
            for name in shares:
                shares[name].append(found.marginal(name).shares[0])
    for name, seen in shares.items():
        assert np.std(seen) == pytest.approx(planned[name], rel=0.15)


def test_what_reaches_a_wanted_error() -> None:
    """So many people, or such an epsilon, do; a little less does not."""
    found = plan(survey(), 10_000, error=0.01)
    assert found.people_needed is not None
    assert found.epsilon_needed is not None
    assert max(each.error for each in plan(survey(), found.people_needed).questions) <= 0.01
    assert max(each.error for each in plan(survey(), found.people_needed - 1).questions) > 0.01
    assert max(each.error for each in plan(survey(found.epsilon_needed), 10_000).questions) <= 0.01
    from fractions import Fraction

    less = found.epsilon_needed - Fraction(1, 100)
    assert max(each.error for each in plan(survey(less), 10_000).questions) > 0.01
    assert plan(survey(), 2, error="0.0001").epsilon_needed is None


@pytest.mark.parametrize("wrong", [{"people": 0}, {"people": 1.5}, {"error": 0}, {"error": 2}, {"error": "x"}])
def test_plans_that_make_no_sense(wrong: dict[str, Any]) -> None:
    """One sentence each."""
    with pytest.raises(UsageError):
        plan(survey(), **{"people": 100, **wrong})


# Simulations.


def test_a_simulation_is_for_the_holder(tmp_path: Path) -> None:
    """Its truth is stamped, the ledger records the use, and as many people answer as were asked for."""
    from cloister.privacy.ledger import Ledger

    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("students", "add-remove", 1)
    played = simulate(survey(), PEOPLE, people=5000, table="students", ledger=ledger)
    assert played.estimate.reports == 5000
    assert played.reports.num_rows == 5000
    assert "for the holder only" in played.truth.stamp
    assert ledger.account("students").holder_uses == 1
    assert played.true_counts(("smokes",)).tolist() == [600, 400]


def test_rows_that_cannot_answer_are_left_out_and_told() -> None:
    """A value that is spelt otherwise, or a blank where none is taken, is no first value: a client would refuse it."""
    people = {**PEOPLE, "smokes": ["No"] * 600 + ["yes"] * 399 + [None], "likes": [None] * 500 + ["tea"] * 500}
    played = simulate(survey(), people)
    assert played.left_out == {"smokes": 601}
    assert played.true_counts(("smokes",)).tolist() == [0, 399]
    assert played.as_dict()["left_out"] == {"smokes": 601}
    assert played.estimate.reports == 399
    assert "1000" not in repr(played)


def test_no_error_is_zero_where_few_reports_are() -> None:
    """A value that none of seven reports names is not certain to be nobody's."""
    reports = pa.table({"smokes": ["no"] * 7, "year": ["1"] * 7, "likes": ["tea"] * 7})
    for method in ("em", "unbiased", "norm-sub"):
        found = estimate(survey(), reports, method=method, unmarked=True)
        for name in ("smokes", "year", "likes"):
            assert found.marginal(name).errors.min() > 1
        assert found.joint().errors.min() > 0.5


def test_independence_is_said_to_be_assumed() -> None:
    """Where no dependence can be seen the certificate says that the table is the product of its margins."""
    cells = list(product(*(question.values for question in survey().questions)))
    reports = pa.table({name: [cell[axis] for cell in cells] * 20 for axis, name in enumerate(survey().names)})
    found = estimate(survey(), reports, unmarked=True)
    found.joint()
    assert any("product of its margins" in note for note in found.release_.notes)


def test_reports_come_in_a_secret_order() -> None:
    """At an epsilon at which answers pass as they are, equal rows do not lie together."""
    played = simulate(survey(50), PEOPLE)
    sent = played.reports["smokes"].to_pylist()
    assert sent.count("no") == 600
    assert sent != PEOPLE["smokes"]
    assert sum(a != b for a, b in pairwise(sent)) > 100


def test_tables_that_cannot_answer() -> None:
    """No rows, no column, too many people."""
    with pytest.raises(UsageError):
        simulate(survey(), {name: [] for name in PEOPLE})
    with pytest.raises(UsageError, match="year"):
        simulate(survey(), {"smokes": ["no"], "likes": ["tea"]})
    with pytest.raises(UsageError):
        simulate(survey(), PEOPLE, people=10**12)
    with pytest.raises(UsageError):
        simulate(survey(), PEOPLE, method="magic")
    assert isinstance(simulate(survey(), pa.table(PEOPLE)).distance(), float)


def test_an_estimated_table_is_a_frame_and_shows_itself() -> None:
    """In pandas, over the Arrow stream, and in a notebook; a query for what nobody can answer lists what they can."""
    table = simulate(survey(), PEOPLE).estimate.joint()
    assert table.to_pandas()["count"].sum() == pytest.approx(1_000)
    assert pa.table(table).num_rows == table.counts.size
    assert "standard error" in table._repr_html_()
    with pytest.raises(UsageError, match=r"no answer to question .smokes.\. Its answers: no, yes"):
        table.query({"smokes": "maybe"})


def test_clusters_of_reports_have_a_short_repr() -> None:
    """It says how many there are, and whether they were found yet."""
    assert repr(LocalKModes(2)) == "LocalKModes(n_clusters=2, not fitted)"
    assert repr(simulate(survey(), PEOPLE).estimate.cluster(2)) == "LocalKModes(n_clusters=2)"
