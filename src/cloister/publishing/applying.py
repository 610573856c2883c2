"""A saved recoding, applied to rows that it was not found on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cloister.errors import SchemaError, SourceError, UsageError
from cloister.privacy.release import Release, Syntactic
from cloister.publishing.anonymize import certificate_of, hashes
from cloister.publishing.recoding import Recoding
from cloister.publishing.recount import count_output
from cloister.publishing.rewriting import format_of, make_rewriting
from cloister.schema.table import nearest
from cloister.sinks import check_free, stage
from cloister.vault import Vault

__all__ = ["apply_recoding", "read_recoding"]

WARNING = (
    "The recoding was found on other rows: on these it guarantees nothing by itself. The k of this certificate was counted on "
    "the output; rows that no class of the recoding describes were suppressed."
)


def read_recoding(path: str | os.PathLike[str]) -> Recoding:
    """Read a recoding from a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"the recoding {path} cannot be read. Check the path.") from None
    return Recoding.from_json(text)


def apply_recoding(
    recoding: Recoding,
    X: Any,
    out: str | os.PathLike[str],
    *,
    k: int = 1,
    identifiers: Sequence[str] = (),
    format: str | None = None,
    table: str | None = None,
    ledger: Any = None,
    engine: Any = None,
) -> Release:
    """Write the rows of X as a recoding says, and count what came of it.

    Parameters
    ----------
    recoding : Recoding
    X : as everywhere
    out : path of a new file (on Spark: a new folder); the certificate goes beside it
    k : int
        Refuse an output whose smallest class has fewer rows. Default: whatever it has is written, and stated.

    Privacy
    -------
    Syntactic, and only as good as what was counted: no guard but k is looked at.
    """
    written = format_of(out, format)
    check_free(out)
    check_free(certificate_of(out))
    rows = Vault.holding(X, purpose="a saved recoding, applied", engine=engine, table=table, ledger=ledger)
    for name in (*recoding.names, *identifiers):
        if name not in rows.names:
            raise SchemaError(f'the data has no column "{name}".{nearest(name, rows.names)}')
    rows.record()
    rewriting = make_rewriting(recoding, rows.types(rows.names), tuple(identifiers), (), b"", written)
    with stage(out, directory=False) as staged, stage(certificate_of(out), directory=False) as certificate:
        rows.rewrite(rewriting, str(staged.path), written)
        output = Vault.holding(str(staged.path), purpose="count", engine=rows.spark or "local")
        sizes = count_output(output, recoding, ()).sizes
        if not len(sizes):
            raise UsageError("the recoding describes none of these rows. Nothing was written; anonymize the table anew.")
        if sizes.min() < k:
            raise UsageError(
                f"under this recoding the smallest class of these rows has {sizes.min()}, fewer than k = {k}. Nothing was "
                "written; anonymize the table anew."
            )
        release = Release(
            kind="rows under a saved recoding",
            guarantee=Syntactic(int(sizes.min())),
            events=(),
            parameters={"quasi": list(recoding.names)},
            result={"rows": int(sizes.sum()), "classes": len(sizes), "smallest": int(sizes.min())},
            ledger={"table": table, "entry": rows.entry} if rows.entry is not None else None,
            notes=(WARNING,),
            files=hashes(staged.path, Path(out).name),
        )
        certificate.path.write_text(release.to_json(), encoding="utf-8")
        staged.commit()
        certificate.commit()
    rows.complete(release.digest())
    return release
