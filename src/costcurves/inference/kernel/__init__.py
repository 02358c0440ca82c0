"""The distribution of resampled costs: exact where it is a lattice, smooth where the draws are many."""
