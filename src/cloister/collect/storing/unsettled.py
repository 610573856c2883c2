"""What the files of an inbox still tell: the order of arrival in closed collections, and all of deleted ones.

Both are rewritten together, so that many of them take no longer than one. What could not be rewritten stays written down in the
tables until it was, whoever is stopped meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cloister.collect.storing.inbox_tables import COLLECTIONS, INVITATIONS, table_of
from cloister.privacy.store import Store
from cloister.privacy.store_scrubbing import Renewal, scrub

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Unsettled"]


@dataclass(frozen=True, slots=True)
class Unsettled:
    """The numbers of collections that were closed or deleted and of which the files still tell."""

    closed: tuple[int, ...]
    deleted: tuple[int, ...]

    @classmethod
    def find(cls, connection: Connection) -> Unsettled:
        """All of an inbox."""
        collections, deletions = table_of("collections"), table_of("deletions")
        is_left = collections.c.is_closed & ~collections.c.is_settled
        closed = connection.execute(collections.select().where(is_left)).mappings()
        deleted = connection.execute(deletions.select()).mappings()
        return cls(tuple(row["number"] for row in closed), tuple(row["collection"] for row in deleted))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of all, in order."""
        return tuple(sorted(self.closed + self.deleted))

    def rewrite(self, store: Store) -> bool:
        """Rewrite the tables; False: somebody was in the way, and it must be tried again."""
        listed = ", ".join(str(int(number)) for number in self.numbers)
        reports = Renewal("cloister_reports", "cloister_reports_pkey", "answers", f"collection IN ({listed})")
        return scrub(store, [INVITATIONS, COLLECTIONS], [reports])

    def write_off(self, connection: Connection) -> None:
        """Note that these were rewritten."""
        collections, deletions = table_of("collections"), table_of("deletions")
        connection.execute(collections.update().where(collections.c.number.in_(self.closed)).values(is_settled=True))
        connection.execute(deletions.delete().where(deletions.c.collection.in_(self.deleted)))
