"""Runs fuzzed cases in a process of its own: ``python -m tests.fuzz.worker FOLDER FIRST LAST``.

The number of the case that is running stands in FOLDER/running, so that whoever started this knows which one ended the
process. Faults go to FOLDER/faults, one line each: the number, what it was, and the error without its text.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

from cloister.errors import CloisterError
from tests.fuzz import python_calls
from tests.fuzz.mutations import damaged
from tests.fuzz.parsers import Parser, make_parsers

SECONDS = 5
CALL_EVERY = 8  # every eighth case is a call with an argument of the wrong type


class TooLong(BaseException):
    """A case took more than the limit."""


def run_case(number: int, parsers: dict[str, Parser], folder: Path) -> str:
    """Run a case to its end; raises what it raises. Gives its name."""
    rng = random.Random(number)
    if number % CALL_EVERY == 0:
        what, call = python_calls.wrong_call(rng.randrange(python_calls.number_of_calls()))
        RUNNING[0] = what
        call()
        return what
    name, parser = list(parsers.items())[number % len(parsers)]
    RUNNING[0] = name
    path = folder / f"damaged{parser.suffix}"
    path.write_bytes(damaged(rng.choice(parser.examples), rng))
    parser.read(path)
    return name


RUNNING = [""]


def too_long(*_: Any) -> None:
    raise TooLong


def main(folder: Path, first: int, last: int) -> None:
    """Run the cases from `first` up to `last`."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGPROF, too_long)
    parsers = make_parsers(Path(tempfile.mkdtemp(dir=folder)))
    python_calls.kmeans()  # what is slow the first time is not slow because of a case
    python_calls.synopsis_cluster()
    for number in range(first, last):
        (folder / "running").write_text(str(number))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of this process, however busy the machine is
        signal.alarm(SECONDS * 10)  # of the clock: a case that waits
        try:
            run_case(number, parsers, folder)
        except CloisterError:
            pass
        except BaseException as fault:
            if isinstance(fault, KeyboardInterrupt | SystemExit):
                raise
            own = [frame for frame in traceback.extract_tb(fault.__traceback__) if "cloister" in frame.filename]
            at = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
            with (folder / "faults").open("a") as file:
                file.write(f"{number} {RUNNING[0]}: {type(fault).__name__} at {at}\n")
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
