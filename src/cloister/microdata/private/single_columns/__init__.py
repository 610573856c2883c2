"""Each column by itself: where its numbers lie, and the shares of its values, from noisy counts."""
