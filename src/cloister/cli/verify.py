"""``cloister verify``: whether a release adds up, whether its files are those that were written, and who vouches for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cloister.cli import flags
from cloister.cli.output import print_json, print_line
from cloister.errors import SourceError
from cloister.sinks import CERTIFICATE_SUFFIX, certificate_path

if TYPE_CHECKING:
    from cloister.privacy.release import Release

EXAMPLE = "Example: cloister verify clusters/release.json"
WANTED = "Give what a command wrote: a release.json, or a file with its certificate inside or beside it"


@flags.takes_groups
def verify(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A release.json, or a folder, synopsis or table that a command wrote.")
    ],
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="PUBLIC", help="A public key, or a file with it, that must have signed; may be given again."),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(metavar="URL", help="The ledger that must hold it; a path is SQLite.")
    ] = None,
    everywhere: flags.Everywhere,
) -> None:
    """Add the steps of a release up again, check its files, and on request who signed it and the ledger.

    Exit code 0: all that was asked for holds. 5: it was checked and does not hold. 2: it could not be checked; 4: the ledger
    could not be asked.
    """
    from cloister.privacy.ledger import Ledger
    from cloister.privacy.signing import own_public_key, read_public_key
    from cloister.privacy.verification import check_consistency, check_origin, unreadable_told

    keys = [read_public_key(text) for text in key or []]
    with unreadable_told():
        certificate, folder, file = read_release(release)
    check_consistency(certificate, folder, file)
    origin = check_origin(certificate, keys, None if ledger is None else Ledger(ledger), own_public_key())
    if everywhere.as_json:
        facts = {"guarantee": str(certificate.guarantee), "status": certificate.status}
        print_json({"verified": True, "consistent": True, "files": list(certificate.files), **facts, **origin.as_dict()})
        return
    if everywhere.quiet:  # the exit code says it
        return
    covers = file is None or bool(certificate.files)  # a certificate inside a file was compared with what is in it
    steps, files = bool(certificate.events), "files are those of this release" if covers else "certificate is whole"
    lines = [f"The {'steps add up and the ' * steps}{files}: {certificate.guarantee}.", f"Status: {certificate.status}."]
    if not covers:
        lines.append("It lists no files: it covers nothing that lies beside it.")
    for line in (*lines, *origin.sentences(certificate)):
        print_line(line)


def read_release(path: Path) -> tuple[Release, Path, Path | None]:
    """A certificate, where the files that it names are, and its own file; None: it lies inside the file that it is about."""
    from cloister.privacy.certified_files import check_named, faults_told
    from cloister.privacy.verification import read_certificate_file

    place = Path(os.path.abspath(path))  # `.` and `..` have no name that a certificate could stand beside
    file = find_certificate(path, place)
    check_regular(place if file is None else file)
    with faults_told(path, WANTED):
        certificate = read_inside(place) if file is None else read_certificate_file(file)
    if certificate is None:
        if (place.parent / "release.json").is_file():
            raise SourceError(f"{path} is part of a release. Give its folder, where release.json stands.")
        raise SourceError(
            f"{path} has no certificate: none is inside it, and no {certificate_path(place).name} stands beside it. {WANTED}."
        )
    if file is not None and file not in (place, place / "release.json"):
        check_named(place, certificate)
    return certificate, place.parent if file is None else file.parent, file


def find_certificate(path: Path, place: Path) -> Path | None:
    """The file of the certificate of what lies at a place; None: it may lie inside."""
    file: Path | None = certificate_path(place) if place.name else None
    if place.name.endswith("release.json"):
        file = place
    elif file is None or not file.exists():
        file = place / "release.json" if place.is_dir() else None
    if not place.exists() and (file is None or not file.exists()):
        raise SourceError(f"{path} does not exist. {WANTED}.")
    if place.suffix.lower() == ".zip" and file is None:
        raise SourceError(f"{path} is packed. Unpack it, and give the file that has a certificate beside it.")
    if file is not None and not file.exists():
        inside = sorted(each.name.removesuffix(CERTIFICATE_SUFFIX) for each in place.glob(f"?*{CERTIFICATE_SUFFIX}"))
        advice = f"Something in it has one: give {path / inside[0]}" if inside else WANTED
        raise SourceError(f"{path} has no certificate: no release.json is in it, and none stands beside it. {advice}.")
    return file


def check_regular(path: Path) -> None:
    """Refuse a pipe or a device, which may never end."""
    if not path.is_file():
        raise SourceError(f"{path} is not a file. {WANTED}.")


def read_inside(path: Path) -> Release | None:
    """The certificate inside a synopsis, a table or a choice, checked against what is in the file."""
    import pyarrow.parquet as pq

    from cloister.choosing.private_choice import read_choice
    from cloister.clustering.synopsis.files import ABOUT, load
    from cloister.tabulation.saved_tables import read_certificate

    if path.suffix.lower() == ".parquet" and ABOUT in (pq.read_schema(path).metadata or {}):
        return load(path).release
    if path.suffix.lower() not in (".parquet", ".json"):
        return None
    return read_certificate(path) or (read_choice(path) if path.suffix.lower() == ".json" else None)
