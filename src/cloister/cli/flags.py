"""Flags that several verbs share, and what they mean together.

Typer makes one option of each parameter and has no groups of options. A group here is a frozen dataclass whose fields are
annotated as options; a verb that is decorated with `takes_groups` names it as one parameter, and typer sees its fields::

    @takes_groups
    def tabulate(data: Data, *, spending: Spending, access: Access, everywhere: Everywhere) -> None: ...

So a new flag of all verbs is one field of `Everywhere`, and one of every verb that reads rows is one field of `Access`: in
this file alone, since an option can bring what it does along as its typer `callback`.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_type_hints

import typer

from cloister.cli.default_reports import BESIDE, page_beside
from cloister.cli.verbosity import silenced
from cloister.engines.registry import DEFAULT, ENGINES  # names alone: no engine is loaded
from cloister.errors import UsageError
from cloister.sources.formats import format_names

if TYPE_CHECKING:
    from cloister.file_options import FileOptions
    from cloister.privacy.budgets import Budget
    from cloister.schema import Schema

    EngineName = str
else:
    EngineName = Literal[tuple(ENGINES)]  # typer lists the values of a Literal in the help, and refuses others

DEFAULT_ENGINE = DEFAULT
ENGINE_NAMES = tuple(ENGINES)
DATA_HELP = f"{format_names()} files, globs or URLs; sqlite:///FILE, duckdb:///FILE or postgresql://..."
Data = Annotated[list[str], typer.Argument(metavar="DATA", help=DATA_HELP)]
OptionalData = Annotated[list[str] | None, typer.Argument(metavar="DATA", help=DATA_HELP)]
NeighbourRelation = Annotated[
    Literal["add-remove", "replace-one"] | None, typer.Option(help="Which tables must not be told apart.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan; read no row and charge nothing.")]


def read_rows(text: str | int) -> int:
    """How many rows to expect: typer hands over the default as it is, and shows what is raised with the name of the flag."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,14}", str(text).strip()):
        raise typer.BadParameter("give a whole number of at least 1, such as 10000.")
    return int(text)


ExpectedRows = Annotated[
    int, typer.Option("--rows", metavar="N", parser=read_rows, help="With --dry-run: about how many rows to expect.")
]
RowsBeforehand = Annotated[
    int | None,
    typer.Option(
        "--rows",
        metavar="N",
        parser=read_rows,
        help="About how many rows to expect (--dry-run: 10000 if not said). A run then warns before the charge if they are too "
        "few for so many clusters.",
    ),
]
Epsilon = Annotated[str | None, typer.Option(metavar="NUMBER", help="How much the release may reveal; smaller is safer.")]
Delta = Annotated[str | None, typer.Option(metavar="NUMBER", help="With --epsilon: a small failure probability, e.g. 1e-6.")]
Rho = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Instead of --epsilon: the largest probability of identifying somebody. A+B: of numbers and of categories.",
    ),
]
Worlds = Annotated[
    str | None,
    typer.Option(
        metavar="M", help="With --rho: among how many equally likely values. Default: the fewest of a column that is used."
    ),
]
CollectionFile = Annotated[
    Path, typer.Argument(metavar="COLLECTION", help="The public file of a collection (TOML or JSON).")
]
SchemaFile = Annotated[str | None, typer.Option("--schema", metavar="FILE", help="Public facts of the table (TOML).")]
LedgerUrl = Annotated[
    str | None, typer.Option("--ledger", metavar="URL", help="Where the budget is kept; a path is SQLite.")
]
LedgerPlace = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        help="The ledger: a path, sqlite:///PATH or postgresql://HOST/NAME. "
        "Default: CLOISTER_LEDGER, or else ledger.sqlite in your data folder.",
    ),
]  # the same flag in the verbs that are about ledgers, which say more of it
Table = Annotated[str | None, typer.Option("--table", metavar="NAME", help="Name of the table in the ledger.")]
Engine = Annotated[EngineName | None, typer.Option(help="Who reads the rows.")]
Master = Annotated[str | None, typer.Option(metavar="URL", help="Start Spark there: local[2], spark://host:7077, yarn.")]
Remote = Annotated[str | None, typer.Option(metavar="URL", help="Or connect to a Spark Connect server: sc://host:15002.")]
SparkConf = Annotated[
    list[str] | None, typer.Option("--spark-conf", metavar="K=V", help="A setting of Spark; may be given again.")
]
Scale = Annotated[
    Literal["bounds", "none"], typer.Option(help="bounds: each column's width counts the same; none: own units.")
]
ColumnBounds = Annotated[
    list[str] | None,
    typer.Option(
        "--bounds",
        metavar="LOW,HIGH|NAME=LOW:HIGH",
        help="Public bounds of every column, or of one, and then once for each. Default: from the schema; "
        "without one clusters find them inside the budget.",
    ),
]  # `read_column_bounds` reads it


def name_list(help: str) -> Any:
    """An option that lists columns, A,B, and may be given again; `read_names` reads it, and says what to do about commas."""
    return typer.Option(metavar="""'A,"B, C"'""", help=f"{help} May be given again; a name with a comma stands in quotes.")


def takes_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb as typer should see it: each parameter whose type is a dataclass is replaced by the fields of that dataclass.

    Typer reads a command's options from its signature. The wrapper announces the fields in place of the group; when it is
    called with their values it builds the group and passes that on.
    """
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}

    def flattened() -> Iterator[inspect.Parameter]:
        for parameter in inspect.signature(verb).parameters.values():
            if parameter.name in groups:
                yield from _field_parameters(groups[parameter.name])
            else:
                yield parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)

    parameters = list(flattened())

    @functools.wraps(verb)
    def command(**values: Any) -> None:
        built = {
            name: kind(**{f.name: values.pop(f.name) for f in dataclasses.fields(kind)}) for name, kind in groups.items()
        }
        for name, group in built.items():
            if isinstance(group, Publishing):
                built[name] = group.beside(values.get("out"))
        with _stdout_kept_or_dropped(values, built), _data_here(values, built):
            verb(**values, **built)

    command.__signature__ = inspect.Signature(parameters, return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    return command


def _stdout_kept_or_dropped(values: dict[str, Any], groups: dict[str, Any]) -> AbstractContextManager[None]:
    """With --quiet: standard output is dropped where the result is written to a file."""
    is_quiet = any(isinstance(group, Everywhere) and group.quiet and not group.as_json for group in groups.values())
    is_written = values.get("out") is not None and not values.get("dry_run")
    return silenced() if is_quiet and is_written else nullcontext()


@contextmanager
def _data_here(values: dict[str, Any], groups: dict[str, Any]) -> Iterator[None]:
    """With - for DATA: standard input as a file that is there while the verb runs."""
    if "-" not in (values.get("data") or ()):
        yield
        return
    from cloister.cli.standard_input import spooled_input  # for start-up time

    engines = [group.chosen_engine() for group in groups.values() if isinstance(group, Reading)]
    if any(engine not in (None, "local") for engine in engines):
        raise UsageError("standard input is read here, and not by Spark. Save it to a file, or use the local engine.")
    if values.get("ask"):
        raise UsageError("--ask reads answers from standard input, so DATA cannot come from there. Give a file.")
    is_quiet = any(isinstance(group, Everywhere) and (group.as_json or group.quiet) for group in groups.values())
    with spooled_input(values["data"], is_quiet) as values["data"]:
        yield


def _field_parameters(group: Any) -> Iterator[inspect.Parameter]:
    """The fields of a group as parameters of a function; one without a default is a flag that must be given."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])


@dataclass(frozen=True)
class Everywhere:
    """What every verb takes, but for the demo: it is a tour to look at, without an input or a result for programs."""

    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs, errors too.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing when all is well, but for what must be printed.")] = (
        False
    )


@dataclass(frozen=True)
class EverywhereInLedger(Everywhere):
    """The same for the verbs of the ledger, which say more of their JSON; other fields come along as they are."""

    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with exact numbers as text.")] = False


PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Also draw it: one new .png, .svg or .pdf file.")
]


@dataclass(frozen=True)
class Publishing:
    """What every verb takes that publishes something; `cli.report.reporting` does it."""

    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="[FILE]",
            help="Also write a report to hand over: one new .html page. Without FILE, last or before a flag: OUT.report.html",
        ),
    ] = None

    def beside(self, out: Path | None) -> Self:
        """The same with the page that --report alone means, beside what is written."""
        return dataclasses.replace(self, report=page_beside(out)) if self.report == Path(BESIDE) else self


@dataclass(frozen=True)
class PublishingRows(Publishing):
    """The same of verbs that write rows of a table back."""

    dialect: Annotated[
        Literal["input", "standard", "semicolon"] | None,
        typer.Option(
            help="How a .csv is written: as the input is (default); standard: commas, UTF-8; semicolon: as a German Excel opens "
            "it, with decimal commas."
        ),
    ] = None


@dataclass(frozen=True)
class Spending:
    """How much a release may reveal."""

    epsilon: Epsilon = None
    delta: Delta = None
    rho: Rho = None
    worlds: Worlds = None

    def flags(self) -> dict[str, object]:
        """The value of each flag, by its name; None where it was not given."""
        return {f"--{field.name}": getattr(self, field.name) for field in dataclasses.fields(self)}

    def budget(self) -> Budget:
        """The budget that the flags mean together; without --worlds those of a rho are counted by whoever knows the columns."""
        from cloister.privacy.budgets import ApproxDP, PureDP

        if self.rho is not None:
            if self.epsilon is not None or self.delta is not None:
                raise UsageError("--rho stands alone: it is a guarantee without delta. Drop --epsilon and --delta.")
            return read_rho(self.rho, self.worlds)
        if self.worlds is not None:
            raise UsageError("--worlds goes with --rho. Add --rho, or drop --worlds.")
        if self.epsilon is None:
            raise UsageError("how much may be revealed? Give --epsilon (1 is a common choice), or --rho.")
        if self.delta is None or self.delta.strip().strip("0") in ("", "."):  # a delta of 0 is no delta
            return PureDP(self.epsilon)
        return ApproxDP(self.epsilon, self.delta)


@dataclass(frozen=True)
class FileFlags:
    """How the files of DATA are written, where they do not say it themselves."""

    file_names: Annotated[
        str | None,
        typer.Option(
            "--names",
            metavar="A,B",
            help="The columns of files without a header line, in order; one with a comma in quotes. The word header: the first "
            "line has them.",
        ),
    ] = None
    skip: Annotated[int | None, typer.Option(metavar="N", help="Title lines above the header, to pass over.")] = None
    delimiter: Annotated[
        str | None,
        typer.Option(metavar="SIGN", help="comma, semicolon, tab or bar. Default: as the header line tells."),
    ] = None
    file_format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="csv or jsonl, for text whose name does not tell.")
    ] = None

    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="The sheet of an Excel workbook. Default: the only visible one.")
    ] = None
    sql_table: Annotated[
        str | None, typer.Option("--sql-table", metavar="NAME", help="The table of a database that DATA is the URL of.")
    ] = None
    query: Annotated[
        str | None, typer.Option(metavar="SQL", help="Or a SELECT; private verbs: columns of one table, and a simple WHERE.")
    ] = None

    def options(self) -> FileOptions:
        """What these flags say of files."""
        from cloister.file_options import FileOptions

        named = None if self.file_names is None else () if self.file_names.strip() == "header" else self._listed_names()
        return FileOptions(
            names=named,
            skip=self.skip,
            delimiter=self.delimiter,
            format=self.file_format,
            sheet=self.sheet,
            sql_table=self.sql_table,
            query=self.query,
        )

    def _listed_names(self) -> tuple[str, ...]:
        listed = tuple(split_names(self.file_names or ""))
        if not all(listed) or not listed:
            raise UsageError("--names takes the name of every column, in the order of the file: --names age,sex.")
        return listed

    def files(self, data: list[str]) -> Any:
        """DATA with what is said of it, as verbs take it."""
        from cloister.file_options import NOTHING_SAID, Files

        said = self.options()
        return data if said == NOTHING_SAID else Files.of(data, said)


@dataclass(frozen=True)
class Reading(FileFlags):
    """Who reads the rows, and how the files are written."""

    engine: Engine = None
    master: Master = None
    remote: Remote = None
    spark_conf: SparkConf = None

    def column_names(self, data: list[str], facts: Schema | None, columns: list[str] | None = None) -> tuple[str, ...]:
        """The columns of DATA, for a plan: no row is read."""
        from cloister.sources.stated_names import names_stated
        from cloister.vault import open_data

        names: tuple[str, ...] = open_data(self.files(data), self.chosen_engine(), names_stated(facts, columns)).names
        return names

    def chosen_engine(self) -> Any:
        """The engine that the flags mean together: a name, or the options of Spark."""
        if not (self.master or self.remote or self.spark_conf):
            return self.engine
        from cloister.vault import Spark

        if self.engine not in (None, Spark.engine):
            raise UsageError(f"--master, --remote and --spark-conf are for Spark. Drop them, or --engine {self.engine}.")
        pairs = [setting.partition("=") for setting in self.spark_conf or []]
        if not all(name and equals for name, equals, _ in pairs):
            raise UsageError("--spark-conf takes a setting as NAME=VALUE, such as spark.executor.memory=8g.")
        return Spark(self.master, self.remote, tuple((name.strip(), value.strip()) for name, _, value in pairs))


@dataclass(frozen=True)
class Access(Reading):
    """Which table of which ledger the rows are, and who reads them."""

    table: Table = None
    ledger: LedgerUrl = None

    def parameters(self) -> dict[str, Any]:
        """As the parameters of that name that every estimator and function over rows has."""
        return {"table": self.table, "ledger": self.ledger, "engine": self.chosen_engine()}


def read_rho(rho: str, worlds: str | None) -> Budget:
    """A rho with its worlds, or A+B with M+N: the rhos and the worlds of a mixed table's numbers and categories."""
    from cloister.privacy.budgets import Identifiability

    rhos, counts = rho.split("+"), [None] if worlds is None else worlds.split("+")
    if len(rhos) > 2 or (worlds is not None and len(rhos) != len(counts)):
        raise UsageError(
            "--rho takes one number, with one in --worlds; or A+B, with M+N in --worlds: of the numbers and of the categories."
        )
    parts = [(part, read_worlds(count)) for part, count in zip(rhos, counts * (len(rhos) // len(counts)), strict=True)]
    return Identifiability(*parts[0]) if len(parts) == 1 else Identifiability.mixed(*parts)


def read_worlds(text: str | None) -> int | Literal["auto"]:
    """A whole number, or auto, which is the default."""
    if text is None or text.strip() == "auto":
        return "auto"
    if not re.fullmatch(r"\s*-?[0-9]{1,40}\s*", text):
        raise UsageError("--worlds takes a whole number of at least 2, or auto: counted on the columns that are used.")
    return int(text)


def read_bounds(text: str | None) -> tuple[float, float] | None:
    """Two numbers from LOW,HIGH."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError("--bounds takes two numbers, LOW,HIGH, written with points: 0.5,1.5.") from None
    return low, high


def read_ends(text: str | None) -> tuple[float, float] | tuple[str, str] | None:
    """Two numbers from LOW,HIGH, or two days from FIRST,LAST.

    >>> read_ends("1930-01-01,2020-12-31")
    ('1930-01-01', '2020-12-31')
    """
    days = [] if text is None else [part.strip() for part in text.split(",")]
    if len(days) == 2 and all(re.fullmatch(r"\d{4}-\d{2}-\d{2}", day, re.ASCII) for day in days):
        return days[0], days[1]
    return read_bounds(text)


def read_column_bounds(texts: list[str] | None) -> tuple[float, float] | dict[str, tuple[float, float]] | None:
    """Two numbers for all columns from LOW,HIGH, or two by name from NAME=LOW:HIGH, once a column.

    >>> read_column_bounds(["age=0:110", "pay=-5.5:250000"])
    {'age': (0.0, 110.0), 'pay': (-5.5, 250000.0)}
    """
    try:
        if not texts:
            return None
        if len(texts) == 1 and "=" not in texts[0]:
            return read_bounds(texts[0])
        parts = [text.rpartition("=") for text in texts]
        by_name = {name.strip(): tuple(map(float, ends.split(":"))) for name, _, ends in parts}
        are_pairs = all(len(ends) == 2 for ends in by_name.values())
        if not all(by_name) or not are_pairs or any(re.search(r"=[^=:,]+:[^=:,]+,", name) for name in by_name):
            raise ValueError
    except ValueError:
        raise UsageError(
            "--bounds takes two numbers for all columns, LOW,HIGH, or two for a column, NAME=LOW:HIGH, and then once for each "
            "column; numbers are written with points: 0.5,1.5. Or write bounds into a schema."
        ) from None
    if len(by_name) < len(texts):
        raise UsageError("--bounds has a column twice. Give each column its bounds once.")
    return {name: (low, high) for name, (low, high) in by_name.items()}


def read_names(texts: list[str] | None) -> list[str]:
    """Names from A,B, once or again; none from nothing. A name with a comma stands in double quotes.

    >>> read_names(['age, "born, year"', "sex"])
    ['age', 'born, year', 'sex']
    """
    listed = [split_names(text) for text in texts or [] if text.strip()]
    if not all(name for names in listed for name in names):
        raise UsageError(
            "a list of columns has an empty name: two commas with nothing between them, or one at its end. Name it."
        )
    return [name for names in listed for name in names]


def split_names(text: str) -> list[str]:
    """The names between the commas of a text, empty ones too."""
    try:
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise UsageError(
            "a list of columns is written A,B; a name with a comma stands in double quotes, '\"a, b\",c', and a quote in "
            "it twice."
        ) from None
    return [name.strip() for name in names]


def read_schema(path: str | None) -> Schema | None:
    """The schema in the file that --schema names."""
    if not path:
        return None
    from cloister.schema import Schema

    return Schema.from_toml(path)
