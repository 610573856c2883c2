"""The walk of microaggregation: request -> read -> group -> write -> count again -> report, each station entered once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cloister.errors import SchemaError, UnprotectedColumns, UsageError, warn_of_release
from cloister.kernels.loops.arrays import I32
from cloister.microdata.microaggregation.centroids import publish_columns
from cloister.microdata.microaggregation.group_recount import count_published, plan_published
from cloister.microdata.microaggregation.group_rewriting import group_column, make_group_rewriting
from cloister.microdata.microaggregation.group_summary import GroupSummary, summarize_groups
from cloister.microdata.microaggregation.grouping import make_groups
from cloister.microdata.microaggregation.microaggregation_notes import aggregation_notes, keep_warning
from cloister.microdata.microaggregation.mixed_rows import read_rows
from cloister.microdata.microaggregation.request import MicroaggregationRequest
from cloister.parameters import check_progress
from cloister.privacy.release import Release, Syntactic
from cloister.schema import Number
from cloister.schema.cell_format import CellFormat
from cloister.schema.hierarchies import Hierarchy
from cloister.sinks import check_free_with_certificate, file_hashes, stage
from cloister.sinks.csv_header import check_header
from cloister.sinks.output_cells import format_of
from cloister.sources.csv_dialect import STANDARD, CsvDialect, check_dialect
from cloister.sources.stated_names import BY_COLUMNS, names_stated
from cloister.vault import Holder, Unprotected, Vault, engine_traits, open_data

__all__ = ["KIND", "PublishedGroups", "group_table", "publish_groups"]

KIND = "microaggregated table"


@dataclass(frozen=True, slots=True)
class PublishedGroups:
    """What a publication leaves in the hands of the holder, beside the files."""

    release: Release
    summary: GroupSummary
    dialect: CsvDialect = STANDARD  # how it is written, if it is CSV


def publish_groups(
    request: MicroaggregationRequest,
    X: Any,
    out: str | os.PathLike[str],
    *,
    format: str | None = None,
    dialect: str = "input",
    progress: Callable[[str], None] = lambda _: None,
) -> PublishedGroups:
    """Write the rows of X, microaggregated as a request asks, with their certificate; CSV as the input is written, or standard.

    Notes
    -----
    Two passes over the table and one over the output. The microaggregated columns of all rows are in memory, numbers as 8 bytes
    and categories as 4, and a block of them twice; other columns are not.

    Privacy
    -------
    Syntactic. The ledger records it before the first row is read, and its certificate before the table appears: a table that
    then could not be written counts as one that left.
    """
    progress = check_progress(progress)
    format, dialect = format_of(out, format), check_dialect(dialect)
    check_free_with_certificate(out)
    table, fitted, trees = _opened(request, X, request.purpose)
    names, riding = table.names, fitted.riding(table.names)
    check_header(names, [name for name in names if name in fitted.columns or name in riding], format)
    table.record()

    progress("reading")
    rows = read_rows(table, fitted)
    progress("grouping")
    grouping = make_groups(rows, fitted.k, fitted.distance, fitted.rule, progress)
    published = publish_columns(rows, grouping, trees)
    tuples = plan_published(published, grouping, rows.people)

    progress("writing")
    group = group_column(names)
    rewriting = make_group_rewriting(published, table.types(riding), names, group, format, fitted.schema)
    with stage(out, directory=False, with_certificate=True) as staged:
        grouped = table.with_column(group, grouping.of)
        grouped.rewrite(rewriting, str(staged.path), format, rows.rows)
        written_as = table.write_dialect(staged.path, format, dialect, _decimal(fitted))
        progress("counting the output again")
        count_published(table.reopen(str(staged.path)), tuples, fitted.k, CellFormat(decimal=written_as.decimal))
        words = () if fitted.schema is None else fitted.schema.without_numbers
        decimals = table.write_decimals(staged.path, format, dialect, rewriting.schema.names, words)
        summary = summarize_groups(fitted, names, grouping, published, tuples)
        release = Release(
            kind=KIND,
            guarantee=Syntactic(fitted.k, fitted.unit_words),
            events=(),
            parameters={**fitted.parameters, **decimals},
            result=summary.as_dict(),
            seeded=grouped.is_seeded,
            ledger=table.in_ledger,
            notes=(*aggregation_notes(fitted, published, summary.dropped), *table.notes),
            files=file_hashes(staged.path),
        )
        table.complete(release.digest())  # before the table can leave
        staged.commit(release.to_json())
    if warning := keep_warning(fitted):
        warn_of_release(warning, UnprotectedColumns, 3)
    return PublishedGroups(release, summary, written_as)


def _decimal(request: MicroaggregationRequest) -> str:
    """How averages are written: as the numbers that they are of."""
    described = () if request.schema is None else request.schema.columns
    kinds = [column.kind for column in described if column.name in request.columns]
    return "," if any(isinstance(kind, Number) and kind.decimal == "," for kind in kinds) else "."


def group_table(request: MicroaggregationRequest, X: Any) -> Unprotected[I32]:
    """The group of each row of X, for the holder; the ledger records that."""
    purpose = f"groups of rows, k = {request.k}"
    table, fitted, _ = _opened(request, X, purpose)
    table.record()
    rows = read_rows(table, fitted)
    return Unprotected(make_groups(rows, fitted.k, fitted.distance, fitted.rule).of, purpose)


def _opened(
    request: MicroaggregationRequest, X: Any, purpose: str
) -> tuple[Holder, MicroaggregationRequest, dict[str, Hierarchy]]:
    """The table in the hands of its holder, the request fitted to its columns, and their hierarchies; no row is read."""
    traits = engine_traits(request.engine, X)
    if not traits.keeps_order:
        raise UsageError(
            f"on {traits.title} rows have no order, and groups are made of all of them in one memory. Write the table to "
            "Parquet, and read that with the local engine."
        )
    # a schema lists the columns of a list of rows; without one they are those that are named
    stated = names_stated(request.schema) if request.schema else names_stated(None, request.columns, BY_COLUMNS)
    data = open_data(X, request.engine, stated)
    table = Vault.holding(data, purpose=purpose, engine=request.engine, table=request.table, ledger=request.ledger)
    fitted = request.on(table.names)
    nested = [name for name in getattr(data, "nested", ()) if name in fitted.columns or name in fitted.riding(table.names)]
    if nested:  # by declared types: no row says so, and nothing is recorded yet
        raise SchemaError(
            f'column "{nested[0]}" holds lists or structs. Give it one number or text a row first, or leave it out.'
        )
    return table, fitted, fitted.trees(table.names)
