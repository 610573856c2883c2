"""The records of a ledger's chain: each holds the digest of the one before, and is signed.

A record says what was done (an account opened, a charge, exact results for the holder, a release that came of one of them), and
what the account of its table is afterwards. It also holds a digest of all accounts and keys at that moment, so the last
record, which is signed, vouches for the totals of every table.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from cloister.privacy.ledger.accounts import Account
from cloister.privacy.signing import HostKey, Signature, fits
from cloister.schema.numerals import exact_text, read_exact_text

__all__ = ["Record", "account_facts", "canonical", "digest_of", "read_account", "read_amount", "state_digest"]

SUBJECT = "ledger record"
HASHED = ("number", "kind", "table", "entry", "body", "previous", "state", "signer")  # what a digest covers: all but itself
AMOUNT = re.compile(r"-?\d+(\.\d+|/\d+)?|-?0x[0-9a-f]+/0x[0-9a-f]+", re.ASCII)  # as `exact_text` writes it
AMOUNTS = ("epsilon_total", "delta_total", "epsilon_spent", "delta_spent")


@dataclass(frozen=True, slots=True)
class Record:
    """One link of the chain.

    Attributes
    ----------
    number
        Its place: 1, 2, 3 and so on, without a gap.
    kind
        ``start`` (of the chain), ``key`` (a host that writes from here on), ``account``, ``charge``, ``holder`` or ``release``.
    table, entry
        What it is about; empty and 0 where it is about neither.
    body
        The rest as JSON: when, what for, the amounts, and the account of the table afterwards.
    previous
        The digest of the record before; empty for the first.
    state
        The digest of all accounts and keys after it.
    signer, digest, signature
        The public key of the host that wrote it, the digest of all of the above, and its signature.
    """

    number: int
    kind: str
    table: str
    entry: int
    body: str
    previous: str
    state: str
    signer: str
    digest: str = ""
    signature: str = ""

    def sealed(self, key: HostKey) -> Record:
        """The record with its digest and its signature."""
        digest = self.computed_digest()
        return replace(self, digest=digest, signature=key.sign(SUBJECT, digest).value)

    def computed_digest(self) -> str:
        """The digest of what stands in it."""
        return digest_of([getattr(self, name) for name in HASHED])

    def is_intact(self) -> bool:
        """Whether its digest is that of its content."""
        return self.digest == self.computed_digest()

    def is_signed(self) -> bool:
        """Whether the host that it names signed it."""
        return self.is_intact() and fits(Signature(self.signer, self.signature), SUBJECT, self.digest)

    def facts(self) -> dict[str, Any]:
        """What its body says. Ask `is_intact` first."""
        facts: dict[str, Any] = json.loads(self.body)
        return facts

    def amount(self, name: str) -> Fraction:
        """An amount of its body; nothing where it has none."""
        return read_amount(self.facts().get(name, "0"))


def canonical(data: Any) -> str:
    """JSON that is the same for the same data."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def digest_of(data: Any) -> str:
    """A hash of plain data."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def state_digest(accounts: Iterable[Account], keys: Iterable[str]) -> str:
    """A hash of all accounts and keys of a ledger."""
    facts = sorted((account_facts(account) for account in accounts), key=lambda facts: str(facts["table"]))
    return digest_of([facts, sorted(keys)])


def account_facts(account: Account) -> dict[str, Any]:
    """An account as plain data, amounts as text that loses nothing."""
    facts = {name: getattr(account, name) for name in account.__slots__}
    return facts | {name: exact_text(facts[name]) for name in AMOUNTS}


def read_account(facts: Mapping[str, Any]) -> Account:
    """The account that `account_facts` wrote."""
    return Account(**{**facts, **{name: read_amount(facts[name]) for name in AMOUNTS}})


def read_amount(text: str) -> Fraction:
    """An amount that a ledger holds; ValueError for anything else, also for an exponent that would fill the memory."""
    if not AMOUNT.fullmatch(text):
        raise ValueError("not an amount")
    return read_exact_text(text)
