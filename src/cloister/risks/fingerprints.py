"""Cells of any type as integers that say which cells are equal, so that tuples can be counted without a domain.

A cell becomes 64 bits of a hash of its text (`cell_words` says which cells have the same); where its order or its width
matters, two more numbers say which numbers or days it spans: ``34`` from 34 to 34, ``[20, 30)`` from 20 to just below 30, ``*``
everything. Where its value matters, they say which number and which day it is.

Notes
-----
Two values of a column share their 64 bits by chance with a probability of m^2 / 2^65 for m values: 7e-7 for five million.
Then two classes would count as one. Nothing is published from these integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.encode import Codes, Encoded, Encoding
from cloister.risks.cell_words import list_cells
from cloister.schema import Kind
from cloister.schema.arrow_numpy import from_texts, to_mask
from cloister.schema.cell_values import days, numbers, texts

__all__ = ["EVERYTHING", "NULL", "CellKeys", "Fingerprints", "fingerprint", "fingerprints_of", "from_lane", "spans"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_FOLD = np.int64(2**63 - 1)
_INTERVAL = r"^(?P<begin>[\[(])\s*(?P<low>[^\[\](),]+),\s*(?P<high>[^\[\](),]+)(?P<end>[\])])$"
_NONE = np.int64(-(2**63))  # stands for NaN: the end of a span that is no number

NULL = np.int64(0)
"""The fingerprint of a null or blank cell."""


@dataclass(frozen=True, slots=True)
class Fingerprints(Encoding):
    """An encoding of cells of any type, 64 bits each.

    First come 64 bits for the cells of all columns `together`, if there are any; then those of each of `apart`, with both
    ends of its span after them where `spanned` names it, or its number and its day where `valued` does. Each 64 bits take
    two places among the codes. Made by `Fingerprints.over`.
    """

    together: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    spanned: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    kinds: tuple[tuple[str, Kind], ...] = ()  # of the columns that a schema describes

    @classmethod
    def over(
        cls,
        apart: Sequence[str],
        spanned: Sequence[str] = (),
        together: Sequence[str] = (),
        valued: Sequence[str] = (),
        kinds: Mapping[str, Kind] | None = None,
    ) -> Fingerprints:
        """The encoding of these columns; spans or values where wanted."""
        together, apart = tuple(dict.fromkeys(together)), tuple(dict.fromkeys(apart))
        with_span, with_value = (frozenset(names) & frozenset(apart) for names in (spanned, valued))
        assert not with_span & with_value
        width = bool(together) + sum(3 if name in with_span | with_value else 1 for name in apart)
        described = tuple((name, kind) for name, kind in (kinds or {}).items() if name in apart or name in together)
        codes = (Codes(apart[0] if apart else together[0], ("",)),) * (2 * width)
        return cls((), codes, None, together, apart, with_span, with_value, described)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, each once."""
        return tuple(dict.fromkeys([*self.together, *self.apart]))

    @property
    def lanes(self) -> dict[str, int]:
        """The place of each `apart` column among the 64-bit numbers of a row; its span or value follows."""
        lanes, at = {}, int(bool(self.together))
        for name in self.apart:
            lanes[name] = at
            at += 3 if name in self.spanned or name in self.valued else 1
        return lanes

    @property
    def width(self) -> int:
        """How many 64-bit numbers a row takes."""
        return len(self.categories) // 2

    def encode(self, batch: pa.RecordBatch) -> Encoded:
        """Rows -> integers."""
        lanes = np.empty((batch.num_rows, self.width), np.int64)  # (n, w)
        joint = np.zeros(batch.num_rows, np.uint64)
        places, kinds = self.lanes, dict(self.kinds)
        for name in self.columns:
            listed = list_cells(batch.column(batch.schema.get_field_index(name)), name, kinds.get(name))
            words, codes = listed.words, listed.places
            parts = [fingerprints_of(words)]
            if name in self.spanned:
                parts += [_lane(end) for end in spans(words)]
            elif name in self.valued:
                parts = [fingerprints_of(listed.published), *(_lane(quantity) for quantity in listed.quantities())]
            if name in self.together:
                with np.errstate(over="ignore"):
                    joint = _mixed((joint ^ np.append(parts[0], NULL).view(np.uint64)[codes]) + _GOLDEN)
            if name in self.apart:
                for at, (part, null) in enumerate(zip(parts, (NULL, _NONE, _NONE), strict=False), places[name]):
                    lanes[:, at] = np.append(part, null)[codes]
        if self.together:
            lanes[:, 0] = joint.view(np.int64)
        empty = np.empty((batch.num_rows, 0), np.int32)
        return Encoded(empty, lanes.view(np.int32).reshape(batch.num_rows, 2 * self.width))


@dataclass(frozen=True, slots=True)
class CellKeys:
    """The fingerprints of a row as its key."""

    width: int

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        """Two places of 32 bits are one integer again."""
        return np.ascontiguousarray(rows.codes).view(np.int64).reshape(len(rows), self.width)


def fingerprint(word: str) -> int:
    """The fingerprint of one text, as a cell that holds it would get it."""
    return int(fingerprints_of(texts(from_texts([word])))[0])


def fingerprints_of(words: pa.Array) -> NDArray[np.int64]:
    """64 bits for each text; NULL for a null or an empty one."""  # (n,)
    words = words.cast(pa.large_string())
    n = len(words)
    if n == 0:
        return np.zeros(0, np.int64)
    offsets = np.frombuffer(words.buffers()[1], np.int64)[words.offset : words.offset + n + 1]
    buffer = words.buffers()[2]
    raw = np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(0, np.uint8)
    data = np.concatenate([raw, np.zeros(8, np.uint8)])
    windows = np.lib.stride_tricks.sliding_window_view(data, 8)
    lengths = np.diff(offsets)
    if words.null_count:
        lengths = np.where(to_mask(words.is_null()), 0, lengths)
    with np.errstate(over="ignore"):
        state = _mixed(lengths.astype(np.uint64) + _GOLDEN)
        for start in range(0, int(lengths.max()), 8):
            here = np.flatnonzero(lengths > start)
            word = windows[offsets[here] + start].copy().view(np.uint64)[:, 0]
            remaining = np.minimum(lengths[here] - start, 8).astype(np.uint64)
            word &= np.uint64(2**64 - 1) >> (np.uint64(64) - np.uint64(8) * remaining)
            state[here] = _mixed((state[here] ^ word) + _GOLDEN)  # one to one in the word: short texts never collide
    return np.where(lengths > 0, state.view(np.int64), NULL)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A permutation of 64-bit integers that spreads every bit over all."""
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))


def spans(words: pa.Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest number (or day since 1970) that each text stands for; NaN where it is no number.

    >>> low, high = spans(pa.array(["34", "[20, 30)", "[20, 30]", "[60, inf)", "*", "red"]))
    >>> low.tolist(), high.round(6).tolist()
    ([34.0, 20.0, 20.0, 60.0, -inf, nan], [34.0, 30.0, 30.0, inf, inf, nan])
    """
    low = _places(words)
    high = low.copy()
    parts = pc.extract_regex(words, _INTERVAL)
    is_interval = pc.is_valid(parts).to_numpy(zero_copy_only=False)
    if is_interval.any():
        first, last = (_end(pc.struct_field(parts, end)) for end in ("low", "high"))
        opens = _is(pc.struct_field(parts, "begin"), "(") & np.isfinite(first)
        closes = _is(pc.struct_field(parts, "end"), ")") & np.isfinite(last)
        first = np.where(opens, np.nextafter(first, np.inf), first)
        last = np.where(closes, np.nextafter(last, -np.inf), last)
        low, high = np.where(is_interval, first, low), np.where(is_interval, last, high)
    star = _is(words, "*")
    return np.where(star, -np.inf, low), np.where(star, np.inf, high)


def _end(words: pa.Array) -> NDArray[np.float64]:
    """Each end of an interval, which may be infinite."""
    trimmed = pc.utf8_trim_whitespace(words)
    read = np.where(_is(trimmed, "inf"), np.inf, _places(words))
    return np.where(_is(trimmed, "-inf"), -np.inf, read)


def _is(words: pa.Array, word: str) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = pc.fill_null(pc.equal(words, word), False).to_numpy(zero_copy_only=False)
    return same


def _places(words: pa.Array) -> NDArray[np.float64]:
    """Each text as a number, or else as a day; NaN if it is neither."""
    read = numbers(words)
    unread = np.isnan(read)
    if unread.any():
        read = np.where(unread, days(words), read)
    return read


def _lane(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers as integers in the same order."""
    bits = (values + 0.0).view(np.int64)  # -0 becomes 0
    return np.where(np.isnan(values), _NONE, bits ^ ((bits >> np.int64(63)) & _FOLD))


def from_lane(lane: NDArray[np.int64]) -> NDArray[np.float64]:
    """The numbers that `_lane` made integers of; NaN where there was none."""
    bits = np.ascontiguousarray(lane ^ ((lane >> np.int64(63)) & _FOLD))
    return np.where(lane == _NONE, np.nan, bits.view(np.float64))


EVERYTHING = np.int64(fingerprint("*"))
"""The fingerprint of a cell published as ``*``."""
