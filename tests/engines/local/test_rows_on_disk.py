"""Rows that are too many for memory go through files that no folder lists: whatever ends the process, none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
import numpy as np, pyarrow as pa
from cloister.encode import Encoding, Grid
from cloister.engines.base import Shuffle
from cloister.engines.local import bounded, encoded_rows, engine, shuffle
from cloister.kernels import Rows
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source

folder, work, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
encoded_rows.HELD_BYTES, shuffle.BUCKET_ROWS = 1000, 100
bounded.disk = lambda: folder
rows = open_source(pa.table({"x": np.arange(5000) % 100, "who": np.arange(5000) % 700}))
reads = engine.LocalEngine(rows, Encoding((Grid("x", 0, 1, 100),)), Unit("who", 4))

def end(*_):
    print(sum("deleted" in os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 2
              and os.path.exists(f"/proc/self/fd/{fd}")), flush=True)
    os.kill(os.getpid(), number)

if work == "people":
    bounded.Gathered.groups = end
    reads.fold(Rows())
else:
    class Same:
        columns, schema = ("x",), pa.schema([("x", pa.int64())])
        map_batch = staticmethod(lambda batch: batch)
    reads.rewrite(Same(), folder + "/out.csv", "csv", Shuffle(5000, lambda b, n: np.arange(n) % b, end))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("work", ["people", "shuffle"])
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks at the open files of a process")
def test_a_killed_process_leaves_no_rows(tmp_path: Path, work: str, number: int) -> None:
    """Killed while rows are spilled, by person or in a secret order: files are open at that moment, and none stays."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), work, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -number, done.stderr
    assert int(done.stdout) > 0
    assert [path.read_bytes() for path in tmp_path.iterdir()] in ([], [b'"x"\n'])  # at most the header of the output
