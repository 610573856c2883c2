"""A written table and its certificate: they appear together, or neither does."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cloister.privacy.release import Release
from cloister.sinks import Staged, check_free, stage

__all__ = ["StagedTable", "certificate_of", "check_both_free", "stage_table"]


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A table and its certificate on their way: write the rows to `path`, then `commit`."""

    table: Staged
    certificate: Staged

    @property
    def path(self) -> Path:
        """Where the rows are written."""
        return self.table.path

    def hashes(self) -> dict[str, str]:
        """The hash of each written file, under the name that it will have."""
        return hashes(self.table.path, self.table.target.name)

    def commit(self, release: Release) -> None:
        """Let the table appear with its certificate, or neither."""
        self.certificate.path.write_text(release.to_json(), encoding="utf-8")
        self.table.commit()
        try:
            self.certificate.commit()
        except BaseException:  # a table without its certificate is no release
            target = self.table.target
            (shutil.rmtree if target.is_dir() else os.unlink)(target)
            raise


@contextmanager
def stage_table(out: str | os.PathLike[str]) -> Iterator[StagedTable]:
    """Stage a table, a file or on Spark a folder, and its certificate; without `commit` nothing of them is left."""
    with stage(out, directory=False) as table, stage(certificate_of(out), directory=False) as certificate:
        yield StagedTable(table, certificate)


def check_both_free(out: str | os.PathLike[str]) -> None:
    """Refuse an output that is there already, or whose certificate is."""
    check_free(out)
    check_free(certificate_of(out))


def certificate_of(out: str | os.PathLike[str]) -> Path:
    """Where the certificate of an output is written."""
    path = Path(out)
    return path.with_name(f"{path.name}.release.json")


def hashes(path: Path, name: str) -> dict[str, str]:
    """The hash of each file of an output that is called `name`."""
    files = (
        {name: path}
        if path.is_file()
        else {
            f"{name}/{file.relative_to(path)}": file
            for file in sorted(path.rglob("*"))
            if file.is_file() and not file.name.startswith(".")
        }
    )
    digests = {}
    for shown, place in files.items():
        with place.open("rb") as opened:
            digests[shown] = hashlib.file_digest(opened, "sha256").hexdigest()
    return digests
