"""Private tables of counts and sums: public axes, one noisy release, margins that agree with the cells."""
