"""What was released and what was not: the first chapter of a report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import floor, inf, log10
from typing import Any

from cloister.handouts.guarded_columns import guarded_columns, guards_of_values, unguarded_columns
from cloister.handouts.kinds_of_release import kind_of
from cloister.privacy.guarantees import Syntactic
from cloister.privacy.release import Release
from cloister.report.document import Fact, Sentence, TextTable
from cloister.report.handout_blocks import Bullets, Callout, Chapter, PaperBlock, Subheading
from cloister.report.shown_labels import shown_labels

__all__ = ["column_facts", "describe_release", "table_name"]

COLUMNS = {  # parameters of a certificate that name columns, and what they are
    "columns": "columns that were used",
    "by": "columns that make the groups",
    "measures": "columns that were added up",
    "means": "columns of which means were taken",
    "quantiles": "columns of which quantiles were taken",
    "column": "column that was used",
    "quasi": "columns that were treated",
    "questions": "questions that were asked",
}
UNIT = re.compile(r'person \((?:at most [0-9,]+ rows? each, )?column "(.*)"\)')  # of a guarantee
FIGURES = {  # results of a certificate that are one number each; the suppressed rows and the loss are for the holder's page
    "rows": "rows in the release",
    "reports": "reports that were counted",
    "total": "rows of the table, about",
    "cells": "cells",
    "clusters": "clusters that carried the rows",
    "classes": "groups of rows that look alike",
    "groups": "groups that were averaged",
    "smallest": "rows in the smallest group",
    "smallest_group": "rows in the smallest averaged group",
    "average": "rows in a group, on average",
    "people": "people",
}
MOST_ROWS, MOST_COLUMNS, MOST_NAMES, MOST_LABELS = 40, 6, 40, 8


def table_name(release: Release) -> str | None:
    """The name that the released table has, if it has one; of a survey its title."""
    if release.ledger is not None:
        return str(release.ledger["table"])
    title = release.parameters.get("title") or release.parameters.get("id")
    return str(title) if title else None


def describe_release(release: Release, shown: Sequence[PaperBlock] = ()) -> Chapter:
    """The chapter; `shown`: what the files of the release hold, as tables and pictures."""
    blocks: list[PaperBlock] = [Sentence(kind_of(release).holds), *_facts(release), *_figures(release), *shown]
    blocks += [Subheading("What was not released"), Bullets.of(list(_left_out(release)))]
    if as_they_are := _named(unguarded_columns(release) or ()):
        blocks.append(Callout((f"Published as they are, with nothing done to them: {as_they_are}.",), "problem"))
    if guarded := _named(guarded_columns(release)):
        guards = "; ".join(guards_of_values(release))
        blocks.append(
            Callout((f"Published as they are, in groups that were made so that these hold: {guarded} ({guards}).",))
        )
    if pseudonyms := _named(_names(release.result.get("pseudonyms"))):
        blocks.append(
            Callout((f"Replaced by a keyed hash, so that rows of one person can be joined: {pseudonyms}.",), "problem")
        )
    return Chapter("What was released, and what was not", tuple(blocks))


def column_facts(release: Release) -> Iterator[Fact]:
    """Which columns went in, as the certificate names them."""
    for key, words in COLUMNS.items():
        if named := _named(_names(release.parameters.get(key))):
            yield Fact(words, named)
    if unit := UNIT.fullmatch(release.guarantee.unit):
        yield Fact("column that says whose a row is", unit[1])
    if others := _named(_read_besides(release)):
        yield Fact("columns that were read besides", others)


def _read_besides(release: Release) -> list[str]:
    """Columns that the certificate gives a default for cells without a value, and so were read, whatever they were used for."""
    named = {name for key in COLUMNS for name in _names(release.parameters.get(key))}
    return [name for name in _names(release.parameters.get("defaults")) if name not in named]


def _facts(release: Release) -> Iterator[Fact]:
    if (name := table_name(release)) is not None:
        yield Fact("survey" if "questions" in release.parameters else "table", name)
    yield from column_facts(release)
    for key, words in FIGURES.items():
        figure = release.result.get(key)
        if isinstance(figure, int | float) and not isinstance(figure, bool):
            yield Fact(words, _figure(key, figure))
    if release.files:
        yield Fact("files", ", ".join(release.files))
    choices = release.parameters.get("choices")
    for name, reason in choices.items() if isinstance(choices, Mapping) else ():
        yield Fact(f"chosen: {name}", str(reason))


def _figure(key: str, figure: int | float) -> str:
    """A figure of the result; averages have one decimal, as everywhere on a page."""
    if isinstance(figure, int):
        return f"{figure:,}"
    return f"{figure:,.1f}" if key == "average" else f"{figure:,.6g}"


def _left_out(release: Release) -> Iterator[str]:
    yield from kind_of(release).leaves_out
    if release.seeded and not isinstance(release.guarantee, Syntactic):
        yield "The noise was seeded: whoever has the seed can take it away, and then knows the exact figures."
    if dropped := _named(_names(release.result.get("dropped"))):
        yield f"These columns, which were left out altogether: {dropped}."
    if any(key in release.parameters for key in ("columns", "by", "column")):
        yield "Any other column of the table: none but those named above was read."
    if release.holder_files:
        yield f"{', '.join(release.holder_files)}: for the holder only."


def _figures(release: Release) -> Iterator[PaperBlock]:
    result = release.result
    if isinstance(release.guarantee, Syntactic) and isinstance(result.get("columns"), list):
        yield from _treated(result["columns"])
    if isinstance(result.get("centers"), list):
        yield from _centers(release)
    elif isinstance(result.get("modes"), list):
        yield from _modes(result)
    elif release.kind == "choice":
        yield Callout((f"{release.parameters.get('column')}: {result.get('value')}", str(result.get("nearness", ""))))


def _treated(columns: Sequence[Mapping[str, Any]]) -> Iterator[PaperBlock]:
    """What each treated column became, as far as the published rows show it too."""
    rows = []
    for column in columns:
        labels = column.get("labels")
        if isinstance(labels, list | tuple):
            rows.append([str(column["name"]), _coarseness(labels, column.get("values"))])
        elif "how" in column:
            rows.append([str(column["name"]), f"{column['how']}, of its group"])
    if rows:
        yield TextTable.of(("column", "published as"), rows[:MOST_ROWS], title="How coarse the columns became", align="left")
        yield from _more(len(rows) - MOST_ROWS, "columns")


def _coarseness(labels: Sequence[Any], values: Any) -> str:
    if list(labels) == ["*"]:
        return "*: nothing is left of it"
    shown = ", ".join(shown_labels([str(label) for label in labels], MOST_LABELS))
    more = f" and {len(labels) - MOST_LABELS:,} more" if len(labels) > MOST_LABELS else ""
    known = f", of {values:,} values that it may have" if isinstance(values, int) else ""
    return f"{len(labels):,} label{'s' * (len(labels) != 1)}{known}: {shown}{more}"


def _centers(release: Release) -> Iterator[PaperBlock]:
    names = [str(name) for name in release.parameters.get("columns", ())]
    result = release.result
    errors = result.get("standard_errors") or [[None] * len(names)] * len(result["centers"])
    rows = []
    for i, (center, size, error) in enumerate(zip(result["centers"], result["sizes"], errors, strict=False)):
        cells = [_measured(value, deviation) for value, deviation in zip(center, error, strict=False)]
        rows.append([str(i), f"{size:,.0f}", *cells[:MOST_COLUMNS]])
    noise = result.get("size_noise")
    told = f"sizes ± {noise:,.2g}" if isinstance(noise, int | float) else "sizes are noisy"
    title = f"Centres of the clusters ({told}; ± is the standard error of the noise)"
    yield TextTable.of(["cluster", "size", *names[:MOST_COLUMNS]], rows[:MOST_ROWS], title=title, align="right")
    yield from _more(len(rows) - MOST_ROWS, "clusters")
    yield from _more(len(names) - MOST_COLUMNS, "columns")


def _modes(result: Mapping[str, Any]) -> Iterator[PaperBlock]:
    modes = result["modes"]
    names = [str(name) for name in modes[0]][:MOST_COLUMNS] if modes else []
    rows = [
        [str(i), f"{size:,.0f}", *(str(mode[name]) for name in names)]
        for i, (mode, size) in enumerate(zip(modes, result.get("sizes", ()), strict=False))
    ]
    yield TextTable.of(["cluster", "people, about", *names], rows[:MOST_ROWS], title="Typical combinations of answers")
    yield from _more(len(rows) - MOST_ROWS, "clusters")
    yield from _more(len(modes[0]) - MOST_COLUMNS if modes else 0, "columns")


def _measured(value: Any, deviation: Any) -> str:
    """A value, with the standard error that its noise has; a category has none."""
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        return str(value)
    if not isinstance(deviation, int | float) or not 0 < deviation < inf:
        return f"{value:,.5g}"
    digits = max(0, 1 - floor(log10(deviation)))  # two of the error's own, and as many of the value
    return f"{value:,.{digits}f} ± {deviation:,.{digits}f}"


def _more(hidden: int, what: str) -> Iterator[Sentence]:
    if hidden > 0:
        yield Sentence(f"... and {hidden:,} {what} more in the files of the release.")


def _names(found: Any) -> list[str]:
    """Names from a certificate: a list of them, a mapping by name, or one."""
    if isinstance(found, str):
        return [found]
    if isinstance(found, Mapping | list | tuple):
        return [str(name) for name in found]
    return []


def _named(names: Any) -> str:
    every = list(dict.fromkeys(names))
    shown = ", ".join(every[:MOST_NAMES])
    return shown if len(every) <= MOST_NAMES else f"{shown} and {len(every) - MOST_NAMES:,} more"
