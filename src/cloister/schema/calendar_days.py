"""Moments as calendar days: a moment belongs to the day that a calendar shows at it, in the zone of its column."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.schema.arrow_numpy import from_numbers, to_mask, to_numbers

__all__ = ["calendar_days"]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86_400
_FARTHEST = 2**61  # seconds, beyond every calendar: adding an offset to them does not wrap around
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")  # as Java names zones, and hence Spark


def calendar_days(moments: pa.Array) -> NDArray[np.float64]:
    """The day of each timestamp or date64 since 1970-01-01, NaN for a null; in whole numbers throughout.

    A zone that this machine does not know is read as UTC: what becomes of a column follows from its type alone.

    >>> calendar_days(pa.array([-1, 86_399_999_999_999, None]).cast(pa.timestamp("ns"))).tolist()
    [-1.0, 0.0, nan]
    """
    is_moment = pa.types.is_timestamp(moments.type)
    unit, zone = (moments.type.unit, moments.type.tz) if is_moment else ("ms", None)
    counts = to_numbers(moments.cast(pa.int64()), null=0)
    seconds = np.clip(counts // _PER_SECOND[unit], -_FARTHEST, _FARTHEST)
    if zone is not None:
        seconds = _local_seconds(seconds, zone)
    return np.where(to_mask(pc.is_valid(moments)), seconds // _DAY, np.nan)


def _local_seconds(seconds: NDArray[np.int64], zone: str) -> NDArray[np.int64]:
    """What clocks of the zone show: seconds since their 1970-01-01."""
    if offset := _OFFSET.fullmatch(zone):
        sign, hours, minutes = offset.groups(default="0")
        return seconds + (-1 if sign == "-" else 1) * (int(hours) * 3_600 + int(minutes) * 60)
    try:
        local: NDArray[np.int64] = to_numbers(
            pc.local_timestamp(from_numbers(seconds).cast(pa.timestamp("s", zone))).cast(pa.int64())
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # its database lacks the zone
        return seconds
    return local
