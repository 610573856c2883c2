"""Rows of databases: a table or a query, read once, over a connection that cannot write."""
