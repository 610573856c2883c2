"""Private releases that were paid for, kept until they are written where they were wanted.

A command writes its result here first, then under ``--out``, and then removes the kept copy. A copy that is found later belongs
to a process that died or to a disk that was full: ``cloister ledger recover`` hands it out, at no cost.

Privacy
-------
What is kept is the release itself, which may leave the building; it is readable by its user alone all the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from cloister.errors import CloisterError, UnwrittenRelease, UsageError
from cloister.interrupts import deferred
from cloister.privacy.ledger import Ledger
from cloister.privacy.release import Release
from cloister.sinks import certificate_path, file_hashes, reserved, stage

__all__ = ["KeptRelease", "find_kept", "keep", "kept_releases", "write_release"]

ABOUT, RESULT = "about.json", "result"  # in the folder of a kept release
CERTIFICATE = "release.json"  # in a folder of results

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeptRelease:
    """A release in a folder of its own.

    Attributes
    ----------
    id : str
        Its entry in the ledger; of a release that no ledger was charged for, the first letters of its hash.
    what, when, out : str
        The guarantee and the table, the time, and where it was to be written.
    """

    folder: Path
    id: str
    what: str
    when: str
    out: str

    @property
    def result(self) -> Path:
        """The file or folder as the verb wrote it; its certificate may stand beside it."""
        return self.folder / RESULT / Path(self.out).name

    @property
    def is_written(self) -> bool:
        """Whether the same files are where they were wanted: the process died after that."""
        wanted = Path(self.out)
        if not wanted.exists():
            return False
        shown = file_hashes(wanted)
        # the certificate in a folder says of labels, which are not kept
        return all(
            shown.get(name) == hash for name, hash in file_hashes(self.result).items() if Path(name).name != CERTIFICATE
        )

    def hand_out(self, out: Path) -> None:
        """Write it to a new place, and let the kept copy go. Nothing is charged.

        Raises
        ------
        UsageError
            If the name ends in another format than the result has.
        SinkError
        """
        kept, beside = self.result, certificate_path(self.result)
        if not kept.is_dir() and out.suffix.lower() != kept.suffix.lower():
            raise UsageError(f"the kept result is a {kept.suffix} file. Give --out a name that ends so.")
        with stage(out, directory=kept.is_dir(), with_certificate=beside.exists()) as staged:
            certificate = None
            if kept.is_dir():
                shutil.copytree(kept, staged.path, dirs_exist_ok=True)
            else:
                shutil.copyfile(kept, staged.path)
            if beside.exists():
                certificate = beside.read_text(encoding="utf-8")
                if out.name != kept.name:  # it names the file
                    release = Release.from_json(certificate)
                    certificate = dataclasses.replace(release, files=file_hashes(staged.path)).to_json()
            staged.commit(certificate)
        self.drop()

    def drop(self) -> None:
        """Remove the kept copy."""
        with deferred(), contextlib.suppress(OSError):
            shutil.rmtree(self.folder)
            self.folder.parent.rmdir()  # if it was the last one

    def as_dict(self) -> dict[str, str]:
        """Plain data."""
        return {"entry": self.id, "release": self.what, "when": self.when, "out": self.out}


def write_release(
    release: Release, ledger: str | Ledger | None, out: Path, save: Callable[[Path], object], write: Callable[[Path], T]
) -> T:
    """Write a release where it is wanted, and keep it until it is there.

    Parameters
    ----------
    release : Release
    ledger : str, Ledger or None
        Where the release was charged, as the user named it.
    out : path, reserved before the charge
    save : writes the release alone to a path
    write : writes it to `out`, with whatever belongs to it

    Raises
    ------
    UnwrittenRelease
        If it cannot be written. What was charged, and how to get the result, is in the message.
    """
    book = Ledger.find(ledger) if release.ledger is not None else None
    with reserved(out) as held:
        kept = keep(release, book, held.target, save)
        try:
            return write(out)
        except CloisterError as error:
            if held.committed:
                raise
            raise UnwrittenRelease(f"{error} {advice(release, book, kept)}", is_kept=kept is not None) from None
        except BaseException as error:
            if not held.committed:
                error.add_note(advice(release, book, kept))
            raise
        finally:
            if held.committed and kept is not None:
                kept.drop()


def keep(release: Release, ledger: Ledger | None, out: Path, save: Callable[[Path], object]) -> KeptRelease | None:
    """Write a release into the first place that has room for it; None if none has."""
    digest = release.digest()[:8]
    entry = str(release.ledger["entry"]) if release.ledger else ""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    table = f' of table "{release.ledger["table"]}"' if release.ledger else ""
    about = {"id": entry or digest, "what": f"{release.kind}{table}: {release.guarantee}", "when": when, "out": str(out)}
    for place in (place for place in places(ledger) for _ in range(2)):  # the folder may go when another copy does
        kept = KeptRelease(place / f"{entry}-{digest}", **about)
        try:
            with deferred():
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                with stage(kept.folder, directory=True) as staged:
                    (staged.path / RESULT).mkdir()
                    save(staged.path / RESULT / out.name)
                    (staged.path / ABOUT).write_text(json.dumps(about), encoding="utf-8")
                    staged.commit()
            return kept
        except (OSError, CloisterError):  # no room, or no rights: the next place
            continue
    return None


def kept_releases(ledger: Ledger) -> list[KeptRelease]:
    """What is kept for a ledger, and for tables without one, oldest first; what was written after all is let go."""
    found = []
    for place in dict.fromkeys([*places(ledger), *places(None)]):
        for kept in read_place(place):
            if kept.is_written:
                kept.drop()
            else:
                found.append(kept)
    return sorted(found, key=lambda kept: kept.when)


def find_kept(ledger: Ledger, entry: str | None) -> KeptRelease:
    """The kept release of an entry; without one, the only release that is kept."""
    found = kept_releases(ledger)
    matching = [kept for kept in found if entry in (None, kept.id)]
    if not found:
        raise UsageError("nothing is kept: every release of this ledger was written, or handed out already.")
    if not matching:
        raise UsageError(f"no release of entry {entry} is kept. See what is: cloister ledger recover")
    if len(matching) > 1:
        raise UsageError(f"{len(matching)} releases are kept. Say which one: cloister ledger recover ENTRY --out PATH")
    return matching[0]


def read_place(place: Path) -> Iterator[KeptRelease]:
    """The kept releases in a folder; what is no such release is passed over."""
    try:
        folders = sorted(path for path in place.iterdir() if not path.name.startswith("."))
    except OSError:
        return
    for folder in folders:
        try:
            about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            kept = KeptRelease(folder, *(str(about[key]) for key in ("id", "what", "when", "out")))
        except (OSError, ValueError, TypeError, KeyError):
            continue
        if kept.result.exists():
            yield kept


def places(ledger: Ledger | None) -> list[Path]:
    """Where releases of a ledger are kept: beside its file; without one, or without room there, in the user's data folder."""
    import platformdirs

    shared = platformdirs.user_data_path("cloister", appauthor=False) / "kept"
    if ledger is None:
        return [shared / "unledgered"]
    elsewhere = shared / hashlib.sha256(ledger.place.encode()).hexdigest()[:16]
    return [elsewhere] if "://" in ledger.place else [Path(f"{ledger.place}.kept"), elsewhere]


def advice(release: Release, ledger: Ledger | None, kept: KeptRelease | None) -> str:
    """What was charged for a release that was not written, and how to get it."""
    charged = "No ledger was charged for it."
    if release.ledger:
        charged = f'Entry {release.ledger["entry"]} of table "{release.ledger["table"]}" stays charged: {release.guarantee}.'
    if kept is None:
        return f"{charged} There was no room to keep the result either."
    return f"{charged} The result is kept. Get it at no cost: cloister ledger recover {kept.id} --out PATH{flag(ledger)}"


def flag(ledger: Ledger | None) -> str:
    """The flag that leads the command line to a ledger that it would not find by itself."""
    with contextlib.suppress(CloisterError):
        if ledger is None or ledger.place == Ledger.default().place:
            return ""
    assert ledger is not None
    return f" --ledger {shlex.quote(ledger.place)}"
