"""Paper 003: DEDP k-means, differential evolution and noisy Lloyd."""
