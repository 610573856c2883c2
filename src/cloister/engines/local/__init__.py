"""The engine of this process: rows in memory or streamed from files."""
