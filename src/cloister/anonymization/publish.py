"""The walk of `cloister anonymize`: request -> count -> search -> write -> report, each station entered once."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cloister.anonymization.counting.count_request import OpenedTables, count_tables, open_tables
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.nearly_unique import NONE_UNIQUE, check_confirmed, check_nested, nearly_unique
from cloister.anonymization.reporting.certify import certify
from cloister.anonymization.reporting.outcome import TableOutcome, find_outcome
from cloister.anonymization.reporting.summary import TableSummary, summarize
from cloister.anonymization.request import Request
from cloister.anonymization.searching.find_recoding import SearchResult, find_recoding
from cloister.anonymization.searching.guards import KAnonymity
from cloister.anonymization.writing.recoding import Recoding
from cloister.anonymization.writing.recount import check_output, count_output, plan_output
from cloister.anonymization.writing.rewriting import format_of, make_rewriting
from cloister.parameters import check_progress
from cloister.privacy.release import Release
from cloister.sinks import check_free_with_certificate, file_hashes, stage
from cloister.sources.csv_dialect import STANDARD, CsvDialect, check_dialect

__all__ = ["PublishedTable", "SearchedTable", "publish_table", "search_table"]


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """What a publication leaves in the hands of the holder, beside the files."""

    release: Release
    summary: TableSummary
    recoding: Recoding
    outcome: TableOutcome
    dialect: CsvDialect = STANDARD  # how it is written, if it is CSV


@dataclass(frozen=True, slots=True, eq=False)
class SearchedTable:
    """A table that was opened, counted and searched, and the columns of it that are published as they are."""

    opened: OpenedTables
    counted: CountedTable
    result: SearchResult
    seconds: float  # that the search took
    untouched: tuple[str, ...]
    record_names: tuple[str, ...]  # those of them that are named like numbers of people


def search_table(
    request: Request, X: Any, purpose: str, format: str | None, progress: Callable[[str], None]
) -> SearchedTable:
    """Open a table for a purpose that the ledger records, count it, and find its recoding."""
    opened = open_tables(request, X, purpose, format)
    table, fitted = opened.table, opened.request
    progress("counting")
    counted = count_tables(opened)
    untouched = fitted.untouched(table.names)
    check_nested(table, untouched, fitted.keep_unique)
    progress("specializing")
    start = time.perf_counter()
    result = find_recoding(fitted, counted)
    seconds = time.perf_counter() - start
    return SearchedTable(opened, counted, result, seconds, untouched, fitted.record_names(table.names))


def publish_table(
    request: Request,
    X: Any,
    out: str | os.PathLike[str],
    *,
    format: str | None = None,
    dialect: str = "input",
    progress: Callable[[str], None] = lambda _: None,
) -> PublishedTable:
    """Write the rows of X as a request asks, with their certificate; CSV as the input is written, or in the standard dialect.

    Notes
    -----
    Two passes over the table and one over the output: the tuples are counted before there is a recoding, the rows are
    rewritten once it is known, and what lies on the disk is counted again before it appears. A pass more for each of these,
    where there are any: numbers, dates and texts without a hierarchy, sensitive columns and a target, for their different
    values; a number column without bounds of more than 4,096 values, for its range; columns that are published as they are,
    to see whether their values are nearly unique in what is published (over the output; over the table where people count); a
    population, for its count and its values. The search reads no row.
    The types of the columns are declared by the source, or taken from its first batch.

    Privacy
    -------
    Syntactic. The ledger records it before the first row is read, and its certificate before the table appears: a table that
    then could not be written counts as one that left.
    """
    progress = check_progress(progress)
    format, dialect = format_of(out, format), check_dialect(dialect)
    check_free_with_certificate(out)
    found = search_table(request, X, request.purpose, format, progress)
    opened, counted, result = found.opened, found.counted, found.result
    table, fitted = opened.table, opened.request
    untouched, record_names = found.untouched, found.record_names

    plan = plan_output(result.recoding, counted.rows, result.labels)
    outcome = find_outcome(opened, counted, result, plan.classes, found.seconds)

    progress("writing")
    rewriting = make_rewriting(
        result.recoding,
        table.types(table.names),
        fitted.dropped,
        fitted.pseudonyms,
        fitted.key,
        format,
        fitted.sensitive,
        fitted.schema,
    )
    unique = NONE_UNIQUE
    if fitted.person is not None:  # the output does not say whose a row is
        total, person = counted.rows.total, fitted.person
        unique = nearly_unique(table, untouched, total, person, fitted.schema, result.recoding, record_names)
        check_confirmed(unique, fitted.keep_unique)
    with stage(out, directory=False, with_certificate=True) as staged:
        table.rewrite(rewriting, str(staged.path), format, counted.rows.total if fitted.shuffle else None)
        written_as = table.write_dialect(staged.path, format, dialect)
        progress("counting the output again")
        written = table.reopen(str(staged.path))
        output = count_output(written, result.recoding, counted.sensitive)
        check_output(output, plan, [KAnonymity(fitted.k), *fitted.guards])
        if fitted.person is None:
            unique = nearly_unique(written, untouched, output.rows, schema=fitted.schema, record_names=record_names)
            check_confirmed(unique, fitted.keep_unique)
        words = () if fitted.schema is None else fitted.schema.without_numbers
        as_labels = [*result.recoding.names, *fitted.pseudonyms, *words]
        decimals = table.write_decimals(staged.path, format, dialect, rewriting.schema.names, as_labels)
        summary = summarize(opened, result, rewriting, plan, output)
        release = certify(fitted, summary, table, file_hashes(staged.path), unique, decimals)
        table.complete(release.digest())  # before the table can leave
        staged.commit(release.to_json())
    # the columns to drop are those of the request, also where this table lacks them: another one may have them
    recoding = dataclasses.replace(
        result.recoding,
        dropped=request.dropped,
        pseudonyms=fitted.pseudonyms,
        person=fitted.person,
        untouched=tuple(
            name for name in rewriting.schema.names if name not in result.recoding.names and name not in fitted.pseudonyms
        ),
        table=fitted.table,
    )
    return PublishedTable(release, summary, recoding, outcome, written_as)
