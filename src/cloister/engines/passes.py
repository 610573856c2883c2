"""Work on a stream of items on every core of this machine, with the results in the order of the items."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from cloister.errors import CloisterError, EngineError, out_of_memory, raise_alone
from cloister.silent_reading import silent_steps, silently

__all__ = ["in_order"]

T = TypeVar("T")


def in_order(items: Iterable[Any], work: Callable[..., T]) -> Generator[T]:
    """Work on items on every core, a few in flight, and hand the results out in order.

    An error inside is raised again without its message, which might quote a value; nothing that is read can warn.
    """

    def work_silently(item: Any) -> T:
        with silently():
            return work(item)

    workers = os.cpu_count() or 1
    in_flight: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for item in silent_steps(items):
            in_flight.append(pool.submit(work_silently, item))
            if len(in_flight) >= 2 * workers:
                yield in_flight.popleft().result()
        while in_flight:
            yield in_flight.popleft().result()
    except CloisterError:
        raise
    except MemoryError:
        raise_alone(out_of_memory("the rows were gone through"))
    except Exception as error:
        raise_alone(EngineError(f"the pass over the rows failed ({type(error).__name__}). Nothing was released."))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        in_flight.clear()  # a future holds the error of its work, with its message
