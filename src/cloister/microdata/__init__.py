"""Rows that may leave the building in place of a table's own: averaged over groups of k, or made up from private releases."""
