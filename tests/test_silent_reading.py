"""No row makes a warning appear, or ends a run where warnings are errors."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cloister as cl
from cloister.silent_reading import silent_steps, silently


def signaling(kind: type[np.floating[Any]], bits: int) -> np.ndarray[Any, Any]:
    """Numbers, and a NaN that a processor tells of when it is worked on."""
    cells = np.array([1.0, 2.0, 0.0], kind)
    cells.view(f"u{cells.itemsize}")[2] = bits
    return cells


def business_day() -> Any:
    """A span of pandas that it warns of whenever it is made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.Period(ordinal=9, freq=pd.offsets.BDay())


ODD = {
    "signaling NaN": pa.table({"x": signaling(np.float64, 0x7FF0000000000001)}),
    "signaling NaN in 32 bits": pa.table({"x": signaling(np.float32, 0x7F800001)}),
    "signaling NaN in 16 bits": pa.table({"x": signaling(np.float16, 0x7C01)}),
    "business days": {"x": ["2020-01-01", business_day()]},
    "long doubles": np.array([[1.0], [np.finfo(np.longdouble).max]], np.longdouble),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(
    "kind", ['"date"\nbounds = [1960-01-01, 2030-12-31]', '"number"\nbounds = [0, 9]', '"category"\ndomain = ["a"]']
)
def test_a_row_that_a_library_warns_of_warns_nobody(name: str, kind: str) -> None:
    """Warnings are errors here: one would end the run after its charge."""
    data = ODD[name]
    column = "x0" if isinstance(data, np.ndarray) else "x"
    schema = cl.Schema.from_text(f"[columns.{column}]\nkind = {kind}\n")
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        cl.tabulate(data, by=[column], budget=1, schema=schema)


def test_the_filters_of_the_user_are_back_afterwards() -> None:
    """Reading in several threads, one within the other, in steps that are left halfway."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)

        def read() -> None:
            for _ in range(200):
                with silently(), silently():
                    warnings.warn("of a row", stacklevel=1)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _ in silent_steps(range(3)):
            with pytest.raises(UserWarning):
                warnings.warn("of the user", stacklevel=1)
            break
        with pytest.raises(ZeroDivisionError), silently():
            1 / 0  # noqa: B018
        assert warnings.filters == before


def test_a_filter_that_is_set_meanwhile_stays() -> None:
    """Another thread may set filters, and take them back, while rows are read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outer = list(warnings.filters)
        with silently():
            kept = warnings.catch_warnings()
            kept.__enter__()
            warnings.simplefilter("default")
        kept.__exit__(None, None, None)
        assert warnings.filters == outer
