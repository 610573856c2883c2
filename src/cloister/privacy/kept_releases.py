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
import errno
import hashlib
import json
import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from cloister.errors import CloisterError, DataError, LedgerError, UnwrittenRelease, UsageError
from cloister.interrupts import deferred, holdable, let_interrupts_go
from cloister.privacy.kept_places import FOLDER, beside, check_place, check_unused, places, places_to_read
from cloister.privacy.ledger import Ledger
from cloister.privacy.release import Release
from cloister.privacy.signing import host_key
from cloister.sinks import certificate_path, file_hash, file_hashes, reserved, stage, written_files
from cloister.stopped_commands import ChargeNote

__all__ = [
    "KeptRelease",
    "find_kept",
    "keep",
    "kept_releases",
    "paid_result",
    "remember_charged",
    "will_be_kept",
    "write_release",
]

ABOUT, RESULT, SEAL = "about.json", "result", "seal.json"  # in the folder of a kept release
GONE = ".gone"  # the end of the name of a kept copy that is being removed
CERTIFICATE = "release.json"  # in a folder of results
LONGEST_ABOUT = 1 << 20  # characters: a guarantee, a time and a path
MOST_SHOWN = 5  # entries in a message

T = TypeVar("T")


@dataclass(slots=True)
class _PaidResult:
    """A block of `paid_result`: the ledger that was charged in it, as it was found before the charge."""

    charged: Ledger | None = None


_paid: ContextVar[_PaidResult | None] = ContextVar("_paid", default=None)


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

    def release(self) -> Release:
        """The certificate of what is kept, which this host signed together with what is told of it and all files' hashes.

        Raises
        ------
        DataError
            Something in the folder is not what this host put there.
        UsageError
            The key of this host cannot be used, so nobody can say.
        """
        try:
            own = host_key().public
        except UsageError as error:
            raise UsageError(f"{error} What is kept stays where it is, and is handed out once that is mended.") from None
        try:
            check_place(self.folder.parent)
            hashes = hash_all(self.folder)
            found = {path.name for path in self.folder.iterdir()}
            seal = Release.from_json((self.folder / SEAL).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise self._changed() from None
        if not {ABOUT, SEAL} <= hashes.keys():
            raise self._changed()
        signer, name = None if seal.signature is None else seal.signature.key, self.result.name
        del hashes[SEAL]
        kept = files_of_result(hashes)
        is_named = all(file in (name, certificate_path(Path(name)).name) or file.startswith(f"{name}/") for file in kept)
        is_told = hashes[ABOUT] == hashlib.sha256(self.about().encode()).hexdigest()
        # An older Cloister sealed the result alone, not what is told of it.
        is_sealed = dict(seal.files) == hashes and is_told if seals_about(seal.files) else dict(seal.files) == kept
        is_whole = found == {ABOUT, RESULT, SEAL} and is_sealed and is_named
        if signer is None or not is_whole or self.id != name_of(seal):
            raise self._changed()
        if signer != own:
            raise DataError(
                f"{self.folder} is sealed with another key than this host uses now: {signer}. If that is a key of yours, recover "
                "it with CLOISTER_KEY=FILE set to it. Nothing is handed out."
            )
        return seal

    def _changed(self) -> DataError:
        return DataError(
            f"{self.folder} does not hold what this host kept there: it was changed, or the key of this host was. Nothing is "
            "handed out."
        )

    def is_written(self) -> bool:
        """Whether the very files are where they were wanted: the process died after that."""
        if not self.out:  # what is told of it cannot be read
            return False
        wanted, kept = Path(self.out), self.result
        pairs = {kept: wanted, certificate_path(kept): certificate_path(wanted)}
        if kept.is_dir():
            names = [file.relative_to(kept) for file in written_files(kept).values()]
            pairs = {kept / name: wanted / name for name in names if str(name) != CERTIFICATE}
        try:
            if kept.is_dir():  # its certificate may say of labels too, which are not kept
                shown = Release.from_json((wanted / CERTIFICATE).read_text(encoding="utf-8"))
                if shown.digest() != self.release().digest():
                    return False
            return all(file_hash(shown) == file_hash(copy) for copy, shown in pairs.items() if copy.exists())
        except (OSError, ValueError, CloisterError):
            return False

    def hand_out(self, out: Path, ledger: Ledger) -> None:
        """Write it to a new place, tell the ledger if that was not done, and let the kept copy go. Nothing is charged.

        Raises
        ------
        UsageError
            If the name ends in another format than the result has.
        DataError
            If what is kept was changed.
        LedgerError
            If the ledger cannot be told, or does not hold the charge of this release; the copy stays.
        SinkError
        """
        seal = self.release()
        kept, beside = self.result, certificate_path(self.result)
        if not kept.is_dir() and out.suffix.lower() != kept.suffix.lower():
            raise UsageError(f"the kept result is a {kept.suffix} file. Give --out a name that ends so.")
        with stage(out, directory=kept.is_dir(), with_certificate=beside.exists()) as staged:
            if kept.is_dir():
                shutil.copytree(kept, staged.path, dirs_exist_ok=True)
            else:
                shutil.copyfile(kept, staged.path)
            certificate = beside.read_bytes() if beside.exists() else None
            # What was compared lies where it may change since; the copies do not.
            copies = hash_all(staged.path, kept.name)
            if certificate is not None:
                copies[beside.name] = hashlib.sha256(certificate).hexdigest()
            if copies != files_of_result(seal.files):
                raise self._changed()
            text = None if certificate is None else certificate.decode()
            if text is not None and out.name != kept.name:  # it names the file
                text = dataclasses.replace(Release.from_json(text), files=file_hashes(staged.path)).to_json()
            if untold := tell_ledger(ledger, seal):
                raise untold
            staged.commit(text)
        self.drop()

    def tell(self, ledger: Ledger) -> bool:
        """Tell the ledger that was charged of this release; whether it knows of it now."""
        try:
            return tell_ledger(ledger, self.release()) is None
        except CloisterError:
            return False

    def drop(self) -> None:
        """Remove the kept copy."""
        gone = self.folder.with_name(f".{self.folder.name}{GONE}")
        with deferred(), contextlib.suppress(OSError):
            shutil.rmtree(gone, ignore_errors=True)
            self.folder.rename(gone)  # at once: half of a copy would pass for a changed one
            shutil.rmtree(gone)
            self.folder.parent.rmdir()  # if it was the last one

    def problem(self) -> str | None:
        """Why it would not be handed out, in words; None: it would be."""
        try:
            self.release()
        except CloisterError as error:
            return str(error)
        return None

    def about(self) -> str:
        """What is told of it, as it is kept and sealed."""
        return json.dumps({"id": self.id, "what": self.what, "when": self.when, "out": self.out})

    def as_dict(self) -> dict[str, str | None]:
        """Plain data; of what would not be handed out, nothing that stands there is repeated."""
        if problem := self.problem():
            return {"entry": self.id, "release": None, "when": None, "out": None, "problem": problem}
        return {"entry": self.id, "release": self.what, "when": self.when, "out": self.out, "problem": None}

    def __str__(self) -> str:
        if problem := self.problem():
            return f"{self.id}  {problem}"
        return f"{self.id}  {self.when}  {self.what}  (for {self.out})"


@contextlib.contextmanager
def paid_result() -> Iterator[None]:
    """A block that makes a release and hands it to `write_release`, which keeps it before anything else can happen to it.

    From the last step on, a signal waits until the release is kept; the ledger is told of it after that.
    """
    token = _paid.set(_PaidResult())
    try:
        with holdable():
            yield
    finally:
        _paid.reset(token)


def will_be_kept() -> bool:
    """Whether a release that is made here is kept, and the ledger told of it, by `write_release`."""
    return _paid.get() is not None


def remember_charged(ledger: Ledger) -> None:
    """Note the ledger that was charged: `write_release` must not look it up again, by a path that may lead elsewhere by then."""
    if (paid := _paid.get()) is not None:
        paid.charged = ledger


def write_release(
    release: Release, ledger: str | Ledger | None, out: Path, save: Callable[[Path], object], write: Callable[[Path], T]
) -> T:
    """Write a release where it is wanted, and keep it until it is there.

    Parameters
    ----------
    release : Release
    ledger : str, Ledger or None
        Where the release was charged, as the user named it.
    out : path, reserved before the charge, from the root on
    save : writes the release alone to a path
    write : writes it to `out`, with whatever belongs to it

    Raises
    ------
    UnwrittenRelease
        If it cannot be written. What was charged, and how to get the result, is in the message.
    """
    paid = _paid.get()
    book = None if release.ledger is None else paid.charged if paid and paid.charged else Ledger.find(ledger)
    kept, untold = None, None
    with reserved(out) as held:
        try:
            with deferred():  # a signal waits until it is known whether there is a copy
                kept = keep(release, book, held.target, save)
            let_interrupts_go()
            untold = tell_ledger(book, release)
            written = write(out)
            untold = untold and tell_ledger(book, release)  # once more: the other one may have finished by now
        except CloisterError as error:
            if held.committed:
                raise
            raise UnwrittenRelease(f"{error} {advice(release, book, kept)}", is_kept=kept is not None) from None
        except BaseException as error:
            if not held.committed:
                error.add_note(ChargeNote(advice(release, book, kept)))
            raise
        finally:
            if held.committed and kept is not None and untold is None:
                kept.drop()
        if untold is not None:
            then = f" Do it later: cloister ledger recover{flag(book)}" if kept is not None else ""
            raise LedgerError(f"{untold} The ledger could not be told of the release, whose charge stands.{then}")
        return written


def tell_ledger(ledger: Ledger | None, release: Release) -> CloisterError | None:
    """Tie the charge of a release to it, where that has not been done; gives what went wrong."""
    if ledger is None or release.ledger is None:
        return None
    try:
        # A number alone names another charge in a ledger that was restored from an older copy.
        ledger.complete(release.ledger["entry"], release.digest(), release.ledger.get("head", ""))
    except CloisterError as error:
        return error
    return None


def keep(release: Release, ledger: Ledger | None, out: Path, save: Callable[[Path], object]) -> KeptRelease | None:
    """Write a release into the first place that has room for it; None if none has, or if this host cannot sign what it keeps."""
    if not can_sign():
        return None
    when = datetime.now(UTC).isoformat(timespec="seconds")
    table = f' of table "{release.ledger["table"]}"' if release.ledger else ""
    what = f"{release.kind}{table}: {release.guarantee}"
    for place in (place for place in places(ledger) for _ in range(2)):  # the folder may go when another copy does
        kept = KeptRelease(place / folder_name(release), name_of(release), what, when, str(out))
        try:
            with deferred():
                place.mkdir(mode=0o700, parents=place not in beside(ledger), exist_ok=True)
                check_place(place)
                with stage(kept.folder, directory=True) as staged:
                    (staged.path / RESULT).mkdir()
                    save(staged.path / RESULT / out.name)
                    (staged.path / ABOUT).write_bytes(kept.about().encode())
                    seal = dataclasses.replace(release, files=hash_all(staged.path))
                    (staged.path / SEAL).write_text(seal.to_json(), encoding="utf-8")
                    staged.commit()
            return kept
        except (OSError, CloisterError):  # no room, or no rights: the next place
            continue
    return None


def kept_releases(ledger: Ledger) -> list[KeptRelease]:
    """What is kept for a ledger, and for tables without one, oldest first; what was written after all is let go."""
    found = []
    for place in places_to_read(ledger):
        for kept in read_place(place):
            if kept.is_written() and kept.tell(ledger):
                kept.drop()
            else:
                found.append(kept)
    return sorted(found, key=lambda kept: kept.when)


def find_kept(ledger: Ledger, entry: str | None) -> KeptRelease:
    """The kept release of an entry; without one, the only release that is kept."""
    found = kept_releases(ledger)
    matching = [kept for kept in found if entry in (None, kept.id)]
    if not matching:
        check_unused(ledger)
    if not found:
        raise UsageError("nothing is kept: every release of this ledger was written, or handed out already.")
    if not matching:
        ids = ", ".join(kept.id for kept in found[:MOST_SHOWN]) + " and others" * (len(found) > MOST_SHOWN)
        which = f"Kept is entry {ids}" if len(found) == 1 else f"Kept are entries {ids}"
        raise UsageError(
            f"no release of entry {entry} is kept. {which}: cloister ledger recover {found[0].id} --out PATH{flag(ledger)}"
        )
    if len(matching) > 1:
        raise UsageError(
            f"{len(matching)} releases are kept. Say which one: cloister ledger recover ENTRY --out PATH{flag(ledger)}"
        )
    return matching[0]


def read_place(place: Path) -> Iterator[KeptRelease]:
    """The kept releases in a folder, damaged ones too; what is no such release is passed over."""
    try:
        check_place(place)
        folders = sorted(path for path in place.iterdir() if FOLDER.fullmatch(path.name))
        for left in place.glob(f".*{GONE}"):  # by a process that was killed while it removed a copy
            shutil.rmtree(left, ignore_errors=True)
    except OSError:
        return
    for folder in folders:
        entry, _, digest = folder.name.partition("-")
        kept = KeptRelease(folder, entry or digest, *read_about(folder))
        if os.path.lexists(kept.result):
            yield kept


def read_about(folder: Path) -> tuple[str, str, str]:
    """What is told of a kept release; nothing where that is damaged: it is listed with that, and not passed over."""
    try:
        if not stat.S_ISREG((folder / ABOUT).lstat().st_mode):
            raise ValueError("not a file")
        with (folder / ABOUT).open(encoding="utf-8") as file:
            about: dict[str, Any] = json.loads(file.read(LONGEST_ABOUT))
        what, when, out = (str(about[key]) for key in ("what", "when", "out"))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return "", "", ""
    return what, when, out


def hash_all(output: Path, name: str = "") -> dict[str, str]:
    """The hash of every file below a folder, hidden ones too, or of a file; no link is followed.

    Files are named from the folder on; `name` stands before that, or for the file.

    Raises
    ------
    OSError
        If there is anything but files and folders of this user, or a folder with nothing in it.
    """
    hashes = {}
    for path in [output, *sorted(output.rglob("*"))]:
        facts = path.lstat()
        is_own = os.name != "posix" or facts.st_uid == os.geteuid()
        if not is_own or not (stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode)):
            raise PermissionError(errno.EPERM, "not a file of this user", str(path))
        if stat.S_ISDIR(facts.st_mode) and not any(path.iterdir()):  # its name would be all that it says
            raise FileNotFoundError(errno.ENOENT, "nothing is in it", str(path))
        if stat.S_ISREG(facts.st_mode):
            hashes[(Path(name) / path.relative_to(output)).as_posix()] = file_hash(path)
    return hashes


def seals_about(files: Mapping[str, str]) -> bool:
    """Whether a seal with these files covers what is told of a release; an older one of a table called about.json does not."""
    return ABOUT in files and len(files) > 1


def files_of_result(hashes: Mapping[str, str]) -> dict[str, str]:
    """The files of the result among those of a kept release, named from the result on; all of them in an older seal."""
    if not seals_about(hashes):
        return dict(hashes)
    inside = f"{RESULT}/"
    return {file.removeprefix(inside): digest for file, digest in hashes.items() if file.startswith(inside)}


def can_sign() -> bool:
    """Whether the key of this host can be used; without it a kept release could not be told from a forged one."""
    try:
        host_key()
    except UsageError:
        return False
    return True


def name_of(release: Release) -> str:
    """How a kept release is called: by its entry in the ledger, or without one by the first letters of its hash."""
    return str(release.ledger["entry"]) if release.ledger else release.digest()[:8]


def folder_name(release: Release) -> str:
    """The folder of a kept release: its entry, if it has one, and the first letters of its hash."""
    return f"{release.ledger['entry'] if release.ledger else ''}-{release.digest()[:8]}"


def advice(release: Release, ledger: Ledger | None, kept: KeptRelease | None) -> str:
    """What was charged for a release that was not written, and how to get it."""
    charged = "No ledger was charged for it."
    if release.ledger:
        charged = f'Entry {release.ledger["entry"]} of table "{release.ledger["table"]}" stays charged: {release.guarantee}.'
    if kept is None and not can_sign():
        return (
            f"{charged} The result is not kept either: this host cannot use its signing key, so nothing would vouch for it."
        )
    if kept is None:
        return f"{charged} There was no room to keep the result either."
    return f"{charged} The result is kept. Get it at no cost: cloister ledger recover {kept.id} --out PATH{flag(ledger)}"


def flag(ledger: Ledger | None) -> str:
    """The flag that leads the command line to a ledger that it would not find by itself."""
    with contextlib.suppress(CloisterError, OSError):  # OSError: the working directory is gone
        if ledger is None or ledger.place == Ledger.default().place:
            return ""
    assert ledger is not None
    return f" --ledger {shlex.quote(ledger.place)}"
