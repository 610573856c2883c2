"""How a cell is read: any Arrow value as a number or as a text. Encoding and the holder's check read alike.

Privacy
-------
Each result depends on its own cell alone, whatever else is in the batch: a batch goes the slow way as soon as one of
its cells needs it, and what the fast way reads the slow way reads alike, to the last bit. A text is a number or a date when
it matches the column's format from end to end; anything else cannot be read, and no part of it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.schema.arrow_numpy import from_numbers, from_texts, to_mask, to_numbers
from cloister.schema.calendar_days import calendar_days
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.dates_in_text import days_in_text

__all__ = ["are_missing", "days", "float_text", "is_named_number", "kinds_apart", "numbers", "shared_values", "texts"]

Read = Callable[[pa.Array, CellFormat], NDArray[np.float64]]
_FEW = 256
_LONGEST_WHOLE = 10**76  # a whole number below it is written with all its digits, whatever its type
_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def numbers(values: pa.Array, form: CellFormat = PLAIN) -> NDArray[np.float64]:
    """Each cell as a number; NaN where there is none to read.

    Text may hold blanks around the number. Booleans, and the texts "true" and "false", are 1 and 0; dates, times and
    durations are numbers of days. A value that the format lists as missing is none, however it is typed: -999 is
    missing where "-999" is.

    >>> numbers(pa.array(["20,000", "20000"])).tolist()
    [nan, 20000.0]
    >>> numbers(pa.array(["20,000", "20000", "2,00"]), CellFormat(thousands=",")).tolist()
    [20000.0, 20000.0, nan]
    """
    kind = values.type
    if pa.types.is_union(kind):
        return _by_kind(numbers, values, form)
    if shared := shared_values(values):
        return _looked_up(numbers(shared[0], form), shared[1])
    if form.missing:
        return _without_missing(numbers, values, form)
    if pa.types.is_decimal(kind) or (pa.types.is_primitive(kind) and not pa.types.is_temporal(kind)):
        return _floats(values)
    if _is_text(kind):
        return _from_text(_trimmed(values), form)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _in_days(values)
    inner = _unwrapped(values)
    return np.full(len(values), np.nan) if inner is None else numbers(inner, form)


def days(values: pa.Array, form: CellFormat = PLAIN) -> NDArray[np.float64]:
    """Each cell as a whole number of days since 1970-01-01; NaN where there is no date to read.

    Text holds dates as the format says, without one ISO dates. With a format whole numbers are read by their digits. A moment
    is the day that a calendar shows at it: in the zone of its column, as it stands where there is none.

    >>> days(pa.array([-1, 0]).cast(pa.timestamp("s", "+02:00"))).tolist()
    [0.0, 0.0]
    """
    kind = values.type
    if pa.types.is_union(kind):
        return _by_kind(days, values, form)
    if shared := shared_values(values):
        return _looked_up(days(shared[0], form), shared[1])
    if form.missing:
        return _without_missing(days, values, form)
    if is_named_number(kind) and kind.num_fields > 2:  # what is named has a day of its own, as a moment in a zone of its own
        return _floats(values.field(2))
    if _is_text(kind) or (form.date is not None and _is_number(kind)):
        return days_in_text(texts(values), form.date_pattern)
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        return calendar_days(values)
    inner = _unwrapped(values)
    if inner is not None:
        return days(inner, form)
    with np.errstate(invalid="ignore"):  # a NaN may be a signaling one
        return np.floor(numbers(values))


def texts(values: pa.Array, form: CellFormat = PLAIN) -> pa.Array:
    """Each cell as text without blanks around it; null where there is none, or one that stands for none.

    Whole numbers are written without a dot whatever their type (3 and 3.0 are both "3"), booleans "true" and "false",
    dates as in ISO 8601.
    """
    if shared := shared_values(values):
        known = texts(shared[0], form).cast(pa.large_string())  # wide offsets: many rows may share one long text
        return pa.concat_arrays([known, pa.nulls(1, pa.large_string())]).take(from_numbers(shared[1]))
    if form.missing:
        written = texts(values)
        return pc.if_else(pc.is_in(written, _listed(form, written.type)), pa.scalar(None, written.type), written)
    kind = values.type
    if _is_text(kind):
        return _trimmed(values)
    if pa.types.is_union(kind):
        kinds, places = kinds_apart(values)
        cells = [texts(some).cast(pa.large_string()) for some in kinds]
        return pa.concat_arrays([*cells, pa.nulls(0, pa.large_string())]).take(from_numbers(places))
    if pa.types.is_floating(kind):
        return _float_texts(values)
    if pa.types.is_decimal(kind):
        return _without_zeros(_decimal_texts(values))
    if pa.types.is_time(kind):  # a time of day has one text, whatever it is counted in
        return _without_zeros(values.cast(pa.string()))
    if pa.types.is_timestamp(kind):
        return _moment_texts(values)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind):
        return values.cast(pa.string())
    inner = _unwrapped(values)
    return pa.nulls(len(values), pa.string()) if inner is None else texts(inner)


def are_missing(values: pa.Array, form: CellFormat = PLAIN, read: Read | None = None) -> NDArray[np.bool_]:
    """Which cells hold no value: null, blank, or what the format lists as missing.

    `read` is `numbers` or `days` where the column holds those: then a value is also known by what a listed text means.
    """
    if shared := shared_values(values):
        by_code = np.append(are_missing(shared[0], form, read), True)
        return np.asarray(by_code[shared[1]])
    lengths = to_numbers(pc.binary_length(texts(values, form)).cast(pa.int64()), null=0)
    is_missing: NDArray[np.bool_] = lengths == 0
    if form.missing and read is not None:
        is_missing |= np.isnan(read(values, form)) & ~np.isnan(read(values, replace(form, missing=())))
    return is_missing


def shared_values(values: pa.Array) -> tuple[pa.Array, NDArray[np.int64]] | None:
    """What the cells of a dictionary or of runs hold, once each, and which of those every cell holds; None for other arrays.

    A cell that holds none has the number behind the last. Whatever is made of such values is made once a value, so that memory
    does not grow with the rows that share a long one.

    >>> values, places = shared_values(pa.array(["a", None, "a"]).dictionary_encode())
    >>> values.to_pylist(), places.tolist()
    (['a'], [0, 1, 0])
    """
    if isinstance(values, pa.ExtensionArray):
        return shared_values(values.storage)
    if pa.types.is_dictionary(values.type):
        known = values.dictionary
        return known, to_numbers(values.indices.cast(pa.int64()), null=len(known))
    if pa.types.is_run_end_encoded(values.type):
        rows = np.arange(values.offset, values.offset + len(values))
        return values.values, np.searchsorted(to_numbers(values.run_ends), rows, side="right").astype(np.int64)
    return None


def kinds_apart(values: pa.Array) -> tuple[list[pa.Array], NDArray[np.int64]]:
    """Cells that keep their kinds (`sources.python_cells`): an array of each kind, and where each cell stands in all of them.

    >>> kinds, offsets = pa.array([1, 0], pa.int8()), pa.array([0, 0], pa.int32())
    >>> cells = pa.UnionArray.from_dense(kinds, offsets, [pa.array(["a"]), pa.array([7])])
    >>> [some.to_pylist() for some in kinds_apart(cells)[0]], kinds_apart(cells)[1].tolist()
    ([['a'], [7]], [1, 0])
    """
    return [some for code in range(values.type.num_fields) if len(some := values.field(code))], _places(values)


def is_named_number(kind: pa.DataType) -> bool:
    """Whether cells are numbers with names beside them (`sources.object_rules`), which tell apart what reads as one number.

    Other structs do not come here: they are refused by their types.
    """
    return bool(pa.types.is_struct(kind)) and [field.name for field in kind][:2] == ["number", "name"]


def _listed(form: CellFormat, kind: pa.DataType) -> pa.Array:
    """The texts that stand for no value, as an array of this type of text."""
    return from_texts(form.missing).cast(kind)


def _without_missing(read: Read, values: pa.Array, form: CellFormat) -> NDArray[np.float64]:
    """What `read` makes of cells, NaN for those that stand for no value: by their text, or by what such a text means."""
    as_written = replace(form, missing=())
    cells = read(values, as_written)
    listed = read(from_texts([word for word in form.missing if word not in ("true", "false")]), as_written)
    kind = values.type
    if read is numbers and (pa.types.is_float32(kind) or pa.types.is_float16(kind)):
        listed = _in_width(listed, kind)
    is_missing = np.isin(cells, listed[~np.isnan(listed)])
    if not _is_number(kind):
        written = texts(values)
        is_missing |= to_mask(pc.fill_null(pc.is_in(written, _listed(form, written.type)), False))
    return np.where(is_missing, np.nan, cells)


def _in_width(listed: NDArray[np.float64], kind: pa.DataType) -> NDArray[np.float64]:
    """Numbers as narrow floats hold them: -99.9 is another number in 32 bits than in 64. NaN for what has no room there."""
    with np.errstate(over="ignore"):
        narrow = listed.astype(kind.to_pandas_dtype()).astype(np.float64)
    return np.where(np.isfinite(narrow), narrow, np.nan)


def _by_kind(read: Read, values: pa.Array, form: CellFormat) -> NDArray[np.float64]:
    """Cells that keep their kinds: each is read as in a column of its own kind."""
    kinds, places = kinds_apart(values)
    cells: NDArray[np.float64] = np.concatenate([*(read(some, form) for some in kinds), np.empty(0)])[places]
    return cells


def _places(values: pa.Array) -> NDArray[np.int64]:
    """Where the cells of a dense union stand when its kinds are laid end to end."""
    if not len(values):
        return np.empty(0, np.int64)
    _, codes, offsets = values.buffers()[:3]
    here = slice(values.offset, values.offset + len(values))  # pyarrow's own accessors forget where a slice begins
    lengths = [len(values.field(code)) for code in range(values.type.num_fields)]
    begins = np.cumsum([0, *lengths], dtype=np.int64)
    places: NDArray[np.int64] = begins[np.frombuffer(codes, np.int8)[here]] + np.frombuffer(offsets, np.int32)[here]
    return places


def _unwrapped(values: pa.Array) -> pa.Array | None:
    """What a wrapper type holds; None for what has no single value a row (lists, structs, nulls)."""
    if is_named_number(values.type):
        return values.field(0)
    return values.storage if isinstance(values, pa.ExtensionArray) else None


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _floats(values: pa.Array) -> NDArray[np.float64]:
    if not pa.types.is_float64(values.type):
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.uint8())
        if pa.types.is_decimal(values.type):  # by their digits: Arrow's own way is off in the last bit
            values = values.cast(pa.string())
        values = values.cast(pa.float64(), safe=False)
    if values.null_count:
        values = values.fill_null(np.nan)
    return to_numbers(values)


def _looked_up(by_code: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    cells: NDArray[np.float64] = np.append(by_code, np.nan)[codes]
    return cells


def _in_days(values: pa.Array) -> NDArray[np.float64]:
    kind = values.type
    if pa.types.is_date32(kind):
        return _floats(values.cast(pa.int32()))
    per_day = _PER_DAY["ms"] if pa.types.is_date64(kind) else _PER_DAY[kind.unit]
    width = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    return _floats(values.cast(width)) / per_day


def _trimmed(values: pa.Array) -> pa.Array:
    """Valid UTF-8 without blanks around it."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        try:
            values.validate(full=True)  # trimming alone looks at the ends of a cell only
            return pc.utf8_trim_whitespace(values)
        except pa.ArrowInvalid:  # bytes that are not UTF-8: files may hold them, and a row never aborts a run
            pass
    elif pa.types.is_string_view(kind):
        return _trimmed(values.cast(pa.large_string()))
    raw = values.cast(pa.large_binary(), safe=False).to_pylist()
    repaired = [None if cell is None else cell.decode("utf-8", "replace") for cell in raw]
    return pc.utf8_trim_whitespace(pa.array(repaired, pa.large_string()))


def _from_text(trimmed: pa.Array, form: CellFormat) -> NDArray[np.float64]:
    if form.decimal == ".":
        try:
            # Arrow is slow to refuse: a look at a few cells spares the attempt where many would fail
            trimmed.slice(0, _FEW).cast(pa.float64())
            floats = _floats(trimmed.cast(pa.float64()))
        except pa.ArrowInvalid:
            pass
        else:
            # Arrow also reads "inf" and "nan"; only text that is all plain numbers may go this way
            if np.isfinite(floats).all():
                return floats
    readable = pc.if_else(pc.match_substring_regex(trimmed, form.number_pattern), trimmed, pa.scalar(None, trimmed.type))
    if form.thousands is not None:
        readable = pc.replace_substring(readable, pattern=form.thousands, replacement="")
    if form.decimal != ".":
        readable = pc.replace_substring(readable, pattern=form.decimal, replacement=".")
    readable = pc.replace_substring_regex(readable, r"^\+", "")
    # a column of booleans becomes one of texts as soon as one cell is a text: a boolean reads the same in both
    readable = pc.if_else(pc.equal(trimmed, "true"), "1", pc.if_else(pc.equal(trimmed, "false"), "0", readable))
    try:
        return _floats(readable.cast(pa.float64()))
    except pa.ArrowInvalid:  # 1e999, which some versions of Arrow refuse and others read as infinite
        return np.array([np.nan if cell is None else float(cell) for cell in readable.to_pylist()], np.float64)


def _moment_texts(values: pa.Array) -> pa.Array:
    """One text for an instant, whatever it is counted in: no zeros at the end of a fraction; null for what no calendar has."""
    written = values.cast(pa.timestamp(values.type.unit)).cast(
        pa.string()
    )  # without a zone: no time zone database is needed
    written = pc.if_else(pc.starts_with(written, "<"), pa.scalar(None, pa.string()), written)
    return _without_zeros(written)


def _decimal_texts(values: pa.Array) -> pa.Array:
    """Decimals with all their digits: Arrow writes small ones, and zeros of a fine scale, with exponents (0E-10)."""
    written = values.cast(pa.string())
    is_short = pc.fill_null(pc.match_substring(written, "E"), False)
    if not pc.any(is_short).as_py():
        return written
    known = pc.if_else(is_short, written, pa.scalar(None, pa.string())).dictionary_encode()
    plain = pa.array([f"{Decimal(text):f}" for text in known.dictionary.to_pylist()], pa.string())
    return pc.if_else(is_short, plain.take(known.indices), written)


def _without_zeros(written: pa.Array) -> pa.Array:
    """Texts without zeros at the end of a fraction, and without its point if nothing else is behind it."""
    short = pc.replace_substring_regex(written, r"(\.[0-9]*?)0+$", r"\1")
    return pc.replace_substring_regex(short, r"\.$", "")


def _float_texts(values: pa.Array) -> pa.Array:
    if pa.types.is_float16(values.type):  # by their bits: older Arrows list no distinct half floats
        distinct = values.view(pa.uint16()).dictionary_encode()
        floats = distinct.dictionary.to_numpy(zero_copy_only=False).view(np.float16)
    else:
        distinct = values.dictionary_encode()
        floats = distinct.dictionary.to_numpy(zero_copy_only=False)
    return pa.array([float_text(number) for number in floats], pa.string()).take(distinct.indices)


def float_text(number: float | np.floating[Any]) -> str | None:
    """The text of a cell that holds this number: None for NaN, whole numbers with all their digits and without a dot.

    >>> float_text(3.0), float_text(1234567.5)
    ('3', '1234567.5')
    """
    if np.isnan(number):
        return None
    if abs(float(number)) < _LONGEST_WHOLE and number == np.trunc(number):
        return str(int(number))
    return str(number)  # the shortest text of its own width: float32 0.1 is "0.1"
