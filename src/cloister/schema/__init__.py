"""Public facts of a table: columns, kinds, bounds, domains, roles, unit, neighbours; TOML; drafts and checks."""

from __future__ import annotations

from cloister.schema.kinds import Category, Date, Kind, Number, Text
from cloister.schema.neighbours import Neighbours
from cloister.schema.table import Column, Role, Schema

__all__ = ["Category", "Column", "Date", "Kind", "Neighbours", "Number", "Role", "Schema", "Text"]
