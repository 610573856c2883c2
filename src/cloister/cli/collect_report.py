"""``cloister collect report`` and ``send``: answers are perturbed here, and what may leave is sent to a service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloister.cli import flags, output
from cloister.errors import SourceError, UsageError
from cloister.report.terminal import print_document
from cloister.schema.numerals import amount_text

if TYPE_CHECKING:
    from cloister.collect.client import Report
    from cloister.collect.collection import Collection

__all__ = ["report", "send"]

LONGEST_ANSWERS = 2**24  # characters
Code = Annotated[str | None, typer.Option(metavar="CODE", help="The code of your invitation, unless the link has it.")]


@flags.takes_groups
def report(
    collection: flags.CollectionFile,
    *,
    answers: Annotated[
        str | None, typer.Option(metavar="FILE", help="Your answers as JSON, by question; - reads standard input.")
    ] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="One answer; may be given again. Your shell may remember it."),
    ] = None,
    memo: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What you sent before, for your eyes only. Default: in your data folder."),
    ] = None,
    no_memo: Annotated[
        bool, typer.Option("--no-memo", help="Remember nothing: each repeat costs its epsilon again.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new .json file for the report. Default: printed.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="URL", help="Send it to this service too; an invitation's link will do.")
    ] = None,
    code: Code = None,
    everywhere: flags.Everywhere,
) -> None:
    """Perturb your answers here, and give the report that may leave. Without --answers and --answer you are asked."""
    from cloister.collect.client import Client
    from cloister.collect.collection import Collection
    from cloister.sinks import check_free

    asked = Collection.load(collection)
    given = read_answers(asked, answers, answer)
    if out is not None:
        if out.suffix.lower() != ".json":
            raise UsageError("a report is written as .json. Give --out a name that ends so.")
        check_free(out)
    if no_memo and memo is not None:
        raise UsageError("--memo and --no-memo contradict each other. Keep one of them.")
    check_sending(asked, to, code)
    made = Client(asked, None if no_memo else memo or default_memo()).report(given)
    if out is not None:
        output.write_text(out, made.to_json() + "\n")
    if everywhere.as_json:
        print_sent(made, to, code)
        return
    if out is not None:
        print_document(made.describe())
        output.print_line(f"Written: {out}")
    else:  # standard output has the report alone
        typer.echo(made.to_json())
        again = "" if made.epsilon else " (these answers were drawn before: sending them again costs nothing more)"
        for line in (f"Epsilon of this report: {amount_text(made.epsilon)}{again}", *made.notes):
            output.print_notice(line)
    if to is not None:
        from cloister.collect.sending import send

        output.print_notice(f"The service says: {send(made, to, code=code)}.")


def print_sent(made: Report, to: str | None, code: str | None) -> None:
    """A report and its cost as JSON, and what the service said; it is printed also where the service did not take it."""
    from cloister.collect.sending import NotReceived, send

    loss = {
        name: {"new": kept.is_new, "epsilon": str(epsilon), "spent": str(kept.spent)} for name, kept, epsilon in made.loss
    }
    facts = {"report": made.as_dict(), "epsilon": str(made.epsilon), "loss": loss, "notes": list(made.notes)}
    if to is None:
        output.print_json(facts)
        return
    try:
        sent = send(made, to, code=code)
    except BaseException as why:  # Ctrl-C too: without a memo nothing else has it, and the same one must be sent again
        problem = str(why) if isinstance(why, NotReceived) else "Nobody knows whether the service has it: send it again."
        output.print_json({**facts, "sent": None, "problem": problem})
        raise
    output.print_json({**facts, "sent": sent})


@flags.takes_groups
def send(
    collection: flags.CollectionFile,
    reports: Annotated[
        list[Path], typer.Argument(metavar="REPORTS", help="Files of reports that were made before: .json or .jsonl.")
    ],
    *,
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The service; an invitation's link will do.")],
    code: Code = None,
    everywhere: flags.Everywhere,
) -> None:
    """Send reports that were made before, one after another; those that the service has already count once."""
    from cloister.collect.collection import Collection
    from cloister.collect.sending_files import send_files

    with output.progress(everywhere.as_json) as step:
        told = send_files(Collection.load(collection), reports, to, code=code, progress=step)
    if everywhere.as_json:
        output.print_json(told)
        return
    for what, count in told.items():
        output.print_line(f"{count:,} {what}")


def check_sending(asked: Collection, to: str | None, code: str | None) -> None:
    """Refuse an address that is none, or a service that would not take a report, before anything is drawn."""
    from cloister.collect.sending import ask_service

    if code is not None and to is None:
        raise UsageError("--code is for --to URL, the service that a report is sent to.")
    if to is not None:
        ask_service(asked, to, code)


def read_answers(collection: Collection, path: str | None, pairs: list[str] | None) -> dict[str, Any]:
    """The true answers, from a file, from flags, or asked for on a terminal."""
    from cloister.schema.strict_json import read_json

    if path is not None and pairs:
        raise UsageError("--answers and --answer both give answers. Keep one of them.")
    if path is not None:
        try:
            text = sys.stdin.read(LONGEST_ANSWERS) if path == "-" else Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise SourceError(
                'the file of answers cannot be read. Give one that holds JSON, such as {"smokes": "no"}.'
            ) from None
        given = read_json(text, "the answers")
        if not isinstance(given, dict):
            raise UsageError('answers are an object by question, such as {"smokes": "no"}.')
        return given
    if pairs:
        parts = [pair.partition("=") for pair in pairs]
        if not all(equals for _, equals, _ in parts) or len({name for name, _, _ in parts}) < len(parts):
            raise UsageError("--answer takes NAME=VALUE, each question once.")
        return {name.strip(): value for name, _, value in parts}
    if not sys.stdin.isatty():
        raise UsageError("what are the answers? Give --answers FILE (JSON), or --answer NAME=VALUE for each question.")
    return {question.name: ask(question) for question in collection.questions}


def ask(question: Any) -> str:
    """Ask one question on the terminal until the answer is one of its values."""
    output.print_notice(
        f"{question.text or question.name}  [{' | '.join(value or '(nothing)' for value in question.values)}]"
    )
    while True:
        answer: str = typer.prompt(question.name, default="", show_default=False, err=True)
        try:
            question.code_of(answer)
        except UsageError as problem:
            output.print_notice(str(problem))
            continue
        return answer


def default_memo() -> Path:
    """Where the memo of this person lies: in the user's own data folder."""
    from platformdirs import user_data_path

    from cloister.parameters import own_folder

    folder = own_folder(user_data_path, "the memo", "Name one with --memo FILE.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the memo would lie in {folder}, which cannot be made ({error.strerror}). Name one with --memo."
        ) from None
    return folder / "memo.sqlite"
