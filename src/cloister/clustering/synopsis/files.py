"""Synopses as files: Parquet, one row a cell, with the certificate and the public grid inside."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.synopsis.noisy_cells import Cells
from cloister.encode import Encoding, Grid
from cloister.errors import ChangedRelease, CloisterError, NotChecked, SourceError, UsageError
from cloister.kernels import BallClip, BoxClip
from cloister.parameters import check_path
from cloister.privacy.certificate_json import is_as_written
from cloister.privacy.release import Release
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.strict_json import read_json
from cloister.schema.value_steps import ValueSteps
from cloister.sinks import stage
from cloister.sources.columnar import SYNOPSIS
from cloister.sources.exact_parquet import has_only
from cloister.sources.sound_batches import read_table, sound_batch

__all__ = ["About", "Contents", "as_printed", "fingerprint", "load", "load_about", "read_printed", "save"]

VERSION = 2
KEYS = {"version", "total", "unit", "radius", "grids"}
ABOUT, CERTIFICATE = SYNOPSIS, b"cloister.release"
BY_COLUMN, BY_CELL = ("lower", "upper", "points"), ("counts", "variances", "common", "groups")
TYPES = {"groups": pa.int64()}  # of a part of the cells; of all others: 64-bit floats
FOREIGN = "is not a synopsis file. Give the file that cloister synopsis wrote."
FILE = "file_base64"  # in what is printed of a synopsis: the bytes of its file
NOT_PRINTED = f'this is not a printed synopsis: it has no "{FILE}". Give what cloister synopsis printed, as it stands.'


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of itself, without its cells."""

    domain: Domain
    total: float
    release: Release


@dataclass(frozen=True, slots=True)
class Contents(About):
    """All that a synopsis file holds."""

    cells: Cells


def about_of(domain: Domain, total: float) -> str:
    """The public grid and the number of rows, as a file says them."""
    about = {
        "version": VERSION,
        "total": float(total),
        "unit": domain.unit,
        "radius": domain.encoding.radius,
        "grids": [grid_dict(grid) for grid in domain.encoding.numbers],
    }
    return json.dumps(about)


def grid_dict(grid: Grid) -> dict[str, Any]:
    """A grid as plain data; how its cells are written, and its values, only where a schema says it: older files have neither."""
    facts = dataclasses.asdict(grid)
    usual = {"form": grid.form == PLAIN, "values": grid.values is None}
    return {key: value for key, value in facts.items() if not usual.get(key)}


def read_grid(facts: dict[str, Any]) -> Grid:
    """What `grid_dict` wrote."""
    form = CellFormat(**facts["form"]) if "form" in facts else PLAIN
    values = ValueSteps(**facts["values"]) if "values" in facts else None
    return Grid(**{**facts, "form": form, "values": values})


def fingerprint(cells: Cells, domain: Domain, total: float) -> str:
    """A hash of the cells and their grid; the certificate holds it, so that a changed file is seen."""
    digest = hashlib.sha256(about_of(domain, total).encode())
    for name in Cells.__slots__:
        digest.update(bytes_of(getattr(cells, name)))
    return digest.hexdigest()


def save(contents: Contents, path: str | PathLike[str]) -> None:
    """Stage the file, then rename it into place."""
    if Path(check_path(path, "the output")).suffix.lower() not in (".parquet", ".pq"):
        raise UsageError("a synopsis is a Parquet file. Give it a name that ends in .parquet.")
    table = table_of(contents)
    with stage(path, directory=False) as staged:
        pq.write_table(table, staged.path, compression="zstd")
        staged.commit()


def as_printed(contents: Contents) -> dict[str, Any]:
    """All of it as JSON takes it, for where no file can be written: the certificate to look at, and the whole file."""
    file = io.BytesIO()
    pq.write_table(table_of(contents), file, compression="zstd")
    return {**contents.release.as_dict(), FILE: base64.b64encode(file.getvalue()).decode("ascii")}


def read_printed(text: str) -> Contents:
    """What `as_printed` made, checked like any file."""
    printed = read_json(text, "this is not a printed synopsis", UsageError, "Give what cloister synopsis printed.")
    if not isinstance(printed, dict) or not isinstance(printed.get(FILE), str):
        raise UsageError(NOT_PRINTED)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "printed.parquet"
        try:
            path.write_bytes(base64.b64decode(printed[FILE], validate=True))
        except ValueError:
            raise UsageError(NOT_PRINTED) from None
        try:
            return load(path)
        except CloisterError as error:
            error.args = (str(error).replace(str(path), "the printed synopsis"),)
            raise


def table_of(contents: Contents) -> pa.Table:
    """A row a cell, with the certificate and the public grid in its metadata."""
    cells, domain = contents.cells, contents.domain
    columns: dict[str, NDArray[Any]] = {}
    for part in (*BY_COLUMN, *BY_CELL):
        columns |= dict(zip(columns_of(part, domain), np.atleast_2d(getattr(cells, part).T), strict=True))
    about = about_of(domain, contents.total)
    return pa.table(columns, schema_of(domain)).replace_schema_metadata(
        {ABOUT: about, CERTIFICATE: contents.release.to_json()}
    )


def columns_of(part: str, domain: Domain) -> list[str]:
    """The columns of a file that hold a part of the cells, in their order."""
    return [f"{part} {j}" for j in range(len(domain.columns))] if part in BY_COLUMN else [part]


def schema_of(domain: Domain) -> pa.Schema:
    """All columns of a file, in their order, with their types."""
    parts = [(column, part) for part in (*BY_COLUMN, *BY_CELL) for column in columns_of(part, domain)]
    return pa.schema([(column, TYPES.get(part, pa.float64())) for column, part in parts])


def load(path: str | PathLike[str]) -> Contents:
    """Read and check a synopsis file."""
    name = check_path(path, "the synopsis")
    about = read_about(name)
    with damage_told(name):
        check_columns(name, about.domain)
        check_length(name, about)
        table = read_table(name)
        cells = Cells(**{part: values_of(table, part, about.domain) for part in (*BY_COLUMN, *BY_CELL)})
    check_hash(name, about, fingerprint(cells, about.domain, about.total))
    return Contents(about.domain, about.total, about.release, cells)


def load_about(path: str | PathLike[str]) -> About:
    """Read and check a synopsis file without keeping its cells, of which there may be too many for this machine."""
    name = check_path(path, "the synopsis")
    about = read_about(name)
    digest = hashlib.sha256(about_of(about.domain, about.total).encode())
    with damage_told(name), pq.ParquetFile(name) as file:
        check_columns(name, about.domain)
        check_length(name, about)
        for part in Cells.__slots__:  # one pass each: the hash goes through them one after another
            for batch in file.iter_batches(columns=columns_of(part, about.domain), use_threads=False):
                digest.update(bytes_of(values_of(sound_batch(batch), part, about.domain)))
    check_hash(name, about, digest.hexdigest())
    return about


@contextmanager
def damage_told(name: str) -> Iterator[None]:
    """Say of a file that cannot be read as a synopsis that it is damaged."""
    try:
        yield
    except NotChecked:
        raise
    except (CloisterError, pa.ArrowException, OSError, KeyError, TypeError, ValueError):
        raise ChangedRelease(
            f"{name} is damaged: a part of the synopsis is missing, or is not of it. Ask for the original."
        ) from None


def check_columns(name: str, domain: Domain) -> None:
    """Refuse a file with other columns than a synopsis of this domain has, or with more beside them."""
    if not pq.read_schema(name).equals(schema_of(domain)):
        raise ValueError("other columns")
    if not has_only(name, (ABOUT, CERTIFICATE), {pa.float64(), pa.int64()}):
        raise ValueError("more than its columns")


def check_length(name: str, about: About) -> None:
    """Refuse another number of cells than the certificate says, before they are read: a small file may hold billions."""
    if pq.read_metadata(name).num_rows != about.release.result.get("cells"):
        raise ValueError("another number of cells")


def check_hash(name: str, about: About, digest: str) -> None:
    """Refuse a file whose cells have another hash than its certificate says."""
    if about.release.result.get("sha256") != digest:
        raise ChangedRelease(f"{name} was changed after it was written: its cells are not those of its certificate.")


def values_of(table: pa.Table | pa.RecordBatch, part: str, domain: Domain) -> NDArray[Any]:
    """One part of the cells: a number a cell, or one a cell and column."""
    values = [table[column].to_numpy(zero_copy_only=False) for column in columns_of(part, domain)]
    return np.column_stack(values) if part in BY_COLUMN else values[0]


def bytes_of(values: NDArray[Any]) -> bytes:
    """What is hashed of a part of the cells."""
    return np.ascontiguousarray(values).astype("<f8").tobytes()


def read_about(name: str) -> About:
    """The certificate and the public grid of a synopsis file; its cells are not read."""
    if not os.path.isfile(name):  # a pipe may never end
        problem = "is no file" if os.path.exists(name) else "does not exist"
        raise SourceError(f"{name} {problem}. Give the file that cloister synopsis wrote.")
    try:
        metadata = pq.read_schema(name).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        raise SourceError(f"{name} is damaged, or {FOREIGN}") from None
    if ABOUT not in metadata or CERTIFICATE not in metadata:
        raise SourceError(f"{name} {FOREIGN}")
    try:
        about = read_json(metadata[ABOUT], name)
        version = about["version"]
        if type(version) is not int or (version == VERSION and about.keys() != KEYS):
            raise ValueError
        grids = tuple(read_grid(grid) for grid in about["grids"])
        domain, total = domain_of(grids, about["radius"], about["unit"]), float(about["total"])
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise SourceError(f"{name} is damaged: a part of the synopsis is missing. Ask for the original.") from None
    if version != VERSION:
        raise SourceError(f"{name} has version {version}, and this Cloister reads {VERSION}. Update Cloister.")
    release = Release.from_json(metadata[CERTIFICATE].decode(errors="replace"))
    if release.kind != "synopsis":
        raise SourceError(f"{name} {FOREIGN}")
    if metadata[ABOUT] != about_of(domain, total).encode() or not is_as_written(release, metadata[CERTIFICATE]):
        raise ChangedRelease(f"{name} was changed after it was written: its metadata is not as Cloister writes it.")
    return About(domain, total, release)


def domain_of(grids: tuple[Grid, ...], radius: int | None, unit: float) -> Domain:
    """The public grid, from what a file says of it."""
    halves = np.array([grid.half for grid in grids], dtype=np.int64)
    clip = BoxClip(tuple(grid.half for grid in grids)) if radius is None else BallClip(radius, len(grids))
    return Domain(Encoding(grids, radius=radius), clip, halves, unit)
