"""The pages of docs/ can be followed: their commands and Python run as they stand, where the tour put its files."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import cloister
from cloister.cli import app
from cloister.schema import toml
from tests.real_data import FOLDER, real

DOCS = Path(__file__).resolve().parent.parent / "docs"
FOLLOWED = (
    "anonymize", "audit", "budgets", "choose", "gallery", "kmeans", "ledger", "microaggregation",
    "microdata", "mixed", "reports", "risk", "schema", "scikit-learn", "scores", "synopses", "tables",
    "terminal", "nightly",
    "tutorials/engineer", "tutorials/officer", "tutorials/researcher", "tutorials/scientist",
)  # fmt: skip


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `cloister demo --keep tour` makes."""
    folder = tmp_path_factory.mktemp("docs") / "tour"
    done = CliRunner().invoke(app, ["demo", "--keep", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def here(tour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the tour to work in, with a data directory of its own for the ledger."""
    shutil.copytree(tour, tmp_path / "tour")
    monkeypatch.chdir(tmp_path / "tour")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "tour"


def blocks(page: str) -> list[tuple[str, str]]:
    """The fenced parts of a page with their language."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[list[str]]:
    """The commands of a page, comments aside."""
    lines = [line for language, block in blocks(page) if not language for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("cloister ")]


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_can_be_followed(page: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the page, in its order, then its Python, ends well."""
    if "datasets.load" in (DOCS / f"{page}.md").read_text(encoding="utf-8"):
        real("adult.data")
        monkeypatch.setenv("CLOISTER_DATA", str(FOLDER.absolute()))
    assert commands(page)
    for words in commands(page):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"cloister {shlex.join(words)}\n{done.output}"
    names: dict[str, object] = {}  # a page is read from its top: later blocks know what earlier ones named
    for language, block in blocks(page):
        if language == "python":
            exec(compile(block, f"{page}.md", "exec"), names)


def test_the_nightly_job_spends_once(here: Path) -> None:
    """Its script, started twice on one day, releases the first time and finds the day's table the second time."""
    (script,) = [block for language, block in blocks("nightly") if language == "sh"]
    (here / "nightly.sh").write_text(script)
    (here / "bin").mkdir()
    shim = here / "bin" / "cloister"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cloister "$@"\n')
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}"}

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=here, timeout=120)
        return done.returncode, done.stdout

    assert run("cloister", "ledger", "create", "students", "--epsilon", "0.15")[0] == 0
    assert run("sh", "nightly.sh", "students.csv", ".")[1].startswith("released: ")
    code, told = run("sh", "nightly.sh", "students.csv", ".")
    assert (code, told.split(":")[0]) == (0, "done before")
    next(here.glob("levels-*.csv")).unlink()
    next(here.glob("levels-*.csv.release.json")).unlink()
    assert run("sh", "nightly.sh", "students.csv", ".") == (3, "the budget of the table is spent\n")


def test_the_page_of_collections_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first Python writes the pilot that its commands are about."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    for language, block in blocks("collect"):
        if language == "python":
            exec(compile(block, "collect.md", "exec"), {})
        if language == "toml":
            (tmp_path / "shown.toml").write_text(block)
            assert cloister.collect.Collection.load(tmp_path / "shown.toml").names == ("smokes", "housing", "town")
    assert len(commands("collect")) > 8
    for words in commands("collect"):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"cloister {shlex.join(words)}\n{done.output}"


def test_the_page_of_data_sets_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python first, which writes the table that its commands are about; nothing is fetched."""
    real("wine.data")
    monkeypatch.setenv("CLOISTER_DATA", str(FOLDER.absolute()))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    for language, block in blocks("datasets"):
        if language == "python":
            exec(compile(block, "datasets.md", "exec"), {})
    assert len(commands("datasets")) == 2
    for words in commands("datasets"):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"cloister {shlex.join(words)}\n{done.output}"


def test_the_readme_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a CSV of one's own: draft a schema, fill it in as shown, and run what follows, on the command line and in Python."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    random = np.random.default_rng(0)
    table = pa.table({"age": random.integers(18, 90, 2_000), "income": random.integers(0, 200_000, 2_000)})
    csv.write_csv(table, tmp_path / "people.csv")
    filled = [block for language, block in blocks("../README") if language == "toml"]
    python = [block for language, block in blocks("../README") if language == "python"]
    assert len(filled) == len(python) == 1
    for words in commands("../README"):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"cloister {shlex.join(words)}\n{done.output}"
        if words[0] == "schema":
            (tmp_path / "people.toml").write_text(filled[0])
    exec(compile(python[0], "README.md", "exec"), {})


def test_the_page_of_schemas_has_every_key() -> None:
    """A row of its table, and a place in its examples, all of which can be read."""
    text = (DOCS / "schema.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    known = {*toml._TOP, *toml._FILE, *toml._OF_COLUMNS, *(key for keys in toml._KEYS.values() for key in keys)}
    assert listed == known
    examples = [block for language, block in blocks("schema") if language == "toml"]
    for example in examples:
        cloister.Schema.from_text(example)
    stated = set(re.findall(r"^(?:\[)?(\w+)", "\n".join(examples), re.MULTILINE))
    assert known <= stated


def test_the_api_page_has_every_public_name() -> None:
    """Each public name has its place in the generated reference, and no other has."""
    shown = re.findall(r"^::: cloister\.(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(cloister.__all__)


def test_the_architecture_names_files_that_exist() -> None:
    """Each path in the page is there; those of files that a change would add begin with a plus."""
    text = re.sub(
        r"^```.*?^```$", "", (DOCS / "architecture.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    paths = re.findall(r"`([\w./-]+(?:\.py|\.md|\.toml|\.yml|/))`", text)
    root = DOCS.parent
    assert len(paths) > 50
    missing = [path for path in paths if not (root / path).exists() and not (root / "src" / "cloister" / path).exists()]
    assert not missing


@pytest.mark.parametrize(
    ("page", "is_fetched"),
    [
        ('<script src="https://cdn.example/x.js">', True),
        ('<link rel="stylesheet" href="//fonts.example/css">', True),
        ("@font-face { src: url('https://fonts.example/a.woff2') }", True),
        ('<a href="https://example.org">', False),
        ('<script src="assets/x.js"></script><link href="assets/x.css">', False),
    ],
)
def test_a_site_that_needs_a_network_would_be_seen(page: str, is_fetched: bool) -> None:
    """Scripts, styles and fonts from elsewhere end a build of the site; links do not."""
    pytest.importorskip("mkdocs", reason="the tools of the site are absent: pip install 'cloister[docs]'")
    hooks = runpy.run_path(str(DOCS / "site_hooks.py"))
    assert bool(hooks["loads_from_a_network"](page)) == is_fetched


def test_a_command_that_fails_would_be_seen() -> None:
    """The runner that follows the pages gives the exit code of a command with a wrong flag."""
    assert CliRunner().invoke(app, ["risk", "--no-such-flag"]).exit_code == 2
