"""Paper 002: LDPK-modes, clustering of categories in the local model."""
