"""Documents on a terminal."""

from __future__ import annotations

import pytest

from cloister.report.document import Document, Section, TextTable
from cloister.report.one_line import is_one_line, one_line
from cloister.report.terminal import print_document, ruled, stacked, text
from tests.report.documents import CHART, DOCUMENT, TABLE


def test_text_is_lines_with_a_blank_one_between_sections() -> None:
    """Headings, sentences, facts and tables as they are; the title is left to the command that was typed."""
    assert text(DOCUMENT).splitlines() == [
        "Risk <of> rows",
        "k = 5 & more",
        "who <looks>          risk",
        "-------------------  ----",
        "[bold]prosecutor[/]   20%",
        "marketer               3%",
        "",
        "Status: private",
        "Note: a < b",
        "Loss and risk",
        *ruled(CHART.as_table()).splitlines(),
    ]


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    """By content, unless the table says otherwise."""
    rows = [["red", "7"], ["blue", "12"]]
    assert ruled(TextTable.of(["colour", "n"], rows)).splitlines()[2:] == ["red      7", "blue    12"]
    assert ruled(TextTable.of(["colour", "n"], rows, align="left")).splitlines()[2:] == ["red     7", "blue    12"]
    assert ruled(TextTable.of(["colour", "n"], rows, align="right")).splitlines()[2:] == ["   red   7", "  blue  12"]


def test_a_chart_is_a_table_of_its_numbers() -> None:
    """Each series is written as its axis writes numbers."""
    table = CHART.as_table()
    assert table.heads == ("k", "lost", "highest")
    assert table.rows == (("2", "0.1", "50%"), ("5", "0.25", "20%"), ("10", "0.5", "10%"))


def test_brackets_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """A label in brackets is printed as it is, in heads, cells and titles."""
    table = TextTable.of(["[red]head", "n"], [["[bold]x[/]", "1"]], title="[i]title")
    print_document(Document((Section((table,)),)))
    shown = capsys.readouterr().out
    assert all(words in shown for words in ("[red]head", "[bold]x[/]", "[i]title"))


def test_long_lines_are_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed into a file can be searched by line."""
    print_document(Document((Section((), heading="word " * 60),)))
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_an_empty_table_shows_its_heads() -> None:
    """No rows, no failure."""
    assert ruled(TextTable.of(["a", "b"], [])).splitlines() == ["a  b", "-  -"]
    assert TABLE.is_right(1)


def test_everything_that_turns_the_order_of_letters_is_written_out() -> None:
    """The twelve characters that Unicode calls bidirectional controls; letters that are read from the right are none."""
    turning = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x061C, 0x200E, 0x200F]
    assert len(turning) == 12
    for code in turning:
        assert not is_one_line(f"a{chr(code)}b")
        assert one_line(f"a{chr(code)}b") == f"a\\u{code:04x}b"
    assert is_one_line("\u0639\u0645\u0631")


def test_a_table_too_wide_for_the_terminal_is_not_broken_inside_its_cells(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label that is folded into six lines cannot be read: each row of a wide table is a block of lines, in a file one line."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("cloister.report.terminal.is_screen", lambda _: True)
    wide = TextTable.of(
        ["born", *(f"standard_error {i}" for i in range(6))], [["[1900-01-01, 1943-09-01)", *"123456"]], title="t"
    )
    print_document(Document((Section((wide,)),)))
    assert capsys.readouterr().out.splitlines() == ["t", *stacked(wide, 60).splitlines()]
    assert "born: [1900-01-01, 1943-09-01)" in stacked(wide, 60).splitlines()
    assert ruled(wide) in text(Document((Section((wide,)),)))
    print_document(Document((Section((TABLE,)),)))
    assert "━" in capsys.readouterr().out  # one that fits is drawn


def test_a_column_without_a_head_is_stacked_without_one() -> None:
    """As in a table of before and after."""
    assert stacked(TextTable.of(["", "risk"], [["before", "20%"]]), 20) == "before\nrisk: 20%"
