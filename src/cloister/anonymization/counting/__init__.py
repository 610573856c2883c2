"""The rows of a table as counts: how cells become codes, and how many rows hold each tuple of quasi-identifiers."""
