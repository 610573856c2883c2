"""What ``npm ci`` installs beside package.json: axe-core and TypeScript."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["installed", "run_tsc"]

HERE = Path(__file__).parent
INSTALL = f"npm ci --prefix {HERE.relative_to(Path.cwd()) if HERE.is_relative_to(Path.cwd()) else HERE}"


def installed(file: str) -> Path:
    """A file of a package."""
    path = HERE / "node_modules" / file
    if not path.is_file():
        pytest.skip(f"a package of npm is missing: {INSTALL}")
    return path


def run_tsc(folder: Path, *files: str) -> list[str]:
    """The faults that TypeScript finds in files of a folder, a line each."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("TypeScript runs in Node: apt-get install nodejs")
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]
    words = [node, str(installed("typescript/lib/tsc.js")), *options, "--skipDefaultLibCheck", "--pretty", "false", *files]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.stdout.splitlines()
