"""The house is in order: what `ruff`, `mypy` and `import-linter` cannot check about the tree of modules."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
LONGEST_FILE = 500

# Imports of cloister's own modules inside functions: which modules may have them, and why.
LATE_IMPORTS = {
    "cloister": "public names are loaded when they are first used",
    "cloister.__main__": "signals are handled before the command line is loaded",
    "cloister.cli*": "a command imports what it needs when it runs, so that --help and small jobs start fast",
    "cloister.engines.*.backend": "an engine is loaded when it is chosen; its libraries may be optional",
    "cloister.kernels.loops.choose": "compiled loops (numba) are loaded by jobs that are large enough to gain from them",
    "cloister.privacy.noise": "compiled samplers (numba) are loaded by releases with many draws",
    "cloister.clustering.seeding.evolution": "loads numba",
    "cloister.anonymization.searching.find_recoding": "local recoding loads numba",
    "cloister.report.plotted": "what draws is loaded where something is drawn",
    "cloister.report.plot.figures": "the class of figures needs matplotlib, which is optional",
}

# Checks of parameters that give a plain value for what a user passed: that one is to be used.
CONVERTING_CHECKS = {"check_names", "check_path", "check_whole"}

# Names of classes that stand for the same idea in two layers.
SAME_CLASS_TWICE: dict[str, str] = {}

# Names of files that stand for the same idea in two rooms.
SAME_FILE_TWICE = {
    "__init__": "every package has one",
    "engine": "each engine's own",
    "backend": "each engine's own",
    "base": "the protocol of a room",
    "csv": "CSV locally and on Spark, by the same grammar",
    "paper": "each paper's own: what it promised, what holds, what is run",
    "printed": "each paper's own forms, as printed",
    "attacks": "on what each paper claims",
    "reproduce": "a verb of the command line and what it runs",
    "plan": "plans in general, and the plan of votes",
    "request": "what a verb was asked for, frozen and checked, before any row is read",
    "notes": "the sentences that a certificate carries, of private and of syntactic releases",
    "synopsis": "a verb of the command line and its room",
    "tabulate": "a verb of the command line and what it runs",
}


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    names = {path: path.relative_to(SOURCE).with_suffix("").parts for path in sorted(SOURCE.rglob("*.py"))}
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in names.items()}


@cache
def tree_of(module: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def imported(node: ast.AST) -> Iterator[str]:
    """The modules of cloister that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names if name.name in modules())
    elif isinstance(node, ast.ImportFrom) and node.module in modules():
        for name in node.names:
            inner = f"{node.module}.{name.name}"
            yield inner if inner in modules() else str(node.module)


def imports_of(module: str) -> set[str]:
    """Every module that a module imports, at the top or in functions; a package that it stands in does not count."""
    targets = {target for node in ast.walk(tree_of(module)) for target in imported(node)}
    return {target for target in targets if target != module and not module.startswith(f"{target}.")}


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other, by way of others or not (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    groups: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        open_.append(module)
        for target in sorted(edges[module]):
            if target not in order:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in open_:
                lowest[module] = min(lowest[module], order[target])
        if lowest[module] == order[module]:
            group = open_[open_.index(module) :]
            del open_[open_.index(module) :]
            if len(group) > 1:
                groups.append(sorted(group))

    for module in sorted(edges):
        if module not in order:
            visit(module)
    return groups


def test_no_module_cycles() -> None:
    """No module imports itself by way of others, imports inside functions counted."""
    assert not cycles({module: imports_of(module) for module in modules()})


def test_a_cycle_would_be_seen() -> None:
    """Planted: three modules in a ring, one of which also imports a fourth."""
    edges: dict[str, set[str]] = {"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": set()}
    assert cycles(edges) == [["a", "b", "c"]]


def test_late_imports_have_a_reason() -> None:
    """Imports of cloister's modules inside functions are there for start-up time or for optional parts."""
    late = []
    for module in modules():
        functions = [node for node in ast.walk(tree_of(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        targets = {target for function in functions for node in ast.walk(function) for target in imported(node)}
        allowed = any(fnmatch(module, pattern) for pattern in LATE_IMPORTS)
        late += [f"{module} imports {target} in a function" for target in sorted(targets) if not allowed]
    assert not late


def test_no_private_names_across_modules() -> None:
    """A name that begins with an underscore is used in its own module only."""
    private = [
        f"{module} imports {name.name} from {node.module}"
        for module in modules()
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ImportFrom) and node.module in modules()
        for name in node.names
        if name.name.startswith("_") and not name.name.endswith("__")
    ]
    assert not private


def dropped_checks(tree: ast.Module) -> list[int]:
    """The lines where a checked parameter is not taken over, though the check gives another value than it was given."""
    sources = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "cloister.parameters")
    checks = {name.name for source in sources for name in source.names} & CONVERTING_CHECKS
    calls = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id in checks]


def test_what_a_check_gives_is_what_is_used() -> None:
    """A NumPy integer overflows where a Python one does not, and a generator is empty once it was looked through."""
    assert not {name: lines for name in modules() if (lines := dropped_checks(tree_of(name)))}


def test_a_dropped_check_would_be_seen() -> None:
    """In a statement of its own, and only there."""
    code = 'from cloister.parameters import check_whole\ncheck_whole(n, "n", 1)\nn = check_whole(n, "n", 1)'
    assert dropped_checks(ast.parse(code)) == [2]


def test_no_module_is_replaced() -> None:
    """Nothing is put into `sys.modules`, and no module is given another class."""
    for module in modules():
        for node in ast.walk(tree_of(module)):
            targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
            for target in map(ast.unparse, targets):
                assert not target.startswith("sys.modules["), f"{module}: {target}"
                assert not (target.startswith("sys.modules") and target.endswith(".__class__")), f"{module}: {target}"


def test_no_class_name_twice() -> None:
    """A name of a class means one thing."""
    homes = defaultdict(list)
    for module in modules():
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    assert not {name: where for name, where in homes.items() if len(where) > 1 and name not in SAME_CLASS_TWICE}


def test_no_file_name_twice() -> None:
    """A name of a file means one thing, but for the same idea in two rooms."""
    homes = defaultdict(list)
    for module, path in modules().items():
        homes[path.stem].append(module)
    assert not {name: where for name, where in homes.items() if len(where) > 1 and name not in SAME_FILE_TWICE}


@pytest.mark.parametrize("folder", ["src", "tests", "bench", "docs"])
def test_files_can_be_read_in_one_go(folder: str) -> None:
    """No file is longer than 500 lines."""
    paths = [path for path in (ROOT / folder).rglob("*.py") if not any(part.startswith(".venv-") for part in path.parts)]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert not {str(path.relative_to(ROOT)): lines for path, lines in lengths.items() if lines > LONGEST_FILE}


def test_tests_mirror_the_source() -> None:
    """A folder of tests is a room of the house; laws/ and fuzz/ run over all kernels, engines, plans, parsers."""
    own = {"laws", "fuzz", "engines/hiding", "collect/service/browser"}
    folders = {str(path.parent.relative_to(ROOT / "tests")) for path in (ROOT / "tests").rglob("*.py")} - own
    assert not [folder for folder in sorted(folders) if not (SOURCE / "cloister" / folder).is_dir()]


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_skipped_test_fails_in_ci(ci: str, code: int, tmp_path: Path) -> None:
    """Where CI=true a test that cannot run for want of something has failed; elsewhere it is skipped."""
    (tmp_path / "test_skipped.py").write_text("import pytest\n\ndef test_data():\n    pytest.skip('no data here')\n")
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        str(tmp_path),
    ]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, "CI": ci}, capture_output=True, text=True)
    assert done.returncode == code, done.stdout
    assert ("every test must run" in done.stdout) == (code == 1)
