"""The package as a whole: light to import, and its public names are pinned."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cloister


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded after running some code in a fresh interpreter."""
    probe = f"{code}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import cloister", "import cloister.cli", "from cloister.privacy import noise"])
def test_importing_stays_light(code: str) -> None:
    """Neither the package nor its command line loads what is heavy."""
    heavy = {"numba", "pyspark", "sklearn", "scipy", "sqlalchemy", "pandas", "polars", "fastapi", "matplotlib"}
    assert not heavy & loaded_by(code)


def test_the_public_names_are_pinned() -> None:
    """Every name in __all__ loads, and the list changes only on purpose."""
    assert all(getattr(cloister, name) is not None for name in cloister.__all__)
    pinned = {"ApproxDP", "Ball", "CloisterError", "Identifiability", "KMeans", "Ledger", "PureDP", "Release", "Schema"}
    assert pinned <= set(cloister.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    """A typo is told as for any module."""
    with pytest.raises(AttributeError, match="KMean"):
        _ = cloister.KMean
