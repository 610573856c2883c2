"""Rows that may leave: microaggregated ones, and private ones."""
