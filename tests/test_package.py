"""The package as a whole: light to import, and its public names are pinned."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import cloister
from cloister.engines.registry import ENGINES

ROOT = Path(__file__).resolve().parent.parent


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded after running some code in a fresh interpreter."""
    probe = f"{code}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def engine_libraries() -> set[str]:
    """What engines bring: the libraries of the extra that has the name of the engine, if there is one."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return {re.split(r"[^\w]", library)[0] for engine in ENGINES for library in extras.get(engine, [])}


@pytest.mark.parametrize("code", ["import cloister", "import cloister.cli", "from cloister.privacy import noise"])
def test_importing_stays_light(code: str) -> None:
    """Neither the package nor its command line loads what is heavy."""
    heavy = {"numba", "sklearn", "scipy", "sqlalchemy", "pandas", "polars", "fastapi", "matplotlib", "cryptography"}
    heavy |= engine_libraries()
    assert "pyspark" in heavy
    assert not heavy & loaded_by(code)


PUBLIC = [
    "ApproxDP",
    "Ball",
    "CloisterError",
    "Files",
    "Identifiability",
    "KMeans",
    "KModes",
    "KPrototypes",
    "Ledger",
    "Microaggregation",
    "Neighbours",
    "PrivateChoice",
    "PrivateMicrodata",
    "PrivateRows",
    "PrivateTable",
    "PublicScaler",
    "PureDP",
    "Release",
    "Schema",
    "Synopsis",
    "TopDownSpecialization",
    "choose",
    "collect",
    "datasets",
    "load_clusters",
    "risk",
    "synopsis",
    "tabulate",
]


def test_the_public_names_are_pinned() -> None:
    """The list of public names changes only on purpose, and every one of them loads."""
    assert cloister.__all__ == PUBLIC
    assert all(getattr(cloister, name) is not None for name in cloister.__all__)
    assert set(PUBLIC) <= set(dir(cloister))
    assert len(dir(cloister)) == len(set(dir(cloister)))


def test_the_version_has_one_source() -> None:
    """The version that is installed is the one that the package says."""
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", cloister.__version__)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/cloister/__init__.py"


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    """A typo is an error as it is for any module."""
    with pytest.raises(AttributeError, match="KMean"):
        _ = cloister.KMean
