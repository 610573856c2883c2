"""Groups of flags: a verb takes a dataclass, the command line sees its fields."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from cloister.cli import app
from cloister.cli.flags import Everywhere, read_names, takes_groups
from cloister.errors import UsageError


@dataclass(frozen=True)
class Colours:
    """Two options."""

    front: Annotated[str, typer.Option("--front", "-f", metavar="COLOUR", help="The colour in front.")] = "red"
    back: Annotated[list[str] | None, typer.Option(help="Colours behind.")] = None


def build() -> tuple[typer.Typer, list[tuple[object, ...]]]:
    """A command with a group between two parameters of its own, and what it was called with."""
    calls: list[tuple[object, ...]] = []
    app = typer.Typer()

    @app.command()
    @takes_groups
    def paint(
        wall: Annotated[str, typer.Argument()],
        *,
        coats: int = 1,
        colours: Colours,
        dry: Annotated[bool, typer.Option()] = False,
    ) -> None:
        """Paint a wall."""
        calls.append((wall, coats, colours, dry))

    return app, calls


def test_a_group_arrives_as_one_value() -> None:
    """Values that were typed and defaults of those that were not."""
    app, calls = build()
    assert CliRunner().invoke(app, ["north", "--back", "blue", "--back", "grey", "--coats", "2"]).exit_code == 0
    assert CliRunner().invoke(app, ["south", "-f", "green", "--dry"]).exit_code == 0
    assert calls == [("north", 2, Colours("red", ["blue", "grey"]), False), ("south", 1, Colours("green", None), True)]


def test_the_help_names_the_fields_in_place_of_the_group() -> None:
    """Options, metavars and help texts of the fields, in the order of the signature; the docstring stays."""
    shown = CliRunner().invoke(build()[0], ["--help"]).output
    assert "Paint a wall." in shown
    assert "The colour in front." in shown
    assert "COLOUR" in shown
    assert "--colours" not in shown
    assert [shown.index(flag) for flag in ("--coats", "--front", "--back", "--dry")] == sorted(
        shown.index(flag) for flag in ("--coats", "--front", "--back", "--dry")
    )


def test_names_are_read_from_a_list() -> None:
    """Spaces are dropped; nothing is no name, and an empty one between commas, of a variable that is not set, is refused."""
    assert read_names([" age, sex ", '"born, year"']) == ["age", "sex", "born, year"]
    assert read_names(None) == read_names([""]) == []
    for text in ("age,,sex", "age,", ",age"):
        with pytest.raises(UsageError, match="empty name"):
            read_names([text])


def test_names_with_commas_are_found_whatever_the_flag(tmp_path: Path) -> None:
    """Quoted in a list and in --names, or given again; who forgets the quotes is told the rule."""
    path = tmp_path / "people.csv"
    path.write_text("".join(f"{i % 5},{i % 3},x\n" for i in range(60)))
    named = ("risk", str(path), "--names", '"born, year",sex,"a ""b"""', "--json")
    for quasi in (('"born, year",sex',), ('"born, year"', "sex")):
        told = CliRunner().invoke(app, [*named, *(word for name in quasi for word in ("--quasi", name))])
        assert told.exit_code == 0, told.output
        assert "born, year" in told.output
    told = CliRunner().invoke(app, [*named[:-1], "--quasi", "born, year"])
    assert told.exit_code == 2
    assert "a name with a comma stands in quotes" in " ".join(told.output.split())
    assert "in the order of the file" in CliRunner().invoke(app, ["risk", str(path), "--names", "a,,b"]).output


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rho": "0.1", "epsilon": "1"}, "--rho stands alone"),
        ({"worlds": "10"}, "--worlds goes with --rho"),
        ({}, "Give --epsilon"),
        ({"rho": "0.1", "worlds": "many"}, "--worlds takes a whole number"),
        ({"rho": "0.1+0.7", "worlds": "10"}, "M\\+N in --worlds"),
        ({"rho": "0.1", "worlds": "10+2"}, "M\\+N in --worlds"),
        ({"rho": "0.1+0.7+0.7"}, "M\\+N in --worlds"),
        ({"rho": "0.1+", "worlds": "20+2"}, "rho must be a positive"),
    ],
)
def test_flags_of_a_budget_that_do_not_fit_together(given: dict[str, object], words: str) -> None:
    """The sentence says what to add or drop."""
    from cloister.cli.flags import Spending

    with pytest.raises(UsageError, match=words):
        Spending(**given).budget()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"rho": "0.1"}, "Identifiability(rho=0.1, worlds='auto')"),
        ({"rho": "0.1", "worlds": "auto"}, "Identifiability(rho=0.1, worlds='auto')"),
        ({"rho": "0.1", "worlds": "50"}, "Identifiability(rho=0.1, worlds=50)"),
        ({"rho": "0.05+0.7"}, "Identifiability.mixed(numbers=(0.05, 'auto'), categories=(0.7, 'auto'))"),
        ({"rho": "0.05+0.7", "worlds": "10001+2"}, "Identifiability.mixed(numbers=(0.05, 10001), categories=(0.7, 2))"),
        ({"rho": "0.05+0.7", "worlds": "auto+2"}, "Identifiability.mixed(numbers=(0.05, 'auto'), categories=(0.7, 2))"),
    ],
)
def test_a_rho_with_and_without_worlds(given: dict[str, Any], shown: str) -> None:
    """Without, they are left to the columns; A+B is of the numbers and the categories of a mixed table."""
    from cloister.cli.flags import Spending

    assert repr(Spending(**given).budget()) == shown


def verbs() -> dict[str, Any]:
    """Every command by its words, those of the ledger included."""
    root: Any = typer.main.get_command(app)
    nested = {f"{name} {inner}": verb for name, group in root.commands.items() for inner, verb in commands_of(group)}
    return {name: verb for name, verb in root.commands.items() if not commands_of(verb)} | nested


def commands_of(group: Any) -> list[tuple[str, Any]]:
    """The commands below a group; none below a command."""
    return list(getattr(group, "commands", {}).items())


@pytest.mark.parametrize("name", sorted(verbs().keys() - {"demo"}))
def test_what_all_verbs_take_reaches_each_of_them(name: str) -> None:
    """A field of `Everywhere` is an option of every verb, but of the demo, which prints for people alone."""
    options = {parameter.name for parameter in verbs()[name].params}
    assert {field.name for field in dataclasses.fields(Everywhere)} <= options


def test_there_are_verbs_below_the_ledger() -> None:
    """The test above sees commands of groups too."""
    assert {"cluster", "verify", "ledger show", "ledger create"} <= verbs().keys()


@pytest.mark.parametrize("words", [[], ["tabulate"], ["cluster"], ["ledger"], ["ledger", "create"], ["audit", "tabulate"]])
def test_help_names_no_types_of_python(words: list[str]) -> None:
    """A flag takes no <bool>, and DATA is no <list[str]>."""
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).output
    assert "Show this message" in shown
    assert not [word for word in ("<bool>", "<list", "<str>", "[[", "]]") if word in shown]
