"""The items of paper 000: quick ones run whole, sentences follow from rows, and the peers' file is read with care."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cloister.papers.di_clustering.composition_rules import PARALLEL, SCHEDULE, SEQUENCE
from cloister.papers.di_clustering.paper import PAPER
from cloister.papers.di_clustering.peer_overspending import PEER, read_peers
from cloister.papers.di_clustering.rho_mapping import MAPPING, NOISE
from cloister.papers.form_columns import form_table
from cloister.papers.paper_items import Item, RunEffort
from cloister.papers.reproduced_row import ReproducedRow

QUICK = RunEffort(is_quick=True)
AUDIT = [
    {"columns": 2, "clusters": 1, "claimed": 1.0, "found": 0.99, "verdict": "holds for these tables"},
    {"columns": 64, "clusters": 1, "claimed": 1.0, "found": 2.28, "verdict": "spends more"},
    {"columns": 2, "clusters": 2, "claimed": 1.0, "found": None, "verdict": "the fits draw noise 30 and 28 times"},
]


def rows_of(item: Item, effort: RunEffort = QUICK) -> list[ReproducedRow]:
    return [row for task in item.tasks(effort) for row in task.work()]


@pytest.mark.parametrize("item", [MAPPING, NOISE, SCHEDULE, SEQUENCE, PARALLEL, PEER], ids=lambda item: item.name)
def test_items_without_data_run(item: Item) -> None:
    """They give rows, sentences and pictures."""
    rows = rows_of(item)
    assert form_table(rows).rows
    assert item.finds(rows)
    item.draws(rows)


def test_heart_costs_its_numbers_and_its_categories() -> None:
    """7.11, where 6.26 is printed."""
    found = {(row.setting, row.form): row.value for row in rows_of(MAPPING)}
    assert found["Heart, numbers and categories together", "sound"] == pytest.approx(7.1132, abs=1e-4)
    assert found["Heart, numbers and categories together", "printed"] == 6.26


def test_sentences_have_two_outcomes() -> None:
    """A counterexample that is none would be told."""
    rows = rows_of(SEQUENCE)
    weaker = [
        ReproducedRow(**{**row.as_dict(), "value": 0.5, "epsilon": 1.0}) if row.form == "as printed" else row for row in rows
    ]
    assert SEQUENCE.finds(rows)[0].startswith("The rule is false")
    assert SEQUENCE.finds(weaker)[0].startswith("The rule holds here")


@pytest.mark.parametrize("effort", [QUICK, RunEffort()], ids=["quick", "whole"])
def test_tasks_have_names_of_their_own(effort: RunEffort) -> None:
    """And the same in every run."""
    for item in PAPER.items:
        names = [task.name for task in item.tasks(effort)]
        assert len(set(names)) == len(names)
        assert names == [task.name for task in item.tasks(effort)]


def test_a_peers_file(tmp_path: Path) -> None:
    """What it spends, and where rows decide how often noise is drawn."""
    path = tmp_path / "audit.json"
    path.write_text(json.dumps({"about": {}, "rows": AUDIT}))
    rows = rows_of(PEER, RunEffort(peers=path))
    assert [row.value for row in rows if row.form == "peer"] == [0.99, 2.28, None]
    said = PEER.finds(rows)
    assert "2.28 times" in said[0]
    assert "2 columns, 2 clusters" in said[1]
    assert PEER.draws(rows)


@pytest.mark.parametrize("text", ["", "[]", '{"rows": 3}', '{"rows": [{"columns": "x"}, 3, {"found": 1}]}', "\x00"])
def test_an_odd_peers_file_is_none(text: str, tmp_path: Path) -> None:
    """It is left out, and the page says how to make one."""
    path = tmp_path / "audit.json"
    path.write_text(text)
    assert read_peers(path) == []
    assert read_peers(tmp_path / "absent.json") == []
    assert "python -m bench audit" in PEER.finds(rows_of(PEER, RunEffort(peers=path)))[0]
