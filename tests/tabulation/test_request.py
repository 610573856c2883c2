"""A request for a private table: its plan without rows, and its result."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest

from cloister.errors import SchemaError, UsageError
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
