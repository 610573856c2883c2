"""Small tables laid out alike, for the tests of rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from cloister.risks.rows.compare_rows import ComparedTables
from cloister.risks.rows.row_tables import RowTable, lay_out
from cloister.risks.rows.rows_request import RowsComparison
from cloister.schema import Schema


def laid_out(original: dict[str, Any], *others: dict[str, Any], schema: Schema | None = None) -> list[RowTable]:
    """The original, then the release (the original itself, if none is given), then the control."""
    first, *more = [pa.table(each) for each in others] or [pa.table(original)]
    opened = ComparedTables.open(first, pa.table(original), *more, request=RowsComparison(schema=schema))
    return lay_out(opened.count(), opened.columns, opened.kinds)
