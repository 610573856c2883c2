"""Private rows: made up from what was released of a table, with its columns, inside their bounds and domains."""
