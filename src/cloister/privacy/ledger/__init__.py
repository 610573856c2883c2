"""The ledger: how much of its privacy budget each table has spent, and on what. SQLAlchemy is loaded when one is used."""

from cloister.privacy.ledger.accounts import Account, CarriedOver, Entry, Receipt
from cloister.privacy.ledger.book import Ledger

__all__ = ["Account", "CarriedOver", "Entry", "Ledger", "Receipt"]
