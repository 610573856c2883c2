"""Results that are read back from files: what lies there is checked as `cloister verify` checks it, before it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from cloister.errors import CloisterError, DataError, SourceError, VerificationFailed
from cloister.parameters import check_path
from cloister.privacy.release import Release
from cloister.privacy.verification import check_consistency, read_certificate_file, unreadable_told
from cloister.sinks import certificate_path, written_files

__all__ = ["check_kind", "check_named", "existing_file", "existing_output", "faults_told", "read_beside"]


def existing_file(path: str | PathLike[str], endings: Sequence[str], wanted: str) -> Path:
    """The place of a result that is one file, by one of these endings."""
    place = Path(os.path.abspath(check_path(path, "the file")))
    if place.suffix.lower() not in endings:
        raise SourceError(f"{path} does not end in {' or '.join(endings)}. {wanted}.")
    if not place.is_file():
        raise SourceError(f"{path} is not a file. {wanted}.")
    return place


def existing_output(path: str | PathLike[str], wanted: str) -> Path:
    """The place of a result that is a file or, as engines write them, a folder of files."""
    place = Path(os.path.abspath(check_path(path, "the file")))
    if not os.path.exists(place):
        raise SourceError(f"{path} is not there. {wanted}.")
    return place


def read_beside(place: Path, kind: str, wanted: str) -> Release:
    """The certificate beside a file or a folder: of this kind, about this output, and whole.

    Raises
    ------
    SourceError
        There is none, or it is one of something else.
    DataError
        It contradicts itself, or the file is not the one that was written with it.
    """
    file = certificate_path(place)
    if not file.is_file():
        raise SourceError(f"{place.name} has no certificate: no {file.name} stands beside it. {wanted}.")
    with unreadable_told(), faults_told(place.name, wanted):
        release = read_certificate_file(file)
    check_kind(release, kind, place.name, wanted)
    check_named(place, release)
    check_consistency(release, place.parent, file)
    return release


def check_kind(release: Release, kind: str, name: str, wanted: str) -> None:
    """Refuse the release of something else."""
    if release.kind != kind:
        raise SourceError(f"{name} is a release of something else. {wanted}.")


def check_named(path: Path, certificate: Release) -> None:
    """Refuse a certificate that is not about this file, or not about all files of this folder."""
    for name, file in written_files(path).items():
        if name not in certificate.files:
            raise VerificationFailed(f"{file.name} is not one of the files that the certificate beside it names.")


@contextmanager
def faults_told(path: str | PathLike[str], wanted: str) -> Iterator[None]:
    """Say in a sentence what readers raise that know nothing of checks."""
    import pyarrow as pa  # late: the command line starts without it

    try:
        yield
    except VerificationFailed:
        raise
    except DataError as error:
        raise VerificationFailed(str(error)) from None
    except CloisterError:
        raise
    except (OSError, ValueError, RecursionError, pa.ArrowException):
        raise SourceError(f"{path} cannot be read as a release. {wanted}.") from None
