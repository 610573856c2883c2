"""The items of the local side: misprints by hand, repeats that average noise away, and sentences that follow the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cloister.collect import Client, Collection
from cloister.papers.ldpk_modes.kmodes_findings import nivc_finds, table_panels
from cloister.papers.ldpk_modes.lloyd_noise_cost import NOISE_COST
from cloister.papers.ldpk_modes.local_misprints import cell_index, frequent_values, written_rows
from cloister.papers.ldpk_modes.paper import PAPER
from cloister.papers.ldpk_modes.repeated_reports import fresh_yes_share, remembered_yes_share
from cloister.papers.ldpk_modes.response_table import TABLE_1
from cloister.papers.paper_items import RunEffort
from cloister.papers.reproduced_row import ReproducedRow

QUICK = RunEffort(is_quick=True)


@pytest.mark.parametrize(("attributes", "values"), [(1, 5), (3, 4), (6, 2)])
def test_the_corrected_algorithm_3_writes_every_cell(attributes: int, values: int) -> None:
    """Row x is the digits of x, and its index is x + 1."""
    rows = written_rows(attributes, values, as_printed=False)
    assert [cell_index(row, values, as_printed=False) - 1 for row in rows.tolist()] == list(range(values**attributes))


def test_the_printed_algorithm_3_leaves_the_domain() -> None:
    """Cell 7 of 4 x 4 x 4 is (1, 2, 4), section 4.2; by the printed remainder its last value is 7."""
    assert written_rows(3, 4, as_printed=True)[7].tolist() == [1, 2, 7]
    assert written_rows(3, 4, as_printed=True).max() > 4


@pytest.mark.parametrize(("clusters", "attributes"), [(3, 3), (4, 6), (5, 8), (7, 2)])
def test_algorithm_4_needs_its_root_rounded_up(clusters: int, attributes: int) -> None:
    """On each of the paper's tables f values an attribute make K starts if it is, and fewer if it is rounded down."""
    assert frequent_values(clusters, attributes, as_printed=False) ** attributes >= clusters
    assert frequent_values(clusters, attributes, as_printed=True) ** attributes < clusters


def test_fresh_reports_average_the_noise_away() -> None:
    """29 reports at epsilon 0.5 give most answers away, a remembered one as many as one report does."""
    fresh, remembered = fresh_yes_share(2000, 1, 29, 0), remembered_yes_share(2000, 1, 29, 0)
    assert np.mean(fresh > 0.5) > 0.85
    assert 0.55 < np.mean(remembered > 0.5) < 0.7
    assert set(np.unique(remembered)) <= {0.0, 1.0}


def test_the_real_client_sends_what_it_remembers(tmp_path: Path) -> None:
    """What `remembered_yes_share` stands for: reports of one answer through a memo are equal, in several collections."""
    sent = set()
    for number in range(8):
        collection = Collection(f"again-{number}", {"answer": ["no", "yes"]}, epsilon="0.5")
        report = Client(collection, memo=tmp_path / "memo").report({"answer": "yes"})
        sent.add(report.answers["answer"])
    assert len(sent) == 1


def test_table_1_says_what_its_rows_say() -> None:
    """The sentences change with the rows: a formula that is off is said to be."""
    rows = [row for task in TABLE_1.tasks(QUICK) for row in task.work()]
    assert "off by at most 3e-06" in TABLE_1.finds(rows)[0]
    wrong = [replace(row, value=0.4) if row.form == "as printed" and row.value and row.value > 0.5 else row for row in rows]
    assert "off by at most 0.1" in TABLE_1.finds(wrong)[0]


def test_the_cost_item_names_forty() -> None:
    """At m 8, T 5 and epsilon 0.1 the rounds cost 40.3."""
    rows = [row for task in NOISE_COST.tasks(QUICK) for row in task.work()]
    assert any("cost 40.3, 403 times" in sentence for sentence in NOISE_COST.finds(rows))


def figure_rows(local_at_2: float) -> list[ReproducedRow]:
    """A table at two epsilons: the central side at 1, the local one at 2 and then at this."""
    rows = []
    for text, local in (("0.1", 2.0), ("2", local_at_2)):
        for side, value in (("central", 1.0), ("local", local)):
            for form in ("as printed", "sound"):
                rows.append(
                    ReproducedRow(f"D9, epsilon {text}", form, f"NIVC, T 1, {side}", value, "figure 4", epsilon=1.0)  # type: ignore[arg-type]
                )
    return rows


@pytest.mark.parametrize(("local_at_2", "tables"), [(0.5, "1 of 1 tables (D9)"), (1.5, "0 of 1 tables (none)")])
def test_figures_say_who_is_better(local_at_2: float, tables: str) -> None:
    """Both outcomes of the paper's claim have their words, and a panel of four lines."""
    sentences = nivc_finds(figure_rows(local_at_2))
    assert "1 of 1 tables (D9)" in sentences[0]
    assert tables in sentences[1]
    (picture,) = table_panels(figure_rows(local_at_2), "NIVC", "NIVC")
    assert [len(panel.lines) for panel in picture.panels] == [4]


def test_names_of_tasks_are_unique_and_the_same_in_every_run() -> None:
    """So that a killed run goes on where it was."""
    for effort in (RunEffort(), QUICK):
        for item in PAPER.items:
            names = [task.name for task in item.tasks(effort)]
            assert names == [task.name for task in item.tasks(effort)]
            assert len(set(names)) == len(names)
