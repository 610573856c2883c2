"""Which queries a private verb may read: those whose every row comes of one row of one table, whatever the other rows are.

Privacy
-------
A guarantee per row of a result protects a person only as far as that person has few rows in it. Through a join, a LIMIT, a
window, a grouping or a random number one row of a table can change many rows of the result; and an expression that fails on
one row (1/0, a CAST) ends the reading for all. So there is a list of what is allowed, and everything else is refused,
before anything is charged: columns of one table by their names, and a WHERE that compares columns with constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from cloister.errors import SourceError

__all__ = ["RowQuery", "parse_query", "row_query"]

HINT = "Do it in a table of its own, or describe columns in a schema."
COMPARISONS = ("EQ", "NEQ", "GT", "GTE", "LT", "LTE")
SELECT_PARTS = {"kind", "expressions", "from", "from_", "where"}  # sqlglot has called FROM both


def parse_query(text: str, dialect: str) -> Any:
    """A single SELECT, as a tree of sqlglot's."""
    try:
        import sqlglot
        from sqlglot import exp
    except ImportError:
        raise SourceError("queries are checked by sqlglot. Install it with: pip install 'cloister[sql]'") from None
    try:
        statements = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    except sqlglot.errors.SqlglotError:
        raise SourceError("the query cannot be parsed. Check it in the database's own client.") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise SourceError("the query must be one SELECT, without another statement before or after it.")
    return statements[0]


@dataclass(frozen=True, slots=True)
class RowQuery:
    """A query whose every row comes of one row of one table."""

    table: tuple[str, ...]  # the parts of its name, quoted where that matters
    selected: tuple[str, ...]  # columns by name
    compared: tuple[str, ...]  # columns in WHERE
    text: str  # written anew from what was checked: what is run is what was understood
    is_query: bool = True  # False: the whole table

    def check_columns(self, columns: Mapping[str, bool], shown: str) -> None:
        """Refuse names that are no columns of the table, such as ctid and rowid, which say where a row lies among others.

        `columns`: by name, whether comparing one with a constant can never fail.
        """
        safe = {name.lower(): is_safe for name, is_safe in columns.items()}
        for name in (*self.selected, *self.compared):
            if name.lower() not in safe:
                raise SourceError(f'{shown}: "{name}" is no column of the table. {HINT}')
        for name in self.compared:
            if not safe[name.lower()]:
                raise SourceError(f'{shown}: a comparison with column "{name}" may fail on some rows, by its type. {HINT}')


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
    selected = [column for item in tree.expressions for column in _selected(item, exp)]
    condition = tree.args.get("where")
    compared = [] if condition is None else list(_compared(condition.this, exp))
    parts = [table.args[part] for part in ("catalog", "db", "this") if table.args.get(part)]
    text = tree.sql(dialect=dialect, comments=False)
    return RowQuery(tuple(map(_quoted, parts)), tuple(selected), tuple(compared), text)


def _quoted(part: Any) -> str:
    """An identifier as it stands in the query: quotes keep capital letters."""
    return '"' + part.this.replace('"', '""') + '"' if part.args.get("quoted") else str(part.this)


def _selected(item: Any, exp: Any) -> Iterator[str]:
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
    yield _plain_column(item, exp)


def _plain_column(column: Any, exp: Any) -> str:
    if not isinstance(column.this, exp.Identifier) or column.args.get("join_mark"):
        _refuse("a column that is not a plain name")
    return str(column.this.this)


def _compared(tree: Any, exp: Any) -> Iterator[str]:
    """The columns of a condition that looks at its own row alone and cannot fail on it."""
    if isinstance(tree, (exp.And, exp.Or)):
        yield from _compared(tree.this, exp)
        yield from _compared(tree.expression, exp)
    elif isinstance(tree, (exp.Not, exp.Paren)):
        yield from _compared(tree.this, exp)
    else:
        yield _comparison(tree, exp)


def _comparison(tree: Any, exp: Any) -> str:
    """The column that one comparison with constants is about."""
    if any(isinstance(tree, getattr(exp, name)) for name in ("Is", *COMPARISONS)):
        constants = [tree.expression]
    elif isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        constants = [tree.args["low"], tree.args["high"]]
    elif isinstance(tree, exp.In) and not any(tree.args.get(part) for part in ("query", "unnest", "field", "is_global")):
        constants = tree.expressions
    elif isinstance(tree, exp.Like) and isinstance(tree.expression, exp.Literal) and "\\" not in tree.expression.name:
        constants = [tree.expression]
    else:
        _refuse("a condition other than comparisons of columns with constants")
    if not isinstance(tree.this, exp.Column) or not all(_is_constant(each, exp) for each in constants):
        _refuse("a condition other than comparisons of columns with constants")
    return _plain_column(tree.this, exp)


def _is_constant(tree: Any, exp: Any) -> bool:
    if isinstance(tree, exp.Neg):
        tree = tree.this
        return isinstance(tree, exp.Literal) and not tree.is_string
    return isinstance(tree, (exp.Literal, exp.Boolean, exp.Null))


def _refuse(what: str) -> NoReturn:
    raise SourceError(
        f"the query holds {what}. A private verb reads columns of one table by their names, where columns are compared "
        "with "
        f"constants, since one person may otherwise change many rows of the result, or end the reading for all. {HINT}"
    )
