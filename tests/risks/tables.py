"""Small tables and what becomes of them, for the tests of risk."""

from __future__ import annotations

import pyarrow as pa

from cloister.schema.hierarchies import Hierarchy

PEOPLE = pa.table(
    {
        "age": [21, 24, 33, 38, 52, 57],
        "town": ["Havana", "Havana", "Lima", "Quito", "Lima", "Quito"],
        "illness": ["flu", "flu", "cold", "flu", "cold", "cold"],
    }
)

PUBLISHED = pa.table(
    {
        "age": ["[21, 33)", "[21, 33)", "[33, 57]", "[33, 57]", "[33, 57]", "[33, 57]"],
        "town": ["Havana", "Havana", "South", "South", "South", "South"],
        "illness": ["flu", "flu", "cold", "flu", "cold", "cold"],
    }
)

TOWN = Hierarchy.from_paths([("Havana", "North", "*"), ("Lima", "South", "*"), ("Quito", "South", "*")])
