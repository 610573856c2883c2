"""A request for a private table: its plan without rows, and its result."""

from __future__ import annotations

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
