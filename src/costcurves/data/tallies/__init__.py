"""Counts that add: tallies of batches, partitions and files, merged in any order into what the whole data give."""
