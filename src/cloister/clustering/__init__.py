"""Private clusters: one estimator a file, one folder or file a method."""
