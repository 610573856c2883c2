"""The key of this host, with which certificates and the records of a ledger are signed (Ed25519).

The private half is one file that only its owner may read. It is made on first use, in the user's configuration folder or
where ``CLOISTER_KEY`` says: never in a ledger, and never in a certificate. The public half is text, ``ed25519:`` and 64
hexadecimal digits; it names no host, no user and no path.

The library that signs is loaded when something is signed or checked, not when this module is imported.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from cloister.errors import UsageError
from cloister.parameters import from_home, own_folder
from cloister.privacy.new_files import NO_LINKS, place_new_file

__all__ = [
    "SIGNS",
    "HostKey",
    "Signature",
    "check_key_place",
    "fits",
    "host_key",
    "key_path",
    "own_public_key",
    "read_public_key",
]

PREFIX = "ed25519:"
FIRST_LINE = "Cloister signing key (ed25519). Keep it secret."
PUBLIC = re.compile(r"ed25519:[0-9a-f]{64}")
HEX = re.compile(r"(?:[0-9a-f]{2})+")
FIELD = 2**255 - 19  # Ed25519 counts modulo this prime, p
ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826  # y of two points of order 8; p - y of two more
OTHERS = 0o077  # permissions of anybody but the owner
LONGEST_FILE = 1000  # bytes of a key file; what is longer is something else
LONGEST_ANSWER = 100_000  # characters of what `cloister ledger key` prints, with the keys of all hosts of a ledger
SIGNS = "This host signs with "  # before the key of this host, for people
OWN = (SIGNS, '"key": "')  # the same, and for programs


@dataclass(frozen=True, slots=True)
class Signature:
    """Who signed, by the public key, and the signature in hexadecimal."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class HostKey:
    """The key pair of this host.

    Privacy
    -------
    The private half has no repr. Whoever can read its file can sign in this host's name.
    """

    public: str
    secret: bytes = field(repr=False)

    def sign(self, subject: str, digest: str) -> Signature:
        """Sign a digest; `subject` says of what, so that a signature of one thing cannot stand for another."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Signature(
            self.public, Ed25519PrivateKey.from_private_bytes(self.secret).sign(_message(subject, digest)).hex()
        )

    def derive(self, purpose: str) -> bytes:
        """A secret of this host for something else than signing: the same each time, and it tells nothing of the key."""
        return hmac.digest(self.secret, _message("secret for", purpose), "sha256")


def fits(signature: Signature, subject: str, digest: str) -> bool:
    """Whether the holder of the key signed this digest as this subject."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not PUBLIC.fullmatch(signature.key) or is_weak(signature.key):
        return False
    try:
        public = Ed25519PublicKey.from_public_bytes(_read_hex(signature.key.removeprefix(PREFIX)))
        public.verify(_read_hex(signature.value), _message(subject, digest))
    except (InvalidSignature, ValueError):
        return False
    return True


def is_weak(key: str) -> bool:
    """Whether a public key has small order, so that signatures of anything fit it, or is no key as it is written.

    RFC 8032, section 5.1.3: the last bit is a sign, the others a number below p.
    """
    y = int.from_bytes(bytes.fromhex(key.removeprefix(PREFIX)), "little") % 2**255
    return y >= FIELD or y in (0, 1, FIELD - 1, ORDER_8, FIELD - ORDER_8)


def read_public_key(text: str) -> str:
    """The public key that a user gave: itself, or a file that holds it, such as ``cloister ledger key > FILE`` writes."""
    key = text.strip()
    if not PUBLIC.fullmatch(key):
        with contextlib.suppress(OSError, ValueError):
            if Path(text).is_file():  # a pipe may never end
                with Path(text).open(encoding="utf-8") as file:
                    key = _key_in(file.read(LONGEST_ANSWER))
    if not PUBLIC.fullmatch(key):
        raise UsageError(
            f"a public key is {PREFIX} and 64 hexadecimal digits, or a file that holds that. The host that signed shows its own "
            "with: cloister ledger key"
        )
    if is_weak(key):
        raise UsageError("this public key has small order: signatures of anything fit it, and no host of Cloister has it.")
    return key


def _key_in(text: str) -> str:
    """The one key that a text holds, or the one that ``cloister ledger key`` says this host signs with; empty: none."""
    own = [key for words in OWN for key in re.findall(rf"{words}({PUBLIC.pattern})(?![0-9a-f])", text)]
    keys = set(own or PUBLIC.findall(text))
    return keys.pop() if len(keys) == 1 else ""


def key_path() -> Path:
    """Where the key of this host lies: where ``CLOISTER_KEY`` says, or else in the user's configuration folder.

    Raises
    ------
    UsageError
        A home folder cannot be found, or the variable is empty.
    """
    place = os.environ.get("CLOISTER_KEY")
    if place == "":
        raise UsageError("CLOISTER_KEY is empty. Set it to a path, or unset it.")
    if place:
        return from_home(place, "the signing key of this host").absolute()
    import platformdirs

    instead = "Name a place for it: CLOISTER_KEY=FILE."
    return own_folder(platformdirs.user_config_path, "the signing key of this host", instead) / "signing.key"


def check_key_place() -> None:
    """Refuse a place for the key that was named and cannot be found, before anything is charged or read.

    Raises
    ------
    UsageError
    """
    if "CLOISTER_KEY" in os.environ:
        key_path()


def host_key() -> HostKey:
    """The key of this host; it is made when there is none yet.

    Raises
    ------
    UsageError
        The file cannot be made or read, is somebody else's, others may read it, or it holds something else.
    """
    path = key_path()
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise UsageError(
            f"the signing key of this host, {path}, cannot be used: {reason}. Name a place for it: CLOISTER_KEY=FILE."
        ) from None


def own_public_key() -> str | None:
    """The public half of the key of this host, where there is one that can be used; none is made."""
    with contextlib.suppress(OSError, UsageError):
        path = key_path()
        if path.exists():
            return _read(path).public
    return None


def _read_hex(text: str) -> bytes:
    """What hexadecimal digits say, as `bytes.hex` writes them; ValueError for any other spelling.

    `bytes.fromhex` passes over blanks and takes both cases: a message fits into a signature that still fits.
    """
    if not HEX.fullmatch(text):
        raise ValueError("not in hexadecimal")
    return bytes.fromhex(text)


def _message(subject: str, digest: str) -> bytes:
    return f"cloister {subject}\n{digest}".encode()


def _make(path: Path) -> None:
    """Write a new key; of several processes that do so at once the first one wins."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not os.environ.get("CLOISTER_KEY"):
        path.parent.mkdir(parents=True, exist_ok=True)
    # The library draws it from the system's randomness; `noise` may be seeded by a test, and a key never is.
    text = f"{FIRST_LINE}\n{Ed25519PrivateKey.generate().private_bytes_raw().hex()}\n"
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".partial", dir=path.parent)  # mode 0600
    finished = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        try:
            place_new_file(finished, path)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            _copy_new(text, path)
    finally:
        finished.unlink()


def _copy_new(text: str, path: Path) -> None:
    """The same where there are no hard links: for a moment the file is there and empty."""
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)


def _read(path: Path) -> HostKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not path.is_file():  # a pipe would be waited for
        raise UsageError(f"the signing key of this host, {path}, is not a file. Name a place for it: CLOISTER_KEY=FILE.")
    with path.open("rb") as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & OTHERS:
            raise UsageError(f"others may read the signing key of this host, {path}. Keep it to yourself: chmod 600 {path}")
        if os.name == "posix" and os.fstat(file.fileno()).st_uid not in (os.geteuid(), 0):
            raise UsageError(
                f"the signing key of this host, {path}, belongs to another user. Name a key of your own: CLOISTER_KEY=FILE."
            )
        words = file.read(LONGEST_FILE).split()
    try:
        secret = _read_hex(words[-1].decode("ascii"))
        if b" ".join(words[:-1]) != FIRST_LINE.encode():
            raise ValueError("another kind of file")
        public = Ed25519PrivateKey.from_private_bytes(secret).public_key()
    except (ValueError, IndexError):
        raise UsageError(
            f"{path} is not a signing key of Cloister. Restore it from a backup, or name another place: CLOISTER_KEY=FILE."
        ) from None
    return HostKey(PREFIX + public.public_bytes_raw().hex(), secret)
