"""Who runs a kernel over every row: one folder an engine, listed in `registry`."""
