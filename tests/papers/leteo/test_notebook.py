"""The walkthrough of paper 001 runs as it stands: docs/notebooks/leteo.ipynb, without Jupyter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cloister as cl

NOTEBOOK = Path(__file__).resolve().parents[3] / "docs" / "notebooks" / "leteo.ipynb"


def code_cells() -> list[str]:
    """The code of a notebook, a text a cell."""
    contents = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in contents["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def after() -> dict[str, Any]:
    """The names that all cells leave behind, run in their order."""
    pytest.importorskip("matplotlib")  # its charts
    names: dict[str, Any] = {}
    for number, cell in enumerate(code_cells()):
        exec(compile(cell, f"{NOTEBOOK.name}, cell {number}", "exec"), names)
    return names


def test_the_notebook_is_one() -> None:
    """Plain JSON of format 4, each cell with a name of its own and no kept output, which could be of other noise."""
    contents = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (contents["nbformat"], contents["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in contents["cells"]}) == len(contents["cells"])
    assert all(not cell["outputs"] for cell in contents["cells"] if cell["cell_type"] == "code")


def test_ten_look_alike(after: dict[str, Any]) -> None:
    """The table has unique rows; what is published has none below k, and loses something of every column at most."""
    assert after["alike"]["1 to 1"] > 0
    assert after["smallest"] >= 10
    assert set(after["losses"]) == set(after["quasi"])
    assert all(0 <= loss <= 1 for loss in after["losses"].values())
    assert "not differentially private" in str(after["model"].release_.guarantee)


def test_clusters_of_the_grid(after: dict[str, Any]) -> None:
    """Cells and centres in two columns, inside their bounds, at epsilon 1."""
    cells = after["cells"]
    assert isinstance(cells, cl.Synopsis)
    assert (cells.release.guarantee.epsilon, cells.release.guarantee.delta) == (1, 0)
    centers = after["clusters"].cluster_centers_
    assert centers.shape == (4, 2)
    assert ((centers >= 0) & (centers <= 200)).all()
    assert len(after["figure"].axes) > 0
    assert set(after["by_alpha"]) == {"0.1", "0.5", "0.9"}
