"""Ways to place the first centres, from public choices or released values only."""
