"""What is claimed in print never passes for private: no ledger, no charge, no other command, no noise of ours."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.papers.holder_rows import holder_numbers, holder_rows
from cloister.papers.printed_result import stamp
from cloister.privacy.budgets import as_budget
from cloister.privacy.events import LaplaceEvent
from cloister.privacy.guarantees import Claimed
from cloister.privacy.release import Release

SOURCE = Path(cl.__file__).parent
CLAIM = Claimed("003", "epsilon 1", "nothing")
SHUT = tuple(f"cloister.{room}" for room in ("vault", "engines", "privacy.ledger", "privacy.mechanisms", "privacy.noise"))
MEASURING = {
    "measure",
    "select",
    "follow",
    "open",
    "public",
    "charge",
}  # doors of the vault and the ledger that are not the holder's
TYPES = {"cloister.vault", "cloister.vault.Unprotected"}
LAPLACE = {"cloister.privacy.mechanisms", "cloister.privacy.mechanisms.Laplace"}
SCALES = {"group_sensitivity.py": LAPLACE, "insensitive_sums.py": LAPLACE}  # they read the scale of a sound plan's noise


def test_a_claim_is_never_private() -> None:
    """Its status says so, in words and in JSON, and it is read back as what it is."""
    release = stamp([1.0], CLAIM, clusters=3).release_
    assert release.status == "claimed, NOT PRIVATE"
    assert "private in" not in release.to_json().replace("NOT PRIVATE", "")
    assert Release.from_json(release.to_json()) == release
    assert release.guarantee.identifiability() is None


@pytest.mark.parametrize(
    "change",
    [{"ledger": {"table": "people", "entry": 1}}, {"events": (LaplaceEvent("sums", Fraction(1)),)}],
)
def test_a_claim_is_neither_spent_nor_charged(change: dict[str, object]) -> None:
    """A certificate of a claim has no steps and no entry in a ledger."""
    with pytest.raises(ValueError, match="neither spent nor charged"):
        replace(stamp(None, CLAIM).release_, **change)  # type: ignore[arg-type]


def test_a_claim_is_no_budget() -> None:
    """Nothing can be fitted or charged with it."""
    with pytest.raises(UsageError):
        as_budget(CLAIM)
    with pytest.raises(UsageError):
        cl.KMeans(2, CLAIM, (0, 1)).fit([[0.1], [0.9]])  # type: ignore[arg-type]


def test_rows_for_printed_forms_come_through_the_holders_door() -> None:
    """They are stamped, and as they are."""
    rows = holder_rows(pa.table({"a": [3, 1], "b": ["x", "y"]}))
    assert "not a private release" in rows.stamp
    assert rows.value.to_pydict() == {"a": [3, 1], "b": ["x", "y"]}
    assert holder_numbers(pa.table({"a": [3, 1], "b": ["x", "y"]}), ["a"]).value.tolist() == [[3.0], [1.0]]


def imported(path: Path) -> set[str]:
    """The modules that a file imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def test_no_command_but_reproduce_reaches_the_papers() -> None:
    """Outside its room one file alone imports anything of it."""
    outside = [path for path in SOURCE.rglob("*.py") if "papers" not in path.relative_to(SOURCE).parts]
    reaching = {
        path.relative_to(SOURCE).as_posix() for path in outside if any("cloister.papers" in name for name in imported(path))
    }
    assert reaching == {"cli/reproduce.py"}


def test_printed_forms_know_no_door_but_the_holders() -> None:
    """No file of the papers imports the vault (but for the holder's rows), an engine, a ledger, a mechanism or our noise."""
    for path in sorted((SOURCE / "papers").rglob("*.py")):
        if path.name == "holder_rows.py":
            continue
        opened = {name for name in imported(path) if name.startswith(SHUT)} - TYPES - SCALES.get(path.name, set())
        assert not opened, f"{path.name}: {opened}"
    tree = ast.parse((SOURCE / "papers" / "holder_rows.py").read_text())
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "holding" in called
    assert not called & MEASURING
