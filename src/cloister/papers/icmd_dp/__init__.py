"""Paper 004: ICMD-DP, insensitive microaggregation."""
