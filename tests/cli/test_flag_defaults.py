"""Defaults from files and the environment, shell completion, and names with commas."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.cli.flag_defaults import SETTINGS
from cloister.privacy.ledger import Ledger


@pytest.fixture(autouse=True)
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in beside the data, with a config folder of the user, and no variables."""
    for setting in SETTINGS.values():
        monkeypatch.delenv(setting.variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    (home / "config" / "cloister").mkdir(parents=True)
    monkeypatch.chdir(home)
    return home


def run(*words: object) -> Any:
    """A command that ran."""
    return CliRunner().invoke(app, [str(word) for word in words])


def shown() -> dict[str, tuple[Any, str]]:
    """What `cloister config` says of each setting: its value and its origin."""
    rows = json.loads(run("config", "--json").stdout)["settings"]
    return {row["setting"]: (row["value"], row["from"]) for row in rows}


def test_a_variable_comes_before_the_folder_and_that_before_the_user(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each setting says where it comes from; paths in the user's file begin where that lies."""
    own = here / "config" / "cloister" / "cloister.toml"
    own.write_text('table = "user"\nengine = "local"\nschema = "own.toml"\nledger = "own.sqlite"\n')
    (here / "cloister.toml").write_text('table = "folder"\nschema = "points.toml"\n')
    monkeypatch.setenv("CLOISTER_TABLE", "variable")
    told = shown()
    assert told["table"] == ("variable", "CLOISTER_TABLE")
    assert told["schema"] == ("points.toml", "cloister.toml")
    assert told["engine"] == ("local", str(own))
    assert told["ledger"] == (str(own.parent / "own.sqlite"), str(own))
    assert told["key"] == (None, "built in")


def test_a_release_takes_its_defaults_and_says_which_the_folder_set(here: Path) -> None:
    """Schema and ledger of the folder's file are used as if they had been typed, and named on standard error."""
    (here / "cloister.toml").write_text('schema = "points.toml"\nledger = "ledger.sqlite"\njson = true\n')
    done = run("cluster", "points.csv", "--k", 2, "--epsilon", 1, "--out", "made")
    assert json.loads(done.stdout)["ledger"]["entry"] == 1
    assert json.loads(done.stdout)["from_cloister_toml"] == {
        "schema": "points.toml",
        "ledger": "ledger.sqlite",
        "json": "true",
    }
    assert "From ./cloister.toml: schema points.toml, ledger ledger.sqlite, json true." in done.stderr
    assert "CLOISTER_LEDGER" not in os.environ


def test_quiet_does_not_hide_what_the_folder_set(here: Path) -> None:
    """Neither as a flag nor as a setting of that file: it may have come with the data."""
    (here / "cloister.toml").write_text('ledger = "other.sqlite"\nquiet = true\n')
    told = run("risk", "points.csv", "--quasi", "x", "--quiet").stderr
    assert "From ./cloister.toml: ledger other.sqlite, quiet true." in told


@pytest.mark.parametrize("name", ["key", "master", "remote"])
def test_the_folder_does_not_say_who_signs_or_sees_the_rows(here: Path, name: str) -> None:
    """Only the user's own file, the environment or a flag does; the sentence says so."""
    (here / "cloister.toml").write_text(f'{name} = "there"\n')
    done = run("risk", "points.csv", "--json")
    assert (done.exit_code, json.loads(done.stdout)["error"]["type"]) == (2, "UsageError")
    assert f"./cloister.toml sets {name}, which is not taken from the current folder" in done.stderr
    (here / "cloister.toml").rename(here / "config" / "cloister" / "cloister.toml")
    assert shown()[name][0] is not None


@pytest.mark.parametrize("variable", ["CLOISTER_LEDGER", "CLOISTER_KEY", "CLOISTER_SCHEMA", "CLOISTER_TABLE"])
def test_an_empty_variable_is_not_the_default(here: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """Another ledger would be charged, or another key would sign."""
    monkeypatch.setenv(variable, "")
    done = run("cluster", "points.csv", "--k", 2, "--epsilon", 1, "--schema", "points.toml", "--out", "made")
    assert (done.exit_code, f"{variable} is empty. Set it to" in done.stderr) == (2, True), done.output
    assert not (here / "made").exists()


def test_a_flag_comes_first(here: Path) -> None:
    """Also where the file says json: its other settings stay."""
    (here / "cloister.toml").write_text('schema = "none.toml"\n')
    assert run("cluster", "points.csv", "--k", 2, "--epsilon", 1, "--schema", "points.toml", "--dry-run").exit_code == 0
    assert "none.toml" in run("cluster", "points.csv", "--k", 2, "--epsilon", 1, "--dry-run").stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epsilon = 1", "said with every release"),
        ("colour = 1", "no setting"),
        ("json = 1", "true or false"),
        ('engine = "abacus"', "There are: local"),
        ("schema = ", "cannot be read as TOML (at"),
        ('table = "t"\nschema = ]', "cannot be read as TOML (at line 2, column 10)"),
        ('schema = ""', "must be a text"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_a_sentence(here: Path, text: str, words: str) -> None:
    """Exit code 2, and help is still there."""
    (here / "cloister.toml").write_text(text)
    done = run("ledger", "show")
    assert (done.exit_code, words in done.stderr) == (2, True), done.output
    assert run("--help").exit_code == 0


def test_what_holds_where_nothing_is_set_is_shown(here: Path) -> None:
    """The path of the ledger, the engine; switches as a file has them, and a dash where there is nothing."""
    (here / "cloister.toml").write_text("quiet = true\n")
    told = run("config").stdout
    assert "True" not in told
    for setting in (r"engine\W+local", r"key[^\w-]+-\W", r"json\W+false", r"quiet\W+true"):
        assert re.search(setting, told), told
    assert shown()["ledger"] == (Ledger.default().place, "built in")


def test_columns_with_commas_can_be_named(here: Path) -> None:
    """In double quotes, as in a CSV file."""
    (here / "people.csv").write_text('"born, year",sex\n1990,f\n1990,m\n1991,f\n')
    done = run("risk", "people.csv", "--quasi", '"born, year",sex', "--json")
    assert json.loads(done.stdout)["quasi"] == ["born, year", "sex"]
    assert "double quotes" in run("risk", "people.csv", "--quasi", '"born, year,sex').stderr


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_can_be_shown(shell: str) -> None:
    """For every shell; it calls the command itself for what may follow."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'cloister'; from cloister.cli import main; main()"],
        env={**environment(), "_CLOISTER_COMPLETE": f"source_{shell}"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert f"complete_{shell}" in done.stdout, done.stderr


@pytest.mark.parametrize(("typed", "expected"), [("cloister ver", "verify"), ("cloister risk --thr", "--threshold")])
def test_bash_completes_verbs_and_flags(here: Path, typed: str, expected: str) -> None:
    """As bash asks: with the script that it was given, in a shell of its own."""
    bash = shutil.which("bash")
    assert bash is not None
    command = here / "bin" / "cloister"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'cloister'\nfrom cloister.cli import main\nmain()\n")
    command.chmod(0o755)
    words = typed.split()
    script = (
        'eval "$(_CLOISTER_COMPLETE=source_bash cloister)"\n'
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; COMP_LINE='{typed}'; COMP_POINT={len(typed)}\n"
        '_cloister_completion cloister\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script], env={**environment(), "PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert expected in done.stdout.split(), (done.stdout, done.stderr)


def test_the_password_of_a_ledger_is_not_shown(here: Path) -> None:
    """Neither where the folder's file is told, nor by `config`: both end up in the logs of jobs."""
    Path("cloister.toml").write_text('ledger = "postgresql://ann:secret@127.0.0.1:1/privacy"\n')
    told = run("schema", "nothing.csv", "--json")
    assert json.loads(told.stdout)["from_cloister_toml"] == {"ledger": "postgresql://ann:***@127.0.0.1:1/privacy"}
    for done in (told, run("schema", "nothing.csv"), run("config"), run("config", "--json")):
        assert "ann:***@" in done.output
        assert "secret" not in done.output


def test_a_pipe_or_a_device_is_no_file_of_settings(here: Path) -> None:
    """Whoever made the folder may have put it there: it would be read without end."""
    for make in (os.mkfifo, lambda name: os.symlink("/dev/zero", name), lambda name: os.symlink("nowhere", name)):
        make("cloister.toml")
        done = subprocess.run([sys.executable, "-m", "cloister", "config"], capture_output=True, text=True, timeout=30)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "cannot be read as TOML" in done.stderr
        os.unlink("cloister.toml")


@pytest.mark.parametrize(
    ("variable", "value", "secret"),
    [
        ("CLOISTER_REMOTE", "sc://host:15002/;token=TOKSECRET", "TOKSECRET"),
        ("CLOISTER_LEDGER", "postgresql://host/db?user=ann&password=PWSECRET", "PWSECRET"),
        ("CLOISTER_LEDGER", "postgresql://ann:pw/PWSECRET@host/db", "PWSECRET"),
        ("CLOISTER_LEDGER", "postgresql://ann:pw@PWSECRET@host/db", "PWSECRET"),
        ("CLOISTER_LEDGER", "postgresql://ann:p'w <PWSECRET>@host/db", "PWSECRET"),
        ("CLOISTER_LEDGER", "postgresql://host/db?password=x<PWSECRET'&user=ann", "PWSECRET"),
    ],
)
def test_no_form_of_a_password_is_shown(
    here: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, secret: str
) -> None:
    """By config, for people and for programs."""
    monkeypatch.setenv(variable, value)
    for words in (["config"], ["config", "--json"]):
        assert secret not in run(*words).output


def test_brackets_without_end_are_no_settings(here: Path) -> None:
    """A file that nests deeper than can be read is refused in a sentence."""
    Path("cloister.toml").write_text("a=" + "[" * 50_000)
    done = run("config")
    assert done.exit_code == 2
    assert "cannot be read as TOML" in done.output
