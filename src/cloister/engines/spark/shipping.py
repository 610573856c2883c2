"""Cloister's own code on Spark's workers: packed, sent, and found there by the functions that run."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["map_in_arrow", "packed_code"]


def map_in_arrow(frame: Any, function: Any, schema: Any) -> Any:
    """`DataFrame.mapInArrow`, without its warning about pandas, which no work here touches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return frame.mapInArrow(carried(function), schema)


def carried(function: Any) -> Any:
    """The function in a form that finds the code that was sent: unpacked, since compiled loops are not cached from a zip."""
    from pyspark import cloudpickle

    payload, sent = cloudpickle.dumps(function), Path(packed_code()).name

    def run(batches: Iterator[Any]) -> Iterator[Any]:  # travels whole, as `make_probe` says
        import os
        import pickle
        import sys
        import tempfile
        import zipfile

        home = next((place for place in sys.path if os.path.basename(place) == sent), None)
        folder = home and home[: -len(".zip")]
        if home and folder and folder not in sys.path:
            try:
                if not os.path.isdir(folder):
                    unpacked = tempfile.mkdtemp(dir=os.path.dirname(home))
                    with zipfile.ZipFile(home) as archive:
                        archive.extractall(unpacked)
                    os.rename(unpacked, folder)
            except OSError:  # another worker was first, or nothing can be written there and the zip itself must do
                pass
            if os.path.isdir(folder):
                sys.path.insert(0, folder)
        yield from pickle.loads(payload)(batches)

    return run


@cache
def packed_code() -> str:
    """Cloister's own code as one zip, named after what is in it."""
    root = Path(__file__).resolve().parents[2]
    files = {str(Path("cloister") / file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*.py"))}
    digest = hashlib.sha256(b"".join(name.encode() + b"\0" + code for name, code in files.items())).hexdigest()
    target = Path(tempfile.mkdtemp(prefix="cloister-code-")) / f"cloister-{digest[:16]}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, code in files.items():
            archive.writestr(name, code)
    atexit.register(shutil.rmtree, target.parent, ignore_errors=True)
    return str(target)
