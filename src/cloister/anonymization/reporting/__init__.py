"""What became of a table, for the holder and for readers of its certificate, and what other k would have cost."""
