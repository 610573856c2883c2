"""Which file or folder a certificate covers: that with the content it lists, whatever it is called now.

A certificate that stands beside one output lists it under the name that it was released with. Names are covered by nothing
that matters to a reader: whoever gets a file renames it. Its content is compared, and the name it was released with is told.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cloister.errors import CloisterError, NotChecked, VerificationFailed
from cloister.privacy.guarantees import Local, Syntactic
from cloister.privacy.release import Release
from cloister.sinks import CERTIFICATE_SUFFIX, everything_in, file_hash

__all__ = ["check_output", "covered_output", "fits", "is_beside", "possible_certificates", "released_name"]

BESIDE_FILES = ("table", "rows")  # kinds whose certificate stands beside one file
FOLDER_CERTIFICATE = "release.json"  # covers the folder that it lies in, with all that is there
LONGEST_CERTIFICATE = 200_000_000  # bytes; that of 4,096 clusters in 200 columns has some 50 million


def is_beside(release: Release) -> bool:
    """Whether its certificate stands beside what was written, and not in a folder with it."""
    return release.kind in BESIDE_FILES or isinstance(release.guarantee, Local | Syntactic)


def released_name(release: Release) -> str | None:
    """The name that the one file or folder that a certificate lists was released with; None: it lists several, or none."""
    names = {PurePosixPath(file).parts[0] for file in release.files}
    return names.pop() if len(names) == 1 else None


def covered_output(release: Release, certificate: Path | None) -> Path | None:
    """The one file or folder that a certificate beside it covers; None: it lies inside what it covers, or covers nothing."""
    released = released_name(release)
    if certificate is None or certificate.name == FOLDER_CERTIFICATE or not is_beside(release) or released is None:
        return None
    return _find_output(release, released, certificate)


def _find_output(release: Release, released: str, certificate: Path) -> Path:
    """What a certificate covers of all that lies beside it.

    That is what the certificate is named after, or else what has the name that it lists; whether these fit is checked as if
    they had been given. Where neither is there: the one that has the content.

    Raises
    ------
    VerificationFailed
        Nothing there has the content.
    NotChecked
        Several have it.
    """
    folder = certificate.parent
    named = certificate.name.removesuffix(CERTIFICATE_SUFFIX)
    for name in (named, released):
        if name != certificate.name and os.path.lexists(folder / name):
            return folder / name
    fitting = [path for path in sorted(folder.iterdir()) if fits(release, path)]
    if not fitting:
        raise VerificationFailed(f"{released} is missing beside the release, and nothing there has its content.")
    if len(fitting) > 1:
        raise NotChecked(
            f"{len(fitting)} files beside {certificate.name} have what it covers: {fitting[0].name}, {fitting[1].name}. Say "
            f"which: cloister verify FILE --certificate {certificate.name}"
        )
    return fitting[0]


def possible_certificates(output: Path) -> Iterator[Path]:
    """The files beside an output that may be its certificate: JSON with the hash of the file in it, or with its name.

    Of a folder: with the name of something that lies in it.
    """
    if output.is_dir():
        signs = [f"/{each.name}" for each in output.iterdir()]
    else:
        signs = [file_hash(output), json.dumps(output.name, ensure_ascii=False)]
    for path in sorted(output.parent.glob("*.json")):
        try:
            if path == output or not path.is_file() or path.stat().st_size > LONGEST_CERTIFICATE:
                continue
            text = path.read_bytes()
        except OSError:  # it is not known to be a certificate
            continue
        if any(sign.encode(errors="surrogateescape") in text for sign in signs):
            yield path


def check_output(release: Release, output: Path) -> None:
    """Compare a file or folder with the one that a certificate lists, and refuse whatever else is in the folder."""
    released = released_name(release)
    if released is None:
        raise VerificationFailed(
            f"the certificate lists {len(release.files) or 'no'} files, and not {output.name} alone: it does not cover that."
        )
    for name, expected in release.files.items():
        path, shown = _place(name, released, output)
        if any(part.is_symlink() for part in _way(path, output)):
            raise VerificationFailed(
                f"{shown} is a link, or lies behind one: what it leads to was not written with the release."
            )
        if not path.is_file():
            raise VerificationFailed(f"{shown} is missing beside the release.")
        if file_hash(path) != expected:
            raise VerificationFailed(
                f"{shown} was changed after it was written: its hash differs from the release."
                if shown == name
                else f"{shown} is not {name}, which the certificate covers, or was changed since: its hash differs."
            )
    if output.is_dir():
        listed = {_place(name, released, output)[1] for name in release.files}
        for shown in sorted({f"{output.name}/{file}" for file in everything_in(output)} - listed):
            raise VerificationFailed(f"{shown} is in the folder, and the certificate does not list it. Take it out.")


def _place(name: str, released: str, output: Path) -> tuple[Path, str]:
    """Where a listed file is in an output, and its name with that of the output today."""
    below = PurePosixPath(name).relative_to(released)
    return output / below, str(PurePosixPath(output.name) / below)


def _way(path: Path, output: Path) -> Iterator[Path]:
    """A file of an output, and the folders on the way to it, with the output itself."""
    yield path
    while path != output:
        path = path.parent
        yield path


def fits(release: Release, candidate: Path) -> bool:
    """Whether a file or folder is what a certificate lists."""
    try:
        check_output(release, candidate)
    except (CloisterError, OSError):
        return False
    return True
