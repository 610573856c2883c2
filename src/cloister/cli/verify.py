"""``cloister verify``: whether a release adds up, whether its files are those that were written, and who vouches for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cloister.cli import flags
from cloister.cli.output import print_json, print_line
from cloister.errors import (
    ChangedRelease,
    CloisterError,
    NotChecked,
    SourceError,
    UsageError,
    VerificationFailed,
)
from cloister.sinks import CERTIFICATE_SUFFIX, certificate_path

if TYPE_CHECKING:
    from cloister.privacy.release import Release

EXAMPLE = "Example: cloister verify clusters/release.json"
CLUSTERS = ("kmeans", "kprototypes", "kmodes")  # kinds of certificates
WANTED = "Give what a command wrote: a release.json, or a file with its certificate inside or beside it"


CertificateFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The certificate of RELEASE, wherever it is. Default: inside RELEASE or beside it."),
]


class ReadRelease(NamedTuple):
    """A certificate, where the files that it names are, its own file (None: it lies inside), and the one output it covers."""

    certificate: Release
    folder: Path
    file: Path | None
    output: Path | None  # None: the folder with all that is in it, or the file that the certificate lies inside

    def content(self, given: Path) -> Path:
        """Where what was released lies: the one output, by whatever name its certificate has, or what was given."""
        from cloister.privacy.covered_files import is_beside, released_name

        name = released_name(self.certificate)
        if self.file is None or self.output is not None or name is None or not is_beside(self.certificate):
            return self.output or given
        return self.folder / name

    def checked_line(self, given: Path) -> str:
        """In words: what was compared with the certificate, and what it was called when it was released."""
        from cloister.privacy.covered_files import is_beside, released_name

        if self.file is None:
            return f"Checked: {given.name}, with the certificate inside it."
        if self.output is None:
            return f"Checked: the folder {self.folder.name}, with all that is in it."
        name = released_name(self.certificate)
        released = "" if name == self.output.name else f", released as {name}"
        alone = "" if is_beside(self.certificate) else "; nothing else of its folder"
        return f"Checked: {self.output.name}{released}, with {self.file.name}{alone}."

    def checked_names(self, given: Path) -> dict[str, Any]:
        """The same for a program."""
        checked = given if self.file is None else self.folder if self.output is None else self.output
        return {"checked": checked.name, "certificate": None if self.file is None else str(self.file)}


@flags.takes_groups
def verify(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE",
            help="A file or folder that a command wrote, under any name, or a certificate beside its file.",
        ),
    ],
    *,
    certificate: CertificateFile = None,
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
        read = read_release(release, certificate)
    check_consistency(*read)
    check_content(read, release)
    proof, given = read.certificate, Path(os.path.abspath(release))
    origin = check_origin(proof, keys, None if ledger is None else Ledger(ledger), own_public_key())
    if everywhere.as_json:
        facts = {"guarantee": str(proof.guarantee), "status": proof.status, **read.checked_names(given)}
        print_json({"verified": True, "consistent": True, "files": list(proof.files), **facts, **origin.as_dict()})
        return
    if everywhere.quiet:  # the exit code says it
        return
    covers = read.file is None or bool(proof.files)  # a certificate inside a file was compared with what is in it
    steps, files = bool(proof.events), "files are those of this release" if covers else "certificate is whole"
    lines = [f"The {'steps add up and the ' * steps}{files}: {proof.guarantee}.", f"Status: {proof.status}."]
    lines.append(read.checked_line(given) if covers else "It lists no files: it covers nothing that lies beside it.")
    for line in (*lines, *origin.sentences(proof)):
        print_line(line)


def read_release(path: Path, certificate: Path | None = None) -> ReadRelease:
    """What is there to be checked: of a file, a folder or a certificate, or of a file and the certificate given for it."""
    place = Path(os.path.abspath(path))  # `.` and `..` have no name that a certificate could stand beside
    if certificate is not None:
        return read_pair(path, place, certificate)
    file, proof = find_certificate(path, place), None
    if file is not None or not place.is_dir():
        check_regular(place if file is None else file)
        proof = told(path, read_inside if file is None else read_own_file, place if file is None else file)
    if proof is None and place.suffix.lower() == ".json":
        proof = told(path, read_foreign, place)
        file = None if proof is None else place  # a certificate that was renamed
    if proof is None:
        file, proof = find_fitting(path, place)
    return settle(place, file, proof)


def settle(place: Path, file: Path | None, proof: Release) -> ReadRelease:
    """Which files a certificate is compared with: what was given, or what it covers of all that lies beside it."""
    from cloister.privacy.certified_files import check_named
    from cloister.privacy.covered_files import covered_output, is_beside, released_name

    if file is None:
        return ReadRelease(proof, place.parent, None, None)
    if file in (place, place / "release.json"):
        return ReadRelease(proof, file.parent, file, covered_output(proof, file))
    if is_beside(proof) and released_name(proof) is not None:
        return ReadRelease(proof, file.parent, file, place)
    check_named(place, proof)
    return ReadRelease(proof, file.parent, file, None)


def read_pair(path: Path, place: Path, certificate: Path) -> ReadRelease:
    """A file or folder, and the certificate that was given for it."""
    from cloister.privacy.covered_files import is_beside

    if not place.exists():
        raise SourceError(f"{path} does not exist. {WANTED}.")
    file = Path(os.path.abspath(certificate))
    if file == place:
        raise UsageError("RELEASE and --certificate are one file. Give the table first, and its certificate there.")
    check_regular(file)
    if not place.is_dir():
        check_regular(place)
    proof = told(certificate, read_own_file, file)
    assert proof is not None
    is_folder = place.is_dir() and not is_beside(proof)
    return ReadRelease(proof, place, file, None) if is_folder else ReadRelease(proof, file.parent, file, place)


def find_fitting(path: Path, place: Path) -> tuple[Path, Release]:
    """The one certificate beside a file or folder that lists its content, or else its name; both may have been renamed."""
    from cloister.privacy.covered_files import fits, is_beside, possible_certificates, released_name

    read = ((file, told(path, read_foreign, file)) for file in possible_certificates(place))
    beside = [(file, proof) for file, proof in read if proof is not None and is_beside(proof)]
    fitting = {file.read_bytes(): (file, proof) for file, proof in beside if fits(proof, place)}
    if len(fitting) > 1:
        names = ", ".join(file.name for file, _ in fitting.values())
        raise NotChecked(
            f"several certificates beside {path} list what is in it: {names}. Say which, with --certificate FILE."
        )
    if found := [*fitting.values(), *(pair for pair in beside if released_name(pair[1]) == place.name)]:
        return found[0]
    raise no_certificate(path, place)


def no_certificate(path: Path, place: Path) -> SourceError:
    """What to do where no certificate is found."""
    if place.is_dir():
        inside = sorted(each.name.removesuffix(CERTIFICATE_SUFFIX) for each in place.glob(f"?*{CERTIFICATE_SUFFIX}"))
        advice = f"Something in it has one: give {path / inside[0]}" if inside else WANTED
        return SourceError(f"{path} has no certificate: no release.json is in it, and none stands beside it. {advice}.")
    if (place.parent / "release.json").is_file():
        return SourceError(f"{path} is part of a release. Give its folder, where release.json stands.")
    return SourceError(
        f"{path} has no certificate: none is inside it, no {certificate_path(place).name} stands beside it, and no other one "
        f"there lists what is in it. {WANTED}."
    )


def told(path: Path, read: Callable[[Path], Release | None], file: Path) -> Release | None:
    """What a reader makes of a file; whatever is wrong with that, in a sentence."""
    from cloister.privacy.certified_files import faults_told

    with faults_told(path, WANTED):
        return read(file)


def read_own_file(file: Path) -> Release:
    """The certificate in a file of its own."""
    from cloister.privacy.verification import read_certificate_file

    return read_certificate_file(file)


def read_foreign(file: Path) -> Release | None:
    """The certificate in a file that may be something else; None: it is."""
    try:
        return read_own_file(file)
    except (ChangedRelease, VerificationFailed):
        raise
    except (CloisterError, ValueError, RecursionError):
        return None


def is_syntactic(proof: Release) -> bool:
    """Whether it promises a k, whatever it is called."""
    from cloister.privacy.guarantees import Syntactic

    return isinstance(proof.guarantee, Syntactic)


def check_content(read: ReadRelease, given: Path) -> None:
    """Look at private tables, clusters and k-anonymous tables: a signature says who wrote them, not that they can be true.

    A certificate without files covers none, and says so.
    """
    proof = read.certificate
    if proof.files and is_syntactic(proof):
        from cloister.risks.published_classes import check_classes

        check_classes(read.content(given), proof)
    if proof.kind in CLUSTERS and "centers.csv" in proof.files:
        from cloister.clustering.saved_clusters import read_clusters

        read_clusters(proof, read.folder)
    if proof.kind != "table" or (read.file is not None and not proof.files):
        return
    from cloister.tabulation.table_figures import check_table_figures

    table = read.content(given)
    if not table.is_file():
        raise VerificationFailed("this release contradicts itself: a private table is one file, and it lists others.")
    check_table_figures(table, proof, is_inside=read.file is None)


def find_certificate(path: Path, place: Path) -> Path | None:
    """The file of the certificate of what lies at a place, by its name; None: it may lie inside, or be called otherwise."""
    names = [certificate_path(place)] if place.name else []
    if place.name.endswith("release.json"):
        names = [place]
    file = next((each for each in (*names, place / "release.json") if each.exists()), None)
    if file is None and not place.exists():
        raise SourceError(f"{path} does not exist. {WANTED}.")
    if place.suffix.lower() == ".zip" and file is None:
        raise SourceError(f"{path} is packed. Unpack it, and give the file that has a certificate beside it.")
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
