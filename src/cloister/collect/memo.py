"""What a client has sent before: the same answer to the same question is sent again, and costs nothing again.

Whoever perturbs an answer anew each time is averaged out: after r reports of one answer the collector has r epsilon. So a client
remembers what it sent, by question, value, domain and epsilon, across **all** collections, and sends that again. A changed
answer, or the same under another domain or epsilon, is new loss, and is said to be.

Privacy
-------
The memo holds what its owner answered truly: its entries are keyed by an HMAC whose key lies in the same file, so that no answer
can be read off it, but whoever has the file can try all answers. It is for its owner alone (mode 0600), and never leaves. What is
sent again from it is equal in all collections that ask the same: two collectors who compare reports can link them by that.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

import numpy as np

from cloister.collect.questions import LARGEST, SMALLEST, Question
from cloister.errors import CloisterError, ExitCode
from cloister.parameters import check_path, from_home
from cloister.privacy import noise
from cloister.schema.numerals import read_exact_text

__all__ = ["Memo", "MemoError", "Remembered"]

VERSION = 1
REPORT_ID = re.compile("[0-9a-f]{32}")
MAGIC = 0x436C6D65  # SQLite's application id of a memo
WAIT_SECONDS = 30
OTHERS = 0o077  # permissions of anybody but the owner
TABLES = {
    "CREATE TABLE secret (key BLOB NOT NULL)",
    "CREATE TABLE answers (question BLOB, terms BLOB, value BLOB, epsilon TEXT, sent TEXT, PRIMARY KEY (question, terms, value))",
    "CREATE TABLE reports (collection BLOB PRIMARY KEY, report TEXT)",
}


class MemoError(CloisterError):
    """A memo that cannot be opened, read or written."""

    exit_code = ExitCode.LEDGER_UNREACHABLE


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is sent for an answer.

    Attributes
    ----------
    sent : the perturbed answer
    is_new : whether it was drawn now, and hence costs its epsilon
    spent : all that answers to the question have cost their giver by now, in all collections
    is_changed : whether another answer was given under the same terms before
    """

    sent: str
    is_new: bool
    spent: Fraction
    is_changed: bool = False


class Memo:
    """A file of what was sent; one a person. Several processes may use it at once.

    What is drawn is on the disk before it is handed out: a client that dies in between sends the same when it is asked again.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = from_home(check_path(path, "the memo"), "the memo").absolute()
        try:
            is_there = os.path.lexists(self.path)
            if self.path.is_symlink() or (is_there and not self.path.is_file()):
                raise MemoError(f"the memo {self.path} is no plain file. Name another file.")
        except OSError as error:
            raise MemoError(f"the memo cannot be opened ({error.strerror}). Name another file.") from None
        if not is_there:
            self._create()
        if os.name == "posix" and os.stat(self.path).st_mode & OTHERS:
            raise MemoError(
                f"the memo {self.path} can be read by others, and it holds true answers. Take their rights away: chmod 600."
            )
        with self._opened() as rows:
            if rows.execute("PRAGMA application_id").fetchone()[0] != MAGIC:
                raise MemoError(f"{self.path} is a file of another kind, not a memo. Name another file.")
            if rows.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                raise MemoError(f"the memo {self.path} was written by a newer Cloister. Update Cloister.")
            if {sql for (sql,) in rows.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")} != TABLES:
                raise MemoError(f"the memo {self.path} is damaged: it holds what none has. Restore it from a backup.")

    def _create(self) -> None:
        """Make the file, for its owner alone, whole or not at all."""
        if noise.is_seeded():
            raise MemoError("seeded noise protects nobody: a memo is not made with it.")
        secret, _ = noise.secret()
        staged = self.path.with_name(f".{self.path.name}.{noise.secret()[0].hex()[:16]}")
        try:
            os.close(os.open(staged, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(staged)) as rows:
                rows.executescript(
                    f"PRAGMA application_id = {MAGIC}; PRAGMA user_version = {VERSION}; {'; '.join(sorted(TABLES))};"
                )
                rows.execute("INSERT INTO secret VALUES (?)", (secret,))
                rows.commit()
            with suppress(FileExistsError):  # another process was faster: its file is used
                os.link(staged, self.path)
        except (OSError, sqlite3.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else "the disk refused"
            raise MemoError(f"the memo {self.path} cannot be made ({reason}). Name a file in a folder of yours.") from None
        finally:
            with suppress(OSError):
                staged.unlink()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other process interrupts, on the disk when it ends."""
        try:
            with closing(sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)) as rows:
                rows.execute("PRAGMA synchronous = FULL")
                rows.execute("BEGIN IMMEDIATE")
                yield rows
                rows.execute("COMMIT")
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise MemoError(f"the memo {self.path} is in use by another process. Try again.") from None
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
                raise MemoError(f"the memo {self.path} cannot be written. Nothing was sent.") from None
            raise MemoError(f"the memo {self.path} is damaged or is another file. Restore it from a backup.") from None

    def recall(self, questions: list[tuple[Question, int]]) -> list[Remembered]:
        """What is sent for each answer, a question and the code of its value: as before, or drawn now and remembered."""
        with self._opened() as rows:
            key = self._key(rows)
            return [self._recall(rows, key, question, code) for question, code in questions]

    def _recall(self, rows: sqlite3.Connection, key: bytes, question: Question, code: int) -> Remembered:
        protocol = question.answering()
        name = tag(key, "question", question.name)
        terms = tag(
            key, "terms", json.dumps([question.name, list(question.values), str(question.epsilon), question.protocol])
        )
        value = tag(key, "value", json.dumps([question.name, question.values[code]]))
        known = {
            row[0]: row[1]
            for row in rows.execute("SELECT value, sent FROM answers WHERE question = ? AND terms = ?", (name, terms))
        }
        is_new = value not in known
        if is_new:
            sent = protocol.perturb(np.array([code], dtype=np.int64))[0]
            rows.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", (name, terms, value, str(question.epsilon), sent))
        else:
            sent = known[value]
            if not isinstance(sent, str) or not protocol.is_answer(sent):
                raise MemoError(f"the memo {self.path} is damaged: it holds what no client sends. Restore it from a backup.")
        epsilons = [row[0] for row in rows.execute("SELECT epsilon FROM answers WHERE question = ?", (name,))]
        return Remembered(sent, is_new, sum(map(self._epsilon, epsilons), Fraction(0)), is_new and bool(known))

    def _epsilon(self, text: object) -> Fraction:
        """What an entry cost."""
        try:
            epsilon = read_exact_text(text) if isinstance(text, str) else Fraction(0)
        except (ValueError, ArithmeticError):
            epsilon = Fraction(0)
        if not SMALLEST <= epsilon <= LARGEST:
            raise MemoError(f"the memo {self.path} is damaged: an answer has no cost. Restore it from a backup.")
        return epsilon

    def report_id(self, collection: str, fresh: str) -> str:
        """The id of the one report that this person sends to a collection: the one that it had, or this fresh one."""
        with self._opened() as rows:
            name = tag(self._key(rows), "collection", collection)
            rows.execute("INSERT OR IGNORE INTO reports VALUES (?, ?)", (name, fresh))
            known = rows.execute("SELECT report FROM reports WHERE collection = ?", (name,)).fetchone()[0]
            if not isinstance(known, str) or not REPORT_ID.fullmatch(known):
                raise MemoError(f"the memo {self.path} is damaged: it holds no proper id. Restore it from a backup.")
            return known

    def _key(self, rows: sqlite3.Connection) -> bytes:
        found = rows.execute("SELECT key FROM secret").fetchall()
        if len(found) != 1 or not isinstance(found[0][0], bytes) or len(found[0][0]) != 32:
            raise MemoError(f"the memo {self.path} is damaged. Restore it from a backup.")
        key: bytes = found[0][0]
        return key


def tag(key: bytes, kind: str, text: str) -> bytes:
    """What stands for a text in the file."""
    return hmac.digest(key, f"{kind}\0{text}".encode(), "sha256")
