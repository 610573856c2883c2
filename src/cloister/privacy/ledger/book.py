"""The ledger as a book: accounts are opened, charged, looked up and audited.

A table has a name, one neighbour relation and a total. A charge is one transaction: it is refused when it
would pass the total, and it is on the disk before `Ledger.charge` returns, so before any row is read. A
process that dies after that has spent its charge: the ledger never records less than was spent.

Numbers are exact. They are kept as text and added as fractions, so ten charges of 0.1 fill a total of 1.

The book is append-only: an account, a charge, a holder's use and the release that came of it are records of a chain
(`chain_records.py`), each with the digest of the one before and signed with the key of its host.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from cloister.errors import BrokenChain, BudgetExceeded, LedgerError, UsageError
from cloister.parameters import own_folder
from cloister.privacy.budgets import LARGEST_EPSILON, Rho, check_digits
from cloister.privacy.ledger.accounts import RELATIONS, Account, CarriedOver, Entry, Receipt
from cloister.privacy.ledger.arguments import (
    exact_amount,
    read_entry,
    read_relation,
    read_table_name,
    read_unit,
    read_words,
)
from cloister.privacy.ledger.chain import Chain, now, open_chain
from cloister.privacy.ledger.chain_records import Record
from cloister.privacy.ledger.pages import describe_accounts
from cloister.privacy.ledger.refusals import check_sum, list_tables, refuse_relation, shortfalls, without_total
from cloister.privacy.ledger.replay import ChainReport, carried_over, check_links, entries_of_records, replay
from cloister.privacy.ledger.rho_totals import RhoTotal, accounts_in_rho, read_rho_totals, read_total
from cloister.privacy.ledger.stored_records import (
    MALFORMED,
    first_record,
    ledger_tables,
    read_accounts,
    read_keys,
    records_of_entry,
    records_of_kind,
    select_records,
)
from cloister.privacy.ledger.upgrade import carry_over
from cloister.privacy.signing import HostKey, host_key
from cloister.privacy.store import StoreMissing, StoreOutdated, open_store
from cloister.report import notebook
from cloister.report.document import Document, Section, Sentence
from cloister.schema.numerals import Number, exact_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Ledger"]

MOST_ENTRIES = 2**63 - 1  # that a database numbers
VERSION = 2  # of the tables; raise it when an older Cloister could misread them


class Ledger:
    """The accounts of all tables at one place.

    Parameters
    ----------
    url : str
        ``sqlite:///path``, ``postgresql+psycopg://user@host/database``, or a plain path, which is SQLite.

    Privacy
    -------
    Charges of releases chosen one after another, each in view of the ones before, add up: the total bounds
    the epsilon and the delta of them all (basic composition, which holds for adaptive choices).

    References
    ----------
    .. [1] C. Dwork and A. Roth, "The Algorithmic Foundations of Differential Privacy", 2014, section 3.5.

    Examples
    --------
    >>> import tempfile
    >>> from fractions import Fraction
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(folder + "/ledger.sqlite")
    ...     account = ledger.create("students", "add-remove", Fraction(3))
    ...     entry = ledger.charge("students", "add-remove", Fraction(1, 2), 0, "cluster")
    ...     ledger.account("students").epsilon_left
    Fraction(5, 2)
    """

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self._store = open_store(
            url, kind="ledger", version=VERSION, error=LedgerError, damage=BrokenChain, tables=ledger_tables
        )

    @classmethod
    def default(cls) -> Self:
        """Open the ledger that ``CLOISTER_LEDGER`` names, or else the one in the user's data folder."""
        place = os.environ.get("CLOISTER_LEDGER")
        if place == "":
            raise UsageError("CLOISTER_LEDGER is empty. Set it to a path, or unset it.")
        if place:
            return cls(place)
        import platformdirs

        instead = "Name another: --ledger FILE, or CLOISTER_LEDGER=FILE."
        ledger = cls(own_folder(platformdirs.user_data_path, "the ledger", instead) / "ledger.sqlite")
        ledger._store = replace(ledger._store, make_folder=True)
        return ledger

    @classmethod
    def find(cls, ledger: str | Ledger | None) -> Ledger:
        """The ledger that a user means: an open one, one by its path or URL, or the default one."""
        if isinstance(ledger, Ledger):
            return ledger
        return cls.default() if ledger is None else cls(ledger)

    @property
    def place(self) -> str:
        """Where the ledger is, for people: a path, or a URL without its password."""
        return self._store.shown

    def create(self, table: str, neighbours: str, epsilon: Number | Rho, delta: Number = 0) -> Account:
        """Open an account with a total, an epsilon or an `Identifiability`; the ledger is made when there is none yet."""
        table, neighbours, delta = read_table_name(table), read_relation(neighbours), exact_amount(delta, "delta")
        epsilon, in_rho = read_total(epsilon, neighbours, delta)
        if epsilon > LARGEST_EPSILON:
            raise UsageError(f"the total epsilon of a table must be at most {LARGEST_EPSILON:,}. Lower --epsilon.")
        if epsilon <= 0:
            raise UsageError("the total epsilon of a table must be above 0. Give it such as --epsilon 3.")
        if not 0 <= delta < 1:
            raise UsageError("the total delta of a table must be at least 0 and below 1. Leave it out for none.")
        check_digits(epsilon, "the total epsilon of a table")
        check_digits(delta, "the total delta of a table")
        key, facts = host_key(), {} if in_rho is None else in_rho.facts()
        account = Account(table, neighbours, epsilon, delta, Fraction(0), Fraction(0), 0, 0, now())
        # A new ledger appears with its first account: one without any record was emptied.
        if self._store.create(lambda connection: Chain(connection).append(key, "account", account=account, **facts)):
            self._check_new(account)
        else:
            with self._chain(write=True) as chain:
                if table in chain.accounts:
                    problem = f'table "{table}" is in the ledger {self.place} already, with a total that stays as it is.'
                    raise UsageError(f"{problem} See it with: cloister ledger show{self._flag()}")
                chain.append(key, "account", account=account, **facts)
        return account

    def _check_new(self, account: Account) -> None:
        """Refuse a ledger that was made just now and holds something else, such as what lay beside its name."""
        made = self.account(account.table)  # others may have charged it by now
        if (made.neighbours, *made.totals, made.created) != (account.neighbours, *account.totals, account.created):
            raise LedgerError(
                f"the ledger {self.place} does not hold what it was made with: files of another one lay beside its name. Remove "
                "it with all files of that name, and create it again."
            )

    def charge(self, table: str, neighbours: str, epsilon: Number, delta: Number, purpose: str, unit: str = "row") -> int:
        """Spend from a table's total, before its rows are read.

        The first charge of a table says whom its account protects; epsilons per row and per person do not add up.

        Returns
        -------
        int
            The entry, for `complete`. The charge is on the disk.

        Raises
        ------
        BudgetExceeded
            The total would be passed; nothing was charged.
        UsageError
            The account is kept under the other neighbour relation or for another unit, an amount makes no sense, or the
            key of this host cannot be used.
        LedgerError
            The table has no account, or the ledger cannot be used. When the connection broke during the commit
            the charge may have been written: it then counts as spent, which errs on the safe side.
        """
        return self.book_charge(table, neighbours, epsilon, delta, purpose, unit).entry

    def check_relation(self, table: str, neighbours: str, unit: str = "row") -> None:
        """Refuse a table whose account is kept under another relation, or that has none; nothing is written."""
        refuse_relation(self.account(table), read_relation(neighbours), read_unit(unit))

    def book_charge(
        self,
        table: str,
        neighbours: str,
        epsilon: Number,
        delta: Number,
        purpose: str,
        unit: str = "row",
        worlds: int | None = None,
    ) -> Receipt:
        """`charge`, with what the certificate says of it; `worlds`, of a rho, are for the words of a refusal."""
        table, neighbours, purpose = read_table_name(table), read_relation(neighbours), read_words(purpose, "purpose", 500)
        unit = read_unit(unit)
        epsilon, delta = exact_amount(epsilon, "epsilon"), exact_amount(delta, "delta")
        if epsilon < 0 or delta < 0 or epsilon + delta == 0:  # a negative charge would be a refund
            raise UsageError("a charge needs an epsilon and a delta of at least 0, and not both 0.")
        if epsilon > LARGEST_EPSILON:
            raise UsageError(f"a charge has an epsilon of at most {LARGEST_EPSILON:,}. Lower --epsilon.")
        check_digits(epsilon, "epsilon")
        check_digits(delta, "delta")
        key = host_key()
        with self._open(table, write=True, neighbours=neighbours) as (chain, account):
            refuse_relation(account, neighbours, unit)
            if account.unit not in ("", unit):
                raise UsageError(
                    f'this release protects a {unit}, and the account of table "{table}" a {account.unit}. Those do not '
                    "add up: use the same unit, or keep another account for it."
                )
            if lacking := list(shortfalls(account, epsilon, delta, worlds)):
                raise BudgetExceeded.of_table(table, lacking)
            check_sum(account.epsilon_spent, epsilon, "epsilon")
            check_sum(account.delta_spent, delta, "delta")
            record = self._spend(chain, key, replace(account, unit=unit), epsilon, delta, purpose)
            return Receipt(record.entry, record.digest, account, self._left(chain, account))

    def complete(self, entry_id: int, release_hash: str, head: str | None = None) -> None:
        """Tie an entry to the certificate of what was released; what was spent is unchanged.

        Doing it twice for the same release changes nothing. `head` is the digest of the charge, as the certificate names it: a
        ledger that was restored from an older copy gives the same numbers to other entries. None: it is not compared.
        """
        entry_id, release_hash = read_entry(entry_id), read_words(release_hash, "release hash", 200)
        key = host_key()
        unknown = LedgerError(f"the ledger {self.place} has no entry {entry_id}. Is it the ledger that was charged?")
        if not 1 <= entry_id <= MOST_ENTRIES:
            raise unknown
        try:
            with self._chain(write=True) as chain:
                records = self._intact(records_of_entry(chain.connection, entry_id))
                if not records:
                    raise unknown
                if head not in (None, records[0].digest):
                    raise LedgerError(
                        f"the ledger {self.place} does not hold the charge of this release: its entry {entry_id} is another one. "
                        "It is another ledger, or was restored from an older copy. Bring back the one that was charged."
                    )
                released = [record.facts()["release_hash"] for record in records if record.kind == "release"]
                if released == [release_hash]:
                    return
                if released:
                    raise LedgerError(f"entry {entry_id} of the ledger {self.place} belongs to another release.")
                account = chain.accounts[records[0].table]
                account = replace(account, releases=account.releases + (records[0].kind == "charge"))
                chain.append(key, "release", account=account, entry=entry_id, release_hash=release_hash)
        except StoreMissing:
            raise unknown from None

    def record_holder(self, table: str, purpose: str) -> int:
        """Write down that exact results of a table were handed to its holder.

        Privacy
        -------
        It costs no epsilon because no epsilon covers it: see `Account`.
        """
        return self.book_holder(table, purpose).entry

    def book_holder(self, table: str, purpose: str) -> Receipt:
        """`record_holder`, with what the certificate says of it."""
        table, purpose = read_table_name(table), read_words(purpose, "purpose", 500)
        key = host_key()
        with self._open(table, write=True, for_holder=True) as (chain, account):
            after = replace(account, holder_uses=account.holder_uses + 1)
            entry = chain.last_entry + 1
            record = chain.append(key, "holder", account=after, entry=entry, purpose=purpose, epsilon="0", delta="0")
            return Receipt(record.entry, record.digest, account, self._left(chain, account))

    def accounts(self) -> list[Account]:
        """List the accounts by name; none when nothing has been written yet."""
        try:
            with self._chain() as chain:
                return [chain.accounts[table] for table in sorted(chain.accounts)]
        except StoreMissing:
            return []

    def account(self, table: str) -> Account:
        """Look up the account of one table."""
        table = read_table_name(table)
        with self._open(table) as (_, account):
            return account

    def entries(self, table: str) -> list[Entry]:
        """List what was charged and handed out for one table, oldest first."""
        table = read_table_name(table)
        with self._open(table) as (chain, _):
            return self._entries(chain, table)

    def rho_totals(self) -> dict[str, RhoTotal]:
        """The totals that were stated as a rho, by table, as the signature of the last record vouches for them."""
        try:
            with self._chain() as chain:
                stated = read_rho_totals(records_of_kind(chain.connection, "account"))
                return read_rho_totals(check_links(select_records(chain.connection))) if stated else {}
        except MALFORMED:
            raise self._store.damaged() from None
        except StoreMissing:
            return {}

    def keys(self) -> list[str]:
        """List the public keys of the hosts that wrote into the ledger."""
        try:
            with self._chain() as chain:
                return sorted(chain.keys)
        except StoreMissing:
            return []

    def carried_over(self) -> CarriedOver | None:
        """What the ledger took over of version 1, in which nothing was signed; None: nothing."""
        try:
            with self._chain() as chain:
                start = first_record(chain.connection)
                if start.kind != "start" or not start.is_signed():
                    raise self._store.damaged()
                if start.signer not in chain.keys:  # its maker died before it wrote more: the records after it vouch for it
                    check_links(select_records(chain.connection))
                return carried_over(start)
        except MALFORMED:
            raise self._store.damaged() from None
        except StoreMissing:
            return None

    def upgrade(self) -> CarriedOver:
        """Bring a ledger of version 1 up to date: all of it is carried over in one transaction, and signed from here on.

        Raises
        ------
        UsageError
            It is up to date already, or the key of this host cannot be used.
        LedgerError
            What is in it does not add up, or there is no ledger.
        """
        key = host_key()
        try:
            with self._store.reading():
                raise self._current()
        except StoreMissing:
            raise LedgerError(f"there is no ledger {self.place}. Name the one that is to be upgraded.") from None
        except StoreOutdated:
            with self._store.upgrading(VERSION - 1) as outdated:
                if outdated is None:
                    raise self._current() from None
                carry_over(outdated, key, self.place)
        carried = self.carried_over()
        assert carried is not None, "it was written just now"
        return carried

    def _current(self) -> UsageError:
        return UsageError(f"the ledger {self.place} is up to date: there is nothing to upgrade.")

    def audit(self, table: str) -> Account:
        """Add the entries of a table again, and raise `LedgerError` unless they give its account."""
        table = read_table_name(table)
        with self._open(table) as (chain, account):
            entries = self._entries(chain, table)
        charges = [entry for entry in entries if entry.kind == "charge"]
        added = (
            sum((entry.epsilon for entry in charges), Fraction(0)),
            sum((entry.delta for entry in charges), Fraction(0)),
            sum(entry.status == "released" for entry in charges),
            len(entries) - len(charges),
        )
        kept = (account.epsilon_spent, account.delta_spent, account.releases, account.holder_uses)
        if added != kept or account.epsilon_left < 0 or account.delta_left < 0:
            raise LedgerError(
                f'the entries of table "{table}" in the ledger {self.place} do not add up to its account: the file was '
                "changed by something else. Restore it from a backup before the next release."
            )
        return account

    def verify(self) -> ChainReport:
        """Go through the whole chain: every record, every signature, and every account from nothing.

        Raises
        ------
        LedgerError
            A record was changed, removed or put in. Records that were cut off at the end leave no trace in the ledger; a
            certificate does, which holds the digest of its charge (``cloister verify --ledger``).
        """
        try:
            with self._connection() as connection:
                try:
                    records, accounts, keys = select_records(connection), read_accounts(connection), read_keys(connection)
                except MALFORMED:
                    raise self._store.damaged() from None
                if not records:
                    raise self._store.damaged()
                return replay(records, accounts, keys)
        except StoreMissing:
            return replay([], {}, set())

    def _spend(
        self, chain: Chain, key: HostKey, account: Account, epsilon: Fraction, delta: Fraction, purpose: str
    ) -> Record:
        """Write a charge and the new sums of an account."""
        spent = account.epsilon_spent + epsilon, account.delta_spent + delta
        amounts = {"epsilon": exact_text(epsilon), "delta": exact_text(delta)}
        after = replace(account, epsilon_spent=spent[0], delta_spent=spent[1])
        return chain.append(key, "charge", account=after, entry=chain.last_entry + 1, purpose=purpose, **amounts)

    def _left(self, chain: Chain, account: Account) -> tuple[Entry, ...]:
        """The tables that left before without noise: what the holder got and published."""
        if not account.holder_uses:
            return ()
        entries = self._entries(chain, account.table)
        return tuple(entry for entry in entries if entry.kind == "holder" and entry.release_hash)

    def _entries(self, chain: Chain, table: str) -> list[Entry]:
        """The entries of a table, as the signature of the last record vouches for them."""
        try:
            records = check_links(select_records(chain.connection))
            return entries_of_records([record for record in records if record.table == table])
        except MALFORMED:
            raise self._store.damaged() from None

    def _intact(self, records: list[Record]) -> list[Record]:
        """Records whose digests fit."""
        if not all(record.is_intact() for record in records):
            raise self._store.damaged()
        return records

    @contextlib.contextmanager
    def _connection(self, *, write: bool = False) -> Iterator[Connection]:
        """Open a transaction; a ledger of an older version is refused, as nobody vouches for what it says."""
        try:
            with self._store.writing() if write else self._store.reading() as connection:
                yield connection
        except StoreOutdated:
            raise LedgerError(
                f"the ledger {self.place} is of version 1, in which nothing is signed. If an older Cloister wrote it, upgrade it "
                f"once and look at what is carried over: cloister ledger upgrade{self._flag()}. If it was newer before, "
                "somebody changed it: restore it from a backup."
            ) from None

    @contextlib.contextmanager
    def _chain(self, *, write: bool = False) -> Iterator[Chain]:
        """Open a transaction with the chain, whose end was checked."""
        with self._connection(write=write) as connection:
            yield open_chain(connection, self._store.damaged)

    @contextlib.contextmanager
    def _open(
        self, table: str, *, write: bool = False, neighbours: str = RELATIONS[0], for_holder: bool = False
    ) -> Iterator[tuple[Chain, Account]]:
        """Open a transaction with the account of a table, locked when it is there to write."""
        try:
            with self._chain(write=write) as chain:
                if table not in chain.accounts:
                    raise self._unknown(table, neighbours, sorted(chain.accounts), for_holder)
                yield chain, chain.accounts[table]
        except StoreMissing:
            raise self._unknown(table, neighbours, [], for_holder) from None

    def _unknown(self, table: str, neighbours: str, known: list[str], for_holder: bool) -> LedgerError:
        relation = "" if neighbours == RELATIONS[0] else f" --neighbours {neighbours}"
        more = without_total() if for_holder else ""
        return LedgerError(
            f'table "{table}" is not in the ledger {self.place}, which holds {list_tables(known)}. Give it a total first: '
            f"cloister ledger create {shlex.quote(table)} --epsilon TOTAL{relation}{self._flag()}{more}"
        )

    def _flag(self) -> str:
        """The flag that leads the command line to this ledger, when it would not find it by itself."""
        with contextlib.suppress(UsageError, LedgerError):
            if Ledger.default()._store.url == self._store.url:
                return ""
        return f" --ledger {shlex.quote(self.place)}"

    def __repr__(self) -> str:
        return f"Ledger({self.place!r})"

    def describe(self) -> Document:
        """What is left for each table, as a document."""
        accounts = self.accounts()
        return Document((describe_accounts(self.place, accounts, accounts_in_rho(accounts, self.rho_totals())),))

    def _repr_html_(self) -> str:
        try:
            return notebook.html(self.describe())
        except LedgerError as fault:
            return notebook.html(Document((Section((Sentence(str(fault)),)),)))
