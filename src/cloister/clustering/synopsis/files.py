"""Synopses as files: Parquet, one row a cell, with the certificate and the public grid inside."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cloister.clustering.domain import Domain
from cloister.clustering.synopsis.noisy_cells import Cells
from cloister.encode import Encoding, Grid
from cloister.errors import CloisterError, SourceError
from cloister.kernels import BallClip, BoxClip
from cloister.parameters import check_path
from cloister.privacy.release import Release
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.strict_json import read_json
from cloister.schema.value_steps import ValueSteps
from cloister.sinks import stage
from cloister.sources.exact_parquet import has_only
from cloister.sources.sound_batches import read_table

__all__ = ["About", "Contents", "fingerprint", "load", "read_about", "save"]

VERSION = 2
KEYS = {"version", "total", "unit", "radius", "grids"}
ABOUT, CERTIFICATE = b"cloister.synopsis", b"cloister.release"
BY_COLUMN, BY_CELL = ("lower", "upper", "points"), ("counts", "variances", "common", "groups")
TYPES = {pa.float64(), pa.int64()}
FOREIGN = "is not a synopsis file. Give the file that cloister synopsis wrote."


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
        digest.update(np.ascontiguousarray(getattr(cells, name)).astype("<f8").tobytes())
    return digest.hexdigest()


def save(contents: Contents, path: str | PathLike[str]) -> None:
    """Stage the file, then rename it into place."""
    cells, domain = contents.cells, contents.domain
    columns = [getattr(cells, part)[:, j] for part in BY_COLUMN for j in range(len(domain.columns))]
    columns += [getattr(cells, part) for part in BY_CELL]
    about = about_of(domain, contents.total)
    table = pa.table(dict(zip(column_names(domain), columns, strict=True))).replace_schema_metadata(
        {ABOUT: about, CERTIFICATE: contents.release.to_json()}
    )
    with stage(path, directory=False) as staged:
        pq.write_table(table, staged.path, compression="zstd")
        staged.commit()


def column_names(domain: Domain) -> list[str]:
    """The columns of a file, in their order."""
    return [*(f"{part} {j}" for part in BY_COLUMN for j in range(len(domain.columns))), *BY_CELL]


def load(path: str | PathLike[str]) -> Contents:
    """Read and check a synopsis file."""
    name = check_path(path, "the synopsis")
    about = read_about(name)
    try:
        table = read_table(name)
        if table.column_names != column_names(about.domain) or not has_only(name, {ABOUT, CERTIFICATE}, TYPES):
            raise ValueError("other columns")
        parts = {
            part: np.column_stack([table[f"{part} {j}"].to_numpy() for j in range(len(about.domain.columns))])
            for part in BY_COLUMN
        }
        cells = Cells(**parts, **{part: table[part].to_numpy() for part in BY_CELL})
    except (CloisterError, pa.ArrowException, OSError, KeyError, TypeError, ValueError):
        raise SourceError(
            f"{name} is damaged: a part of the synopsis is missing, or is not of it. Ask for the original."
        ) from None
    if about.release.result.get("sha256") != fingerprint(cells, about.domain, about.total):
        raise SourceError(f"{name} was changed after it was written: its cells are not those of its certificate.")
    return Contents(about.domain, about.total, about.release, cells)


def read_about(name: str) -> About:
    """The certificate and the public grid of a synopsis file; its cells are not read."""
    if not os.path.exists(name):
        raise SourceError(f"{name} does not exist. Give the file that cloister synopsis wrote.")
    try:
        metadata = pq.read_schema(name).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        raise SourceError(f"{name} is damaged, or {FOREIGN}") from None
    if ABOUT not in metadata or CERTIFICATE not in metadata:
        raise SourceError(f"{name} {FOREIGN}")
    try:
        about = read_json(metadata[ABOUT], name)
        version = about["version"]
        if version == VERSION and about.keys() != KEYS:
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
    return About(domain, total, release)


def domain_of(grids: tuple[Grid, ...], radius: int | None, unit: float) -> Domain:
    """The public grid, from what a file says of it."""
    halves = np.array([grid.half for grid in grids], dtype=np.int64)
    clip = BoxClip(tuple(grid.half for grid in grids)) if radius is None else BallClip(radius, len(grids))
    return Domain(Encoding(grids, radius=radius), clip, halves, unit)
