"""A release of rows against its original, for the holder: rows that were averaged, or made up, rather than generalised.

Nothing pairs a released row with an original one here: released rows are shuffled, and there may be more or fewer of them.
The walk is `compare_rows.compare_rows`; `row_tables` lays the tables out alike, and each measure is a file.
"""
