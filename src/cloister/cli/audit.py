"""``cloister audit``: try whether releases keep what they promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloister.cli import flags, output
from cloister.cli.choosing import ValueChoice
from cloister.cli.tabulate import TableChoice
from cloister.cli.verbosity import is_quiet
from cloister.clustering.methods import METHODS
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.errors import ExitCode
from cloister.report.document import Document, Section, Sentence, TextTable
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.schema import Neighbours, Schema
    from cloister.schema.unit import Unit
    from cloister.testing.audited_verbs import AuditedCase
    from cloister.testing.data_audit import AuditedRow

__all__ = ["app"]

HOLDER_ONLY = "For the holder only: an audit sees the rows. It released nothing and charged nothing."
QUICK, USUAL = 1, 4  # pairs of tables for each verb and budget


@dataclass(frozen=True)
class NumberTable:
    """What is known of the columns that clusters and synopses are made of."""

    columns: Annotated[list[str] | None, flags.name_list("The number columns.")] = None
    bounds: flags.ColumnBounds = None
    schema: flags.SchemaFile = None
    neighbours: flags.NeighbourRelation = None

    def parameters(self, spending: flags.Spending) -> dict[str, Any]:
        """As the parameters of that name that a request has."""
        facts = unledgered(self.schema)
        return {
            "budget": spending.budget(),
            "bounds": flags.read_column_bounds(self.bounds),
            "columns": flags.read_names(self.columns) or None,
            "schema": facts,
            "neighbours": self.neighbours,
        }


@dataclass(frozen=True)
class RowChoice:
    """Which rows are left out, one at a time."""

    row: Annotated[
        list[int] | None, typer.Option("--row", metavar="N", help="Leave out this row, the first is 1; may be given again.")
    ] = None
    tries: Annotated[
        int, typer.Option(metavar="N", min=1, help="Without --row: how many rows are left out, one at a time.")
    ] = 5

    def audit(
        self, release: Callable[[Any], Any], data: list[str], neighbours: Neighbours, unit: Unit | None
    ) -> Iterable[AuditedRow]:
        """The audit of each of these rows."""
        from cloister.testing.data_audit import audit_rows

        return audit_rows(release, data, neighbours=neighbours, unit=unit, rows=self.row or (), tries=self.tries)


app = typer.Typer(
    help="Try whether releases keep what they promise: every verb on made-up tables, or one release on your data.",
    epilog="Example: cloister audit",
    invoke_without_command=True,
)


@app.callback()
@flags.takes_groups
def audit(
    context: typer.Context,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer pairs of tables: under a minute.")] = False,
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Pairs of tables for each verb and budget; beyond 48 they are random."),
    ] = None,
    everywhere: flags.Everywhere,
) -> None:
    """Without a verb: audit every private verb of this installation on made-up tables, exactly."""
    if context.invoked_subcommand is not None:
        return
    from cloister.testing.audited_verbs import VERBS, audit_verbs

    cases = []
    with output.progress(everywhere.as_json) as step:
        for case in audit_verbs(runs or (QUICK if quick else USUAL)):
            step(f"{case.verb}, {case.whom}")
            cases.append(case)
    rows = summarize(cases, list(VERBS))
    findings = [
        f"{case.verb}, {case.whom}, {case.budget}, {case.tables}: {text}" for case in cases for text in case.audit.findings
    ]
    if everywhere.as_json:
        shown = [{name: for_json(cell) for name, cell in row.items()} for row in rows]
        output.print_json({"audits": len(cases), "verbs": shown, "findings": findings})
    elif findings or not is_quiet():  # the exit code says it
        print_document(describe_verbs(rows, len(cases), findings))
    end(findings)


def summarize(cases: Iterable[AuditedCase], verbs: list[str]) -> list[dict[str, Any]]:
    """For each verb how many pairs were tried, and the largest loss as a part of what is claimed."""
    from cloister.testing.audited_verbs import WHOM

    cases = list(cases)
    rows = []
    for verb in verbs:
        own = [case for case in cases if case.verb == verb]
        row: dict[str, Any] = {"verb": verb, "audits": len(own)}
        for whom in WHOM:
            row[str(whom)] = max(case.part for case in own if case.whom == whom)
        row["findings"] = sum(len(case.audit.findings) for case in own)
        rows.append(row)
    return rows


def describe_verbs(rows: list[dict[str, Any]], audits: int, findings: list[str]) -> Document:
    """The table of all verbs, and what was found."""
    cells = [[f"{cell:.3f}" if isinstance(cell, float) else f"{cell}" for cell in row.values()] for row in rows]
    heads = ["verb", "audits", "add-remove", "replace-one", "per person", "found"]
    table = TextTable.of(heads, cells, title="largest loss that was found, as a part of the claimed epsilon")
    sentences = [
        Sentence(f"{audits:,} pairs of neighbouring tables, each release replayed on both. {count_words(findings)}")
    ]
    return Document((Section((table, *sentences, *map(Sentence, findings[:20]))),))


def count_words(findings: list[str]) -> str:
    """How many findings there are."""
    return f"Findings: {len(findings)}." if findings else "Nothing was found."


@app.command(epilog="Example: cloister audit cluster people.csv --k 5 --epsilon 1 --schema people.toml")
@flags.takes_groups
def cluster(
    data: flags.Data,
    *,
    k: Annotated[int, typer.Option("--k", metavar="K", min=1, help="How many clusters.")],
    spending: flags.Spending,
    table: NumberTable,
    method: Annotated[str, typer.Option(metavar="NAME", help=f"One of: {', '.join(METHODS)}.")] = "auto",
    rows: RowChoice,
    everywhere: flags.Everywhere,
) -> None:
    """Replay `cloister cluster` on your data with and without single rows or people."""
    from cloister.clustering.request import ClusterRequest

    request = ClusterRequest(n_clusters=k, method=method, random_state=0, **table.parameters(spending))
    terms = request.terms
    show_rows(rows.audit(request.fit, data, terms.neighbours, terms.unit), terms.unit, everywhere.as_json)


@app.command(epilog="Example: cloister audit synopsis people.csv --epsilon 1 --columns age,income --bounds 0,100")
@flags.takes_groups
def synopsis(
    data: flags.Data,
    *,
    spending: flags.Spending,
    table: NumberTable,
    method: Annotated[str, typer.Option(metavar="|".join(SHAPES), help="The shape of the cells.")] = "adaptive-grid",
    rows: RowChoice,
    everywhere: flags.Everywhere,
) -> None:
    """Replay `cloister synopsis` on your data with and without single rows or people."""
    from cloister.clustering.synopsis.request import SynopsisRequest

    request = SynopsisRequest(method=method, **table.parameters(spending))
    terms = request.terms
    show_rows(rows.audit(request.release, data, terms.neighbours, terms.unit), terms.unit, everywhere.as_json)


@app.command(epilog="Example: cloister audit tabulate people.csv --by school --epsilon 1 --schema people.toml")
@flags.takes_groups
def tabulate(
    data: flags.Data,
    *,
    choice: TableChoice,
    spending: flags.Spending,
    schema: flags.SchemaFile = None,
    neighbours: flags.NeighbourRelation = None,
    rows: RowChoice,
    everywhere: flags.Everywhere,
) -> None:
    """Replay `cloister tabulate` on your data with and without single rows or people."""
    from cloister.privacy.budgets import relation
    from cloister.schema.unit import unit_of
    from cloister.tabulation.request import TabulationRequest

    facts = unledgered(schema)
    budget = spending.budget()
    request = TabulationRequest(**choice.parameters(), budget=budget, schema=facts, neighbours=neighbours)
    whom = relation(budget, neighbours or (facts.neighbours if facts else None))
    unit = unit_of(facts)
    show_rows(rows.audit(request.run, data, whom, unit), unit, everywhere.as_json)


@app.command(epilog="Example: cloister audit choose people.csv --column age --quantile 0.5 --epsilon 1 --schema people.toml")
@flags.takes_groups
def choose(
    data: flags.Data,
    *,
    choice: ValueChoice,
    spending: flags.Spending,
    schema: flags.SchemaFile = None,
    neighbours: flags.NeighbourRelation = None,
    rows: RowChoice,
    everywhere: flags.Everywhere,
) -> None:
    """Replay `cloister choose` on your data with and without single rows or people."""
    from cloister.choosing.request import ChoiceRequest

    facts = unledgered(schema)
    budget = spending.budget()
    request = ChoiceRequest(**choice.parameters(), budget=budget, schema=facts, neighbours=neighbours)
    planned = request.on(())
    show_rows(rows.audit(request.run, data, planned.neighbours, planned.unit), planned.unit, everywhere.as_json)


def unledgered(path: str | None) -> Schema | None:
    """The schema without the name of its table: an audit charges no ledger."""
    from dataclasses import replace

    facts = flags.read_schema(path)
    return None if facts is None else replace(facts, table=None)


def show_rows(audited: Iterable[AuditedRow], unit: Unit | None, as_json: bool) -> None:
    """One line for each row, or person by a row of theirs, that was left out: what it costs, and what was promised."""
    whom = "row" if unit is None else "person of row"
    with output.progress(as_json) as step:
        step("audit")
        rows = list(audited)
    findings = [f"{whom} {each.row}: {finding}" for each in rows for finding in each.audit.findings]
    if as_json:
        shown = [
            {
                "row": each.row,
                "claimed_epsilon": each.audit.epsilon,
                "claimed_delta": each.audit.delta,
                "largest_loss": for_json(each.audit.largest_loss),
                "log_likelihood_ratio": each.audit.log_likelihood_ratio,
            }
            for each in rows
        ]
        output.print_json({"for": "holder only", "left_out": str(unit or "row"), "rows": shown, "findings": findings})
    elif findings or not is_quiet():
        print_document(describe_rows(rows, findings, unit))
    end(findings)


def describe_rows(rows: list[AuditedRow], findings: list[str], unit: Unit | None) -> Document:
    """The rows or people that were left out, by their places."""
    cells = [
        [
            f"{each.row}",
            f"{each.audit.epsilon:.6g}",
            f"{each.audit.largest_loss:.6g}",
            f"{each.audit.log_likelihood_ratio:.4g}",
        ]
        for each in rows
    ]
    left_out = "row left out" if unit is None else "person left out (by row)"
    heads = [left_out, "claimed epsilon", "largest loss", "loss of one release"]
    delta = rows[0].audit.delta
    title = f"How well can the table be told from one without the {'row' if unit is None else 'person'}?"
    title += f" (losses at delta {delta:.3g})" if delta else ""
    sentences = [Sentence(text) for text in (count_words(findings), *findings[:20], HOLDER_ONLY)]
    return Document((Section((TextTable.of(heads, cells, title=title, align="right"), *sentences)),))


def for_json(value: Any) -> Any:
    """JSON has no infinity: a loss without a bound is null."""
    return None if value == inf else value


def end(findings: list[str]) -> None:
    """Exit code 5 where something was found."""
    if findings:
        raise typer.Exit(int(ExitCode.VERIFICATION_FAILED))
