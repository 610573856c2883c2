"""What ``npm ci`` installs beside package.json: axe-core, html-validate and TypeScript."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = ["installed", "run_tsc", "validate_html"]

HERE = Path(__file__).parent
RULES = {
    "root": True,
    "extends": ["html-validate:recommended", "html-validate:document"],
    # titles are for search engines, which see none of our pages; the parts of a picture are styled where they stand
    "rules": {"long-title": "off", "no-inline-style": "off"},
}
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


def validate_html(pages: Sequence[Path], folder: Path) -> list[str]:
    """The faults that html-validate finds in pages, a line each; `folder` is for its settings."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("html-validate runs in Node: apt-get install nodejs")
    settings = folder / "htmlvalidate.json"
    settings.write_text(json.dumps(RULES), encoding="utf-8")
    program = installed("html-validate/bin/html-validate.mjs")
    words = [node, str(program), "--config", str(settings), "--formatter", "json", *map(str, pages)]
    found = folder / "htmlvalidate.found.json"
    with found.open("w") as file:  # what it writes to a pipe is cut off
        done = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    return [
        f"{Path(page['filePath']).name}:{fault['line']} {fault['ruleId']}: {fault['message']}"
        for page in json.loads(found.read_text(encoding="utf-8"))
        for fault in page["messages"]
    ]
