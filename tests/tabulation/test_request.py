"""A request for a private table: its plan without rows, and its result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import CloisterError, SchemaError, UsageError
from cloister.schema import Category, Column, Number, Schema
from cloister.tabulation.request import TabulationRequest
from cloister.tabulation.tabulate import plan_table, tabulate

FACTS = {"domains": {"level": ["bachelor", "master"]}}


def test_a_plan_is_what_is_spent() -> None:
    """The events of the plan are those of the certificate, and both names of the certificate are one."""
    plan = plan_table(["level"], ["level"], 1, **FACTS)
    assert plan.events == TabulationRequest(["level"], 1, **FACTS).plan(["level"]).events
    table = tabulate(pa.table({"level": ["bachelor"] * 7 + ["master"] * 3}), ["level"], 1, **FACTS)
    assert table.release_ is not None
    assert table.release_ is table.release
    assert table.release_.events == plan.events


def test_a_request_is_checked_without_rows() -> None:
    """A column about which nothing is known is refused by the plan already."""
    with pytest.raises(SchemaError, match="nothing is known"):
        TabulationRequest(["school"]).plan(["school"])


def test_a_domain_may_be_any_list() -> None:
    """It was looked through twice: one that can be read once was empty at the second time."""
    table = tabulate(pa.table({"level": ["a", "b"]}), ["level"], 1, domains={"level": (name for name in "ab")})
    assert table.labels == (("a", "b"),)


def test_bins_of_a_category_are_refused() -> None:
    """They were ignored, and the table was charged without them."""
    with pytest.raises(UsageError, match=r'bins are given for "level", which is a category'):
        TabulationRequest(["level"], 1, bins={"level": 3}, **FACTS).plan(["level"])


def test_one_name_is_not_taken_for_its_letters() -> None:
    """`by="school"` is refused with the form that is wanted, by the function and by its request."""
    rows = pa.table({"school": ["A", "B"]})
    with pytest.raises(UsageError, match=r"Give by=\[\.\.\.\]"):
        tabulate(rows, by="school", domains={"school": ["A", "B"]})
    with pytest.raises(UsageError, match=r"Give by=\[\.\.\.\]"):
        plan_table(["school"], "school", domains={"school": ["A", "B"]})
    with pytest.raises(UsageError, match=r"Give by=\[\.\.\.\]"):
        TabulationRequest("school")
    with pytest.raises(UsageError, match=r"Give measures=\[\.\.\.\]"):
        TabulationRequest(["school"], measures="grade")


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_saving_returns_the_certificate(ending: str, tmp_path: Path) -> None:
    """As of every result: a CSV's names the file that it stands beside."""
    table = tabulate(pa.table({"level": ["bachelor"] * 7 + ["master"] * 3}), ["level"], 1, **FACTS)
    certificate = table.save(tmp_path / f"t.{ending}")
    assert certificate is not None
    assert certificate.digest() == table.release_.digest()
    assert list(certificate.files) == ([f"t.{ending}"] if ending == "csv" else [])


@pytest.mark.parametrize("bins", [2048, 100_000_000])
def test_a_table_that_takes_minutes_is_refused_before_the_charge(bins: int) -> None:
    """2048 x 2048 bins took 101 s and 2.5 GB after the charge: how many cells there are is a public number."""
    began = time.process_time()
    with pytest.raises(UsageError, match=r"262,144"):
        plan_table(["a", "b"], ["a", "b"], 1, bounds={"a": (0, 1), "b": (0, 1)}, bins={"a": bins, "b": bins})
    assert time.process_time() - began < 5


def refused_before_the_charge(tmp_path: Path, match: str, **facts: Any) -> None:
    """The request is refused, and nothing is in the ledger."""
    rows = pa.table({"x": [1.0] * 50, "y": ["a"] * 50})
    with pytest.raises(CloisterError, match=match):
        cl.tabulate(rows, ledger=str(tmp_path / "ledger.jsonl"), table="t", budget=1, **facts)
    assert not (tmp_path / "ledger.jsonl").exists()


@pytest.mark.parametrize("bounds", [(0, 1.7e308), (0, 1e300), (-1e150, 0), (0, 1e-200), (1e300, 1.0000000001e300)])
def test_bounds_whose_sums_are_no_numbers_are_refused(tmp_path: Path, bounds: tuple[float, float]) -> None:
    """Their sums, or the squares of their errors, overflowed or vanished after the charge."""
    refused_before_the_charge(tmp_path, "another unit", by=["y"], domains={"y": ["a"]}, measures=["x"], bounds={"x": bounds})


@pytest.mark.parametrize("bounds", [(0, 1e100), (0, 2e-100), (-1e100, 1e100)])
def test_wide_and_narrow_bounds_are_summed(bounds: tuple[float, float]) -> None:
    """Up to the ends that are allowed, sums and their errors are finite and above zero."""
    rows = pa.table({"x": [bounds[1]] * 50, "y": ["a"] * 50})
    table = cl.tabulate(rows, ["y"], 100, domains={"y": ["a"]}, measures=["x"], bounds={"x": bounds})
    assert table.sums["x"][0] == pytest.approx(50 * bounds[1], rel=0.2)


@pytest.mark.parametrize(
    "edges", [[0, math.nan, 10], [math.nan, 10], [-math.inf, 5, 10], [0, 5, math.inf], [0, 7, 5, 10], [0, 5, 5, 10]]
)
def test_edges_that_are_no_rising_numbers_are_refused(tmp_path: Path, edges: list[float]) -> None:
    """No comparison holds of NaN, so none refused it."""
    refused_before_the_charge(tmp_path, "must rise", by=["x"], bounds={"x": (0, 10)}, bins={"x": edges})


LONE = "\ud800"


@pytest.mark.parametrize(
    "facts",
    [
        {"by": ["y"], "domains": {"y": ["a", LONE]}},
        {"by": ["y"], "domains": {"y": ["a"], LONE: ["b"]}},
        {"by": [LONE], "domains": {"y": ["a"]}},
        {"by": ["y"], "domains": {"y": ["a"]}, "measures": [LONE]},
        {"by": ["x"], "bounds": {"x": (0, 1), LONE: (0, 1)}},
    ],
)
def test_lone_surrogates_are_refused(tmp_path: Path, facts: dict[str, Any]) -> None:
    """They are no text: nothing that holds one can be written or compared with a cell."""
    refused_before_the_charge(tmp_path, "no text", **facts)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Number((0, 1), missing=(LONE,)),
        lambda: Category(("a", LONE)),
        lambda: Category(("a",), missing=(LONE,)),
        lambda: Column(LONE, Number((0, 1))),
        lambda: Schema([Column("x", Number((0, 1)))], table=LONE),
    ],
)
def test_a_schema_holds_no_lone_surrogates(make: Callable[[], object]) -> None:
    """In names, domains and what stands for a missing value."""
    with pytest.raises(CloisterError, match="no text"):
        make()


@pytest.mark.parametrize(
    "use",
    [
        lambda rows: cl.tabulate(rows, ["level"], **FACTS),
        lambda rows: cl.tabulate(rows, ["level"], None, **FACTS),
        lambda rows: plan_table(["level"], ["level"], **FACTS),
        lambda rows: cl.synopsis(rows, bounds=(0, 1)),
        lambda rows: cl.KMeans(2, None, (0, 1)).fit(rows),
    ],
    ids=["tabulate", "None", "plan", "synopsis", "KMeans"],
)
def test_a_missing_budget_is_refused(use: Callable[[Any], Any]) -> None:
    """As on the command line: a table was released at epsilon 1 that nobody had asked for."""
    with pytest.raises(UsageError, match=r"how much may be revealed\? Give budget=1 "):
        use(pa.table({"level": ["bachelor"]}))


@pytest.mark.parametrize("value", ["*", " * "])
def test_a_value_that_looks_like_a_margin_is_refused(value: str) -> None:
    """Its row could not be told from the one that adds the column up."""
    request = TabulationRequest(by=["x"], budget=1, domains={"x": ["a", value]})
    with pytest.raises(UsageError, match="by which a table marks what it adds up"):
        request.plan(["x"])
