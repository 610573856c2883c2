"""A saved recoding, applied to rows that it was not found on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cloister.anonymization.counting.count_table import number_persons
from cloister.anonymization.counting.nearly_unique import NONE_UNIQUE, check_confirmed, check_nested, nearly_unique
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.reporting.notes import usual_notes
from cloister.anonymization.writing.recoding import Recoding
from cloister.anonymization.writing.recount import (
    PlannedOutput,
    PublishedClasses,
    check_output,
    count_output,
    fewest_people,
    plan_output,
)
from cloister.anonymization.writing.rewriting import format_of, make_rewriting, read_key
from cloister.column_names import missing_column
from cloister.encode import Encoding
from cloister.errors import SchemaError, SourceError, UsageError
from cloister.kernels.keyed import RowKeys
from cloister.parameters import check_whole
from cloister.privacy.release import Release, Syntactic
from cloister.sinks import check_free_with_certificate, file_hashes, stage
from cloister.sinks.csv_header import check_header
from cloister.sources.csv_dialect import check_dialect
from cloister.vault import Holder, Vault

__all__ = ["apply_recoding", "read_recoding"]

WARNING = (
    "The recoding was found on other rows: on these it guarantees nothing by itself. Rows that no class of the recoding "
    "describes were suppressed."
)


def read_recoding(path: str | os.PathLike[str]) -> Recoding:
    """Read a recoding from a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise SourceError(f"the recoding {path} cannot be read. Check the path.") from None
    return Recoding.from_json(text)


def apply_recoding(
    recoding: Recoding,
    X: Any,
    out: str | os.PathLike[str],
    *,
    k: int | None = None,
    identifiers: Sequence[str] = (),
    keep_unique: Sequence[str] = (),
    key_file: str | os.PathLike[str] | None = None,
    key_variable: str | None = None,
    format: str | None = None,
    dialect: str = "input",
    table: str | None = None,
    ledger: Any = None,
    engine: Any = None,
) -> Release:
    """Write the rows of X as a recoding says, and count the output: two passes over the rows, one over the output.

    Parameters
    ----------
    recoding : Recoding
    X : as everywhere
    out : path of a new file (on Spark: a new folder); the certificate goes beside it
    k : int, optional
        Refuse an output whose smallest class has fewer rows (persons, where the recoding counted them); the certificate
        then states the k that was counted. Default: any output is written, and no k is claimed.
    identifiers : sequence of str
        Columns to drop beside those that the recoding dropped.
    keep_unique : sequence of str
        Columns that are published although their values are nearly unique.
    key_file, key_variable : path or str, optional
        Where the key of the pseudonyms is. Without one the columns that were pseudonyms are dropped.
    dialect : "input", "standard" or "semicolon"
        How a CSV file is written: as the input is (delimiter, encoding, line ends); with commas, in UTF-8; or with semicolons and
        decimal commas, in UTF-8 with a byte order mark.
    table : str, optional
        The name of the table in its ledger. Default: the one that the recoding carries.

    Raises
    ------
    SchemaError
        If the rows lack a quasi-identifier, or the column that says whose they are, or have a column that the recoding does
        not name.
    UsageError
        If no row can be published, a class is smaller than k, or the values of a column are nearly unique.

    Privacy
    -------
    Syntactic, and only as good as what was counted: no guard but k is looked at. Identifiers that the recoding knows are
    dropped.
    """
    k = None if k is None else check_whole(k, "k", 2)
    format, dialect = format_of(out, format), check_dialect(dialect)
    check_free_with_certificate(out)
    has_key = key_file is not None or key_variable is not None
    if has_key and not recoding.pseudonyms:
        raise UsageError("a key is there, but the recoding has no pseudonyms. Drop the key.")
    key = read_key(key_file, key_variable) if has_key else b""
    table = recoding.table if table is None else table
    rows = Vault.holding(X, purpose="a saved recoding, applied", engine=engine, table=table, ledger=ledger)
    check_columns(recoding, rows.names, identifiers, keep_unique)
    pseudonyms = tuple(name for name in recoding.pseudonyms if has_key and name in rows.names and name not in identifiers)
    dropped = dropped_columns(recoding, identifiers)
    written = [name for name in rows.names if name not in dropped or name in pseudonyms]
    check_header(rows.names, written, format)
    rows.record()
    rewriting = make_rewriting(recoding, rows.types(rows.names), dropped, pseudonyms, key, format)
    tuples = count_tuples(rows, recoding)
    untouched = [name for name in rewriting.schema.names if name not in recoding.names and name not in pseudonyms]
    check_nested(rows, untouched, keep_unique)
    unique = NONE_UNIQUE
    if recoding.person is not None:  # the output does not say whose a row is
        unique = nearly_unique(rows, untouched, tuples.total, recoding.person, published=recoding)
        check_confirmed(unique, keep_unique)
    plan = plan_output(recoding, tuples, recoding.classify(tuples.codes))
    with stage(out, directory=False, with_certificate=True) as staged:
        rows.rewrite(rewriting, str(staged.path), format)
        rows.write_dialect(staged.path, format, dialect)
        published = rows.reopen(str(staged.path))
        output = count_output(published, recoding, ())
        check_output(output, plan, ())
        if recoding.person is None:
            unique = nearly_unique(published, untouched, output.rows)
            check_confirmed(unique, keep_unique)
        decimals = rows.write_decimals(staged.path, format, dialect, rewriting.schema.names, [*recoding.names, *pseudonyms])
        smallest = smallest_class(output, plan)
        if k is not None and smallest < k:
            raise UsageError(
                f"under this recoding the smallest class of these rows has {smallest}, fewer than k = {k}. Nothing was "
                "written; anonymize the table anew."
            )
        release = Release(
            kind="rows under a saved recoding",
            guarantee=Syntactic(
                None if k is None else smallest,
                "row" if recoding.person is None else f'person (column "{recoding.person}")',
            ),
            events=(),
            parameters={"quasi": list(recoding.names), "k": k, **decimals},
            result={"rows": output.rows, "classes": len(output.sizes), "smallest": smallest},
            ledger=rows.in_ledger,
            notes=(WARNING, *usual_notes(untouched=untouched, pseudonyms=pseudonyms, unique=unique), *rows.notes),
            files=file_hashes(staged.path),
        )
        rows.complete(release.digest())  # before the table can leave
        staged.commit(release.to_json())
    return release


def check_columns(recoding: Recoding, names: Sequence[str], identifiers: Sequence[str], keep_unique: Sequence[str]) -> None:
    """Refuse rows without the columns that a recoding needs, and those that it does not say what becomes of."""
    wanted = [*recoding.names, *identifiers, *keep_unique]
    for name in wanted:
        if name not in names:
            raise missing_column(name, names, wanted)
    if recoding.person is not None and recoding.person not in names:
        raise SchemaError(
            f'the recoding counted persons, and the data has no column "{recoding.person}" to tell them apart. Add it (it '
            "is not published), or anonymize the table anew."
        )
    _refuse_unnamed(recoding, names, identifiers)
    if in_both := next((name for name in identifiers if name in recoding.names), None):
        raise UsageError(f'column "{in_both}" cannot be both a quasi-identifier and an identifier. Choose one.')
    recoded = (*recoding.names, *dropped_columns(recoding, identifiers))
    if in_both := next((name for name in keep_unique if name in recoded), None):
        raise UsageError(f'column "{in_both}" is not published as it is: it cannot be kept unique. Choose one.')


def _refuse_unnamed(recoding: Recoding, names: Sequence[str], identifiers: Sequence[str]) -> None:
    """Refuse columns that the recoding does not name: they may identify somebody, and would be published as they are.

    A recoding without a hash could have lost a name to damage. So every column that it drops must be there, too.
    """
    named = {*recoding.names, *dropped_columns(recoding, identifiers), *(recoding.untouched or ())}
    if unnamed := [name for name in names if name not in named]:
        raise SchemaError(
            f"the recoding does not say what becomes of {len(unnamed):,} of the {len(names):,} columns of these rows (the "
            f"first is column {list(names).index(unnamed[0]) + 1}). Drop them with --identifiers, or anonymize the table anew."
        )
    if recoding.untouched is None:
        for name in (*recoding.dropped, *recoding.pseudonyms):
            if name not in names:
                raise SchemaError(
                    f'the recoding drops a column "{name}" that these rows do not have, and it has no hash that shows '
                    "whether it was changed. Anonymize the table anew."
                )


def dropped_columns(recoding: Recoding, identifiers: Sequence[str]) -> tuple[str, ...]:
    """The columns that are not published as they are: pseudonyms among them, the column of persons unless it is recoded."""
    person = [recoding.person] if recoding.person is not None and recoding.person not in recoding.names else []
    return tuple(dict.fromkeys([*recoding.dropped, *recoding.pseudonyms, *person, *identifiers]))


def count_tuples(rows: Holder, recoding: Recoding) -> TupleCounts:
    """The tuples of leaf codes; negative where the recoding does not know a value."""
    coders = tuple(column.coder for column in recoding.columns)
    keyed = rows.count(Encoding(categories=coders), RowKeys(len(coders)), recoding.person).value
    persons = None if recoding.person is None else number_persons(keyed.keys[:, -2:])
    return TupleCounts(keyed.keys[:, : len(coders)].astype(np.int32), keyed.counts, persons=persons)


def smallest_class(output: PublishedClasses, plan: PlannedOutput) -> int:
    """The size of the smallest class of the output: its rows, or its persons, where they count."""
    if not len(output.sizes):
        raise UsageError("the recoding describes none of these rows. Nothing was written; anonymize the table anew.")
    people = fewest_people(plan)
    return int(output.sizes.min()) if people is None else people
