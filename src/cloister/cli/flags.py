"""Flags that several verbs share, and what they mean together."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cloister.errors import UsageError

if TYPE_CHECKING:
    from cloister.privacy.budgets import Budget
    from cloister.privacy.plan import Plan
    from cloister.schema import Schema

Epsilon = Annotated[str | None, typer.Option(metavar="NUMBER", help="How much the release may reveal; smaller is safer.")]
Delta = Annotated[str | None, typer.Option(metavar="NUMBER", help="With --epsilon: a small failure probability, e.g. 1e-6.")]
Rho = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead of --epsilon: the largest probability of identifying somebody."),
]
Worlds = Annotated[
    int | None,
    typer.Option(metavar="M", help="With --rho: among how many equally likely values. Default: from the schema."),
]
SchemaFile = Annotated[str | None, typer.Option("--schema", metavar="FILE", help="Public facts of the table (TOML).")]
LedgerUrl = Annotated[
    str | None, typer.Option("--ledger", metavar="URL", help="Where the budget is kept; a path is SQLite.")
]
Table = Annotated[str | None, typer.Option("--table", metavar="NAME", help="Name of the table in the ledger.")]
Engine = Annotated[Literal["local", "spark"] | None, typer.Option(help="Who reads the rows.")]
Master = Annotated[str | None, typer.Option(metavar="URL", help="Start Spark there: local[2], spark://host:7077, yarn.")]
Remote = Annotated[str | None, typer.Option(metavar="URL", help="Or connect to a Spark Connect server: sc://host:15002.")]
SparkConf = Annotated[
    list[str] | None, typer.Option("--spark-conf", metavar="K=V", help="A setting of Spark; may be given again.")
]
Scale = Annotated[
    Literal["bounds", "none"], typer.Option(help="bounds: each column's width counts the same; none: own units.")
]
NeighbourRelation = Annotated[
    Literal["add-remove", "replace-one"] | None, typer.Option(help="Which tables must not be told apart.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan; read no row and charge nothing.")]
ExpectedRows = Annotated[
    int, typer.Option("--rows", metavar="N", min=1, help="With --dry-run: about how many rows to expect.")
]
Machine = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def read_engine(engine: str | None, master: str | None, remote: str | None, conf: list[str] | None) -> Any:
    """Who reads the rows, as the flags say it together."""
    if not (master or remote or conf):
        return engine
    if engine == "local":
        raise UsageError("--master, --remote and --spark-conf are for Spark. Drop them, or --engine local.")
    from cloister.vault import Spark

    pairs = [setting.partition("=") for setting in conf or []]
    if not all(name and equals for name, equals, _ in pairs):
        raise UsageError("--spark-conf takes a setting as NAME=VALUE, such as spark.executor.memory=8g.")
    return Spark(master, remote, tuple((name.strip(), value.strip()) for name, _, value in pairs))


def read_budget(
    epsilon: str | None, delta: str | None, rho: str | None, worlds: int | None, schema: Schema | None
) -> Budget:
    """The budget that the flags mean together."""
    from cloister.privacy.budgets import ApproxDP, Identifiability, PureDP

    if rho is not None:
        if epsilon is not None or delta is not None:
            raise UsageError("--rho stands alone: it is a guarantee without delta. Drop --epsilon and --delta.")
        return Identifiability(rho, worlds if worlds is not None else worlds_of(schema))
    if worlds is not None:
        raise UsageError("--worlds goes with --rho. Add --rho, or drop --worlds.")
    if epsilon is None:
        raise UsageError("how much may be revealed? Give --epsilon (1 is a common choice), or --rho.")
    none = delta is None or delta.strip().strip("0") in ("", ".")  # a delta of 0 is no delta
    return PureDP(epsilon) if delta is None or none else ApproxDP(epsilon, delta)


def worlds_of(schema: Schema | None) -> int:
    """The smallest number of values that a column of the schema can take: the safest choice for a given rho."""
    from cloister.schema import Category, Number

    found = []
    for column in schema.columns if schema else ():
        if isinstance(column.kind, Number) and column.kind.worlds:
            found.append(column.kind.worlds)
        if isinstance(column.kind, Category) and column.kind.domain:
            found.append(len(column.kind.domain))
    if not found:
        raise UsageError("--rho needs --worlds M, or a schema whose columns have bounds and a step, or a domain.")
    return min(found)


def read_bounds(text: str | None) -> tuple[float, float] | None:
    """Two numbers from LOW,HIGH."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            "--bounds takes two numbers, LOW,HIGH, for all columns. Bounds by column go into a schema."
        ) from None
    return low, high


def read_names(text: str | None) -> list[str] | None:
    """Names of columns from A,B."""
    return [name.strip() for name in text.split(",")] if text else None


def print_plan(plan: Plan, rows: int, as_json: bool) -> None:
    """What a release would spend, for a person or for a program."""
    if as_json:
        print_json(plan.as_dict())
        return
    typer.echo(str(plan))
    typer.echo(f"For about {rows:,} rows (change with --rows). No row was read and nothing was charged.")


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says which step is running; nothing when the output is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda step: status.update(step)
