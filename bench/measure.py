"""Measuring: times as ratios in one run, results as a table and as JSON, peers in an environment of their own."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of a few runs: what the machine can do when nothing disturbs it."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def processor_runs(work: Callable[[], Any], repeats: int = 3) -> list[float]:
    """Processor seconds of this process for each of a few runs, the least first: what else runs hardly counts."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return sorted(taken)


@cache
def installed() -> dict[str, str]:
    """The environment of a command as users run it: compiled Python is kept, in a folder of its own, whatever is set here."""
    folder = tempfile.mkdtemp(prefix="bench-pycache-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder}


def peers_python(peers: str = "peers") -> str:
    """The interpreter of an environment of peers, made when it is missing or its list (``peers.txt``) has changed."""
    folder = HERE / f".venv-{peers}"
    stamp, wanted = folder / "peers.txt", (HERE / f"{peers}.txt").read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "-r", str(HERE / f"{peers}.txt")]
        subprocess.run(pip, check=True)
        stamp.write_text(wanted)
    return str(folder / "bin" / "python")


def run_peer(script: str, *arguments: str, peers: str = "peers") -> Any:
    """Run a script of this folder with the interpreter of some peers; its last line is JSON."""
    done = subprocess.run([peers_python(peers), str(HERE / script), *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a table."""
    print(f"\n## {title}\n")
    if not rows:
        return
    names = list(rows[0])
    text = [[cell(row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[j]) for line in text)) for j, name in enumerate(names)]
    for line in [names, ["-" * width for width in widths], *text]:
        print("| " + " | ".join(part.ljust(width) for part, width in zip(line, widths, strict=True)) + " |", flush=True)


def cell(value: Any) -> str:
    """A value for a person."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Keep rows as JSON, with what they were measured on."""
    import platform

    RESULTS.mkdir(exist_ok=True)
    about = {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}
    (RESULTS / f"{name}.json").write_text(json.dumps({"about": about, "rows": rows}, indent=2) + "\n")
