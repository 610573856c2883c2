"""What a certificate says about its guarantee."""

from __future__ import annotations

import pyarrow as pa

import cloister as cl
from cloister.privacy.budgets import ApproxDP, PureDP
from cloister.privacy.notes import guarantee_notes, unit_note
from cloister.schema.unit import Unit


def test_whom_the_guarantee_protects() -> None:
    """A row by itself, or a person with all their rows."""
    assert unit_note(None).startswith("The guarantee is per row")
    assert 'column "who"' in unit_note(Unit("who", 3))
    assert "At most 1 row is used" in unit_note(Unit("who", 1))
    assert "At most 3,000 rows are used" in unit_note(Unit("who", 3000))


def test_large_budgets_are_noted() -> None:
    """An epsilon of 5 or more, and a delta that is not small beside one over the number of rows."""
    assert len(guarantee_notes(PureDP("4.99"), None, 1000)) == 1
    assert "near certainty" in guarantee_notes(PureDP(5), None, 1000)[1]
    assert "Delta is large" in guarantee_notes(ApproxDP(1, 1e-3), None, 1000)[1]
    assert len(guarantee_notes(ApproxDP(1, 1e-3), None)) == 1  # of a size that was not released nothing is said


def test_every_verb_says_what_a_large_epsilon_means() -> None:
    """From epsilon 5 on certificates say what becomes of a fifty-fifty guess: of tables and choices too."""
    rows = pa.table({"c": list("abcd") * 25, "x": [0.1, 0.2, 0.3, 0.4] * 25})
    made = [
        cl.tabulate(rows, by=["c"], domains={"c": list("abcd")}, budget=30),
        cl.choose(rows, "c", budget=30, domain=list("abcd")),
        cl.synopsis(rows, 30, bounds=(0, 1), columns=["x"]),
        cl.KMeans(2, 30, (0, 1), columns=["x"]).fit(rows),
    ]
    for release in (each.release_ for each in made):
        assert any("fifty-fifty" in note for note in release.notes)
