"""What a terminal shows of long work."""

from __future__ import annotations

import io
import sys

import pytest

from cloister.cli import output, verbosity
from cloister.cli.progress_line import ProgressLine
from cloister.work_done import counted, is_watched


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_step_share_and_time_left(clock: Clock) -> None:
    """A quarter in ten seconds leaves thirty."""
    shown: list[str] = []
    line = ProgressLine(shown.append, clock)
    line.begin("votes 2")
    line.count_step(3, 9)
    clock.now += 10
    line.count_share(0.25, "")
    assert shown == ["votes 2", "votes 2 (step 3 of 9)", "votes 2 (step 3 of 9): 25%, 30 s left"]


def test_the_first_second_foretells_nothing(clock: Clock) -> None:
    """A share, and no time."""
    shown: list[str] = []
    line = ProgressLine(shown.append, clock)
    line.begin("counting")
    clock.now += 0.5
    line.count_share(0.5, "")
    assert shown[-1] == "counting: 50%"


def test_a_new_pass_has_a_time_of_its_own(clock: Clock) -> None:
    """Its time is not that of the pass before it."""
    shown: list[str] = []
    line = ProgressLine(shown.append, clock)
    line.begin("round")
    for now, share in ((1000, 1.0), (1000.5, 0.0), (1010.5, 0.5)):
        clock.now = now
        line.count_share(share, "")
    assert shown[-1] == "round: 50%, 10 s left"


def test_ten_changes_a_second_at_most(clock: Clock) -> None:
    """A search tells a million shares."""
    shown: list[str] = []
    line = ProgressLine(shown.append, clock)
    for i in range(10_000):
        clock.now += 0.0001
        line.count_share(i / 10_000, "")
    assert len(shown) <= 12


def test_a_terminal_shows_it_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a file, nor --json, nor --quiet; then nothing is counted at all."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with output.progress(False) as step:
        step("reading [brackets]")
        assert is_watched()
        list(counted("ab", 2))
    assert "reading [brackets]" in terminal.getvalue()
    with output.progress(True):
        assert not is_watched()
    monkeypatch.setattr(verbosity, "_quiet", True)
    with output.progress(False):
        assert not is_watched()
    monkeypatch.setattr(verbosity, "_quiet", False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with output.progress(False):
        assert not is_watched()
