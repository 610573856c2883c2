"""The browser's client as text: as it is, with planted bugs, and run by Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cloister.collect.service import survey_page

__all__ = ["CLIENT", "HERE", "PLANTED", "client_with", "run_in_node"]

HERE = Path(__file__).parent
CLIENT = survey_page.HERE / "static" / "cloister-client.js"
NODE_SECONDS = 120

PLANTED = {  # what is replaced by what
    "a lie may be the truth": ("other >= code", "other > code"),
    "every bit is a coin": ("place === code ? HALF : lie", "place === code ? HALF : HALF"),
    "lies are 5% too likely": ("if (low === high) return low + 1n;", "if (low === high) return ((low + 1n) * 105n) / 100n;"),
    "rounded down": ("if (low === high) return low + 1n;", "if (low === high) return low;"),
    "bits in the other order": ("1 << (place & 7)", "128 >> (place & 7)"),
}


def client_with(bug: str | None = None) -> str:
    """The client's text; with a bug of `PLANTED`."""
    text = CLIENT.read_text(encoding="utf-8")
    if bug is None:
        return text
    sound, wrong = PLANTED[bug]
    assert text.count(sound) == 1, f"the client has changed: plant the bug anew ({sound})"
    return text.replace(sound, wrong)


def run_in_node(script: str, folder: Path, given: Any, bug: str | None = None) -> Any:
    """What a script of this folder prints as JSON, with the client and what is given it."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("the client is tried in Node: apt-get install nodejs")
    copy = folder / "cloister-client.mjs"
    copy.write_text(client_with(bug), encoding="utf-8")
    done = subprocess.run(
        [node, str(HERE / script), copy.as_uri()],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=NODE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
