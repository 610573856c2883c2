"""Codes of invitations and the collector's token: random, shown once, kept as hashes.

Both have so many random bits (128 and 256) that a plain hash cannot be turned back by trying.
"""

from __future__ import annotations

import hashlib
import re
from itertools import islice

from cloister.errors import UsageError
from cloister.privacy import noise

__all__ = ["code_hash", "is_code", "new_code", "new_token", "token_hash"]

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none looks like another
CODE_BITS = 128
CODE_LETTERS = 26  # of 5 bits each
GROUPS = (5, 5, 5, 5, 6)  # letters between hyphens
CODE = re.compile(f"[{LETTERS}]{{{CODE_LETTERS}}}")
LOOK_ALIKE = str.maketrans({"O": "0", "I": "1", "L": "1", "-": "", " ": ""})
LONGEST = 64  # characters of a code as people type it
TOKEN_START = "cloister_"


def new_code() -> str:
    """The code of an invitation, such as 3J7QX-0ZK2M-..."""
    number = int.from_bytes(_secret()[: CODE_BITS // 8])
    letters = iter(LETTERS[number >> 5 * place & 31] for place in reversed(range(CODE_LETTERS)))
    return "-".join("".join(islice(letters, size)) for size in GROUPS)


def is_code(text: object) -> bool:
    """Whether a text could be a code, however it is typed."""
    return isinstance(text, str) and len(text) <= LONGEST and CODE.fullmatch(_plain(text)) is not None


def code_hash(code: str) -> bytes:
    """What is kept of a code.

    >>> code_hash("3j7qx-0zk2m") == code_hash("3J7QX OZK2M")
    True
    """
    return hashlib.sha256(b"invitation\0" + _plain(code).encode()).digest()


def new_token() -> str:
    """A collector's token."""
    return TOKEN_START + _secret().hex()


def token_hash(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(b"token\0" + token.encode("utf-8", "surrogatepass")).digest()


def _plain(code: str) -> str:
    return code.upper().translate(LOOK_ALIKE)


def _secret() -> bytes:
    secret, is_seeded = noise.secret()
    if is_seeded:
        raise UsageError("noise is seeded: a code or token made now could be guessed. Leave the seeded block first.")
    return secret
