"""``cloister calibrate``."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from cloister.cli import app

runner = CliRunner()


def run(*words: object) -> tuple[int, str]:
    """The exit code and everything that was printed."""
    result = runner.invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_calibrate_says_what_rho_means() -> None:
    """Rho 0.05 among 10,001 worlds is epsilon 6.2659, and from 5 on there is a warning."""
    code, text = run("calibrate", "--rho", 0.05, "--worlds", 10001)
    assert code == 0
    assert "6.2659" in text
    assert "Careful" in text
    assert "99.8" in text


def test_several_releases_stand_beside_the_printed_bound() -> None:
    """Odds multiply: 96.5% of two, where the paper prints 25."""
    code, text = run("calibrate", "--rho", 0.05, "--worlds", 10001, "--releases", 2, "--json")
    assert code == 0, text
    row = next(row for row in json.loads(text)["meaning"] if row["worlds"] == 10001)
    assert (round(row["after"], 6), round(row["composed"], 4), row["printed"]) == (0.05, 0.9652, "25")
    shown = run("calibrate", "--epsilon", 1, "--releases", 2)[1]
    assert "after 2 releases" in shown
    assert "often above 1" in shown


def test_a_rho_alone_is_an_epsilon_for_each_number_of_worlds() -> None:
    """And a blind guess among few of them."""
    shown = json.loads(run("calibrate", "--rho", 0.05, "--json")[1])["epsilons"]
    assert [(row["worlds"], round(row["epsilon"], 4)) for row in shown][1:3] == [(1_000, 3.9623), (10_001, 6.2659)]
    assert "6.2659" in run("calibrate", "--rho", 0.05)[1]


def test_the_best_attacker_is_shown_with_and_without_delta() -> None:
    """At 5% false alarms; with a delta no posterior is bounded."""
    facts = json.loads(run("calibrate", "--epsilon", 1, "--delta", "0.001", "--json")[1])
    assert facts["meaning"] is None
    assert [round(attack["true_positives"], 4) for attack in facts["best_attacker"]] == [0.1369, 0.3732]
    assert "at 5% false alarms" in run("calibrate", "--epsilon", 1)[1]


def test_a_mixed_table_pays_for_both_parts() -> None:
    """The paper's Heart setting: 7.11 in all, and neither rho holds by itself."""
    facts = json.loads(run("calibrate", "--rho", "0.05+0.7", "--worlds", "10001+2", "--json")[1])
    assert float(Fraction(facts["epsilon"])) == pytest.approx(7.1132, abs=1e-4)
    assert [round(part["holds"], 4) for part in facts["parts"].values()] == [0.1094, 0.9992]
    text = run("calibrate", "--rho", "0.05+0.7", "--worlds", "10001+2")[1]
    assert "their epsilons add" in text
    assert "99.92%" in text


@pytest.mark.parametrize("words", [["--rho", "0.05+0.7"], ["--epsilon", "1", "--releases", "0"], ["--rho", "1"]])
def test_what_cannot_be_said_is_refused(words: list[str]) -> None:
    """In one sentence, with exit code 2."""
    code, text = run("calibrate", *words)
    assert code == 2
    assert "Traceback" not in text
