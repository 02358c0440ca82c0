"""Labels and scores become counts: keys of scores, ROC counts, hull vertices without sorting, confusion matrices."""
