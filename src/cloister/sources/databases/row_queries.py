"""Which queries a private verb may read: those whose every row comes of one row of one table, whatever the other rows are.

Privacy
-------
A guarantee per row of a result protects a person only as far as that person has few rows in it. Through a join, a LIMIT, a
window, a grouping or a random number one row of a table can change many rows of the result; and an expression that fails on
one row (1/0, a CAST) ends the reading for all. So there is a list of what is allowed, and everything else is refused,
before anything is charged: columns of one table by their names, and a WHERE that compares columns with constants.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NoReturn

from cloister.errors import SourceError
from cloister.sources.databases.safe_comparisons import Comparison, Constant, number_constant

__all__ = ["RowQuery", "folded", "parse_query", "row_query"]

HINT = "Do it in a table of its own, or describe columns in a schema."
NOT_COMPARED = "a condition other than comparisons of columns with constants"
COMPARISONS = ("EQ", "NEQ", "GT", "GTE", "LT", "LTE")
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
SELECT_PARTS = {"kind", "expressions", "from", "from_", "where"}  # sqlglot has called FROM both


def parse_query(text: str, dialect: str) -> Any:
    """A single SELECT, as a tree of sqlglot's."""
    try:
        import sqlglot
        from sqlglot import exp
    except ImportError:
        raise SourceError("queries are checked by sqlglot. Install it with: pip install 'cloister[sql]'") from None
    try:
        with _unlogged():
            statements = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    except sqlglot.errors.SqlglotError:
        raise SourceError("the query cannot be parsed. Check it in the database's own client.") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise SourceError("the query must be one SELECT, without another statement before or after it.")
    return statements[0]


@contextmanager
def _unlogged() -> Iterator[None]:
    """Without the lines that sqlglot logs, which quote the query."""
    logger = logging.getLogger("sqlglot")
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled


def folded(name: str) -> str:
    """A name in small letters as databases write it: other letters than those of ASCII stay as they are."""
    return name.translate(_LOWER)


@dataclass(frozen=True, slots=True)
class RowQuery:
    """A query whose every row comes of one row of one table."""

    table: tuple[str, ...]  # the parts of its name, quoted where that matters
    selected: tuple[str, ...]  # columns by name
    compared: tuple[Comparison, ...]  # in WHERE
    text: str  # written anew from what was checked: what is run is what was understood
    is_query: bool = True  # False: the whole table

    def check_columns(self, columns: Mapping[str, str], shown: str) -> None:
        """Refuse names that are no columns of the table, such as ctid and rowid, which say where a row lies among others.

        `columns`: by name, the kind of what they hold, which says what may be compared with it (`safe_comparisons`).
        """
        for name in (*self.selected, *(each.column for each in self.compared)):
            if name not in columns:
                raise SourceError(f'{shown}: "{name}" is no column of the table. {HINT}')
        for each in self.compared:
            if not each.never_fails(columns[each.column]):
                raise SourceError(
                    f'{shown}: the condition on column "{each.column}" may fail on some rows, by the type of the column or of '
                    "the constant. Compare whole numbers with whole numbers, texts with quoted texts, dates with "
                    f"'2024-01-31'; other types with none. {HINT}"
                )


def row_query(tree: Any, dialect: str) -> RowQuery:
    """What a query reads row by row; everything else is refused."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        _refuse("a UNION, or anything else but a plain SELECT")
    for part, value in tree.args.items():
        if value and part not in SELECT_PARTS:
            _refuse(part.rstrip("_").replace("_", " ").upper())
    table = getattr(tree.args.get("from_") or tree.args.get("from"), "this", None)
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        _refuse("rows that are not of one named table")
    for part, value in table.args.items():
        if value and part not in ("this", "db", "catalog", "alias"):
            _refuse(part.rstrip("_").upper())
    if table.args.get("alias") and table.args["alias"].args.get("columns"):
        _refuse("new names for the columns of a table")
    selected = [column for item in tree.expressions for column in _selected(item, exp, dialect)]
    condition = tree.args.get("where")
    compared = [] if condition is None else list(_compared(condition.this, exp, dialect))
    parts = [table.args[part] for part in ("catalog", "db", "this") if table.args.get(part)]
    with _unlogged():
        text = tree.sql(dialect=dialect, comments=False)
    return RowQuery(tuple(map(_quoted, parts)), tuple(selected), tuple(compared), text)


def _quoted(part: Any) -> str:
    """An identifier as it stands in the query: quotes keep capital letters."""
    return '"' + part.this.replace('"', '""') + '"' if part.args.get("quoted") else str(part.this)


def _selected(item: Any, exp: Any, dialect: str) -> Iterator[str]:
    """The column that an item of a SELECT is; none for all of them."""
    if isinstance(item, exp.Alias):
        item = item.this
    if isinstance(item, exp.Star) and not any(item.args.values()):
        return
    if not isinstance(item, exp.Column):
        _refuse("an expression among its columns")
    if isinstance(item.this, exp.Star):
        if any(item.this.args.values()):
            _refuse("a changed *")
        return
    yield _plain_column(item, exp, dialect)


def _plain_column(column: Any, exp: Any, dialect: str) -> str:
    """The name of a column as the database has it: only in PostgreSQL do quotes keep capital letters apart."""
    if not isinstance(column.this, exp.Identifier) or column.args.get("join_mark"):
        _refuse("a column that is not a plain name")
    name = str(column.this.this)
    return name if dialect == "postgres" and column.this.args.get("quoted") else folded(name)


def _compared(tree: Any, exp: Any, dialect: str) -> Iterator[Comparison]:
    """The comparisons of a condition that looks at its own row alone."""
    if isinstance(tree, (exp.And, exp.Or)):
        yield from _compared(tree.this, exp, dialect)
        yield from _compared(tree.expression, exp, dialect)
    elif isinstance(tree, (exp.Not, exp.Paren)):
        yield from _compared(tree.this, exp, dialect)
    else:
        yield _comparison(tree, exp, dialect)


def _comparison(tree: Any, exp: Any, dialect: str) -> Comparison:
    """One comparison of a column with constants."""
    operator = "="
    if isinstance(tree, exp.Is):
        operator, constants = "IS", [tree.expression]
    elif any(isinstance(tree, getattr(exp, name)) for name in COMPARISONS):
        constants = [tree.expression]
    elif isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        constants = [tree.args["low"], tree.args["high"]]
    elif isinstance(tree, exp.In) and not any(tree.args.get(part) for part in ("query", "unnest", "field", "is_global")):
        constants = tree.expressions
    elif isinstance(tree, exp.Like) and isinstance(tree.expression, exp.Literal) and "\\" not in tree.expression.name:
        operator, constants = "LIKE", [tree.expression]
    else:
        _refuse(NOT_COMPARED)
    if not isinstance(tree.this, exp.Column):
        _refuse(NOT_COMPARED)
    values = tuple(_constant(each, exp) for each in constants)
    return Comparison(_plain_column(tree.this, exp, dialect), values, operator)


def _constant(tree: Any, exp: Any) -> Constant:
    if isinstance(tree, exp.Null):
        return None
    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    is_negative = isinstance(tree, exp.Neg)
    literal = tree.this if is_negative else tree
    if isinstance(literal, exp.Literal) and literal.is_string and not is_negative:
        return str(literal.this)
    number = (
        number_constant(literal.name, is_negative) if isinstance(literal, exp.Literal) and not literal.is_string else None
    )
    if number is None:
        _refuse(NOT_COMPARED)
    return number


def _refuse(what: str) -> NoReturn:
    raise SourceError(
        f"the query holds {what}. A private verb reads columns of one table by their names, where columns are compared "
        "with "
        f"constants, since one person may otherwise change many rows of the result, or end the reading for all. {HINT}"
    )
