"""Compiled loops and their NumPy twins; `choose` says which of the two a kernel calls."""
