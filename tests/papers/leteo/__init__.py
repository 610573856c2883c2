"""Paper 001."""
