"""A document with one block of each kind, and texts that must not be taken for markup."""

from __future__ import annotations

from cloister.report.document import Chart, ChartAxis, Document, Fact, Section, Sentence, Series, TextTable
from cloister.report.numbers import percent

CHART = Chart(
    title="Loss and risk",
    x=ChartAxis("k", is_log=True),
    points=(2, 5, 10),
    left=ChartAxis("loss"),
    right=ChartAxis("risk", is_log=True, format=percent),
    series=(Series("lost", (0.1, 0.25, 0.5)), Series("highest", (0.5, 0.2, 0.1), is_right=True)),
)
TABLE = TextTable.of(["who <looks>", "risk"], [["[bold]prosecutor[/]", "20%"], ["marketer", "3%"]])
DOCUMENT = Document(
    (
        Section((Sentence("k = 5 & more"), TABLE), heading="Risk <of> rows"),
        Section((Fact("status", "private"), Fact("note", "a < b"), CHART)),
    ),
    title="A <document>",
)
