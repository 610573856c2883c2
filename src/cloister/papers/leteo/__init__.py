"""Paper 001: LETEO, anonymization and clustering on Spark."""
